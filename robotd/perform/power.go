package perform

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

const (
	// chargeStalls is how long the level may stay where it is before charging has failed.
	chargeStalls = 5 * time.Minute
	// maxAskStep is by how much the level, a share of 1, has to differ from the one at the
	// last try before the interrupter power asks again. It is less for a setting low_battery below 0.2.
	maxAskStep = 0.05
	// untried is further than that from every level.
	untried = -1
	// rises is by how much the level has to rise to prove that the battery charges, or was charged.
	rises = 0.01

	powerHandler = "power"
	cannotCharge = "cannot_charge" // an alert
)

// power is what the robot remembers of its battery.
type power struct {
	low   bool    // the alert battery_low is raised
	hint  string  // of that alert
	tried float64 // level when the handler was last asked for or ended; untried = ask when it is low
	asked bool    // the handler was asked for, and the interrupts have not decided yet
	ended string  // how the last try ended, for people

	alert       bool // cannotCharge is raised
	alertLevel  float64
	unreachable bool // it is raised because the robot cannot go to its charger
}

// Power is the interrupter that watches the battery. It asks for its handler once when
// the battery is low, and again only when the level has changed by a step since the last
// try, when the battery was charged, when the robot gets a way to its charger, when HALT or E_STOP ended the
// handler, or when ato is entered.
func (t Step) Power() {
	b, p := t.Battery, &t.power
	low := b.Known && !b.Charging && b.Share < t.cfg.LowBattery
	if b.Known && b.Share >= t.cfg.LowBattery+rises { // a level that varies around low_battery was not charged
		p.tried = untried
	}
	switch {
	case !low && p.low:
		p.low = false
		t.Out.Clear("battery_low", interrupt.PowerInterrupter)
	case low && (!p.low || p.hint != t.lowHint()):
		p.low, p.hint = true, t.lowHint()
		percent := int(t.cfg.LowBattery * 100)
		t.Out.Do(effect.RaiseAlert{Kind: "battery_low", Level: schema.AlertWarn, Source: interrupt.PowerInterrupter,
			Detail: "the battery is below " + strconv.Itoa(percent) + " %", Hint: p.hint, Params: schema.AlertParams{Percent: percent}})
	}
	h, _ := t.cfg.Handler(powerHandler)
	switch {
	case !p.alert:
	case p.unreachable && t.unreachable(&h.Act) == "":
		p.tried = untried
		t.clearCannotCharge()
	case b.Share >= p.alertLevel+rises:
		t.clearCannotCharge()
	}
	switch {
	case t.auto.Status == schema.AutoNotActive:
		p.tried = untried
	case low && t.mayAskPower() && !t.waitsForLevel():
		p.tried, p.asked, p.ended = b.Share, true, "has not begun"
		t.Request(powerHandler, interrupt.PowerInterrupter)
	}
}

// askStep is by how much the level has to differ from that of the last try.
func (t Step) askStep() float64 { return min(maxAskStep, t.cfg.LowBattery/4) }

// waitsForLevel reports whether the level is still that of the last try. It is false if that was NaN.
func (t Step) waitsForLevel() bool { return math.Abs(t.Battery.Share-t.power.tried) < t.askStep() }

