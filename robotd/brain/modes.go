package brain

import (
	"cmp"

	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
)

// stepMode gives the mode supervisor one input: the oldest that waits, or the passing of
// time.
func (t *step) stepMode() {
	in := mode.Input{Kind: mode.Tick}
	var by request.Key
	if next, waits := t.toMode.Take(); waits && t.met(next.By, next.When) {
		in, by = next.In, next.By
	}
	was := t.mode.Active
	d := mode.Step(&t.mode, t.now.Mono, &t.cfg.Mode, t.modeFacts(), in)
	if d.Changed {
		t.changed(effect.FlushSoon)
		t.log("mode", string(d.From), string(d.To), d.Why, string(d.Reason))
	}
	if was != t.mode.Active && t.mode.Active != "" && d.To != mode.Stopping {
		t.modeSince = t.now.Wall
		t.recordEvent("mode_changed", "mode", string(d.On), cmp.Or(in.Req, d.Ended.Req), effect.Transition{From: string(t.lastMode), To: string(t.mode.Active)})
		t.lastMode = t.mode.Active
	}
	if d.Fallback != "" {
		t.recordEvent("mode_fallback", "mode", string(d.Reason), "", fallback{From: d.Fallback, Reason: d.Reason})
	}
	if d.List {
		t.changed(effect.FlushSoon) // a pause of the active mode is in the state too
	}
	if e := d.Ended; e.Req != "" {
		t.reply(request.Key(e.Req), request.Verdict{Status: e.Status, Result: e.Result, Reason: e.Reason, Detail: e.Detail})
	}
	if d.Answer.Status != "" {
		t.keepMode(in, d.Answer)
		if (in.Kind == mode.Set || in.Kind == mode.Kill) && d.Answer.Status != schema.StatusRejected {
			t.desires().Diverged(by, t.mode.Intended)
		}
		t.reply(by, request.Verdict{Status: d.Answer.Status, Result: d.Answer.Result, Reason: d.Answer.Reason, Detail: d.Answer.Detail})
	}
	if d.SafetyStop {
		t.requestStop("mode", "no mode is in charge")
	}
	for _, o := range d.Orders() {
		t.obey(o)
	}
}

// modeFacts is what the supervisor has to know of the others.
func (t *step) modeFacts() mode.Facts {
	f := mode.Facts{Enabled: t.safety.At == schema.SafetyEnabled}
	if safety.Latched(t.safety.At) {
		f.Forbid = schema.ReasonSafetyLatched
	}
	f.LinkLost, f.LostFor = t.linkLost()
	if why, detail, ok := t.performs().Ready(); !ok {
		t.notReady[0] = mode.NotReady{Mode: schema.ModeAto, Reason: why, Detail: detail}
		f.NotReady = t.notReady[:]
	}
	return f
}

// obey carries out what the supervisor orders a mode. A mode answers in a later step, for
// the supervisor takes one input a step.
func (t *step) obey(o mode.Order) {
	switch o.Mode {
	case schema.ModeAto:
		t.obeyAto(o.Do)
		return
	case schema.ModeStr:
		switch o.Do {
		case mode.DoCalibrate:
			t.calibration++
			t.do(effect.Calibrate{Run: t.calibration})
		case mode.DoStop, mode.DoKill, mode.DoEndCalibration:
			t.calibration++ // what still comes of it is late
			t.do(effect.EndCalibration{})
		}
	}
	switch o.Do {
	case mode.DoStart:
		t.queueMode(mode.Input{Kind: mode.Started, Mode: o.Mode})
	case mode.DoStop:
		t.queueMode(mode.Input{Kind: mode.Stopped, Mode: o.Mode})
	}
}

// obeyAto starts and ends ato; whether it could start is known once it was entered.
func (t *step) obeyAto(do mode.Do) {
	switch do {
	case mode.DoStart:
		t.perform.Enter()
	case mode.DoStop, mode.DoKill:
		t.perform.Leave()
		if do == mode.DoStop {
			t.queueMode(mode.Input{Kind: mode.Stopped, Mode: schema.ModeAto})
		}
	}
}

// settleBootMode notes that start-up has ended, and how.
func (t *step) settleBootMode() {
	if !t.desired.Starting() || t.mode.ByBoot || t.mode.Phase != mode.Ready && t.mode.Phase != mode.Safe && t.mode.Phase != mode.None {
		return
	}
	t.toDesired(func(d desired.Step) { d.Landed(t.mode.Reason) })
}

// performAuto gives ato one input, and tells the supervisor whether it runs.
func (t *step) performAuto() {
	from := t.list.Len()
	r := t.performs().StepAuto()
	t.settle(from)
	switch {
	case !r.Entered:
	case r.Refused != "":
		t.queueMode(mode.Input{Kind: mode.StartFailed, Mode: schema.ModeAto, Reason: r.Refused, Detail: r.Refused.Describe().Text})
	default:
		t.queueMode(mode.Input{Kind: mode.Started, Mode: schema.ModeAto})
	}
}

func (t *step) linkLossOf(m schema.ModeID) schema.LinkLoss {
	for i := range t.cfg.Mode.Modes {
		if t.cfg.Mode.Modes[i].ID == m {
			return t.cfg.Mode.Modes[i].LinkLoss
		}
	}
	return schema.LinkLossSafe
}

func (t *step) queueMode(in mode.Input) { t.toMode.Add(in) }

// calibrating tells the sender of the request how far the calibration is.
func (t *step) calibrating(share float64) {
	if t.mode.Phase == mode.Calibrating && t.mode.Req != "" {
		percent := int(100 * min(1, max(0, share)))
		t.stepRequests(request.Outcome{Key: request.Key(t.mode.Req), Status: schema.StatusInProgress, Progress: &percent})
	}
}

// calibrated hands the end of a calibration to the supervisor, unless a later one was
// ordered.
func (t *step) calibrated(ev event.Calibrated) {
	if ev.Run != t.calibration {
		return
	}
	ev.Reason, ev.Detail = schema.Reason(schema.SanitizeText(string(ev.Reason))), schema.SanitizeText(ev.Detail)
	in := mode.Input{Kind: mode.CalibOK, Mode: schema.ModeStr, Reason: ev.Reason, Detail: ev.Detail}
	for _, u := range t.body.Units() {
		t.clear("calibration_waits", u.ID)
	}
	if ev.Reason != "" {
		in.Kind = mode.CalibFailed
		t.raise("calibration_failed", schema.AlertError, "str", cmp.Or(ev.Detail, string(ev.Reason)), "see to the cause, then send mode/set str")
	} else {
		t.clear("calibration_failed", "str")
	}
	t.queueMode(in)
}

// fallback is what an event tells of a mode that was left for the safe one.
type fallback struct {
	From   schema.ModeID `json:"from"`
	Reason schema.Reason `json:"reason"`
}
