package access

import "strings"

// tree is a set of filters in which a lookup costs as many steps as the topic
// has levels, however many filters there are: every single delivery asks it.
// It does not change once built, so it needs no lock.
type tree struct {
	next map[string]*tree // + among them
	hash bool             // a filter ends here in #
	end  bool             // a filter ends here
}

func treeOf(filters []string) *tree {
	root := &tree{}
	for _, f := range filters {
		root.add(f)
	}
	return root
}

func (t *tree) add(filter string) {
	for more := true; more; {
		var level string
		level, filter, more = cut(filter)
		if level == "#" {
			t.hash = true
			return
		}
		child := t.next[level]
		if child == nil {
			child = &tree{}
			if t.next == nil {
				t.next = map[string]*tree{}
			}
			t.next[level] = child
		}
		t = child
	}
	t.end = true
}

// meets reports whether some topic is admitted by filter and by the tree.
func (t *tree) meets(filter string) bool {
	level, rest, more := cut(filter)
	if wild(level) {
		// A wildcard first level passes by the subtrees that begin with $.
		if t.hash || level == "#" && t.end {
			return true
		}
		for name, child := range t.next {
			if !strings.HasPrefix(name, "$") && (level == "#" || child.rest(rest, more)) {
				return true
			}
		}
		return false
	}
	if strings.HasPrefix(level, "$") {
		child := t.next[level]
		return child != nil && child.rest(rest, more)
	}
	return t.step(level, rest, more)
}

// rest is meets for what follows the first level.
func (t *tree) rest(filter string, more bool) bool {
	if t.hash {
		return true
	}
	if !more {
		return t.end
	}
	var level string
	level, filter, more = cut(filter)
	return t.step(level, filter, more)
}

func (t *tree) step(level, rest string, more bool) bool {
	switch level {
	case "#":
		return true // no branch is without an end
	case "+":
		if t.hash {
			return true
		}
		for _, child := range t.next {
			if child.rest(rest, more) {
				return true
			}
		}
		return false
	}
	if t.hash {
		return true
	}
	if child := t.next[level]; child != nil && child.rest(rest, more) {
		return true
	}
	child := t.next["+"]
	return child != nil && child.rest(rest, more)
}
