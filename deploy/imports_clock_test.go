package deploy

import (
	"go/ast"
	"slices"

	"troupe/deploy/layers"
)

// checkBubbles checks that bubbles begin in schema/bubble, which keeps the race
// detector from crashing in them.
func checkBubbles(s *source, report func(string, ...any)) {
	local, ok := s.imports["testing/synctest"]
	if !ok || s.folder == "schema/bubble" {
		return
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok && selector.Sel.Name == "Test" {
			if x, ok := selector.X.(*ast.Ident); ok && x.Name == local {
				report("line %d calls synctest.Test: call bubble.Test of schema/bubble", s.set.Position(selector.Pos()).Line)
			}
		}
		return true
	})
}

// checkTime checks that only permitted files read the clock, start timers or sleep.
func (rules importRules) checkTime(s *source, at layers.Layer, report func(string, ...any)) {
	local, ok := s.imports["time"]
	if !ok {
		return
	}
	if local == "." {
		report("imports time with a dot: import it under a name, so that a reader and this test see the uses of the clock")
		return
	}
	_, waits := s.imports["testing/synctest"]
	_, runs := s.imports[module+"schema/bubble"]
	bubble := waits || runs
	ast.Inspect(s.tree, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); !ok || x.Name != local {
			return true
		}
		line := s.set.Position(selector.Pos()).Line
		switch what := selector.Sel.Name; what {
		case "Now", "Since", "Until":
			if !s.test && !at.Clock && !rules.mayUseClock(s) {
				report("line %d reads the clock (time.%s) in a layer without clock: take the time as an argument", line, what)
			}
		case "After", "AfterFunc", "NewTimer", "NewTicker", "Tick":
			if !s.test && at.Pure && !rules.mayUseClock(s) {
				report("line %d waits (time.%s) in a pure package: return the deadline and let the caller's loop wait for it", line, what)
			}
		case "Sleep":
			switch {
			case s.test && !bubble && !slices.Contains(rules.maySleep, s.folder):
				report("line %d sleeps: wait for the event itself, or run the test in a testing/synctest bubble, where sleeping takes no time", line)
			case !s.test && at.Pure && !rules.mayUseClock(s):
				report("line %d waits (time.%s) in a pure package: return the deadline and let the caller's loop wait for it", line, what)
			}
		}
		return true
	})
}

// mayUseClock reports whether the file or its folder is in allowedClocks.
func (rules importRules) mayUseClock(s *source) bool {
	for _, listed := range []string{s.path, s.folder} {
		if _, ok := rules.allowedClocks[listed]; ok {
			rules.used[listed] = true
			return true
		}
	}
	return false
}
