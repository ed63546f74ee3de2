package brain

import (
	"fmt"
	"slices"

	"troupe/robotd/auto"
	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/score"
)

// program is an accepted story, ready to be performed here.
type program struct {
	*delivery.Loaded[score.Blob]
	facts     auto.Story
	languages []string
	moves     bool
}

// programOf lays out what ato has to know of a story.
func (t *step) programOf(l *delivery.Loaded[score.Blob]) *program {
	story := &l.Fit.Content.Story
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
	p.moves = slices.ContainsFunc(story.Acts, func(s score.Step) bool { return l.Content.Acts[s.Act].Moves() })
	return p
}

// act returns the i-th act of the story that is performed.
func (p *program) act(i int) (*score.Step, *score.Act) {
	if p == nil || i >= len(p.Fit.Content.Story.Acts) {
		return nil, nil
	}
	step := &p.Fit.Content.Story.Acts[i]
	a, ok := p.Content.Acts[step.Act]
	if !ok {
		return step, nil
	}
	return step, &a
}

// accept looks which story ato shall perform now.
func (t *step) accept() {
	l, why := t.story.Playing()
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
	t.dirty(effect.FlushSoon)
}

// follow lets the performance go over to the accepted story, as soon as ato has.
func (t *step) follow() {
	switch {
	case t.accepted != nil && t.auto.Story == t.accepted.facts:
		t.playing = t.accepted
	case t.auto.Story == auto.Story{}:
		t.playing = nil
	}
}

// atBoundary: no act is in the middle, or one has just ended.
func (t *step) atBoundary() bool {
	next, waits := t.toAuto.Peek()
	return !t.auto.Begun || waits && (next.In.What == auto.ActDone || next.In.What == auto.ActFail)
}

// tried tells the delivery how the story on trial began.
func (t *step) tried(refused schema.Reason, detail string) {
	if t.playing == nil || t.story.Trial() != t.playing.Story.SHA256 {
		return
	}
	if refused == "" {
		t.delivering(delivery.Started{SHA256: t.playing.Story.SHA256})
		return
	}
	t.delivering(delivery.StartFailed{SHA256: t.playing.Story.SHA256, Reason: refused, Detail: detail})
}
