package score

import (
	"maps"
	"slices"
	"strings"

	"troupe/schema"
)

// InlineAct is the id of an act whose actions are in a command.
const InlineAct = "inline"

// PerformRequest is what a command requests to perform: an act that the robot has, by its id, or
// actions in the command itself.
type PerformRequest struct {
	Act    string // empty with Inline
	Inline *Act
	With   map[string]string // values of the act's parameters
	Defer  bool              // exclusive actions wait for those that run
}

// PerformRequestOf reads the arguments of act/perform and manual/act: the id of an act, or actions
// as a JSON array, and values of parameters. With deferred, an exclusive action that is due
// while others run is no error: it waits. The pointers of problems refer to the
// command. Actions are validated as in the file of an act; the values in "with" declare
// their parameters, and a text has to use each of them. The robot validates the values for
// its own acts with ValidateWith.
func PerformRequestOf(act, actions string, with map[string]string, deferred bool) (PerformRequest, []schema.Problem) {
	w := PerformRequest{Act: act, With: with, Defer: deferred}
	switch {
	case actions != "" && act != "":
		return w, []schema.Problem{schema.NewProblem("/args/actions", CodeWrongField, "act and actions exclude each other",
			"leave one of the two out")}
	case actions == "" && act == "":
		return w, []schema.Problem{schema.NewProblem("/args/act", CodeMissing, "the command names neither an act nor actions", `name an act, or send "actions":[{"type":"face","start_ms":0,"face":"smile"}]`)}
	case actions == "" && deferred:
		return w, []schema.Problem{schema.NewProblem("/args/defer", CodeWrongField,
			"only actions in the command can be deferred; those of an act never have to wait", "leave it out")}
	case actions == "":
		return w, nil
	}
	type list struct {
		Actions []Action `json:"actions"`
	}
	l, problems := decodeAll[list]([]byte(`{"actions":` + actions + `}`))
	if len(problems) == 0 {
		w.Inline = &Act{ID: InlineAct, Actions: l.Actions}
		for _, name := range slices.Sorted(maps.Keys(w.With)) {
			if w.Inline.Parameters == nil {
				w.Inline.Parameters = map[string]Parameter{}
			}
			w.Inline.Parameters[name] = Parameter{Type: "string", Default: w.With[name]}
		}
		problems = validateAct(*w.Inline, deferred)
	}
	for i := range problems {
		p := &problems[i]
		if rest, of := strings.CutPrefix(p.Pointer, "/parameters"); of {
			p.Pointer = "/with" + strings.TrimSuffix(rest, "/default")
		}
		switch p.Code {
		case CodeUnusedParameter: // only a warning in the library, where it may be meant for later
			p.Severity = schema.SeverityError
		case CodeUnknownParameter:
			p.Hint = `give its value beside the actions: "with":{"name":"value"}`
		}
		p.Pointer = "/args" + p.Pointer
	}
	return w, problems
}

// ValidateNested returns the errors in the actions of w together with the acts that they
// perform.
func (w PerformRequest) ValidateNested(lookup Lookup) []schema.Problem {
	return schema.Errors(validateActWith(*w.Inline, lookup, w.Defer))
}

// ValidateWith returns the errors in the values for the parameters of a. The pointers are
// relative to the values.
func (a Act) ValidateWith(values map[string]string) []schema.Problem {
	var c checks
	c.with("", a, values)
	return c.found
}
