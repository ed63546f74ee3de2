package manual

import (
	"fmt"

	"troupe/robotd/control"
	"troupe/robotd/effect"
	"troupe/robotd/taught"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// actRecording is the client whose manual commands become an act.
type actRecording struct {
	who control.Who
	req string
	// lost says for people which act was dropped and why, until the next recording.
	lost string
}

// takeTaught takes a command by which people teach the robot, and reports whether it is one.
func (t Step) takeTaught(o effect.Dispatch) bool {
	switch a := o.Args.(type) {
	case verb.SavePoint:
		t.savePoint(o, a.Point)
	case verb.RecordAct:
		t.record(o, a)
	default:
		return false
	}
	return true
}

// takeDeletion takes a command that deletes what was taught, in every mode, and reports
// whether it is one.
func (t Step) takeDeletion(o effect.Dispatch) bool {
	switch a := o.Args.(type) {
	case verb.DeletePoint:
		saved, had := t.taught.DeletePoint(a.Point)
		t.forget(o, saved, had, "point_deleted", "/args/point", a.Point)
	case verb.DeleteAct:
		saved, had := t.taught.DeleteAct(a.Act)
		t.forget(o, saved, had, "act_deleted", "/args/act", a.Act)
	default:
		return false
	}
	return true
}

// savePoint keeps the position of the robot as a point.
func (t Step) savePoint(o effect.Dispatch, id string) {
	at, known := t.Body.Position()
	_, again := t.taught.Points()[id]
	switch {
	case !schema.ValidID(id):
		t.refuse(o, schema.ReasonBadRequest, "/args/point", "a name has a-z, 0-9 and hyphens, at most 63")
	case !known:
		t.refuse(o, schema.ReasonPrecondition, "", "the body has not reported where it is on its map; drive it a little, or give it a map")
	case !again && t.Body.HasPoint(id):
		t.refuse(o, schema.ReasonIDReuse, "/args/point", "the robot's map or the fleet's places have a point "+id)
	case !again && len(t.taught.Points()) >= taught.MaxPoints:
		t.refuse(o, schema.ReasonPrecondition, "", fmt.Sprintf("%d points were taught already; manual/point-delete removes one",
			taught.MaxPoints))
	default:
		t.learn(t.taught.SetPoint(id, at))
		t.Out.Event("point_saved", "manual", whoOf(o).String(), string(o.Key), savedPoint{id, at.Point})
		t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded, Detail: fmt.Sprintf("%s is at x %.2f m, y %.2f m, heading %.2f rad", id,
			at.XM, at.YM, *at.ThetaRad)})
	}
}

// savedPoint is the data of the event: fleetd can take the point into its places.
type savedPoint struct {
	ID string `json:"id"`
	score.Point
}

// learn saves what was taught, and tells the other parts of the robot.
func (t Step) learn(s taught.StoredValue) {
	t.Out.Do(effect.SaveValue(s))
	t.Out.Do(effect.TaughtChanged{})
	t.Out.Changed(effect.FlushSoon)
}

// forget answers the deletion of something that was taught.
func (t Step) forget(o effect.Dispatch, s taught.StoredValue, had bool, event, pointer, id string) {
	if !had {
		t.refuse(o, schema.ReasonUnknownID, pointer, "the robot was not taught "+id)
		return
	}
	t.learn(s)
	t.Out.Event(event, "manual", whoOf(o).String(), string(o.Key), effect.Described{ID: id})
	t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded})
}

// record starts, stops or cancels the recording of an act.
func (t Step) record(o effect.Dispatch, a verb.RecordAct) {
	recording := t.taught.Act
	switch {
	case a.Do != "start" && a.Do != "stop" && a.Do != "cancel":
		t.refuse(o, schema.ReasonBadRequest, "/args/do", "start, stop or cancel")
	case a.Do == "start":
		t.startRecording(o, a)
	case recording == "":
		t.refuse(o, schema.ReasonInvalidTransition, "", "no act is being recorded"+t.actRecording.lost)
	case a.Do == "cancel":
		t.endRecording(schema.ReasonCancelled, "")
		t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded})
	default:
		t.stopRecording(o)
	}
}

