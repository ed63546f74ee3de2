package brain

import (
	"slices"
	"strings"
	"time"

	"troupe/robotd/act"
	"troupe/robotd/control"
	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/score"
)

// What is done manually has a lane for each thing that can be done at a time, so
// that a robot can speak while it drives; all are one occupant, which takes no
// unit from itself.
const (
	manualOccupant          = "manual"
	manualActs     act.Lane = "manual-act"
)

var manualClasses = []score.Class{score.ClassSpeech, score.ClassSound, score.ClassFace, score.ClassLED, score.ClassHead, score.ClassBody}

func manualLane(c score.Class) act.Lane { return act.Lane("manual-" + c) }

// manualLanes are above all others: a person outranks every script.
func manualLanes() []act.LaneConfig {
	lanes := []act.LaneConfig{{Lane: manualActs}}
	for _, c := range manualClasses {
		lanes = append(lanes, act.LaneConfig{Lane: manualLane(c)})
	}
	for i := range lanes {
		lanes[i].Occupant, lanes[i].Attends = manualOccupant, true
	}
	return lanes
}

// instantPatience is how long a unit may take to say that it did what takes no
// time.
const instantPatience = 5 * time.Second

// manualCommand is something that is done manually now.
type manualNow struct {
	entry string
	lane  act.Lane
	key   request.Key
	who   control.Who
	need  control.Need  // of who
	until time.Duration // its unit has to have answered; 0 = the act itself knows
	moves bool
	by    request.Key // that called it off
}

// requestManual lays something to do before the lanes.
func (t *step) requestManual(o request.Perform) { t.toHand.Put(o, o.Key, o.If) }

// stopManual ends all that is done manually, and what waits to be.
func (t *step) stopManual(o request.Perform) {
	t.toHand.Clear(func(w request.Waiting[request.Perform]) {
		t.reply(w.By, request.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonStopped, Detail: "a stop came before it was begun", Refs: o.Key.Refs()})
	})
	t.requestManual(o)
}

// hands does the oldest that waits, and ends what may not go on.
func (t *step) hands() {
	t.endManual()
	w, ok := t.toHand.Take()
	if !ok {
		return
	}
	o := w.In
	v := manualVerbs[o.Verb.ID()]
	_, has := t.body.Of(v.kind)
	switch {
	case o.Verb.ID() == "manual/stop":
		t.manualStopped(o)
	case !t.met(o.Key, o.If) || t.uncontrolled(o):
	case v.kind != "" && !has:
		t.refuse(o, schema.ReasonUnknownVerb, "", "this robot has no "+string(v.kind))
	case t.refuseManual(o, v.kind):
	case o.Verb.ID() == "manual/volume":
		t.setVolume(o)
	case v.action == nil:
		t.performManual(o)
	default:
		t.performManualAct(o, v)
	}
}

func (t *step) refuse(o request.Perform, why schema.Reason, pointer, detail string) {
	t.reply(o.Key, request.Verdict{Status: schema.StatusRejected, Reason: why, Pointer: pointer, Detail: detail})
}

// refuseManual refuses what cannot be done manually now.
func (t *step) refuseManual(o request.Perform, k schema.UnitKind) bool {
	if why := t.manualCommand(k); why != "" {
		t.refuse(o, why, "", why.Describe().Text)
		return true
	}
	if id, why := t.body.Broken(k); id != "" {
		t.refuse(o, schema.ReasonUnitError, "", "the "+id+" is out of order: "+why)
		return true
	}
	return false
}

// manualStopped answers a stop once nothing is done manually any more.
func (t *step) manualStopped(o request.Perform) {
	r := request.Verdict{Status: schema.StatusSucceeded}
	drove := t.letGo()
	if !drove && len(t.manualEntries) == 0 {
		r.Reason, r.Detail, r.AtOnce = schema.ReasonUnchanged, "nothing was done manually", true
	} else {
		t.dirty(effect.FlushNow)
		t.tell("manual_stopped", "manual", t.asker(o.Client, o.By), string(o.Key), nil)
	}
	t.cancelManual(schema.ReasonStopped, func(manualNow) bool { return true })
	for i := range t.manualEntries {
		t.manualEntries[i].by = o.Key
	}
	t.reply(o.Key, r)
}

// endManual ends what may not go on: a stop is under way, mnl is left, its asker
// has no control any more, or its unit does not answer.
func (t *step) endManual() {
	if len(t.manualEntries) == 0 {
		return
	}
	switch t.safety.At {
	case schema.SafetyEnabled, schema.SafetyDisabled:
	default:
		t.cancelManual(schema.ReasonStopped, func(manualNow) bool { return true })
	}
	if t.manualCommand("") != "" {
		t.cancelManual(schema.ReasonNotInMnl, func(manualNow) bool { return true })
	}
	t.cancelManual(schema.ReasonNotInControl, func(h manualNow) bool {
		return t.control.May(&t.cfg.Control, h.need, h.who).Reason != ""
	})
	t.cancelManual(schema.ReasonTimeout, func(h manualNow) bool { return h.until > 0 && t.now.Mono >= h.until })
	if lost, _ := t.linkLost(); lost || t.report.Session() == "" {
		t.cancelManual(schema.ReasonLinkLost, func(h manualNow) bool { return h.moves })
	}
}

func (t *step) cancelManual(why schema.Reason, these func(manualNow) bool) {
	for _, h := range t.manualEntries {
		if these(h) {
			t.lanes.Cancel(h.lane, h.entry, why)
		}
	}
}

