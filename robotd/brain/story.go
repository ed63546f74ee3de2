package brain

import (
	"cmp"
	"fmt"
	"slices"

	"troupe/robotd/auto"
	"troupe/robotd/delivery"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/score"
)

// program is an accepted story, ready to be performed here.
type program struct {
	*delivery.Loaded
	facts     auto.Story
	languages []string
	moves     bool
}

// programOf lays out what ato has to know of a story.
func (t *turn) programOf(l *delivery.Loaded) *program {
	story := &l.Fit.Story
	p := &program{Loaded: l, facts: auto.Story{
		ID: l.Story.ID, Rev: l.Story.Rev, Digest: l.Story.SHA256, Acts: len(story.Acts),
		Times: int(story.Repeat.Times), OnError: auto.Skip, Retries: int(story.OnActError.Retries),
	}}
	if len(l.Fit.Pruned) > 0 {
		p.facts.Digest += fmt.Sprint(" without ", l.Fit.Pruned)
	}
	switch {
	case story.OnActError.Stop:
		p.facts.OnError = auto.Stop
	case story.OnActError.Retries > 0:
		p.facts.OnError = auto.Retry
	}
	if story.Repeat.Loop {
		p.facts.Times = 0
	}
	// What the robot is configured to speak wins over the story's own order.
	for _, lang := range t.cfg.Languages {
		if len(story.Languages) == 0 || slices.Contains(story.Languages, lang) {
			p.languages = append(p.languages, lang)
		}
	}
	p.languages = append(p.languages, story.Languages...)
	p.moves = slices.ContainsFunc(story.Acts, func(s score.Step) bool { return l.Blob.Acts[s.Act].Moves() })
	return p
}

// act returns the i-th act of the story that is performed.
func (p *program) act(i int) (*score.Step, *score.Act) {
	if p == nil || i >= len(p.Fit.Story.Acts) {
		return nil, nil
	}
	step := &p.Fit.Story.Acts[i]
	a, ok := p.Blob.Acts[step.Act]
	if !ok {
		return step, nil
	}
	return step, &a
}

// accept looks which story ato shall perform now.
func (t *turn) accept() {
	l, why := t.delivery.Playing()
	switch {
	case l == nil && t.accepted == nil && why == t.noStory,
		l != nil && t.accepted != nil && t.accepted.Loaded == l:
		return
	case l == nil:
		t.accepted = nil
	default:
		t.accepted = t.programOf(l)
	}
	t.noStory = why
	t.dirty(soon)
}

// follow lets the performance go over to the accepted story, as soon as ato has.
func (t *turn) follow() {
	switch {
	case t.accepted != nil && t.auto.Story == t.accepted.facts:
		t.playing = t.accepted
	case t.auto.Story == auto.Story{}:
		t.playing = nil
	}
}

// delivering gives the delivery one input and carries out what it says.
func (t *turn) delivering(in delivery.Input) {
	f := delivery.Facts{
		Performing:  t.auto.Status == schema.AutoIdle || t.auto.Status == schema.AutoPaused,
		Held:        t.auto.Status == schema.AutoPaused,
		Boundary:    !t.auto.Begun || len(t.toAuto) > 0 && (t.toAuto[0].What == auto.ActDone || t.toAuto[0].What == auto.ActFail),
		Interrupted: !t.queueIdle(),
	}
	t.delivered = delivery.Step(t.delivery, delivery.Now{Mono: t.now.Mono, Wall: t.now.Wall}, &t.deliveryConfig, f, in, t.delivered[:0])
	t.carryDelivery(t.delivered)
	clear(t.delivered)
	t.accept()
}

