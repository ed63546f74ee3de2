package mode

import (
	"cmp"
	"fmt"

	"troupe/robotd/command"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/safety"
	"troupe/schema"
)

// Decide gives the supervisor one input: the oldest that waits, or the passing of time. Then it
// ends what a mode set in motion and may not move any more.
func (t Step) Decide() {
	t.decide()
	t.endMotion()
}

func (t Step) decide() {
	in := Input{Kind: Tick}
	var by command.Key
	if next, waits := t.inbox.Take(); waits && t.Out.Met(next.By, next.When, t.CurrentState) {
		in, by = next.In, next.By
	}
	if in.Kind == Param {
		t.setParam(in)
		return
	}
	was := t.mode.Active
	d := t.mode.step(t.Now.Mono, t.cfg, t.facts(in), in)
	if d.Changed && (in.Kind == Set || in.Kind == Kill) {
		t.stops = t.Safety == schema.SafetyEnabled
	}
	if d.Changed {
		t.failed = failure(was, in, &d)
		t.Out.Changed(effect.FlushSoon)
		t.Out.LogTransition("mode", string(d.From), string(d.To), d.Why, string(d.Reason))
	}
	// A mode that was still starting becomes the active one so that it can be ended, but it was never in charge.
	if was != t.mode.Active && t.mode.Active != "" && d.To != Stopping {
		t.since = t.Now.Wall
		t.Out.Event("mode_changed", "mode", string(d.On), string(cmp.Or(in.Req, d.Ended.To)), effect.Transition{From: string(t.last),
			To: string(t.mode.Active)})
		t.last = t.mode.Active
		t.Out.Clear(hungAlert, string(t.mode.Active))
	}
	if d.Fallback != "" {
		t.Out.Event("mode_fallback", "mode", string(d.Reason), "", fallback{From: d.Fallback, Reason: d.Reason})
	}
	if d.List {
		t.Out.Changed(effect.FlushSoon) // the list of modes changed, and with it perhaps whether the active mode is paused, which the state shows
	}
	if e := d.Ended; e.To != "" {
		t.addStandstill(&e.Verdict, t.stops)
		t.Out.Do(e)
	}
	for _, o := range d.Orders() {
		fault := t.runner.Execute(o)
		t.passOn()
		if fault.Reason != "" && (in.Kind == Pause || in.Kind == Resume) {
			d.Answer = schema.Verdict{Status: schema.StatusFailed, Result: schema.ResultNotReady, Reason: fault.Reason, Detail: fault.Detail}
		}
	}
	if d.Answer.Status != "" {
		if in.Kind == Set {
			t.addStandstill(&d.Answer, t.stops && d.Changed)
		}
		t.saveStatus(in, d.Answer)
		if (in.Kind == Set || in.Kind == Kill) && d.Answer.Status != schema.StatusRejected {
			t.Out.Do(effect.ModeIntended{Mode: t.mode.Intended, By: by})
		}
		t.Out.Reply(by, d.Answer)
	}
	if d.SafetyStop {
		t.Out.Do(effect.AskStop{Verb: string(safety.Stop), Source: "mode", Why: "no mode is in charge"})
	}
}

// failure returns the mode that failed in d, which decided about in, and why; was is the mode that was active before.
func failure(was schema.ModeID, in Input, d *Decision) fallback {
	switch {
	case d.Fallback != "" && d.On != OnCalibratedAtBoot: // then the boot mode was never in charge
		return fallback{From: d.Fallback, Reason: d.Reason}
	case in.Kind == Died: // while another mode was to follow it
		return fallback{From: was, Reason: cmp.Or(in.Reason, schema.ReasonModeFailed)}
	case d.On == OnStopTimeout:
		return fallback{From: was, Reason: schema.ReasonTimeout}
	}
	return fallback{}
}

// addStandstill adds to the success of a command that set the active mode what that mode waits for,
// or that a change of modes, this one or an earlier one, or the failure of a mode stopped the robot, with the way out.
func (t Step) addStandstill(v *schema.Verdict, byThis bool) {
	if v.Status != schema.StatusSucceeded || t.Safety == schema.SafetyEnabled || t.mode.Active == t.cfg.Calibration {
		return
	}
	var why string
	switch {
	case t.InCharge().Performs: // a story without motion does not wait
		why = "a story with motion waits until the robot is enabled: "
	case t.Standstill.Cause.Event == safety.ModeMissing && t.Standstill.Cause.Reason == schema.ReasonLinkLost:
		why = "the robot stopped because " + t.Standstill.Cause.Key + " lost its link; "
	case t.Standstill.Cause.Event == safety.ModeMissing && t.Standstill.Cause.Key != "":
		why = "the robot stopped because " + t.Standstill.Cause.Key + " failed (" + string(t.Standstill.Cause.Reason) + "); "
	case t.Standstill.Cause.Event == safety.ModeMissing && byThis:
		why = "a change of modes stopped the robot; "
	case t.Standstill.Cause.Event == safety.ModeMissing:
		why = "an earlier change of modes stopped the robot; "
	default:
		return
	}
	if v.Detail != "" {
		v.Detail += "; "
	}
	v.Detail += why + t.Standstill.WayOut()
}

// fallback is the data of an event about a mode that was replaced.
type fallback struct {
	From   schema.ModeID `json:"from"`
	Reason schema.Reason `json:"reason"`
}

