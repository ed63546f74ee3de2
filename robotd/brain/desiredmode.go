package brain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"troupe/robotd/config"
	"troupe/robotd/control"
	"troupe/robotd/desiredmode"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/sign"
)

// desiredModeSetting keeps a desiredmode.State.
const desiredModeSetting = "desired.mode"

// desiredModeState is what became of the desired mode.
type desiredModeState struct {
	desiredIntake
	state    desiredmode.State
	starting bool // start-up has not handed over yet
	diverged bool // somebody asked for another mode since
	dirty    bool
}

// restoreDesiredMode lets start-up end in the mode that is desired, if there is one.
func restoreDesiredMode(c *config.Config, saved map[string]string) desiredModeState {
	w := desiredModeState{starting: true}
	if text := saved[desiredModeSetting]; text != "" && json.Unmarshal([]byte(text), &w.state) == nil {
		w.state = desiredmode.Boot(w.state)
		w.rev = w.state.Desired.Rev
		endIn(c, w.state.Desired.Mode)
	}
	return w
}

// endIn lets start-up end in a mode; in calibration it would not end.
func endIn(c *config.Config, m schema.ModeID) {
	if selectable(c, m) && m != c.Mode.Calibration {
		c.Mode.Boot = m
	}
}

func selectable(c *config.Config, m schema.ModeID) bool {
	for _, known := range c.Mode.Modes {
		if known.ID == m {
			return m != c.Mode.Safe
		}
	}
	return false
}

// takeDesiredMode hears which mode the fleet desires.
func (t *step) takeDesiredMode(ev event.DesiredMode) {
	if t.misunderstood(sign.Mode, ev.Problems) {
		return
	}
	if ev.Emptied {
		t.tell("mode_ignored", string(sign.Mode), "", "", effect.Described{Detail: "the desired state was deleted from the broker; that changes nothing"})
		return
	}
	d, w := &ev.Document, &t.desiredMode
	v := t.vouch(sign.Subject{Kind: sign.Mode, Robot: t.cfg.ID, FleetID: d.FleetID, Rev: d.Rev, Counter: d.Counter, Document: ev.Digest}, d.Sig, nil, nil)
	w.dirty = true
	if !selectable(t.cfg, d.Mode) && v.refused == "" {
		v.refused, v.detail = schema.ReasonUnknownMode, fmt.Sprintf("revision %d: %s is no mode that can be desired", d.Rev, schema.Legible(string(d.Mode)))
	}
	if !t.admit(&w.desiredIntake, v, ev, d.Mode == w.state.Desired.Mode && d.Apply == w.state.Desired.Apply) {
		return
	}
	w.diverged = false
	t.stepDesiredMode(desiredmode.Input{What: desiredmode.OnNewer, Desired: desiredmode.Desired{Rev: d.Rev, Mode: d.Mode, Apply: d.Apply}})
	if w.starting {
		endIn(t.cfg, d.Mode)
	}
}

// stepDesiredMode gives the desired state for a mode one input.
func (t *step) stepDesiredMode(in desiredmode.Input) {
	w := &t.desiredMode
	was := w.state
	d := desiredmode.Step(&w.state, t.desiredModeFacts(), in)
	if d.Changed {
		w.dirty = true
		t.note("desired mode", string(d.From), string(d.To), d.Why, strings.TrimSpace(string(w.state.Desired.Mode)+" "+string(w.state.Reason)))
		if d.To != schema.DeployWaiting && d.To != schema.DeployIdle {
			t.tell("desired_mode_"+string(d.To), "mode", string(w.state.Reason), "", effect.Described{ID: string(w.state.Desired.Mode), Reason: w.state.Reason, Detail: w.state.Detail})
		}
	}
	if w.state != was {
		t.do(effect.SaveSetting{Name: desiredModeSetting, Value: string(effect.Encode(&w.state))})
	}
	if d.Ask {
		t.toMode.Put(mode.Input{Kind: mode.Set, Mode: w.state.Desired.Mode, Req: string(desiredModeKey(w.state.Desired.Rev))}, desiredModeKey(w.state.Desired.Rev), schema.Precondition{})
	}
}

