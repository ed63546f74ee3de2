package command

import (
	"fmt"
	"strings"

	"troupe/fleetd/audit"
)

// IssuedNote is the entry of the audit for a new batch.
func IssuedNote(b Batch, commands []Command) audit.Note {
	n := audit.Note{
		Source: b.Source, Who: b.By, What: audit.CommandAction(b.Verb), Target: target(b, commands), Why: b.Why, Outcome: audit.Accepted,
	}
	if len(b.Args) > 0 {
		n.After = audit.JSON(b.Args)
	}
	return n
}

// maxEndsListed bounds how many different ends (state and reason) an entry lists.
const maxEndsListed = 20

func target(b Batch, commands []Command) string {
	if b.Total == 1 && len(commands) == 1 {
		return "robot " + commands[0].Robot
	}
	text := fmt.Sprintf("%d robots: %s", b.Total, b.Selector)
	return audit.Text(text, 512)
}

// End is how some commands of a batch ended: all those with one state and reason.
type End struct {
	State   State
	Because string
	Count   int
	Robot   string // one of them
}

// EndedNote is the entry of the audit for the end of a batch.
func EndedNote(b Batch, ends []End) audit.Note {
	n := audit.Note{Source: audit.Source{Via: audit.ViaFleetd}, What: audit.CommandAction(b.Verb), Target: fmt.Sprintf("%d robots: %s",
		b.Total, b.Selector)}
	done, refused, all := 0, 0, 0
	var parts []string
	for i, e := range ends {
		all += e.Count
		switch e.State {
		case Succeeded:
			done += e.Count
		case Rejected:
			refused += e.Count
		}
		if i < maxEndsListed {
			parts = append(parts, strings.TrimSuffix(fmt.Sprintf("%d %s: %s", e.Count, e.State, e.Because), ": "))
		}
	}
	n.Detail = audit.Text(strings.Join(parts, "; "), 1024)
	if all == 1 {
		n.Target = "robot " + ends[0].Robot
		n.Detail = audit.Text(strings.TrimSuffix(string(ends[0].State)+": "+ends[0].Because, ": "), 1024)
	}
	n.Target = audit.Text(n.Target, 512)
	switch {
	case all == 0:
		n.Outcome, n.Detail = audit.Failed, "none of these robots belongs to the fleet"
	case done == all:
		n.Outcome = audit.Done
	case done > 0:
		n.Outcome = audit.Partly
	case refused == all:
		n.Outcome = audit.Refused
	default:
		n.Outcome = audit.Failed
	}
	return n
}
