package manual

import (
	"slices"
	"strings"
	"time"

	"troupe/robotd/act"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// performAction performs one action; a newer one of its class replaces it.
func (t Step) performAction(o effect.Dispatch, do score.Action, unit schema.Unit) {
	timeout := o.Verb.Within
	sound, _ := do.Do.(score.Sound)
	switch {
	case sound.Loop: // no unit ends a loop
		end := timeout.Milliseconds()
		do.EndMS = &end
		timeout += instantTimeout
	case timeout > 0:
		// An action that its unit does not end in time has failed. In an act, its time-out
		// would complete it.
		limit := (timeout + time.Second).Milliseconds()
		do.TimeoutMS = &limit
	default:
		timeout = instantTimeout
	}
	a := score.Act{ID: "manual-" + string(do.Type()), Method: score.MethodMultiple, Actions: []score.Action{do}}
	row, _ := score.RowOf(do.Type())
	class := classOf(&do, unit)
	to, _ := do.Do.(score.Goto)
	elsewhere := t.Body.Elsewhere(to.Point)
	switch found := schema.Errors(score.ValidateAndFit(a, t.capabilities())); {
	case elsewhere != "":
		t.refuse(o, schema.ReasonPrecondition, "/args/point", elsewhere)
		return
	case len(found) > 0:
		t.refuseAction(o, found[0])
		return
	case unit.ID == "": // a unit of another kind could perform it
		t.refuse(o, schema.ReasonOutOfRange, "", "no "+string(o.Verb.Unit)+" of this robot performs it")
		return
	case !t.Lanes.Idle(ActLane):
		t.refuse(o, schema.ReasonResourceBusy, "", "an act is performed manually; manual/stop ends it")
		return
	case class == score.ClassBody && t.driven():
		t.refuse(o, schema.ReasonResourceBusy, "", "the robot is driven manually")
		return
	}
	h := entry{lane: laneOf(class, unit, t.Body.Units()), class: class, moves: row.Moves(), until: t.Now.Mono + timeout}
	languages := t.cfg.Languages
	for language := range do.Text() { // the one that the command names
		languages = append([]string{language}, languages...)
	}
	t.begin(o, h, act.Entry{Act: &a, Languages: languages, Clear: true}, do)
}

// refuseAction refuses an action, with the names of the verb's arguments.
func (t Step) refuseAction(o effect.Dispatch, p schema.Problem) {
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
	t.refuse(o, why, pointer, act.ProblemText(p))
}

// perform performs a whole act. manual/act, and act/perform with clear, replace all manual commands,
// no matter who sends them. act/perform without clear waits for earlier acts, or replaces single actions.
func (t Step) perform(o effect.Dispatch, asked verb.WholeAct) {
	e, no := t.Lanes.Resolve(asked, t.Story.Acts, t.Story.Languages, t.capabilities())
	if no != nil {
		t.refuse(o, no.Reason, no.Pointer, no.Detail)
		return
	}
	moves, drives := e.Act.Moves(), e.Act.Contains(score.TypeDrive)
	if drives && !t.control.Holds(whoOf(o)) {
		t.refuse(o, schema.ReasonNotInControl, "",
			"the act has a drive action, which needs control of the robot: acquire it with control/acquire, or use goto")
		return
	}
	if moves {
		units := t.Body.Units()
		for _, u := range units {
			if u.Kind.Moves() && e.Act.UsesUnit(u, units) && t.refuseManual(o, u) {
				return
			}
		}
		if t.driven() {
			t.refuse(o, schema.ReasonResourceBusy, "", "the robot is driven manually")
			return
		}
	}
	if e.Clear = asked.Replaces() || t.Lanes.Idle(ActLane); e.Clear {
		t.cancel(schema.ReasonSuperseded, func(entry) bool { return true })
	}
	whole := e.Act.Resolve(score.Step{With: e.With})
	t.begin(o, entry{lane: ActLane, moves: moves, drives: drives}, e, score.Action{Do: score.Group{Actions: whole.Actions}})
}

// capabilities are those of the body with the files of the robot's story.
func (t Step) capabilities() schema.Caps {
	return score.WithAssets(t.Body.Capabilities(t.cfg.Languages), t.Story.Files)
}

// driven reports whether frames drive the robot now.
func (t Step) driven() bool { return t.stick.VX != 0 || t.stick.WZ != 0 }

// begin performs an entry; done is what a recording keeps of it.
func (t Step) begin(o effect.Dispatch, h entry, e act.Entry, done score.Action) {
	e.ID, e.Req = t.Lanes.NextEntry("manual"), string(o.Key)
	if refused := t.Lanes.Push(h.lane, e); refused != nil {
		t.refuse(o, refused.Reason, "", refused.Detail)
		return
	}
	if e.Clear {
		for i, earlier := range t.entries {
			if earlier.lane == h.lane || h.lane == ActLane {
				t.entries[i].by = o.Key
			}
		}
	}
	h.id, h.key, h.who, h.need = e.ID, o.Key, whoOf(o), o.Verb.Need
	t.entries = append(t.entries, h)
	t.taught.Begin(e.ID, done, t.Now.Mono)
	t.Out.Do(effect.Reply{To: o.Key, Verdict: schema.Verdict{Status: schema.StatusAccepted}, StartsMotion: h.moves})
	t.Out.Changed(effect.FlushSoon)
}

// Ended answers the command of an entry that ended, and reports whether the entry was a
// manual one.
func (t Step) Ended(o *act.Effect) bool {
	i := slices.IndexFunc(t.entries, func(h entry) bool { return h.id == o.Entry })
	if i < 0 {
		return false
	}
	h := t.entries[i]
	t.entries = slices.Delete(t.entries, i, i+1)
	r := schema.Verdict{Status: schema.StatusSucceeded, Reason: o.Reason, Detail: o.Detail}
	failed := o.Outcome == act.EntryFailed || o.Reason == schema.ReasonTimeout
	t.taught.End(o.Entry, o.Outcome == act.EntryCompleted, failed, t.Now.Mono)
	switch {
	case failed:
		r.Status = schema.StatusFailed
	case o.Outcome == act.EntryCancelled && o.Reason == schema.ReasonSuperseded:
		r.Status, r.Refs = schema.StatusSuperseded, h.by.Refs()
	case o.Outcome == act.EntryCancelled:
		r.Status, r.Refs = schema.StatusCancelled, h.by.Refs()
	}
	t.Out.Reply(h.key, r)
	if h.lane == ActLane {
		switch o.Outcome {
		case act.EntryCompleted:
			t.Out.Do(effect.ActCompleted{ID: o.Act, Req: o.Req})
		case act.EntryFailed:
			t.Out.Do(effect.ActFailed{ID: o.Act, Req: o.Req, Reason: o.Reason, Detail: o.Detail})
		}
	}
	return true
}

// Cancel ends what a command started manually.
func (t Step) Cancel(key, by command.Key) bool {
	for i, h := range t.entries {
		if h.key == key {
			t.entries[i].by = by
			t.Lanes.Cancel(h.lane, h.id, schema.ReasonCancelled)
			return true
		}
	}
	return false
}