// desiredModeKey names the request that a desired state makes, which no client can: keys of
// clients begin with their names.
func desiredModeKey(rev int64) request.Key { return request.Key(fmt.Sprintf("/desired/mode/%d", rev)) }

// desiredModeAnswered takes an answer that is the desired state's, and reports whether it was.
func (t *step) desiredModeAnswered(to request.Key, r request.Verdict) bool {
	if !strings.HasPrefix(string(to), "/desired/mode/") {
		return false
	}
	if to == desiredModeKey(t.desiredMode.state.Desired.Rev) { // else a newer one has come meanwhile
		t.stepDesiredMode(desiredmode.Input{What: desiredmode.Answered, Status: r.Status, Reason: r.Reason, Detail: r.Detail})
	}
	return true
}

func (t *step) desiredModeFacts() desiredmode.Facts {
	f := desiredmode.Facts{Active: t.mode.Active, Starting: t.desiredMode.starting, Settled: t.mode.Phase == mode.Ready || t.mode.Phase == mode.Safe}
	switch c, waits := t.manual.Control(), t.perform.Auto().Waits(); {
	case t.mode.Phase == mode.Safe || t.mode.Next == t.cfg.Mode.Safe:
		f.Others, f.Detail = cmp.Or(t.mode.Reason, schema.ReasonModeFailed), "the robot is in "+string(t.cfg.Mode.Safe)+"; only an operator leads out"
	case safety.Latched(t.safety.At):
		f.Others, f.Detail = schema.ReasonSafetyLatched, schema.ReasonSafetyLatched.Describe().Text
	case len(t.stops.Latches()) > 0:
		f.Others, f.Detail = schema.ReasonLatched, fmt.Sprintf("%d stops are held", len(t.stops.Latches()))
	case waits != "": // leaving ato would forget it
		f.Others, f.Detail = waits, string(schema.ModeAto)+" was stopped or lost its link; only auto/continue lets it go on"
	case c.At == control.Held:
		f.Others, f.Detail = schema.ReasonNotInControl, c.Lease.Who.String()+" has control of the robot"
	}
	return f
}

// land looks whether start-up has ended, and how.
func (t *step) land() {
	if !t.desiredMode.starting || t.mode.ByBoot || t.mode.Phase != mode.Ready && t.mode.Phase != mode.Safe && t.mode.Phase != mode.None {
		return
	}
	t.desiredMode.starting = false
	t.stepDesiredMode(desiredmode.Input{What: desiredmode.Landed, Reason: cmp.Or(t.mode.Reason, schema.ReasonSuperseded)})
}

// diverge notes that somebody asked for a mode, and was granted it.
func (t *step) diverge(in mode.Input, by request.Key, a mode.Answer) {
	w := &t.desiredMode
	if w.state.Desired.Rev == 0 || in.Kind != mode.Set && in.Kind != mode.Kill || a.Status == schema.StatusRejected || by == desiredModeKey(w.state.Desired.Rev) {
		return
	}
	if other := t.mode.Intended != w.state.Desired.Mode; other != w.diverged {
		w.diverged, w.dirty = other, true
	}
}

// reportDesiredMode tells what became of the desired mode.
func (t *step) reportDesiredMode() {
	w := &t.desiredMode
	if w.dirty = false; t.report.Session() == "" {
		return
	}
	d := schema.ReportedMode{TS: t.now.Wall, Session: t.report.Session(), FleetID: t.fleetID, DesiredRev: w.state.Desired.Rev,
		Phase: w.state.At(), Reason: w.state.Reason, Detail: w.state.Detail, Mode: w.state.Desired.Mode, Diverged: w.diverged}
	w.show(&d.DesiredRev, &d.Phase, &d.Reason, &d.Retry, &d.Detail)
	t.publish(effect.Document{Topic: schema.TopicReportedMode, Value: &d})
}
