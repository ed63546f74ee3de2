package perform

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"troupe/robotd/auto"
	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/score"
)

// program is an accepted story, prepared for this robot.
type program struct {
	*delivery.Loaded[score.PublishedStory]
	facts     auto.Story
	languages []string
	moves     bool
}

// programOf prepares a story for ato.
func (t Step) programOf(l *delivery.Loaded[score.PublishedStory]) *program {
	story := &l.Fit.Content.Story
	p := &program{Loaded: l, facts: autoStory(l.Pin.ID, len(story.Acts), story.Repeat, story.OnActError)}
	p.facts.Rev, p.facts.Digest = l.Pin.Rev, l.Pin.SHA256
	if len(l.Fit.Pruned) > 0 {
		p.facts.Digest += fmt.Sprint(" without ", l.Fit.Pruned)
	}
	p.languages = t.languagesOf(story.Languages)
	p.moves = slices.ContainsFunc(story.Acts, func(s score.Step) bool { return l.Fit.Content.Acts[s.Act].Moves() })
	return p
}

// languagesOf orders the languages of a story: the configured ones take precedence.
func (s *State) languagesOf(story []string) (list []string) {
	for _, lang := range s.cfg.Languages {
		if len(story) == 0 || slices.Contains(story, lang) {
			list = append(list, lang)
		}
	}
	return append(list, story...)
}

// act returns the i-th act of the story that is performed.
func (p *program) act(i int) (*score.Step, *score.Act) {
	if p == nil || i >= len(p.Fit.Content.Story.Acts) {
		return nil, nil
	}
	step := &p.Fit.Content.Story.Acts[i]
	a, ok := p.Fit.Content.Acts[step.Act]
	if !ok {
		return step, nil
	}
	return step, &a
}

// Accept takes the story that ato shall perform from now on, or why there is none, and for people where it is wrong.
func (t Step) Accept(l *delivery.Loaded[score.PublishedStory], why schema.Reason, detail string) {
	t.noStoryDetail = detail
	switch {
	case l == nil && t.accepted == nil && why == t.noStory,
		l != nil && t.accepted != nil && t.accepted.Loaded == l:
		return
	case l == nil:
		t.accepted = nil
	default:
		t.accepted = t.programOf(l)
	}
	t.fillRepertoire()
	t.noStory = why
	t.Out.Changed(effect.FlushSoon)
}

// updatePlaying sets playing to the story that ato has switched to.
func (t Step) updatePlaying() {
	switch {
	case t.accepted != nil && t.auto.Story == t.accepted.facts:
		t.playing = t.accepted
	case t.auto.Story == auto.Story{}:
		t.playing = nil
	}
}

// place maps the place in the story that is performed to another revision of it, so that an act which is published or
// deleted does not send the story back to its first act.
func (t Step) place() auto.Place {
	was, next := t.playing, t.accepted
	if was == nil || was == next || was.Pin.ID != next.Pin.ID || t.auto.Story != was.facts {
		return auto.Place{}
	}
	steps, at := was.Fit.Content.Story.Acts, t.auto.Act
	if at >= len(steps) {
		return auto.Place{}
	}
	p := auto.Place{Revision: true}
	p.Act, p.Kept = placeIn(next.Fit.Content.Story.Acts, steps, at)
	if p.Kept {
		step := next.Fit.Content.Story.Acts[p.Act]
		p.Same = slices.Equal(was.languages, next.languages) && reflect.DeepEqual(step, steps[at]) &&
			reflect.DeepEqual(next.Fit.Content.Acts[step.Act], was.Fit.Content.Acts[step.Act])
	}
	return p
}

// placeIn returns where the next revision of a list of acts goes on that was at an act: at that act, or else at the
// first of its successors that is still there, or else behind the last of its predecessors that is. If none of the
// acts is there any more, it is the first.
func placeIn(next, was []score.Step, at int) (i int, kept bool) {
	if i := stillAt(next, was, at); i >= 0 {
		return i, true
	}
	for j := at + 1; j < len(was); j++ {
		if i := stillAt(next, was, j); i >= 0 {
			return i, false
		}
	}
	for j := at - 1; j >= 0; j-- {
		if i := stillAt(next, was, j); i >= 0 {
			return i + 1, false
		}
	}
	return 0, false
}

