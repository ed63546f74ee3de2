package perform

import (
	"troupe/robotd/act"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

// SafetyLane is the lane of what belongs to a safety state: the shutdown act in SOFT_STOP,
// and the sentence in E_STOP. It is above all others.
const SafetyLane act.Lane = "safety"

// SafetyChanged begins what belongs to a safety state, and ends what a stop ended, so that
// it does not continue when the robot may move again. While a mode calibrates there is no shutdown
// act, because the units have to leave run to end their homing.
func (t Step) SafetyChanged(d safety.Decision) {
	t.Lanes.Cancel(SafetyLane, "", schema.ReasonStopped)
	switch {
	case d.To == schema.SafetySoftStop && !t.InCalibration:
		t.beginShutdown()
	case d.To == schema.SafetyEStop && d.From != schema.SafetyReset:
		t.explain(d.Cause)
	}
	t.endStopped(d.To)
}

// EndShutdownWithoutLink cuts off the shutdown act when the heartbeats of fleetd and of consoles stop, unless the
// active mode continues then.
func (t Step) EndShutdownWithoutLink() {
	if t.Safety == schema.SafetySoftStop && t.LinkLostForMode {
		t.Lanes.Cancel(SafetyLane, "", schema.ReasonLinkLost)
	}
}

// beginShutdown begins the shutdown act: that of the story in ato, or else the built-in one. The
// story's act is one that was published with it, and so was checked to contain no goto or drive:
// in SOFT_STOP this lane moves the body, and an act that was taught on the robot may drive.
func (t Step) beginShutdown() {
	if t.playing != nil && t.auto.Status != schema.AutoNotActive {
		a, ok := t.playing.Content.Acts[t.playing.Fit.Content.Story.Shutdown]
		var out leftOut
		a.Actions = keep(a.Actions, func(do *score.Action) bool {
			u, has := do.Performer(t.Body.Units())
			if has && t.unusable(u.ID) {
				out.add(do, schema.ReasonDeviceDisabled, "the "+u.ID+" cannot be used")
				return false
			}
			return true
		})
		t.reportLeftOut(a.ID, "", &out)
		if ok && len(a.Actions) > 0 && t.pushSafetyAct(act.Entry{Act: &a, Languages: t.playing.languages}) {
			return
		}
	}
	// One act for each kind, in the order of Kinds (heads, then the drive): one that fails does not end the others.
	for _, k := range score.Kinds {
		if a := t.restAct(k); len(a.Actions) > 0 {
			t.pushSafetyAct(act.Entry{Act: a})
		}
	}
}

// unusable reports whether nobody may use a unit. The diagnosis may know it before the
// executor: it may be the reason for this stop.
func (t Step) unusable(unit string) bool {
	return t.Lanes.UnitDisabled(unit) || t.Health.Unusable(unit) != ""
}

// restAct returns the act that brings the units of a kind to rest, as far as they are not disabled.
func (t Step) restAct(k score.Kind) *score.Act {
	a := &score.Act{ID: k.RestAct}
	for _, u := range t.Body.Units() {
		if u.Kind != k.Unit || k.Rest == nil || t.unusable(u.ID) {
			continue
		}
		if do := k.Rest(&u); do != nil {
			a.Actions = append(a.Actions, score.Action{Unit: u.ID, Do: do})
		}
	}
	return a
}

// Why a robot is in E_STOP, in its own words.
var (
	estopTexts = map[string]score.Text{ // by the source of the cause
		"input": {"en": "My stop button is pressed.", "de": "Mein Stoppknopf ist gedrückt."},
		"unit":  {"en": "A part of me does not work.", "de": "Ein Teil von mir ist gestört."},
	}
	estopText = score.Text{"en": "I have been stopped.", "de": "Ich wurde angehalten."}
)

// explain says once why the robot stands.
func (t Step) explain(why safety.Cause) {
	text := t.cfg.EStopText
	if text == nil {
		text = estopTexts[why.Source]
	}
	if text == nil {
		text = estopText
	}
	say := score.Action{Do: score.Say{Text: text}}
	if _, speaks := say.Performer(t.Body.Units()); speaks && len(text) > 0 {
		t.pushSafetyAct(act.Entry{Languages: t.cfg.Languages, Act: &score.Act{ID: "why-estop", Actions: []score.Action{say}}})
	}
}

// pushSafetyAct pushes an act for a safety state to the safety lane, and reports whether this robot
// can perform it.
func (t Step) pushSafetyAct(e act.Entry) bool {
	e.ID = t.Lanes.NextEntry("safety")
	refused := t.Lanes.Push(SafetyLane, e)
	if refused != nil {
		t.Out.Do(effect.ActFailed{ID: e.Act.ID, Reason: refused.Reason, Detail: refused.Detail})
	}
	return refused == nil
}

// safetyActEnded reports an act of the safety lane that failed.
func (t Step) safetyActEnded(o *act.Effect) {
	if o.Outcome == act.EntryFailed {
		t.Out.Do(effect.ActFailed{ID: o.Act, Reason: o.Reason, Detail: o.Detail})
	}
}
