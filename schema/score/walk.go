package score

import (
	"maps"
	"slices"
	"strings"

	"troupe/schema"
)

// walk calls visit for every action of a with its pointer, groups before their actions.
// depth is 1 for the actions of the act itself.
func (a Act) walk(visit func(pointer string, action *Action, depth int)) {
	var down func(base string, list []Action, depth int)
	down = func(base string, list []Action, depth int) {
		for i := range list {
			p := at(base, i)
			visit(p, &list[i], depth)
			down(p+"/actions", list[i].Inner(), depth+1)
		}
	}
	down("/actions", a.Actions, 1)
}

// Moves reports whether performing a moves the robot or a part of it.
func (a Act) Moves() bool { return a.has(ActionRow.Moves) }

// Drives reports whether the robot may be elsewhere after performing a.
func (a Act) Drives() bool { return a.has(func(r ActionRow) bool { return r.Drives }) }

// has reports whether a has an action with such a row.
func (a Act) has(such func(ActionRow) bool) bool {
	has := false
	a.walk(func(_ string, action *Action, _ int) {
		row, _ := RowOf(action.Type())
		has = has || such(row)
	})
	return has
}

// Contains reports whether a has an action of the type, also in a group.
func (a Act) Contains(t ActionType) bool {
	contains := false
	a.walk(func(_ string, action *Action, _ int) { contains = contains || action.Type() == t })
	return contains
}

// Offers reports whether a offers choices on a screen.
func (a Act) Offers() bool {
	offers := false
	a.walk(func(_ string, action *Action, _ int) { offers = offers || len(action.Choices()) > 0 })
	return offers
}

// ActsAt returns the ids of the acts that a performs, by the pointers at which it names them.
func (a Act) ActsAt() map[string]string {
	named := map[string]string{}
	a.walk(func(p string, x *Action, _ int) {
		if n, ok := x.Do.(PerformAct); ok {
			named[at(p, "act")] = n.Act
		}
	})
	return named
}

// Resolve returns a copy of a with the parameters in its texts replaced by the values of
// step, or by the defaults of the act.
func (a Act) Resolve(step Step) Act {
	if len(a.Parameters) == 0 {
		return a
	}
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(a.Parameters)) {
		value, ok := step.With[name]
		if !ok {
			value = a.Parameters[name].Default
		}
		pairs = append(pairs, "${"+name+"}", value)
	}
	a.Actions = resolve(a.Actions, strings.NewReplacer(pairs...))
	return a
}

func resolve(list []Action, r *strings.Replacer) []Action {
	out := slices.Clone(list)
	for i := range out {
		out[i].ReplaceTexts(func(t Text) Text { return t.replace(r) })
		if n, ok := out[i].Do.(PerformAct); ok {
			out[i].Do = PerformAct{n.Act, Text(n.With).replace(r)}
		}
		out[i].SetInner(resolve(out[i].Inner(), r))
	}
	return out
}

func (t Text) replace(r *strings.Replacer) Text {
	if t == nil {
		return nil
	}
	out := make(Text, len(t))
	for lang, s := range t {
		out[lang] = r.Replace(s)
	}
	return out
}

// texts calls visit for every text of x with its pointer, when p is that of x.
func (x *Action) texts(p string, visit func(pointer string, t Text)) {
	if text := x.Text(); text != nil {
		visit(at(p, "text"), text)
	}
	for i, choice := range x.Choices() {
		visit(at(p, "choices", i, "text"), choice.Text)
	}
}

// Languages lists the languages of the texts of a, sorted.
func (a Act) Languages() []string {
	found := map[string]bool{}
	a.walk(func(p string, x *Action, _ int) {
		x.texts(p, func(_ string, t Text) {
			for lang := range t {
				found[lang] = true
			}
		})
	})
	return slices.Sorted(maps.Keys(found))
}

// UsesUnit reports whether u, one of units, performs an action of a.
func (a Act) UsesUnit(u schema.Unit, units []schema.Unit) bool {
	uses := false
	a.walk(func(_ string, action *Action, _ int) {
		used, ok := action.Performer(units)
		uses = uses || ok && used.ID == u.ID
	})
	return uses
}