// performManualAct performs one action; a newer one of its class takes its place.
func (t *step) performManualAct(o request.Perform, v manualVerb) {
	do := v.action(o.Args, t.cfg)
	patience := instantPatience
	switch {
	case do.Loop: // which no unit ends
		do.EndMS = &v.patient
		patience += time.Duration(v.patient) * time.Millisecond
	case v.patient > 0:
		// What its unit never ends has failed; an act would go on after its time-out.
		patience = time.Duration(v.patient) * time.Millisecond
		limit := v.patient + 1000
		do.TimeoutMS = &limit
	}
	a := score.Act{ID: "manual-" + string(do.Type), Method: score.MethodMultiple, Actions: []score.Action{do}}
	row, _ := score.RowOf(do.Type)
	switch found := schema.Errors(append(score.ValidateAct(a), score.Fit(a, t.furnished())...)); {
	case len(found) > 0:
		t.refuseAction(o, found[0])
		return
	case !t.lanes.Idle(manualActs):
		t.refuse(o, schema.ReasonResourceBusy, "", "an act is performed manually; manual/stop ends it")
		return
	case row.Class == score.ClassBody && t.driven():
		t.refuse(o, schema.ReasonResourceBusy, "", "the robot is driven manually")
		return
	}
	h := manualNow{lane: manualLane(row.Class), moves: row.Unit.Moves(), until: t.now.Mono + patience}
	t.beginManual(o, h, act.Entry{Act: &a, Languages: append([]string{o.Args.Language}, t.cfg.Languages...), Clear: true})
}

// refuseAction tells what is wrong with an action in the words of its verb.
func (t *step) refuseAction(o request.Perform, p schema.Problem) {
	field := strings.TrimPrefix(p.Pointer, "/actions/0")
	if rest, of := strings.CutPrefix(field, "/text"); of {
		if field = "/text"; rest != "" && p.Code == score.CodeBadLanguage {
			field = "/language"
		}
	}
	why := schema.ReasonBadRequest
	switch p.Code {
	case score.CodeOutOfRange, score.CodeBeyondUnit, score.CodeNotInCatalogue:
		why = schema.ReasonOutOfRange
	}
	pointer := "/args" + field
	if field == "/type" || field == "" {
		pointer = ""
	}
	t.refuse(o, why, pointer, act.InWords(p))
}

// performManual performs a whole act. What is asked for with clear takes the place
// of all that is done manually, as what a person with control asks for always does;
// else it waits for the acts that were asked for before.
func (t *step) performManual(o request.Perform) {
	e, ok := t.wanted(o)
	if !ok {
		return
	}
	moves := e.Act.Moves()
	if moves {
		for _, k := range []schema.UnitKind{schema.UnitDrive, schema.UnitHead} {
			if _, has := t.body.Of(k); has && t.refuseManual(o, k) {
				return
			}
		}
		if t.driven() {
			t.refuse(o, schema.ReasonResourceBusy, "", "the robot is driven manually")
			return
		}
	}
	if e.Clear = o.Args.Clear || o.Verb.Class == schema.ClassManual || t.lanes.Idle(manualActs); e.Clear {
		t.cancelManual(schema.ReasonSuperseded, func(manualNow) bool { return true })
	}
	t.beginManual(o, manualNow{lane: manualActs, moves: moves}, e)
}

// driven reports whether frames move the robot.
func (t *step) driven() bool { return t.hand.stick.VX != 0 || t.hand.stick.WZ != 0 }

func (t *step) beginManual(o request.Perform, h manualNow, e act.Entry) {
	e.ID = t.lanes.NextEntry("manual")
	if refused := t.lanes.Push(h.lane, e); refused != nil {
		t.refuse(o, refused.Reason, "", refused.Detail)
		return
	}
	h.entry, h.key, h.who, h.need = e.ID, o.Key, whoOf(o), needs(o.Verb)
	t.manualEntries = append(t.manualEntries, h)
	t.reply(o.Key, request.Verdict{Status: schema.StatusAccepted, Moves: h.moves})
	t.dirty(effect.FlushSoon)
}

// manualEnded answers for an entry that ended, and reports whether it was one of
// those that are done manually.
func (t *step) manualEnded(o *act.Out) bool {
	i := slices.IndexFunc(t.manualEntries, func(h manualNow) bool { return h.entry == o.Entry })
	if i < 0 {
		return false
	}
	h := t.manualEntries[i]
	t.manualEntries = slices.Delete(t.manualEntries, i, i+1)
	r := request.Verdict{Status: schema.StatusSucceeded, Reason: o.Reason, Detail: o.Detail}
	switch {
	case o.Outcome == act.EntryFailed, o.Reason == schema.ReasonTimeout:
		r.Status = schema.StatusFailed
	case o.Outcome == act.EntryCancelled && o.Reason == schema.ReasonSuperseded:
		r.Status = schema.StatusSuperseded
		if newest := len(t.manualEntries) - 1; newest >= 0 { // it took its place
			r.Refs = t.manualEntries[newest].key.Refs()
		}
	case o.Outcome == act.EntryCancelled:
		r.Status, r.Refs = schema.StatusCancelled, h.by.Refs()
	}
	t.reply(h.key, r)
	if h.lane == manualActs {
		switch o.Outcome {
		case act.EntryCompleted:
			t.report.ActCompleted(o.Act)
		case act.EntryFailed:
			t.actFailed(o.Act, o.Reason, o.Detail)
		}
	}
	return true
}

// cancelManualRequest ends what a command set going manually.
func (t *step) cancelManualRequest(key, by request.Key) bool {
	for i, h := range t.manualEntries {
		if h.key == key {
			t.manualEntries[i].by = by
			t.lanes.Cancel(h.lane, h.entry, schema.ReasonCancelled)
			return true
		}
	}
	return false
}
