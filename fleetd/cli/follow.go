package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"troupe/fleetd/api"
)

// followInterval is how often a follower asks for what is new.
const followInterval = time.Second

// followEvents prints the newest events that a request selects, the oldest first, and then each
// as fleetd receives it, until interrupted. While fleetd does not answer it says so once, and
// goes on with what it missed. With columns, each line of a table has the columns of an event.
func (sh *shell) followEvents(ctx context.Context, robots []string, r rowRequest, columns bool) error {
	seen := map[eventID]time.Time{} // when fleetd received them
	reported, answered := false, false
	var last time.Time
	for {
		events, err := sh.events(ctx, robots, r)
		var f *failure
		switch {
		case ctx.Err() != nil:
			return nil // interrupted by the user
		case errors.As(err, &f) && f.code != exitTimeout && !(answered && f.isTemporary()), err != nil && !answered:
			return err
		case err != nil && !reported:
			reported = true
			fmt.Fprintln(sh.Err, "fleetd:", err, "- trying again")
		case err == nil:
			reported, answered = false, true
		}
		slices.Reverse(events)
		for _, e := range events {
			id := eventID{e.Robot, e.Boot, e.Seq}
			if _, old := seen[id]; old {
				continue
			}
			seen[id] = e.Received.Time()
			if e.Received.Time().After(last) {
				last = e.Received.Time()
			}
			if err := sh.printEvent(e, columns); err != nil {
				return err
			}
		}
		if err == nil && !last.IsZero() { // from now on what came since the newest one, and a little earlier: fleetd may store late
			r.query.Set("limit", strconv.Itoa(maxEvents))
			r.query.Set("since", last.Add(-overlap-followInterval).UTC().Format(time.RFC3339Nano))
			for id, at := range seen {
				if last.Sub(at) > 2*(overlap+followInterval) {
					delete(seen, id)
				}
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followInterval):
		}
	}
}

func (sh *shell) printEvent(e api.Event, columns bool) error {
	if !sh.forPeople() {
		return sh.showNext(e)
	}
	if columns {
		_, err := fmt.Fprintf(sh.Out, "%s  %-6s  %-6s  %-18s  %-9s  %s\n", formatTime(e.Received), oneLine(e.Robot), e.Level, oneLine(e.Type),
			oneLine(e.Source), cell(eventData(e.Event)))
		return err
	}
	_, err := fmt.Fprintln(sh.Out, logLine(e))
	return err
}
