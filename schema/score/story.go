package score

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/schema"
)

// ValidateStory returns the errors and warnings about a story in the order of its text.
// lookup returns an act of the library; ValidateStory does not validate the acts.
func ValidateStory(s Story, lookup func(id string) (Act, bool)) []schema.Problem {
	return validateStory(s, aStory, lookup)
}

// noun is what the texts of problems call a list of acts.
type noun struct{ word, withArticle, exampleName string }

var (
	aStory     = noun{"story", "a story", "Museum morning"}
	anActivity = noun{"activity", "an activity", "Look around"}
)

func validateStory(s Story, n noun, lookup func(id string) (Act, bool)) []schema.Problem {
	var c checks
	c.id("/"+n.word, s.ID)
	if len(s.Name) == 0 {
		c.add("/name", CodeMissing, n.withArticle+" has a name", "add name: {en: "+n.exampleName+"}")
	}
	c.texts("/name", s.Name, MaxPlain)
	c.labels("/labels", s.Labels)
	for i, lang := range s.Languages {
		c.language(at("/languages", i), lang)
	}
	if s.Repeat == (Repeat{}) {
		c.add("/repeat", CodeMissing, n.withArticle+" says how often it is performed", "add repeat: once, repeat: loop or repeat: {times: 3}")
	}
	if len(s.Acts) == 0 {
		c.add("/acts", CodeStoryEmpty, "the "+n.word+" has no act", "add acts: [{act: welcome}]")
	}
	if len(s.Acts) > maxStoryLen {
		c.add("/acts", CodeTooMany, fmt.Sprintf("%s has at most %d acts", n.withArticle, maxStoryLen), "split it in two")
	}
	if s.Shutdown != "" {
		c.shutdown("/shutdown", s.Shutdown, lookup)
	}
	lasts, languages := false, s.languages(lookup)
	for i, step := range s.Acts {
		c.step(at("/acts", i), step, languages, lookup)
		lasts = lasts || !s.Repeat.Loop || mayLast(step.Act, lookup)
	}
	if len(s.Acts) > 0 && !lasts {
		c.add("/acts", CodeZeroLength, "the "+n.word+" loops, and nothing in it lasts", loopHint)
	}
	return c.found
}

// languages lists the languages that s declares, or else those of the texts of its acts.
func (s Story) languages(lookup func(id string) (Act, bool)) []string {
	if len(s.Languages) > 0 {
		return s.Languages
	}
	found := map[string]bool{}
	for _, step := range s.Acts {
		if a, ok := lookup(step.Act); ok {
			for _, lang := range a.Languages() {
				found[lang] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// shutdown checks the act that is performed at a soft stop.
func (c *checks) shutdown(p, id string, lookup func(string) (Act, bool)) {
	c.id(p, id)
	a, ok := lookup(id)
	if !ok {
		if schema.ValidID(id) {
			c.unknownAct(p, id)
		}
		return
	}
	whole, _ := a.Expand(lookup)
	if whole.Drives() {
		c.add(p, CodeBadValue, "the act "+id+" drives, and a robot that is being stopped stays where it is", "name an act without goto and drive")
	}
}

// UnknownActHint is the hint about an act that does not exist.
const UnknownActHint = "save the act first, or correct its name"

func (c *checks) unknownAct(p, id string) {
	c.add(p, CodeUnknownAct, "there is no act "+id, UnknownActHint)
}

const loopHint = "add an act with a wait in it, or perform it once"

func mayLast(id string, lookup func(string) (Act, bool)) bool {
	a, ok := lookup(id)
	return !ok || a.mayLast()
}

func (a Act) mayLast() bool {
	_, most := a.Lasts()
	return most > 0 || a.nests()
}

func (c *checks) step(p string, step Step, languages []string, lookup func(id string) (Act, bool)) {
	c.id(at(p, "act"), step.Act)
	switch step.OnResume {
	case "", ResumeContinue, ResumeRestart, ResumeSkip:
	default:
		c.add(at(p, "on_resume"), CodeBadValue, fmt.Sprintf("%q is not a way to resume", step.OnResume), resumeHint(step.OnResume))
	}
	a, ok := lookup(step.Act)
	if !ok {
		if schema.ValidID(step.Act) {
			c.unknownAct(at(p, "act"), step.Act)
		}
		return
	}
	c.with(at(p, "with"), a, step.With)
	for _, lang := range languages {
		if lack := a.textsWithout(lang); len(lack) > 0 {
			text := fmt.Sprintf("the act %s has no text in %s at %s", step.Act, lang, lack[0])
			if len(lack) > 1 {
				text += fmt.Sprintf(", and %d more", len(lack)-1)
			}
			c.warn(at(p, "act"), CodeMissingLanguage, text, "another language of the text is used there")
		}
	}
}

func resumeHint(word OnResume) string {
	return nearWord(string(word), []string{"continue", "restart", "skip"}, "write continue, restart or skip")
}

// with checks the values for the parameters of a.
func (c *checks) with(p string, a Act, values map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := a.Parameters[name]; !ok {
			hint := "leave it out: the act takes none"
			if known := slices.Sorted(maps.Keys(a.Parameters)); len(known) > 0 {
				hint = nearWord(name, known, "the act takes "+strings.Join(known, ", "))
			}
			c.add(at(p, name), CodeUnknownParameter, "the act "+a.ID+" has no parameter "+name, hint)
		}
		c.text(at(p, name), values[name], MaxText)
	}
}

// textsWithout returns the pointers of the texts of a that are not in lang.
func (a Act) textsWithout(lang string) (pointers []string) {
	a.walk(func(p string, x *Action, _ int) {
		x.texts(p, func(p string, t Text) {
			if _, ok := t.find(lang); !ok {
				pointers = append(pointers, p)
			}
		})
	})
	return pointers
}

// ValidatePublishedStory validates a published revision on its own. A step whose act is missing is
// not an error here, because the act may be taught on the robot; FitStory checks that.
func ValidatePublishedStory(b PublishedStory) []schema.Problem {
	var c checks
	if b.Schema != StorySchema {
		c.addUnder("", []schema.Problem{unsupported("stories", b.Schema, StorySchema)})
		return c.found
	}
	if b.Rev < 1 {
		c.add("/rev", CodeOutOfRange, fmt.Sprintf("%d is not a revision", b.Rev), "revisions count from 1")
	}
	reached := Reached(b.Story.ActIDs(), In(b.Acts))
	story := ValidateStory(b.Story, func(id string) (Act, bool) { a, ok := b.Acts[id]; return a, ok })
	c.addUnder("/story", slices.DeleteFunc(story, func(p schema.Problem) bool { return p.Code == CodeUnknownAct }))
	for _, id := range slices.Sorted(maps.Keys(b.Acts)) {
		a, p := b.Acts[id], at("/acts", id)
		if a.ID != id {
			c.add(at(p, "act"), CodeWrongKey, fmt.Sprintf("the act %q is filed under %q", a.ID, id), "file it under its own id")
		}
		if !slices.Contains(reached, id) {
			c.warn(p, CodeUnreached, "no act of the story performs it", "leave it out, or name it among the acts of the story")
		}
		c.addUnder(p, ValidateActWith(a, In(b.Acts)))
	}
	c.assets("/assets", b.Assets, []AssetKind{AssetSound, AssetFace}, reaches(b.Acts))
	return c.found
}
