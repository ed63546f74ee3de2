package brain

import (
	"cmp"
	"fmt"

	"troupe/robotd/desired"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/robotd/stops"
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
	d := mode.Step(&t.mode, t.now.Mono, &t.cfg.Mode, t.modeFacts(in), in)
	if d.Changed {
		t.changed(effect.FlushSoon)
		t.log("mode", string(d.From), string(d.To), d.Why, string(d.Reason))
	}
	if was != t.mode.Active && t.mode.Active != "" && d.To != mode.Stopping {
		t.modeSince = t.now.Wall
		t.recordEvent("mode_changed", "mode", string(d.On), cmp.Or(in.Req, d.Ended.Req), effect.Transition{From: string(t.lastMode), To: string(t.mode.Active)})
		t.lastMode = t.mode.Active
		t.clear(hungAlert, string(t.mode.Active))
	}
	if d.Fallback != "" {
		t.recordEvent("mode_fallback", "mode", string(d.Reason), "", fallback{From: d.Fallback, Reason: d.Reason})
	}
	if d.List {
		t.changed(effect.FlushSoon) // a pause of the active mode is in the state too
	}
	if e := d.Ended; e.Req != "" {
		t.reply(request.Key(e.Req), e.Verdict)
	}
	for _, o := range d.Orders() {
		fault := t.modes.Execute(&t.cfg.Mode, o)
		t.performModeEffects()
		if fault.Reason != "" && (o.Do == mode.DoPause || o.Do == mode.DoResume) {
			d.Answer = schema.Verdict{Status: schema.StatusFailed, Result: schema.ResultNotReady, Reason: fault.Reason, Detail: fault.Detail}
		}
	}
	if d.Answer.Status != "" {
		t.keepMode(in, d.Answer)
		if (in.Kind == mode.Set || in.Kind == mode.Kill) && d.Answer.Status != schema.StatusRejected {
			t.desires().Diverged(by, t.mode.Intended)
		}
		t.reply(by, d.Answer)
	}
	if d.SafetyStop {
		t.requestStop("mode", "no mode is in charge")
	}
}

// modeFacts is what the supervisor has to know of the others, to decide about in.
func (t *step) modeFacts(in mode.Input) mode.Facts {
	f := mode.Facts{Enabled: t.safety.At == schema.SafetyEnabled}
	if safety.Latched(t.safety.At) {
		f.Forbid = schema.ReasonSafetyLatched
	}
	f.LinkLost, f.LostFor = t.beats.Lost(t.now)
	t.updateModes()
	f.NotReady = t.modes.NotReady()
	if in.Kind == mode.Pause && t.mode.Phase == mode.Ready && !t.mode.Paused(&t.cfg.Mode) {
		f.NoPause = t.modes.MayPause()
		t.performModeEffects()
	}
	return f
}

// updateModes sets what the modes know of the robot.
func (t *step) updateModes() {
	r := mode.Robot{MayMove: t.modeMayMove(), Units: t.body.Units()}
	if why, detail, ok := t.performs().Ready(); !ok {
		r.Story = mode.Refusal{Reason: why, Detail: detail}
	}
	t.modes.Update(t.now.Mono, r)
}

// modeMayMove reports whether the active mode may move units. While the link is lost, it
// may only if its rule is to continue.
func (t *step) modeMayMove() bool {
	lost, _ := t.beats.Lost(t.now)
	return safety.Gate(t.safety.At, safety.Moves, safety.Act) == "" && (!lost || t.cfg.Mode.Rule(t.mode.Active).LinkLoss == schema.LinkLossContinue)
}

// notifyMode hands a notice to the running mode.
func (t *step) notifyMode(n mode.Notice) {
	t.updateModes()
	t.modes.Notify(n)
	t.performModeEffects()
}

// performModeEffects carries out the effects of modes. A report waits for a later step,
// because the supervisor takes one input a step.
func (t *step) performModeEffects() {
	for _, e := range t.modes.Effects() {
		switch e := e.(type) {
		case mode.Report:
			t.toMode.Add(e.Input)
		case mode.Calibrate:
			t.do(effect.Calibrate{Run: e.Run})
		case mode.EndCalibration:
			t.do(effect.EndCalibration{})
		case mode.Enter:
			t.perform.Enter()
		case mode.Leave:
			t.perform.Leave()
		case mode.Drive:
			if e == (mode.Drive{}) || t.modeMayMove() {
				t.do(effect.Move{Velocity: driver.Velocity{VX: e.VX, WZ: e.WZ, TTL: driver.VelocityTTL}})
			}
		case mode.Stop:
			t.toSafety.Add(safety.Request{Verb: stops.VerbOf(e.Level), Source: "mode", Why: e.Why})
		default:
			panic(fmt.Sprintf("brain: no such effect of a mode: %T", e))
		}
	}
	t.modes.Clear()
}

// settleBootMode notes that start-up has ended, and how.
func (t *step) settleBootMode() {
	if !t.desired.Starting() || t.mode.ByBoot || t.mode.Phase != mode.Ready && t.mode.Phase != mode.Safe && t.mode.Phase != mode.None {
		return
	}
	t.toDesired(func(d desired.Step) { d.Landed(t.mode.Reason) })
	if t.modes.EndStartup() {
		t.do(effect.SaveSetting{Name: HungSetting})
	}
}

// performAuto gives ato one input, and notifies the mode that entered whether the story is
// performed.
func (t *step) performAuto() {
	from := t.list.Len()
	r := t.performs().StepAuto()
	t.settle(from)
	switch {
	case !r.Entered:
	case r.Refused != "":
		t.notifyMode(mode.Entered{Refusal: mode.Refusal{Reason: r.Refused, Detail: r.Refused.Describe().Text}})
	default:
		t.notifyMode(mode.Entered{})
	}
}

// inCharge returns the row of the active mode.
func (t *step) inCharge() *mode.Installed { return t.modes.Installed(t.mode.Active) }

// calibrating reports the calibration's progress to the sender of the request.
func (t *step) calibrating(share float64) {
	if t.mode.Phase == mode.Calibrating && t.mode.Req != "" {
		percent := int(100 * min(1, max(0, share)))
		t.stepRequests(request.Outcome{Key: request.Key(t.mode.Req), Verdict: schema.Verdict{Status: schema.StatusInProgress}, Progress: &percent})
	}
}

// calibrated hands the end of a calibration to the mode that waits for it.
func (t *step) calibrated(ev event.Calibrated) {
	if !t.modes.Awaits(ev.Run) {
		return
	}
	why := mode.Refusal{Reason: schema.Reason(schema.SanitizeText(string(ev.Reason))), Detail: schema.SanitizeText(ev.Detail)}
	for _, u := range t.body.Units() {
		t.clear("calibration_waits", u.ID)
	}
	m := string(t.cfg.Mode.Calibration)
	if why.Reason != "" {
		t.raise("calibration_failed", schema.AlertError, m, cmp.Or(why.Detail, string(why.Reason)), "see to the cause, then send mode/set "+m)
	} else {
		t.clear("calibration_failed", m)
	}
	t.notifyMode(mode.CalibrationEnded{Refusal: why})
}

// fallback is the data of an event about a mode that was replaced.
type fallback struct {
	From   schema.ModeID `json:"from"`
	Reason schema.Reason `json:"reason"`
}