// carryDelivery performs what the delivery says.
func (t *turn) carryDelivery(effects []delivery.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case delivery.Fetch:
			t.do(Fetch{e.SHA256, e.Size})
		case delivery.StopFetch:
			t.do(EndFetch{e.SHA256})
		case delivery.Save:
			t.do(SaveStory{detached(e)})
		case delivery.Note:
			t.tell(orWord(e.Reason, "story_ignored"), "delivery", string(e.Reason), "", described{Reason: e.Reason, Detail: e.Detail})
		case delivery.Tell:
			t.note("delivery", string(e.From), string(e.To), e.Why, cmp.Or(e.Report.Detail, string(e.Report.Reason), string(e.On)))
			if outcome(e.To) && e.From != e.To {
				t.tell("story_"+string(e.To), "delivery", string(e.Report.Reason), "", described{Reason: e.Report.Reason, Detail: e.Report.Detail})
			}
			t.report(e.Report)
		}
	}
}

// detached is a save that shares nothing with the delivery, which goes on while
// somebody else writes.
func detached(s delivery.Save) delivery.Save {
	for _, a := range []**delivery.Accepted{&s.Kept.Active, &s.Kept.Previous, &s.Kept.Staged} {
		if *a != nil {
			own := **a
			*a = &own
		}
	}
	return s
}

// outcome reports whether a delivery has come to something in a phase; the phases
// on the way are told by the report alone.
func outcome(p schema.DeployPhase) bool {
	switch p {
	case schema.DeployActive, schema.DeployRejected, schema.DeployFailed, schema.DeployRolledBack, schema.DeployWithdrawn:
		return true
	}
	return false
}

func orWord(r schema.Reason, word string) string {
	if r == "" {
		return word
	}
	return string(r)
}

// wished hears the fleet's wish.
func (t *turn) wished(ev Wished) {
	switch {
	case ev.Emptied:
		t.delivering(delivery.Emptied{})
	case len(ev.Problems) > 0:
		p := ev.Problems[0]
		t.tell("bad_request", "delivery", p.Pointer, "", described{Reason: schema.ReasonBadRequest, Detail: "the wished story was not understood: " + p.String()})
	default:
		t.delivering(delivery.Wished{Wish: ev.Wish})
	}
}

// adopt makes the robot obey another fleet's wishes.
func (t *turn) adopt(o request.Perform) {
	was := t.delivery.Authority()
	t.delivering(delivery.Adopt{Authority: o.Args.Authority})
	r := reply{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "obeys " + t.delivery.Authority()}
	if was == o.Args.Authority {
		r.Reason = schema.ReasonUnchanged
	}
	t.reply(o.Key, r)
}

// tried tells the delivery how the story on trial began.
func (t *turn) tried(refused schema.Reason, detail string) {
	if t.playing == nil || t.delivery.Trial() != t.playing.Story.SHA256 {
		return
	}
	if refused == "" {
		t.delivering(delivery.Started{SHA256: t.playing.Story.SHA256})
		return
	}
	t.delivering(delivery.StartFailed{SHA256: t.playing.Story.SHA256, Reason: refused, Detail: detail})
}

// report publishes where the delivery stands.
func (t *turn) report(r schema.ReportedStory) {
	if t.session == "" {
		return
	}
	r.TS, r.Session, r.Playing = t.now.Wall, t.session, t.isPlaying()
	t.playingTold = r.Playing
	payload := t.encode(&r)
	limit := schema.TopicOf(schema.TopicReportedStory).MaxBytes
	if len(payload) > limit {
		r.Detail = ""
		payload = t.encode(&r)
	}
	if len(payload) > limit && r.Active != nil {
		r.Active.EffectiveActs, r.Active.Pruned = []string{}, []string{}
		payload = t.encode(&r)
	}
	t.do(Publish{Topic: schema.TopicReportedStory, Payload: payload})
}

func (t *turn) isPlaying() bool { return t.auto.Status == schema.AutoIdle }

// tellReport tells again where the delivery stands when ato began or ended
// performing.
func (t *turn) tellReport() {
	if t.reportDirty || t.isPlaying() != t.playingTold {
		t.reportDirty = false
		t.report(t.delivery.Report())
	}
}
