package score

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
)

// shuffled returns a copy of a list in which actions with different starts have changed
// places, in groups, too.
func shuffled(list []Action, seed uint64) []Action {
	var runs [][]Action // of actions with equal starts, whose order counts
	for _, x := range list {
		if x.Inner() != nil {
			x.SetInner(shuffled(x.Inner(), seed+1))
		}
		if n := len(runs); n > 0 && runs[n-1][0].StartMS == x.StartMS {
			runs[n-1] = append(runs[n-1], x)
			continue
		}
		runs = append(runs, []Action{x})
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	var out []Action
	for _, r := range runs {
		out = append(out, r...)
	}
	return out
}

// An act means the same however its author sorts it.
func TestOrderOfActionsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Act{ID: "a", Actions: drawList(t, 0, true)}
		b := a
		b.Actions = shuffled(a.Actions, rapid.Uint64().Draw(t, "seed"))
		if x, y := schema.Errors(ValidateAct(a)), schema.Errors(ValidateAct(b)); len(x) != len(y) {
			t.Fatalf("sorted %q, shuffled %q", x, y)
		}
		fromA, toA := a.Lasts()
		if fromB, toB := b.Lasts(); fromA != fromB || toA != toB || a.DurationMS() != b.DurationMS() {
			t.Fatalf("sorted %d to %d ms, shuffled %d to %d", fromA, toA, fromB, toB)
		}
		sortedBytes, err := schema.Encode(a)
		if err != nil {
			t.Fatal(err)
		}
		if published, err := schema.Encode(b.Sorted()); err != nil || !bytes.Equal(published, sortedBytes) {
			t.Fatalf("published as %s, want %s (%v)", published, sortedBytes, err)
		}
	})
}
