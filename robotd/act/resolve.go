package act

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// Resolve finds the act that a command asks for: one of acts, or the actions in the command
// itself. It refuses arguments that are not valid, an unknown act, and an act that the body
// cannot perform. Pointers of a refusal point into the command.
func (x *Executor) Resolve(a verb.WholeAct, acts map[string]score.Act, languages []string, caps schema.Caps) (Entry, *Refusal) {
	w, found := a.PerformRequest()
	if found = schema.Errors(found); len(found) > 0 {
		return Entry{}, &Refusal{schema.ReasonBadRequest, found[0].Pointer, ProblemText(found[0])}
	}
	e := Entry{Act: w.Inline, With: w.With, Languages: languages}
	if w.Inline == nil {
		if no := byName(w.Act, acts, &e); no != nil {
			return e, no
		}
	}
	if w.Inline != nil && len(w.Inline.Nested()) > 0 {
		if found := w.ValidateNested(score.In(acts)); len(found) > 0 {
			return e, refusalOf(found[0])
		}
		whole, _ := w.Inline.Expand(score.In(acts))
		e.Act = &whole
	}
	why, p := schema.ReasonOutOfRange, schema.Problem{}
	if found := schema.Errors(score.Fit(*e.Act, caps)); len(found) > 0 {
		p = found[0]
	} else if no := x.Check(e.Act); no != nil {
		why, p = no.Reason, schema.Problem{Pointer: no.Pointer, Detail: no.Detail}
	} else {
		return e, nil
	}
	if p.Pointer = "/args" + p.Pointer; w.Inline == nil { // its sender sees no actions
		p.Pointer = ""
	}
	return e, &Refusal{why, p.Pointer, ProblemText(p)}
}

// refusalOf returns the refusal for a problem of actions that perform other acts, such as an act
// that this robot does not have.
func refusalOf(p schema.Problem) *Refusal {
	why := schema.ReasonBadRequest
	if p.Code == score.CodeUnknownAct {
		why = schema.ReasonUnknownID
	}
	return &Refusal{why, "/args" + p.Pointer, ProblemText(p)}
}

// byName finds an act by its id.
func byName(id string, acts map[string]score.Act, e *Entry) *Refusal {
	found, ok := acts[id]
	if !ok {
		names := slices.Sorted(maps.Keys(acts))
		return &Refusal{schema.ReasonUnknownID, "/args/act", "this robot has no act " + id + "; it has " +
			cmp.Or(strings.Join(names, ", "), "none")}
	}
	if found := schema.Errors(found.ValidateWith(e.With)); len(found) > 0 {
		return &Refusal{schema.ReasonBadRequest, "/args/with" + found[0].Pointer, ProblemText(found[0])}
	}
	e.Act = &found
	return nil
}

// ProblemText is a problem in one line, without its place.
func ProblemText(p schema.Problem) string { return strings.TrimSuffix(p.Detail+"; "+p.Hint, "; ") }
