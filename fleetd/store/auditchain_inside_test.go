package store

import (
	"slices"
	"testing"

	"troupe/fleetd/audit"
)

func TestVerifyHoldsWhileEntriesArePruned(t *testing.T) {
	chain := func(n int) (all []audit.Entry) {
		var head audit.Head
		for range n {
			e := audit.Entry{Note: audit.Note{What: "label"}}
			head = e.Link(head)
			all = append(all, e)
		}
		return all
	}
	// prune deletes the entries up to one, and adds the entry that says so.
	prune := func(all []audit.Entry, through int) []audit.Entry {
		last, newest := all[through-1], all[len(all)-1]
		e := audit.Entry{Note: audit.Note{What: audit.ActionPrune, After: audit.JSON(audit.Checkpoint{Through: last.Seq, Hash: last.Hash,
			Rows: last.Seq})}}
		e.Link(audit.Head{Seq: newest.Seq, Hash: newest.Hash})
		return append(slices.Clone(all[through:]), e)
	}
	for name, c := range map[string]struct {
		change func(all []audit.Entry) []audit.Entry // before the second page
		holds  bool
	}{
		"pruned within the first page":  {func(all []audit.Entry) []audit.Entry { return prune(all, rowsAtOnce/2) }, true},
		"pruned beyond the first page":  {func(all []audit.Entry) []audit.Entry { return prune(all, rowsAtOnce+2) }, true},
		"removed without a word":        {func(all []audit.Entry) []audit.Entry { return all[rowsAtOnce+2:] }, false},
		"removed from between the rest": {func(all []audit.Entry) []audit.Entry { return slices.Delete(all, rowsAtOnce, rowsAtOnce+1) }, false},
	} {
		all, reads := chain(rowsAtOnce+10), 0
		v, err := verifyPages(audit.Head{}, func(after int64, limit int) (page []audit.Entry, err error) {
			if reads++; reads == 2 {
				all = c.change(all)
			}
			for _, e := range all {
				if e.Seq > after && len(page) < limit {
					page = append(page, e)
				}
			}
			return page, nil
		})
		if err != nil || v.Holds != c.holds {
			t.Errorf("%s: holds %v (%+v), %v", name, v.Holds, v.Broken, err)
		}
	}
}
