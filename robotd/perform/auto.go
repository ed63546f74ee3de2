package perform

import (
	"troupe/robotd/auto"
	"troupe/robotd/command"
	"troupe/robotd/control"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/robotd/safety"
	"troupe/schema"
)

// StepAuto gives ato one input: the oldest queued one, or the passing of time.
func (t Step) StepAuto() (r Result) {
	in, by := t.nextForAuto()
	act, story := t.ActName(), t.auto.Story
	f := t.autoFacts()
	if by != "" {
		f.Standstill = t.Standstill.String()
	}
	d := auto.Step(&t.auto, t.Now.Mono, t.cfg.Auto, f, in)
	t.updatePlaying()
	// One transition per step: the pauses may cause another one.
	t.again = t.auto.Status == schema.AutoPaused && t.auto.Count() == 0 || t.auto.Status == schema.AutoPerforming &&
		t.auto.Count() > 0 || d.Skipped
	changed := d.Changed || len(d.Acquired) > 0 || len(d.Released) > 0
	if changed || d.Stuck {
		t.keepAsked()
	}
	if changed {
		t.Out.Changed(effect.FlushSoon)
		t.Out.LogTransition("auto", string(d.From), string(d.To), whyAuto(d), string(d.On))
	}
	if d.Changed && d.From != d.To {
		t.Out.Event("auto_changed", "auto", string(d.On), string(by), effect.Transition{From: string(d.From), To: string(d.To),
			Reason: t.auto.Reason})
	}
	if o := d.Over; o.Number > 0 {
		t.Out.Event("story_round", "auto", "", "", round{d.Story.ID, d.Story.Rev, o.Number, o.Performed, o.Failed, o.Skipped})
	}
	t.reportFailing(d.Over)
	if d.Skipped {
		t.Out.Event("act_skipped", "auto", control.Who{Client: in.Client, By: in.Person}.String(), string(by),
			skipped{act, story.ID, story.Rev, in.Why})
	}
	switch {
	case d.Cancel && d.Skipped:
		t.cancelAct(schema.ReasonSkipped)
	case d.Cancel:
		t.cancelAct(schema.ReasonStopped)
	}
	t.freeze(t.auto.Freeze())
	switch {
	case d.Begin:
		t.beginAct()
	case d.On == auto.OnRevised && t.auto.Begun: // the act goes on, so the revision performs
		t.reportStart("", "")
	}
	switch in.What {
	case auto.Enter:
		r = t.entered(d)
	case auto.Leave:
		t.cancelLanes()
	}
	if d.Answer.Status != "" {
		v := d.Answer
		for _, p := range d.Acquired {
			if in.What == auto.Pause {
				v.Refs = append(v.Refs, schema.Ref{Kind: schema.RefPause, ID: p.Name()})
			}
		}
		t.Out.Reply(by, v)
	}
	return r
}

// askedKey is the key on the disk of an auto.Asked.
const askedKey = "auto.asked"

// keepAsked saves what people asked of ato if it has changed.
func (t Step) keepAsked() {
	text := ""
	if a := t.auto.Asked(t.Now.At); a.Stopped || a.NeedsContinue || len(a.Pauses) > 0 {
		text = string(effect.Encode(a))
	}
	if text != t.asked {
		t.asked = text
		t.Out.Do(effect.SaveValue{Name: askedKey, Value: text})
	}
}

// round is the data of the event about a round of a story.
type round struct {
	Story     string `json:"story"`
	Rev       int64  `json:"rev"`
	Round     int64  `json:"round"`
	Performed int    `json:"performed"`
	Failed    int    `json:"failed"`
	Skipped   int    `json:"skipped,omitzero"`
}

// skipped is the data of the event about a skipped act.
type skipped struct {
	Act   string `json:"act"`
	Story string `json:"story"`
	Rev   int64  `json:"rev"`
	Why   string `json:"why,omitempty"`
}