// triedHint says why the robot does not go to its charger by itself, and when it will.
func (t Step) triedHint() string {
	p, when := &t.power, "when it has been charged"
	if below := p.tried - t.askStep(); below > 0 {
		when = "below " + percent(below)
	}
	return "bring it to a charger, or send it with interrupt/request " + powerHandler +
		"; by itself it goes again " + when + ", because its last try, at " + percent(p.tried) + ", " + p.ended
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", share*100) }

// lowHint says what to do about a low battery, from the facts by which Power decides.
func (t Step) lowHint() string {
	i := slices.Index(t.cfg.Interrupts.Interrupters, interrupt.PowerInterrupter)
	_, known := t.cfg.Handler(powerHandler)
	switch {
	case i < 0 || !known:
		return "bring it to a charger; it has nothing that lets it go by itself"
	case t.interrupts.Interrupter(i) == schema.InterrupterForbidden:
		return "bring it to a charger, or let it go by itself again with interrupter/run " + interrupt.PowerInterrupter
	case t.power.alert:
		return "bring it to a charger that works; alert " + cannotCharge + " says what failed"
	case t.auto.Status != schema.AutoNotActive && t.waitsForLevel() && !t.power.asked && !t.powerRuns():
		return t.triedHint()
	case t.auto.Status != schema.AutoNotActive && t.Safety == schema.SafetyEnabled && t.frozen == auto.FreezeAll:
		return "it waits, because " + t.auto.PausedBy("", "", t.Standstill.String()) + "; or bring it to a charger"
	case t.auto.Status != schema.AutoNotActive && t.Safety == schema.SafetyEnabled:
		return "it goes to its charger by itself"
	}
	var steps []string
	if t.auto.Status == schema.AutoNotActive {
		steps = append(steps, "set it to ato (mode/set ato)")
	}
	if safety.NeedsReset(t.Safety) {
		steps = append(steps, "reset it (safety/reset)")
	}
	if t.Safety != schema.SafetyEnabled {
		steps = append(steps, "enable it (safety/enable)")
	}
	return strings.Join(steps, " and ") + ", so that it goes to its charger, or bring it there"
}

// mayAskPower reports whether the interrupter power may request its handler now. In HALT
// and E_STOP it waits for the reset.
func (t Step) mayAskPower() bool {
	i := slices.Index(t.cfg.Interrupts.Interrupters, interrupt.PowerInterrupter)
	return i >= 0 && t.interrupts.Interrupter(i) == schema.InterrupterAllowed && !safety.Halts(t.Safety) && !t.powerRuns()
}

func (t Step) powerRuns() bool {
	return slices.ContainsFunc(t.runningHandlers, func(h runningHandler) bool { return h.handler == powerHandler })
}

// charge advances the handler that charges: it waits until the body may move, goes to the
// charger, and stays there until the battery is full enough. If the body may not move
// meanwhile, the handler waits, and then begins its way again.
func (t Step) charge(h *runningHandler, cfg *config.Handler) {
	b := t.Battery
	switch {
	case b.Share >= t.cfg.Charged:
		t.done(h)
	case h.actsOver && b.Share > h.highest:
		h.highest, h.rose = b.Share, t.Now.Mono
	case h.actsOver && t.Now.Mono-h.rose >= chargeStalls:
		t.chargeFailed(h, schema.ReasonTimeout, "the battery level has not risen for 5 min at the charger",
			"check that the charger has power and the robot stands on it, or bring it to another charger")
	case h.actsOver:
	case h.going && !t.mayMove():
		h.going = false
		t.cancelHandlerAct(h.handler)
	case h.going:
	case b.Charging: // a person brought the robot to a charger
		t.handlerActEnded(h.id, "")
	case b.Share >= t.cfg.LowBattery: // a person charged it or changed the battery
		t.done(h)
	case t.mayMove():
		if why := t.unreachable(&cfg.Act); why != "" {
			t.raiseUnreachable(why)
			t.fail(h, schema.ReasonPrecondition)
			return
		}
		h.going = true
		t.beginHandlerAct(h, act.Entry{ID: h.id, Act: &cfg.Act, Languages: t.cfg.Languages, Clear: true})
	}
}

// unreachable says why an act cannot bring this robot to its charger; empty if it can.
func (t Step) unreachable(a *score.Act) string {
	for _, do := range a.Actions {
		to, is := do.Do.(score.Goto)
		switch {
		case !is:
		case !slices.ContainsFunc(t.Body.Units(), func(u schema.Unit) bool { return u.Kind == schema.UnitDrive }):
			return "the robot cannot go to its charger: it has no drive"
		case to.Point != "" && len(t.Body.Points()) == 0:
			return "the robot cannot go to its charger: it has no map"
		case to.Point != "" && !slices.Contains(t.Body.Points(), to.Point):
			return "the robot cannot go to its charger: its map has no point " + to.Point
		}
	}
	return ""
}

// chargeRefused takes the answer to a request of the interrupter power.
func (t Step) chargeRefused(handler string, a schema.Verdict) {
	t.Out.LogTransition("interrupt", string(interrupt.Requested), string(interrupt.Rejected), a.Detail, handler)
	t.power.ended = "was refused: " + cmp.Or(a.Detail, a.Reason.Describe().Text)
	h, known := t.cfg.Handler(handler)
	if !known {
		return
	}
	if why := t.unreachable(&h.Act); why != "" {
		t.raiseUnreachable(why)
	}
}

// chargeFailed ends the handler that charges, with an alert.
func (t Step) chargeFailed(h *runningHandler, why schema.Reason, detail, hint string) {
	t.fail(h, why)
	t.raiseCannotCharge(why, detail, hint)
}

// chargeEnded remembers the try. One that a stop ended does not count.
func (t Step) chargeEnded(e interrupt.Ended) {
	t.power.tried, t.power.ended = t.Battery.Share, "was "+string(e.Outcome)
	if e.Outcome == interrupt.Failed || e.Outcome == interrupt.TimedOut {
		t.power.ended = "failed: " + e.Reason.Describe().Text
	}
	if e.Reason == schema.ReasonNeedsReset {
		t.power.tried = untried
	}
}

func (t Step) raiseCannotCharge(why schema.Reason, detail, hint string) {
	t.power.alert, t.power.alertLevel, t.power.unreachable = true, t.Battery.Share, false
	t.Out.Do(effect.RaiseAlert{Kind: cannotCharge, Level: schema.AlertError, Source: interrupt.PowerInterrupter, Detail: detail,
		Hint: hint + "; interrupt/request power tries again", Params: schema.AlertParams{Reason: why}})
}

func (t Step) raiseUnreachable(why string) {
	t.raiseCannotCharge("", why, "bring it to a charger; it goes there by itself only with a drive and a map with the point that it "+
		"charges at")
	t.power.unreachable = true
}

func (t Step) clearCannotCharge() {
	t.power.alert = false
	t.Out.Clear(cannotCharge, interrupt.PowerInterrupter)
}

// Request requests a handler, without an answer.
func (s *State) Request(handler, interrupter string) {
	s.toInterrupts.Add(interruptInput{Input: interrupt.Input{What: interrupt.Request, Handler: handler, Interrupter: interrupter}})
}
