package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/selector"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/verb"
)

// sendCommand sends one command to robots and shows the results.
func (sh *shell) sendCommand(ctx context.Context, r rowRequest, args map[string]any, wait time.Duration) error {
	id := r.body["verb"].(string)
	b, err := sh.issue(ctx, r, wait)
	if err == nil && id == "safety/reset" {
		b, err = sh.retryUnsettledResets(ctx, r, b, wait)
	}
	if err != nil {
		return err
	}
	if err := sh.show(b, func(w io.Writer) { batchTable(w, b) }); err != nil {
		return err
	}
	if b.DryRun || wait == 0 {
		return nil
	}
	if id == "mode/set" && args["mode"] == string(schema.ModeAto) {
		sh.noteLatched(ctx, b)
	}
	return batchError(b)
}

// issue sends a request for commands, and waits for their results. For those of a stop fleetd waits:
// a batch that is polled leaves out robots that are unknown to the fleet.
func (sh *shell) issue(ctx context.Context, r rowRequest, wait time.Duration) (b api.Batch, err error) {
	group, name, _ := strings.Cut(r.body["verb"].(string), "/")
	if v, _ := verb.Of(group, name); v.Class == verb.ClassStop {
		return b, sh.call(ctx, stopRequest(r, wait), &b)
	}
	a := r.http()
	if wait > 0 {
		a.prefer = "wait=1" // await polls for the rest, so that it can show progress
	}
	if err := sh.call(ctx, a, &b); err != nil {
		return b, err
	}
	return sh.await(ctx, b, wait)
}

// settleWait is for how long a reset that waits asks again, at most: units settle within about a
// second of the end of their fault.
const settleWait = 5 * time.Second

// retryUnsettledResets asks the robots again that refused a reset because their units have not settled
// yet, until they have, and returns the batch with the newest results.
func (sh *shell) retryUnsettledResets(ctx context.Context, r rowRequest, b api.Batch, wait time.Duration) (api.Batch, error) {
	settles := func(c api.Command) bool { return c.Answer != nil && c.Answer.Reason == schema.ReasonResetSettling }
	delete(r.body, "expected_count")
	for until := time.Now().Add(min(wait, settleWait)); slices.ContainsFunc(b.Commands, settles) && time.Until(until) > pollInterval; {
		select {
		case <-ctx.Done():
			return b, &failure{code: exitTimeout, err: errors.New("interrupted; some robots are not reset")}
		case <-time.After(pollInterval):
		}
		var robots []string
		for _, c := range b.Commands {
			if settles(c) {
				robots = append(robots, c.Robot)
			}
		}
		r.body["selector"] = selector.IDs(robots...)
		again, err := sh.issue(ctx, r, time.Until(until))
		if err != nil {
			return b, err
		}
		b.ID = again.ID
		states := make([]command.State, len(b.Commands))
		for i := range b.Commands {
			if at := slices.IndexFunc(again.Commands, func(c api.Command) bool { return c.Robot == b.Commands[i].Robot }); at >= 0 {
				b.Commands[i] = again.Commands[at]
			}
			states[i] = b.Commands[i].State
		}
		sum := command.Summarise(states)
		b.Counts, b.Outcome = sum.By, sum.Outcome
	}
	return b, nil
}

// maxNotes is the number of robots whose reasons not to perform are printed one by one.
const maxNotes = 20

// noteLatched prints which robots are in the mode that was asked for, and do not perform because
// a latched stop keeps them stopped.
func (sh *shell) noteLatched(ctx context.Context, b api.Batch) {
	for _, c := range b.Commands[:min(len(b.Commands), maxNotes)] {
		if c.State != command.Succeeded {
			continue
		}
		var d view.Detail
		if sh.do(ctx, "get-robot", given{"id": c.Robot}, &d) == nil && len(d.Latches) > 0 {
			fmt.Fprintf(sh.Err, "%s is %s\n", c.Robot, latchedText(d.Robot))
		}
	}
}

// await polls a batch until it is settled or time is up, and shows progress on a
// terminal.
func (sh *shell) await(ctx context.Context, b api.Batch, wait time.Duration) (api.Batch, error) {
	if b.DryRun || wait == 0 || b.Outcome != command.OutcomeRunning || b.Unpersisted {
		return b, nil
	}
	until, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	line := sh.progress(commandText(b.Verb), "robots")
	defer line.clear()
	for b.Outcome == command.OutcomeRunning {
		select {
		case <-ctx.Done():
			return b, &failure{code: exitTimeout, err: errors.New("interrupted; the commands continue: fleetd command get " + b.ID)}
		case <-until.Done():
			return b, nil
		case <-time.After(pollInterval):
		}
		waiting, skipped := b.Waiting, b.Skipped
		var now api.Batch
		if err := sh.do(ctx, "get-batch", given{"id": b.ID}, &now); err != nil {
			return b, err
		}
		b = now
		b.Waiting, b.Skipped = waiting, skipped
		settled := 0
		for state, n := range b.Counts {
			if state.Settled() {
				settled += n
			}
		}
		line.show(settled, b.Total)
	}
	return b, nil
}

// seenOf returns the commands to robots that fleetd has seen, or that answered.
func seenOf(b api.Batch) []api.Command {
	return slices.DeleteFunc(slices.Clone(b.Commands), func(c api.Command) bool {
		return slices.Contains(b.NeverSeen, c.Robot) && c.Answer == nil
	})
}

func batchTable(out io.Writer, b api.Batch) {
	w := newTable(out)
	if b.DryRun {
		fmt.Fprintf(w, "would send %[2]s to %[1]s\n", countText(b.Total, "robot"), commandText(b.Verb))
		for _, c := range b.Commands {
			writeRow(w, c.Robot)
		}
	} else if seen := seenOf(b); len(seen) > 0 || len(b.NeverSeen) == 0 {
		fmt.Fprintln(w, "ROBOT\tSTATE\tRESULT\tBECAUSE")
		for _, c := range seen {
			writeRow(w, c.Robot, c.State, dash(resultOf(c)), becauseText(c))
		}
	}
	for _, id := range b.NeverSeen {
		fmt.Fprintf(w, "%s: never seen by this fleetd; it may not have stopped\n", id)
	}
	for _, s := range b.Skipped {
		fmt.Fprintf(w, "%s\tskipped\t%s\t%s\n", s.Robot, s.Reason, inCommands(s.Detail, s.Robot))
	}
	if b.Unpersisted {
		fmt.Fprintln(w, "sent, not persisted yet: the database does not answer")
	} else if b.ID != "" {
		fmt.Fprintf(w, "batch %s\n", b.ID)
	}
	_ = w.Flush() // a write error shows at the next write
}