// facts is what the supervisor has to know of the others, to decide about in.
func (t Step) facts(in Input) Facts {
	f := t.Facts
	f.MotionEnabled = t.Safety == schema.SafetyEnabled
	if safety.NeedsReset(t.Safety) {
		f.Forbid, f.ForbidDetail = schema.ReasonNeedsReset, t.Standstill.WayOut()
	}
	t.update()
	f.NotReady = t.runner.NotReady()
	if in.Kind == Pause && t.mode.Phase == Ready && !t.mode.Paused(t.cfg) {
		f.NoPause = t.runner.MayPause()
		t.passOn()
	}
	return f
}

// update sets what the modes know of the robot.
func (t Step) update() {
	t.runner.Update(t.Now.Mono, Robot{MayMove: t.mayMove(), Units: t.Units, NoStory: t.NoStory, People: t.people, Bearing: t.bearing})
}

// mayMove reports whether the active mode may move units. While the link is lost, it may only
// if its settings are to continue.
func (t Step) mayMove() bool {
	return safety.Gate(t.Safety, safety.Moves, safety.Act) == "" && !t.MotionBarred &&
		(!t.LinkLost || t.cfg.Settings(t.mode.Active).LinkLoss == schema.LinkLossContinue)
}

// endMotion ends what a mode set in motion if that mode may not move the robot any more, or is
// not in charge any more.
func (t Step) endMotion() {
	m := &t.motion
	all := !t.mayMove() || m.by != t.mode.Active || t.mode.Paused(t.cfg)
	if m.look != 0 && (all || t.NoLook) {
		head, _ := schema.FindUnit(t.Units, schema.UnitHead, "")
		t.Out.Do(effect.Stop{Key: m.look, Unit: head.ID})
		m.look = 0
	}
	if m.drives && (all || t.NoDrive) {
		t.Out.Do(effect.Move{Velocity: driver.Velocity{TTL: driver.VelocityTTL}})
		m.drives = false
	}
}

// Notify hands a notice to the running mode.
func (t Step) Notify(n Notice) {
	t.update()
	t.runner.Notify(n)
	t.passOn()
}

// passOn passes on the effects of modes. A report waits for a later step, because the
// supervisor takes one input a step.
func (t Step) passOn() {
	for _, e := range t.runner.Effects() {
		switch e := e.(type) {
		case Input:
			t.inbox.Add(e)
		case Calibrate:
			t.Out.Do(effect.Calibrate{Run: e.Run, Map: t.Map})
		case EndCalibration:
			t.Out.Do(effect.EndCalibration{})
		case BeginStory:
			t.Out.Do(effect.PerformStory{On: true, Asked: t.mode.Req != ""})
		case EndStory:
			t.Out.Do(effect.PerformStory{})
		case Drive:
			if e == (Drive{}) || t.mayMove() && !t.NoDrive {
				t.motion.by, t.motion.drives = t.mode.Active, e != (Drive{})
				t.Out.Do(effect.Move{Velocity: driver.Velocity{VX: e.VX, WZ: e.WZ, TTL: driver.VelocityTTL}})
			}
		case Look:
			if t.mayMove() && !t.NoLook {
				t.looks++
				t.motion.by, t.motion.look = t.mode.Active, lookKeys+t.looks
				t.Out.Do(effect.Look{Key: t.motion.look, Yaw: e.Yaw, Speed: e.Speed})
			}
		case Stop:
			t.Out.Do(effect.AskStop{Verb: e.Verb, Source: "mode", Key: string(t.mode.Active), Why: e.Why})
		default:
			panic(fmt.Sprintf("mode: no such effect: %T", e))
		}
	}
	t.runner.Clear()
}

// Calibrating reports the calibration's progress to the sender of the request.
func (t Step) Calibrating(share float64) {
	if t.mode.Phase == Calibrating && t.mode.Req != "" {
		percent := int(100 * min(1, max(0, share)))
		t.Out.Do(effect.Progress{Of: t.mode.Req, Percent: percent})
	}
}

// InCalibration reports whether a mode calibrates the body.
func (s *State) InCalibration() bool { return s.runner.Calibrating() }

// Awaits reports whether the mode in charge waits for the end of this calibration.
func (s *State) Awaits(run int64) bool { return s.runner.Awaits(run) }

// Calibrated hands the end of a calibration to the mode that waits for it.
func (t Step) Calibrated(ev event.Calibrated) {
	if !t.runner.Awaits(ev.Run) {
		return
	}
	why := Refusal{Reason: schema.Reason(schema.SanitizeText(string(ev.Reason))), Detail: schema.SanitizeText(ev.Detail)}
	m := string(t.cfg.Calibration)
	if why.Reason != "" {
		hint := "correct the cause, then send mode/set " + m
		if why.Reason == schema.ReasonBadMap {
			hint = "assign places with a map that this body can read, or without one, then send mode/set " + m
		}
		t.Out.Do(effect.RaiseAlert{Kind: "calibration_failed", Level: schema.AlertError, Source: m,
			Detail: cmp.Or(why.Detail, string(why.Reason)), Hint: hint, Params: schema.AlertParams{Reason: why.Reason}})
	} else {
		t.Out.Clear("calibration_failed", m)
	}
	t.Notify(CalibrationEnded{Refusal: why})
}

// StoryAnswered notifies the mode that began the story whether it is performed.
func (t Step) StoryAnswered(refused schema.Reason) {
	var why Refusal
	if refused != "" {
		why = Refusal{Reason: refused, Detail: refused.Describe().Text}
	}
	t.Notify(StoryAnswered{Refusal: why})
}
