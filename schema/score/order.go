package score

import (
	"cmp"
	"slices"
)

// inOrder returns the indexes of the actions of a list by their start. Actions with equal
// starts keep the order of the list.
func inOrder(list []Action) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(list[i].StartMS, list[j].StartMS) })
	return order
}

// Sorted returns a copy of a in which every list of actions is in the order of their starts,
// as it is published: equal acts then have equal bytes.
func (a Act) Sorted() Act {
	a.Actions = sorted(a.Actions)
	return a
}

func sorted(list []Action) []Action {
	if list == nil {
		return nil
	}
	out := make([]Action, 0, len(list))
	for _, i := range inOrder(list) {
		x := list[i]
		x.SetInner(sorted(x.Inner()))
		out = append(out, x)
	}
	return out
}
