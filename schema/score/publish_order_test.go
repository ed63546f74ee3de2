package score

import (
	"strings"
	"testing"
)

func TestActsComeBehindThoseThatTheyPerform(t *testing.T) {
	act := func(id string, nested ...string) Act {
		a := Act{ID: id}
		for _, other := range nested {
			a.Actions = append(a.Actions, Action{Do: PerformAct{Act: other}})
		}
		return a
	}
	var got []string
	for _, a := range PerformedFirst([]Act{act("a", "c", "elsewhere"), act("b"), act("c", "d"), act("d", "a"), {}},
		func(a Act) Act { return a }) {
		got = append(got, a.ID)
	}
	if order := strings.Join(got, " "); order != "d c a b " {
		t.Errorf("the order is %q", order)
	}
}