// nextForAuto takes the oldest input, except the end of an act that was cancelled
// meanwhile.
func (t Step) nextForAuto() (auto.Input, command.Key) {
	for {
		next, ok := t.toAuto.Take()
		switch {
		case !ok:
			return auto.Input{What: auto.Tick}, ""
		case next.In.entry != "" && next.In.entry != t.storyEntry:
		case t.Out.Met(next.By, next.When, t.CurrentState) && t.isMeantAct(next.By, next.In):
			return next.In.Input, next.By
		}
	}
}

// isMeantAct reports whether a command to skip an act means the current one, and otherwise
// refuses it: the act that the person saw may have ended before the command came.
func (t Step) isMeantAct(by command.Key, in autoInput) bool {
	performs := t.auto.Status == schema.AutoPerforming || t.auto.Status == schema.AutoPaused
	if now := t.ActName(); in.act != "" && performs && in.act != now {
		t.Out.Refuse(by, schema.ReasonPrecondition, "/args/act", "the act is "+now+" now, not "+in.act+"; skip that one, or leave act out")
		return false
	}
	return true
}

// whyAuto explains a change of ato, or which pause token did not change it.
func whyAuto(d auto.Decision) string {
	switch {
	case d.Why != "":
		return d.Why
	case len(d.Acquired) > 0:
		return "paused also by " + d.Acquired[0].Name()
	case len(d.Released) > 0:
		return "no longer paused by " + d.Released[0].Name()
	}
	return ""
}

// Result is what the mode supervisor has to know.
type Result struct {
	Entered bool          // the input was to enter ato
	Refused schema.Reason // why that failed
}

// entered reports whether ato runs, and starts the interrupters.
func (t Step) entered(d auto.Decision) Result {
	if d.Refused == "" {
		t.toInterrupts.Add(interruptInput{Input: interrupt.Input{What: interrupt.Enter}})
	}
	return Result{Entered: true, Refused: d.Refused}
}

// Enter requests that ato is entered, and Leave that it is left.
func (s *State) Enter(asked bool) {
	s.toAuto.Add(autoInput{Input: auto.Input{What: auto.Enter, Asked: asked}})
}

func (s *State) Leave() {
	s.toAuto.Add(autoInput{Input: auto.Input{What: auto.Leave}})
	s.toInterrupts.Add(interruptInput{Input: interrupt.Input{What: interrupt.Leave, Reason: schema.ReasonStopped}})
}

// Ready reports whether ato can be entered, and if not, why.
func (t Step) Ready() (why schema.Reason, detail string, ok bool) {
	if t.EntryRefused != "" {
		return t.EntryRefused, t.EntryRefused.Describe().Text, false
	}
	return t.autoFacts().Ready()
}

// autoFacts are the facts about other parts for ato.
func (t Step) autoFacts() auto.Facts {
	// the delivery has waited for the right moment already
	f := auto.Facts{NoStory: t.noStory, NoStoryDetail: t.noStoryDetail, Apply: schema.ApplyNow}
	moves := false
	if t.accepted != nil {
		f.Story, moves = t.accepted.facts, t.accepted.moves
		f.Place = t.place()
	}
	if at := t.Safety; safety.StoryWaits(at, moves) {
		f.Safety = auto.PauseCause{Present: true, Reason: schema.ReasonSafetyDisabled, Sticky: safety.Halts(at)}
		switch {
		case safety.NeedsReset(at):
			f.Safety.Reason = schema.ReasonNeedsReset
		case at != schema.SafetyDisabled:
			f.Safety.Reason = schema.ReasonStopped
		case len(t.Standstill.Latches) > 0:
			f.Safety.Reason = schema.ReasonLatched
		}
	}
	f.Safeguard = auto.PauseCause{Present: t.Pause != "", Reason: t.Pause}
	f.EntryRefused = t.EntryRefused
	if t.LinkLostForAto {
		f.LinkLost = auto.PauseCause{Present: true, Reason: schema.ReasonLinkLost, Sticky: !t.cfg.ContinueOnReturn}
	}
	return f
}
