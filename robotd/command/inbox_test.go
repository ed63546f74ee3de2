package command

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
)

// TestInboxKeepsItsOrder compares it with a list of what was put there.
func TestInboxKeepsItsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Inbox[int]
		var model []Waiting[int]
		for n := range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				w := Waiting[int]{n, Key(rapid.SampledFrom([]string{"", "a/1", "b/2"}).Draw(t, "by")), schema.Precondition{StateSeq: int64(n)}}
				q.Put(w.In, w.By, w.When)
				model = append(model, w)
			case 2:
				seen, _ := q.Peek()
				got, ok := q.Take()
				if ok != (len(model) > 0) || got != seen || ok && got != model[0] {
					t.Fatalf("took %+v, %v; looked at %+v; waiting are %+v", got, ok, seen, model)
				}
				model = model[min(1, len(model)):]
			case 3:
				by := Key(rapid.SampledFrom([]string{"a/1", "b/2", "c/3"}).Draw(t, "drop"))
				before := len(model)
				model = slices.DeleteFunc(slices.Clone(model), func(w Waiting[int]) bool { return w.By == by })
				if got := q.Drop(by); got != (len(model) < before) {
					t.Fatalf("dropped of %s: %v", by, got)
				}
			case 4:
				var dropped []Waiting[int]
				q.Clear(func(w Waiting[int]) { dropped = append(dropped, w) })
				if fmt.Sprint(dropped) != fmt.Sprint(model) {
					t.Fatalf("cleared %+v, waiting were %+v", dropped, model)
				}
				model = nil
			}
			if q.Len() != len(model) {
				t.Fatalf("%d wait, want %d", q.Len(), len(model))
			}
		}
	})
}
