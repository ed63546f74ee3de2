package library

import (
	"slices"
	"strconv"

	"troupe/schema"
	"troupe/schema/score"
)

// sequence is a story, or an activity as a story with the fields that only an activity has.
type sequence struct {
	score.Story
	activity *score.Activity // nil for a story
}

// publishedSequence is a published revision of a sequence, with the acts and files that it contains.
type publishedSequence struct {
	score.PublishedStory
	activity *score.Activity
}

func (b publishedSequence) sequence() sequence { return sequence{b.Story, b.activity} }

// parseSequence parses the draft of a story or an activity.
func parseSequence(kind Kind, text []byte) (sequence, []schema.Problem) {
	if kind == KindActivity {
		a, problems := score.ParseActivity(text)
		return sequence{a.Story(), &a}, problems
	}
	s, problems := score.ParseStory(text)
	return sequence{Story: s}, problems
}

// parsePublished parses a published revision of a story or an activity. It does not validate it.
func parsePublished(kind Kind, body []byte) (publishedSequence, []schema.Problem) {
	if kind != KindActivity {
		b, problems := score.ParsePublishedStory(body)
		return publishedSequence{PublishedStory: b}, problems
	}
	set, problems := score.ParseActivities(body)
	if len(problems) > 0 || len(set.Activities) == 0 {
		return publishedSequence{activity: &score.Activity{}}, problems
	}
	a := set.Activities[0]
	return publishedSequence{score.PublishedStory{Story: a.Story(), Acts: set.Acts, Assets: set.Assets}, &a}, nil
}

// StoryOf returns what the draft of a story or an activity has in common with stories.
func StoryOf(kind Kind, text []byte) (score.Story, []schema.Problem) {
	s, problems := parseSequence(kind, text)
	return s.Story, problems
}

// PublishedOf returns what a published revision of a story or an activity has in common with
// those of stories.
func PublishedOf(kind Kind, body []byte) (score.PublishedStory, []schema.Problem) {
	b, problems := parsePublished(kind, body)
	return b.PublishedStory, problems
}

// source encodes s as a draft.
func (s sequence) source() []byte {
	if s.activity != nil {
		return encode(s.asActivity())
	}
	return encode(s.Story)
}

// bundle encodes s as its revision rev, with the acts that it uses and these files. The
// bytes of an activity do not depend on the revision.
func (s sequence) bundle(acts map[string]score.Act, rev int64, files []score.Asset) []byte {
	var body []byte
	var err error
	if s.activity != nil {
		body, _, err = score.EncodeActivities([]score.Activity{s.asActivity()}, acts, files...)
	} else {
		body, _, err = score.EncodePublishedStory(s.Story, acts, rev, files...)
	}
	if err != nil {
		panic(err) // impossible: it was parsed before
	}
	return body
}

// asActivity returns the activity with the acts of s.
func (s sequence) asActivity() score.Activity {
	a := *s.activity
	a.Acts = s.Acts
	return a
}

func (s sequence) contains(act string) bool { return slices.Contains(s.ActIDs(), act) }

// without returns s without an act.
func (s sequence) without(act string) sequence {
	s.Acts = slices.DeleteFunc(slices.Clone(s.Acts), func(step score.Step) bool { return step.Act == act })
	if s.Shutdown == act {
		s.Shutdown = "" // the robot then performs its own
	}
	return s
}

// places returns the positions, counted from 1, at which s names an act, and whether it is
// its shutdown act.
func (s sequence) places(act string) []string {
	var at []string
	for i, step := range s.Acts {
		if step.Act == act {
			at = append(at, strconv.Itoa(i+1))
		}
	}
	if s.Shutdown == act {
		at = append(at, "shutdown")
	}
	return at
}

// acts lists the acts that s names, each once.
func (s sequence) acts() []string {
	ids := s.ActIDs()
	slices.Sort(ids)
	return slices.Compact(ids)
}
