package brain

import (
	"troupe/robotd/auto"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/robotd/mode"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
)

// perform gives ato one input: the oldest that waits, or the passing of time.
func (t *step) perform() {
	in, by := t.nextForAuto()
	d := auto.Step(&t.auto, t.now.Mono, t.cfg.Auto, t.autoFacts(), in)
	t.follow()
	// One edge a step: the pauses may have to bring about another one.
	t.again = t.auto.Status == schema.AutoPaused && t.auto.Count() == 0 || t.auto.Status == schema.AutoIdle && t.auto.Count() > 0
	if d.Changed || len(d.Acquired) > 0 || len(d.Released) > 0 {
		t.dirty(effect.FlushSoon)
		t.note("auto", string(d.From), string(d.To), whyAuto(d), string(d.On))
	}
	if d.Changed && d.From != d.To {
		t.tell("auto_changed", "auto", string(d.On), in.Req, effect.Transition{From: string(d.From), To: string(d.To), Reason: t.auto.Reason})
	}
	if d.Cancel {
		t.cancelAct()
	}
	t.freeze(t.auto.Freeze())
	if d.Begin {
		t.beginAct()
	}
	switch in.What {
	case auto.Enter:
		t.entered(d)
	case auto.Leave:
		t.cancelLanes()
	}
	if d.Answer.Status != "" {
		r := request.Verdict{Status: d.Answer.Status, Reason: d.Answer.Reason, Detail: d.Answer.Detail}
		for _, p := range d.Acquired {
			if in.What == auto.Pause {
				r.Refs = append(r.Refs, schema.Ref{Kind: schema.RefPause, ID: p.Name()})
			}
		}
		t.reply(by, r)
	}
}

// nextForAuto takes the oldest input. The end of an act that was cancelled
// meanwhile is no news any more.
func (t *step) nextForAuto() (auto.Input, request.Key) {
	for {
		next, ok := t.toAuto.Take()
		switch {
		case !ok:
			return auto.Input{What: auto.Tick}, ""
		case next.In.entry != "" && next.In.entry != t.storyEntry:
		case t.met(next.By, next.When):
			return next.In.Input, next.By
		}
	}
}

// whyAuto says in words why ato changed, or which pause did not change it.
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

// entered tells the supervisor whether ato runs, and lets the interrupters ask.
func (t *step) entered(d auto.Decision) {
	if d.Refused != "" {
		t.tellMode(mode.Input{Kind: mode.StartFailed, Mode: schema.ModeAto, Reason: d.Refused, Detail: d.Refused.Describe().Text})
		return
	}
	t.toQueue.Add(queueInput{Input: interrupt.Input{What: interrupt.Enter}})
	t.tellMode(mode.Input{Kind: mode.Started, Mode: schema.ModeAto})
}

// autoFacts answers what ato wants to know of the others.
func (t *step) autoFacts() auto.Facts {
	f := auto.Facts{NoStory: t.noStory, Apply: schema.ApplyNow} // the delivery has waited for its moment
	moves := false
	if t.accepted != nil {
		f.Story, moves = t.accepted.facts, t.accepted.moves
	}
	if at := t.safety.At; safety.HoldsStory(at, moves) {
		f.Safety = auto.Hold{Held: true, Reason: schema.ReasonSafetyDisabled, Sticky: halting(at)}
		switch {
		case latched(at):
			f.Safety.Reason = schema.ReasonSafetyLatched
		case at != schema.SafetyDisabled:
			f.Safety.Reason = schema.ReasonStopped
		case len(t.stops.Latches()) > 0:
			f.Safety.Reason = schema.ReasonLatched
		}
	}
	if lost, _ := t.linkLost(); lost && t.linkLossOf(schema.ModeAto) != schema.LinkLossContinue {
		f.LinkLost = auto.Hold{Held: true, Reason: schema.ReasonLinkLost, Sticky: !t.cfg.ContinueOnReturn}
	}
	return f
}

func (t *step) linkLossOf(m schema.ModeID) schema.LinkLoss {
	for i := range t.cfg.Mode.Modes {
		if t.cfg.Mode.Modes[i].ID == m {
			return t.cfg.Mode.Modes[i].LinkLoss
		}
	}
	return schema.LinkLossSafe
}
