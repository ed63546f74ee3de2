package score

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/schema"
)

// Fit returns an error for each action that this robot cannot perform, and a warning for
// each that it performs differently. An empty catalogue accepts any name, and so does a
// truncated one, because the name may be in the part that was left out.
func Fit(a Act, caps schema.Caps) []schema.Problem {
	var c checks
	named := false // an action names its unit
	a.walk(func(p string, x *Action, _ int) {
		row, ok := RowOf(x.Type())
		if !ok || !row.NeedsUnit() {
			return
		}
		if len(caps.Actions) > 0 && !slices.Contains(caps.Actions, string(row.Type)) {
			c.add(at(p, "type"), CodeNoUnit, fmt.Sprintf("this robot's release performs no %s", row.Type),
				"update robotd, or leave the action out for this robot")
			return
		}
		named = named || x.Unit != ""
		if u, found := x.Performer(caps.Units); found {
			if d, ok := x.Do.(fitter); ok {
				d.fit(&c, p, x, caps, u)
			}
			for _, f := range row.Fields {
				if name := get[string](x, f.Name); f.Names != nil && (f.Required || name != "") {
					c.catalogue(at(p, f.Name), f.Name, name, f.Names(&u), caps)
				}
			}
		} else if !caps.Truncated {
			c.noUnit(p, x, caps)
		}
	})
	if named && c.errors == 0 {
		meet := checks{defers: true} // ValidateAct refused exclusive actions that must not wait
		meet.layOut("", namingUnits(a.Actions, caps.Units))
		c.found = append(c.found, schema.Errors(meet.found)...)
	}
	return c.found
}

// ValidateAndFit returns the problems of an act in general and for this robot. A number beyond
// the limits of both has only the problem of the robot's, which are the narrower ones.
func ValidateAndFit(a Act, caps schema.Caps) []schema.Problem {
	fits := Fit(a, caps)
	general := slices.DeleteFunc(ValidateAct(a), func(p schema.Problem) bool {
		return p.Code == CodeOutOfRange && slices.ContainsFunc(fits, func(f schema.Problem) bool {
			return f.Code == CodeBeyondUnit && f.Pointer == p.Pointer
		})
	})
	return append(general, fits...)
}

// namingUnits returns a copy of list in which each action names the unit that performs it.
func namingUnits(list []Action, units []schema.Unit) []Action {
	out := slices.Clone(list)
	for i := range out {
		u, _ := out[i].Performer(units)
		out[i].Unit = u.ID
		out[i].SetInner(namingUnits(out[i].Inner(), units))
	}
	return out
}

func (c *checks) catalogue(pointer, what, name string, known []string, caps schema.Caps) {
	if caps.Truncated || len(known) == 0 || slices.Contains(known, name) {
		return
	}
	hint := "it has " + strings.Join(known, ", ")
	if near := schema.Closest(name, known); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	c.add(pointer, CodeNotInCatalogue, fmt.Sprintf("this robot has no %s %q", what, name), hint)
}

// Effective is the part of a published story that one robot performs.
type Effective struct {
	Steps  []Step
	Acts   []Act    // of each step, with parameters filled in
	Pruned []string // ids of acts that the robot does not have, each once
}

// Moves reports whether any act moves the robot.
func (e Effective) Moves() bool { return slices.ContainsFunc(e.Acts, Act.Moves) }

// WithActs returns b with further acts. Those of b win.
func (b PublishedStory) WithActs(more map[string]Act) PublishedStory {
	own := b.Acts
	b.Acts = maps.Clone(more)
	if b.Acts == nil {
		b.Acts = map[string]Act{}
	}
	maps.Copy(b.Acts, own)
	return b
}

// FitStory returns the part of b that this robot performs. An act comes from b, or else from
// the acts taught on the robot; an act in neither is left out and listed in Pruned. An act
// that needs something that the body does not have is an error of the whole story, because
// its author has to decide what to do. The shutdown act is never a taught one, because nothing has
// checked that such an act contains no goto or drive.
func FitStory(b PublishedStory, caps schema.Caps, taught map[string]Act) (Effective, []schema.Problem) {
	var e Effective
	var c checks
	caps = WithAssets(caps, b.Assets)
	checked := map[string]bool{}
	lookup := func(id string) (Act, bool) {
		a, ok := b.Acts[id]
		if !ok {
			a, ok = taught[id]
		}
		return a, ok
	}
	for _, step := range b.Story.Acts {
		a, ok := lookup(step.Act)
		if !ok {
			if !slices.Contains(e.Pruned, step.Act) {
				e.Pruned = append(e.Pruned, step.Act)
			}
			continue
		}
		whole, found := a.Expand(lookup)
		if !checked[step.Act] {
			checked[step.Act] = true
			c.addUnder(at("/acts", step.Act), found)
			c.addUnder(at("/acts", step.Act), a.reportAtOuterAction(Fit(whole, caps)))
		}
		e.Steps = append(e.Steps, step)
		e.Acts = append(e.Acts, whole.Resolve(step))
	}
	if a, ok := b.Acts[b.Story.Shutdown]; ok && !checked[b.Story.Shutdown] {
		whole, found := a.Expand(lookup)
		c.addUnder(at("/acts", b.Story.Shutdown), found)
		c.addUnder(at("/acts", b.Story.Shutdown), a.reportAtOuterAction(Fit(whole, caps)))
	}
	if len(e.Steps) == 0 {
		c.add("/story/acts", CodeStoryEmpty, "no act of the story can be found on this robot", "publish it with its acts")
	} else if b.Story.Repeat.Loop && !slices.ContainsFunc(e.Acts, Act.mayLast) {
		c.add("/story/acts", CodeZeroLength, "the story loops, and none of the acts that this robot has takes any time", loopHint)
	}
	return e, c.found
}

// FitLanguage warns if some acts of a story have no text in the language that a robot prefers,
// and others have one: the robot would mix languages.
func FitLanguage(b PublishedStory, caps schema.Caps) []schema.Problem {
	if len(caps.Languages) == 0 {
		return nil
	}
	lang := caps.Languages[0]
	var acts, lack []string
	for _, step := range b.Story.Acts {
		a, ok := b.Acts[step.Act]
		if !ok || slices.Contains(acts, step.Act) || len(a.Languages()) == 0 {
			continue
		}
		acts = append(acts, step.Act)
		if len(a.textsWithout(lang)) > 0 {
			lack = append(lack, step.Act)
		}
	}
	if len(lack) == 0 || len(lack) == len(acts) {
		return nil
	}
	var c checks
	c.warn("/acts", CodeNotSpoken, fmt.Sprintf("this robot speaks %s, and %d of %d acts lack it: %s", lang, len(lack), len(acts),
		strings.Join(lack, ", ")), "add the texts, or the robot speaks another of their languages")
	return c.found
}
