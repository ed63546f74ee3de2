package access

import "strings"

// tree is a set of filters. A lookup takes as many steps as the topic has levels, however
// many filters there are: every delivery does one. A tree is immutable once built and
// needs no lock. All clients of a role have one: names of their own are variables in it.
type tree struct {
	next       map[string]*tree // by level; + is a key like any other
	endsInHash bool             // a filter ends here in #
	endsHere   bool             // a filter ends here
}

// names are the values of a tree's variables.
type names struct{ own, robot string }

// ownLevel and robotLevel are the levels of a tree that stand for names. Nobody else has such a level: topics and
// filters with control characters are invalid.
const (
	ownLevel   = "\x00own"
	robotLevel = "\x00robot"
)

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
		level, filter, more = cutLevel(filter)
		if level == "#" {
			t.endsInHash = true
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
	t.endsHere = true
}

// intersects reports whether some topic matches both filter and a filter of the tree.
func (t *tree) intersects(filter string, n *names) bool {
	level, rest, more := cutLevel(filter)
	if isWildcard(level) {
		// A wildcard as first level does not match levels that begin with $.
		if t.endsInHash {
			return true
		}
		for name, child := range t.next {
			if !strings.HasPrefix(name, "$") && (level == "#" || child.rest(rest, more, n)) {
				return true
			}
		}
		return false
	}
	if strings.HasPrefix(level, "$") {
		child := t.next[level]
		return child != nil && child.rest(rest, more, n)
	}
	return t.step(level, rest, more, n)
}

// rest is intersects for the levels after the first.
func (t *tree) rest(filter string, more bool, n *names) bool {
	if t.endsInHash {
		return true
	}
	if !more {
		return t.endsHere
	}
	var level string
	level, filter, more = cutLevel(filter)
	return t.step(level, filter, more, n)
}

func (t *tree) step(level, rest string, more bool, n *names) bool {
	switch level {
	case "#":
		return true // every branch ends in some filter
	case "+":
		if t.endsInHash {
			return true
		}
		for _, child := range t.next {
			if child.rest(rest, more, n) {
				return true
			}
		}
		return false
	}
	return t.endsInHash || t.follow(level, rest, more, n) || t.follow("+", rest, more, n) ||
		level == n.own && t.follow(ownLevel, rest, more, n) || level == n.robot && t.follow(robotLevel, rest, more, n)
}

func (t *tree) follow(key, rest string, more bool, n *names) bool {
	child := t.next[key]
	return child != nil && child.rest(rest, more, n)
}