func (t Step) startRecording(o effect.Dispatch, a verb.RecordAct) {
	_, known := t.Story.Acts[a.Act]
	again := t.taught.Has(a.Act)
	switch {
	case !schema.ValidID(a.Act):
		t.refuse(o, schema.ReasonBadRequest, "/args/act", "an act has a name of a-z, 0-9 and hyphens, at most 63")
	case t.taught.Act != "":
		t.refuse(o, schema.ReasonBusy, "", t.taught.Act+" is being recorded")
	case known && !again:
		t.refuse(o, schema.ReasonIDReuse, "/args/act", "the robot's story has an act "+a.Act)
	case !again && t.taught.Full():
		t.refuse(o, schema.ReasonPrecondition, "", fmt.Sprintf("%d acts were taught already; manual/act-delete removes one", taught.MaxActs))
	default:
		f := t.teleopFacts()
		t.taught.Recording = taught.Recording{Act: a.Act, Since: t.Now.Mono, MaxMPS: f.MaxMPS, MaxTurn: f.MaxRadPS}
		if a.Name != "" {
			t.taught.Name = score.Text{t.cfg.Languages[0]: string(a.Name)}
		}
		t.actRecording = actRecording{who: whoOf(o), req: string(o.Key)}
		t.recordDrive()
		t.Out.Changed(effect.FlushSoon)
		t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded, Detail: "what is done manually from now on becomes " +
			a.Act + t.mustRenew()})
	}
}

// mustRenew says, for people, by when the holder of control has to renew it.
func (t Step) mustRenew() string {
	if t.control.At != control.Held {
		return ""
	}
	return fmt.Sprintf("; it is dropped when control ends, in %d s, so send control/renew before that",
		int((t.control.Lease.Until - t.Now.Mono).Seconds()))
}

// stopRecording keeps the recorded act. If it is refused, the recording goes on, except one that
// can never be kept.
func (t Step) stopRecording(o effect.Dispatch) {
	a, tooLong := t.taught.Recorded(t.Now.Mono)
	const over = "; the recording has ended, and nothing is kept"
	switch bad, unfit := schema.Errors(score.ValidateAct(a)), schema.Errors(score.Fit(a, t.capabilities())); {
	case len(a.Actions) == 0:
		t.refuse(o, schema.ReasonPrecondition, "", "nothing was done manually, so there is no act; the recording goes on")
	case tooLong:
		t.endRecording(schema.ReasonTooBig, "")
		t.refuse(o, schema.ReasonTooBig, "", fmt.Sprintf("the act has more than %d actions", taught.MaxActions)+over)
	case len(bad) > 0:
		t.endRecording(schema.ReasonOutOfRange, "")
		t.refuse(o, schema.ReasonOutOfRange, "", "what was recorded is no valid act: "+bad[0].String()+over)
	case taught.Size(a) > taught.MaxActBytes:
		t.endRecording(schema.ReasonTooBig, "")
		t.refuse(o, schema.ReasonTooBig, "", fmt.Sprintf("the act has more than %d bytes", taught.MaxActBytes)+over)
	case len(unfit) > 0: // until the robot has the point again, for example
		t.refuse(o, schema.ReasonOutOfRange, "", "what was recorded cannot be performed now: "+unfit[0].String()+
			"; the recording goes on, and cancel ends it")
	default:
		t.taught.Recording = taught.Recording{}
		t.learn(t.taught.SetAct(a))
		t.Out.Event("act_recorded", "manual", whoOf(o).String(), string(o.Key), effect.Described{ID: a.ID})
		t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded, Detail: fmt.Sprintf("actions of %s: %d", a.ID, len(a.Actions))})
	}
}

// endRecording drops what was recorded; detail says why, unless the answer to a command says it.
func (t Step) endRecording(why schema.Reason, detail string) {
	if detail != "" {
		t.actRecording.lost = "; what was recorded as " + t.taught.Act + " was dropped: " + detail
	}
	t.Out.Event("act_recording_ended", "manual", string(why), t.actRecording.req, effect.Described{ID: t.taught.Act, Reason: why})
	t.taught.Recording = taught.Recording{}
	t.Out.Changed(effect.FlushSoon)
}

// watchRecording drops the recording when its client may not act manually any more, and when it
// is too long to be kept.
func (t Step) watchRecording() {
	switch {
	case t.taught.Act == "":
	case t.forbids("") != "":
		t.endRecording(schema.ReasonNotInMnl, "the robot was not in manual operation any more")
	case t.control.May(&t.cfg.Control, verb.NeedManual, t.actRecording.who).Reason != "":
		t.endRecording(schema.ReasonNotInControl, "control ended, which control/renew prevents")
	case t.taught.TooLong():
		t.endRecording(schema.ReasonTooBig, fmt.Sprintf("it had more than %d actions", taught.MaxActions))
	}
}

// Recording is the recording in progress, for the state document; nil = none.
func (t Step) Recording() *schema.StateRecording {
	r := &t.taught.Recording
	if r.Act == "" {
		return nil
	}
	return &schema.StateRecording{Act: r.Act, Holder: t.actRecording.who.Client, By: t.actRecording.who.By, Since: t.Now.At(r.Since)}
}
