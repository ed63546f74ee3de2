package perform

import (
	"time"

	"github.com/go-json-experiment/json"

	"troupe/robotd/auto"
	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/cond"
)

// StepInterrupts gives the interrupts one input: the oldest queued one, or the passing of time.
func (t Step) StepInterrupts() {
	if t.UnitCritical && !t.unitCritical && t.InterruptRuns() { // what they do makes no sense when the robot may move again
		t.toInterrupts.Add(interruptInput{Input: interrupt.Input{What: interrupt.CancelAll, Reason: schema.ReasonUnitCritical}})
	}
	t.unitCritical = t.UnitCritical
	in, by, requested := interrupt.Input{What: interrupt.Tick}, command.Key(""), (*requestedAct)(nil)
	switch next, waits := t.toInterrupts.Take(); {
	case waits && t.isStale(next.In.Input):
	case waits && t.Out.Met(next.By, next.When, t.CurrentState):
		in, by, requested = next.In.Input, next.By, next.In.requested
	case !waits && !t.InterruptRuns():
		return
	}
	f := interrupt.Facts{
		Ato:    t.Running && t.auto.Status != schema.AutoNotActive,
		Paused: t.auto.Freeze() == auto.FreezeAll,
	}
	if in.What == interrupt.Request && f.Paused {
		f.PausedBy = t.auto.PausedBy("", "", t.Standstill.String())
	}
	f.Condition, f.Why = t.condition(in.Handler, requested)
	d := interrupt.Step(&t.interrupts, t.Now.Mono, &t.cfg.Interrupts, f, in)
	if by == "" && in.What == interrupt.Request && in.Interrupter == interrupt.PowerInterrupter {
		t.power.asked = false
	}
	if e := d.Start; e.ID != "" {
		t.Out.Changed(effect.FlushSoon)
		t.Out.LogTransition("interrupt", string(interrupt.Requested), string(interrupt.Running), "asked by "+e.Interrupter, e.ID)
		t.Out.Event("interrupt_started", e.Interrupter, e.Handler, string(by), effect.Described{ID: e.ID})
		t.toAuto.Add(autoInput{Input: auto.Input{What: auto.Acquire, Kind: auto.ByInterrupt, Key: e.ID, Why: e.Handler}})
	}
	for _, e := range d.Ended {
		t.Out.Changed(effect.FlushSoon)
		t.Out.LogTransition("interrupt", string(interrupt.Running), string(e.Outcome), string(e.Reason), e.ID)
		t.Out.Event("interrupt_finished", e.Interrupter, string(e.Reason), "", ended{ID: e.ID, Handler: e.Handler, Outcome: string(e.Outcome),
			MS: e.Lasted.Milliseconds(), Detail: t.detail(e.ID)})
		t.toAuto.Add(autoInput{Input: auto.Input{What: auto.Release, Kind: auto.ByInterrupt, Key: e.ID}})
		t.answerRequestedActs(e, by)
		t.endHandler(e.Handler)
		if h, _ := t.cfg.Handler(e.Handler); h.UntilCharged {
			t.chargeEnded(e)
		}
	}
	if d.Start.ID != "" { // after the end of the one that it replaces
		t.beginHandler(d.Start, requested)
	}
	if d.Joins.ID != "" {
		t.joinHandler(d.Joins, requested)
	}
	if requested != nil && d.Start.ID+d.Joins.ID != "" {
		d.Answer.Status = "" // it is answered when its act ends
	}
	if by == "" && d.Answer.Status == schema.StatusRejected {
		t.ownRefused(in, d.Answer)
		if in.Interrupter == interrupt.PowerInterrupter {
			t.chargeRefused(in.Handler, d.Answer)
		}
	}
	if d.Answer.Status != "" {
		t.keepInterrupter(in, d.Answer)
		if in.What == interrupt.Run || in.What == interrupt.Stop {
			t.Out.Changed(effect.FlushSoon)
		}
		r := d.Answer
		if d.Start.ID != "" {
			r.Refs = []schema.Ref{{Kind: schema.RefInterrupt, ID: d.Start.ID}}
		}
		t.Out.Reply(by, r)
	}
}

type ended struct {
	ID      string `json:"id"`
	Handler string `json:"handler"`
	Outcome string `json:"outcome"`
	MS      int64  `json:"ms"`
	Detail  string `json:"detail,omitempty"`
}

// InterruptRuns reports whether one runs. One that runs can end by time alone, without an event.
func (s *State) InterruptRuns() bool { return len(s.interrupts.Running()) > 0 }

