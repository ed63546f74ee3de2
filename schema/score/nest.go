package score

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/schema"
)

// Lookup returns an act by its id.
type Lookup func(id string) (Act, bool)

// In returns the lookup of the acts of a map.
func In(acts map[string]Act) Lookup {
	return func(id string) (Act, bool) { a, ok := acts[id]; return a, ok }
}

// Nested lists the ids of the acts that actions of a perform, each once, in the order of
// its text.
func (a Act) Nested() []string {
	var ids []string
	a.walk(func(_ string, x *Action, _ int) {
		if n, ok := x.Do.(PerformAct); ok && n.Act != "" && !slices.Contains(ids, n.Act) {
			ids = append(ids, n.Act)
		}
	})
	return ids
}

func (a Act) nests() bool { return len(a.Nested()) > 0 }

// PerformedFirst orders list so that each act follows the acts that it performs: they can be
// published in this order. act returns the act that an entry declares. Acts that perform each
// other come in any order, because fleetd refuses them anyway.
func PerformedFirst[T any](list []T, act func(T) Act) []T {
	acts, place := make([]Act, len(list)), map[string]int{}
	for i, v := range list {
		if acts[i] = act(v); acts[i].ID != "" {
			place[acts[i].ID] = i
		}
	}
	out, added := make([]T, 0, len(list)), make([]bool, len(list))
	var add func(i int)
	add = func(i int) {
		if added[i] {
			return
		}
		added[i] = true
		for _, id := range acts[i].Nested() {
			if j, here := place[id]; here {
				add(j)
			}
		}
		out = append(out, list[i])
	}
	for i := range list {
		add(i)
	}
	return out
}

// Reached returns the ids of acts, with those that these acts perform in turn, each once.
// Unknown acts are left out.
func Reached(named []string, lookup Lookup) []string {
	var ids []string
	var add func(id string)
	add = func(id string) {
		a, ok := lookup(id)
		if !ok || slices.Contains(ids, id) {
			return
		}
		ids = append(ids, id)
		for _, nested := range a.Nested() {
			add(nested)
		}
	}
	for _, id := range named {
		add(id)
	}
	return ids
}

// ValidateActWith validates an act as ValidateAct does, together with the acts that it
// performs.
func ValidateActWith(a Act, lookup Lookup) []schema.Problem {
	return validateActWith(a, lookup, false)
}

func validateActWith(a Act, lookup Lookup, defers bool) []schema.Problem {
	found := validateAct(a, defers)
	if slices.ContainsFunc(found, SpoilsTimes) || !a.nests() {
		return found
	}
	whole, problems := a.Expand(lookup)
	if len(problems) > 0 {
		return append(found, problems...)
	}
	c := checks{defers: defers}
	c.checkOverlaps(whole)
	if c.errors == 0 && len(schema.Errors(found)) == 0 {
		c.warnAboutWaits(whole)
	}
	return append(found, a.reportAtOuterAction(c.found)...)
}

// reportAtOuterAction moves each problem within a nested act to the action that performs this act: the
// author of a can change that action only.
func (a Act) reportAtOuterAction(found []schema.Problem) []schema.Problem {
	a.walk(func(p string, x *Action, _ int) {
		for i := range found {
			if n, ok := x.Do.(PerformAct); ok && strings.HasPrefix(found[i].Pointer, p+"/actions") {
				found[i].Detail = fmt.Sprintf("in the act %s, %s: %s", n.Act, strings.TrimPrefix(found[i].Pointer, p), found[i].Detail)
				found[i].Pointer = p
			}
		}
	})
	return found
}

// Expand returns a copy of a in which each action of type act is a group with the actions
// of that act, its parameters filled in. It returns errors for an unknown act, for an act
// that performs itself, and if the limits of one act do not hold for the copy.
func (a Act) Expand(lookup Lookup) (Act, []schema.Problem) {
	if !a.nests() {
		return a, nil
	}
	e := expansion{lookup: lookup, path: []string{a.ID}}
	a.Actions = e.list("/actions", "", a.Actions, 1)
	if e.errors == 0 {
		if data, err := schema.Encode(a); err == nil && len(data) > MaxBytes {
			e.add("/actions", CodeTooBig, fmt.Sprintf("with the acts that it performs it has %d bytes, over %d", len(data), MaxBytes),
				"make them acts of a story instead")
		}
	}
	return a, e.found
}

// expansion is one act with the acts that it performs.
type expansion struct {
	checks
	lookup Lookup
	path   []string // ids of the acts from the outermost to the current one
	count  int      // of actions so far
	full   bool     // a limit is exceeded, which is reported once
}

// list expands a list of actions. from is the pointer of the outermost action of type act
// around them; empty in the act itself.
func (e *expansion) list(base, from string, list []Action, depth int) []Action {
	out := slices.Clone(list)
	for i := range out {
		x, p := &out[i], cmp.Or(from, at(base, i))
		e.count++
		if e.limits(p, depth); e.full {
			return out
		}
		if n, ok := x.Do.(PerformAct); ok {
			e.nest(p, x, n, depth)
		} else {
			x.SetInner(e.list(at(base, i)+"/actions", from, x.Inner(), depth+1))
		}
	}
	return out
}

func (e *expansion) limits(p string, depth int) {
	switch {
	case e.full:
	case e.count > MaxActions:
		e.full = true
		e.add(p, CodeTooMany, fmt.Sprintf("with the acts that it performs it has over %d actions", MaxActions),
			"make them acts of a story instead")
	case depth > MaxDepth:
		e.full = true
		e.add(p, CodeTooDeep, fmt.Sprintf("with the acts that it performs, groups nest over %d deep: %s", MaxDepth, strings.Join(e.path, " > ")),
			"flatten them")
	}
}

// nest makes x a group with the actions of the act that it performs.
func (e *expansion) nest(p string, x *Action, n PerformAct, depth int) {
	path := append(slices.Clip(e.path), n.Act)
	inner, ok := e.lookup(n.Act)
	switch {
	case slices.Contains(e.path, n.Act):
		e.add(at(p, "act"), CodeCycle, "the act performs itself: "+strings.Join(path, " > "),
			"name another act here, or leave one of these actions out")
		return
	case !ok:
		e.add(at(p, "act"), CodeUnknownAct, "there is no act "+n.Act, UnknownActHint)
		return
	}
	e.with(at(p, "with"), inner, n.With)
	inner = inner.Resolve(Step{With: n.With})
	e.path = path
	actions := e.list("/actions", p, inner.Actions, depth+1)
	e.path = path[:len(path)-1]
	prefix(actions, cmp.Or(x.ID, n.Act))
	x.Method, x.Do = cmp.Or(x.Method, inner.Method), Group{actions}
}

// prefix puts a name before the ids of actions, so that ids of an act that is performed
// twice stay apart.
func prefix(list []Action, name string) {
	for i := range list {
		if x := &list[i]; x.ID != "" {
			x.ID = name + "/" + x.ID
		}
		if g, ok := list[i].Do.(Group); ok {
			prefix(g.Actions, name)
		}
	}
}

// Expand returns a copy of b whose acts contain no actions of type act.
func (b PublishedStory) Expand() (PublishedStory, []schema.Problem) {
	whole := make(map[string]Act, len(b.Acts))
	var c checks
	for _, id := range slices.Sorted(maps.Keys(b.Acts)) {
		expanded, found := b.Acts[id].Expand(In(b.Acts))
		c.addUnder(at("/acts", id), found)
		whole[id] = expanded
	}
	b.Acts = whole
	return b, c.found
}