// stillAt returns the place of an act in the next revision, or -1. Of an act that a story performs several times it is
// the same repetition: of those with the same values of its parameters, or else of all.
func stillAt(next, was []score.Step, at int) int {
	return cmp.Or(1+repetition(next, was, at, func(a, b score.Step) bool { return a.Act == b.Act && maps.Equal(a.With, b.With) }),
		1+repetition(next, was, at, func(a, b score.Step) bool { return a.Act == b.Act })) - 1
}

func repetition(next, was []score.Step, at int, same func(a, b score.Step) bool) int {
	n := 0
	for _, step := range was[:at] {
		if same(step, was[at]) {
			n++
		}
	}
	for i, step := range next {
		if same(step, was[at]) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}

// BetweenActs reports whether no act is being performed, or one has just ended.
func (s *State) BetweenActs() bool {
	next, waits := s.toAuto.Peek()
	return !s.auto.Begun || waits && (next.In.What == auto.ActDone || next.In.What == auto.ActFailed)
}

// reportStart reports to the delivery how a story began, because it may be on probation.
func (t Step) reportStart(refused schema.Reason, detail string) {
	if t.playing != nil {
		t.Out.Do(effect.StoryTried{SHA256: t.playing.Pin.SHA256, Refused: refused, Detail: detail})
	}
}

// performed returns the story that is performed, or would be.
func (s *State) performed() *program { return cmp.Or(s.playing, s.accepted) }

// Story names that story; nil = none.
func (s *State) Story() *schema.StoryRef {
	p := s.performed()
	if p == nil {
		return nil
	}
	return &schema.StoryRef{ID: p.Pin.ID, Rev: p.Pin.Rev, SHA256: p.Pin.SHA256}
}

// StoryRev is the revision of that story.
func (s *State) StoryRev() int64 {
	if p := s.performed(); p != nil {
		return p.Pin.Rev
	}
	return 0
}

// SetTaught sets the acts that people taught the robot. An act of the story with the same id
// takes precedence.
func (s *State) SetTaught(acts map[string]score.Act) {
	s.taught = acts
	s.fillRepertoire()
}

// fillRepertoire makes the map of all acts that can be performed by their ids.
func (s *State) fillRepertoire() {
	s.repertoire = maps.Clone(s.taught)
	if s.accepted != nil {
		s.repertoire = s.accepted.Content.WithActs(s.taught).Acts
	}
}

// Repertoire returns what can be performed by its id: the acts and files of the accepted story,
// taught acts, and the languages of the performance.
func (s *State) Repertoire() (acts map[string]score.Act, files []score.Asset, languages []string) {
	if s.accepted == nil {
		return s.repertoire, nil, s.cfg.Languages
	}
	return s.repertoire, s.accepted.Content.Assets, s.accepted.languages
}

// ActName is the id of the act that is performed.
func (s *State) ActName() string {
	if step, _ := s.playing.act(s.auto.Act); step != nil && s.auto.Status != schema.AutoNotActive {
		return step.Act
	}
	return ""
}

// File returns the file that an action names: of a handler, of the activity, of the story
// that is performed, or else of the accepted one.
func (s *State) File(do *score.Action) string {
	for _, h := range s.runningHandlers {
		if sum := fileOf(h.files, do); sum != "" {
			return sum
		}
	}
	if sum := fileOf(s.focus.files, do); sum != "" {
		return sum
	}
	for _, p := range []*program{s.playing, s.accepted} {
		if p == nil {
			continue
		}
		if sum := fileOf(p.Content.Assets, do); sum != "" {
			return sum
		}
	}
	return ""
}

func fileOf(files []score.Asset, do *score.Action) string {
	named := do.Named("")
	for _, a := range files {
		if slices.ContainsFunc(named, func(n score.Named) bool { return n.Kind == a.Kind && n.Name == a.Name }) {
			return a.SHA256
		}
	}
	return ""
}