// condition reports whether a handler's own condition holds, and it has something to do.
func (t Step) condition(handler string, requested *requestedAct) (ok bool, why string) {
	h, known := t.cfg.Handler(handler)
	switch {
	case !known:
		return true, ""
	case h.PerformsRequest:
		return t.performable(requested)
	case h.When != nil && !h.When.Eval(t.Signals.Facts(t.Now.Mono)):
		return false, untrue(h.When, t.Signals.Facts(t.Now.Mono))
	case !h.UntilCharged:
		_, why = t.script(h)
		return why == "", why
	}
	switch b := t.Battery; {
	case !b.Known:
		return false, "this robot has no battery that says how full it is"
	case b.Charging:
		return false, "the battery is being charged"
	case b.Share >= t.cfg.LowBattery:
		return false, "the battery is full enough"
	}
	why = t.unreachable(&h.Act)
	return why == "", why
}

// done and fail end a handler.
func (t Step) done(h *runningHandler) {
	h.ending = true
	t.toInterrupts.Add(interruptInput{Input: interrupt.Input{What: interrupt.Done, ID: h.id}})
}

func (t Step) fail(h *runningHandler, why schema.Reason) {
	h.ending = true
	t.toInterrupts.Add(interruptInput{Input: interrupt.Input{What: interrupt.Error, ID: h.id, Reason: why}})
}

// untrue is the first part of a condition that is not true.
func untrue(c *cond.Condition, facts cond.Facts) string {
	for _, p := range c.Explain(facts) {
		if !p.True {
			return p.String()
		}
	}
	return c.String() + " is not true"
}

// endHandler removes a handler whose interrupt is over.
func (t Step) endHandler(handler string) {
	for i := range t.runningHandlers {
		if t.runningHandlers[i].handler == handler {
			if t.runningHandlers[i].calling {
				t.Out.Do(effect.EndCall{ID: t.runningHandlers[i].id})
			}
			t.runningHandlers = append(t.runningHandlers[:i], t.runningHandlers[i+1:]...)
			break
		}
	}
	t.cancelHandlerAct(handler)
}

// endStopped ends what a stop ended: all interrupts, or the requested act.
func (t Step) endStopped(to schema.SafetyState) {
	switch {
	case safety.Halts(to):
		if t.InterruptRuns() {
			t.toInterrupts.Add(interruptInput{Input: interrupt.Input{What: interrupt.CancelAll, Reason: schema.ReasonNeedsReset}})
		}
	case to == schema.SafetySoftStop || to == schema.SafetyStop:
		t.cancelRequestedActs()
	}
}

// runningHandler is the state of the handler of one running interrupt.
type runningHandler struct {
	id           string // id of the interrupt
	handler      string
	entry        string // id of the lane's entry that is performed; empty = the id of the interrupt
	script              // the acts that follow
	actsOver     bool
	oneSucceeded bool // of its acts
	choice       bool // the act offers choices on the screen
	calling      bool // the answer to its HTTP call is to come
	dismiss      bool // a person pressed done on the screen
	ending       bool // the input that ends it is queued
	until        time.Duration
	failed       schema.Reason // why its act failed
	detail       string
	requests     []pendingRequest // commands that requested acts: of the one that is performed, then of those that wait

	// Of a handler that charges: its act is under way; the highest level since it is at
	// its charger, and when that was reached.
	going   bool
	highest float64
	rose    time.Duration
}

const (
	interrupterKey = "interrupter."
	switchedOff    = "off"
)

// Restore forbids the interrupters that were forbidden before the restart, and restores what people had
// asked of ato.
func (s *State) Restore(now clock.Now, saved map[string]string) {
	var a auto.Asked
	if text := saved[askedKey]; text != "" && json.Unmarshal([]byte(text), &a) == nil {
		s.auto.Restore(a)
		s.asked = text
	}
	for _, id := range s.cfg.Interrupts.Interrupters {
		if saved[interrupterKey+id] == switchedOff {
			interrupt.Step(&s.interrupts, now.Mono, &s.cfg.Interrupts, interrupt.Facts{}, interrupt.Input{What: interrupt.Stop, Interrupter: id})
		}
	}
}

// keepInterrupter saves that an interrupter was allowed or forbidden.
func (t Step) keepInterrupter(in interrupt.Input, a schema.Verdict) {
	if a.Status != schema.StatusSucceeded || a.Reason != "" || in.What != interrupt.Run && in.What != interrupt.Stop {
		return
	}
	value := ""
	if in.What == interrupt.Stop {
		value = switchedOff
	}
	t.Out.Do(effect.SaveValue{Name: interrupterKey + in.Interrupter, Value: value})
}
