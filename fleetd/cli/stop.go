package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/latch"
	"troupe/schema"
)

// stopRobots asks fleetd to stop robots and latch the stop. fleetd waits for the answers,
// not this program: it would poll the batch, which leaves out robots that are unknown to
// the fleet.
func stopRobots(sh *shell, c *cobra.Command) finish {
	wait := stopWait
	waitFlag(c, &wait)
	return func(ctx context.Context, _ []string, r rowRequest) error {
		var b api.Batch
		if err := sh.call(ctx, stopRequest(r, wait), &b); err != nil {
			return err
		}
		if err := sh.show(b, func(w io.Writer) {
			if b.Total > 0 {
				batchTable(w, b)
			}
			fmt.Fprintf(w, "latched as %s; fleetd stop release %s --why REASON releases it\n", b.Latch, b.Latch)
			if b.Unspooled {
				fmt.Fprintln(w, "fleetd could not write it to its disk; robots hold it: check fleetd stop list")
			}
		}); err != nil || wait == 0 || b.Total == 0 {
			return err
		}
		return batchError(b)
	}
}

// stopRequest is a request for a stop, with whose answer fleetd waits for the robots.
func stopRequest(r rowRequest, wait time.Duration) apiRequest {
	a := r.http()
	a.hint, a.timeout = "stop the robots at the robots", wait+stopGrace
	a.prefer = fmt.Sprintf("wait=%d", int(min(wait, stopWaitMost).Seconds()+0.5))
	return a
}

func listStops(sh *shell, _ *cobra.Command) finish {
	return func(ctx context.Context, _ []string, r rowRequest) error {
		var got api.LatchedList
		if err := sh.call(ctx, r.http(), &got); err != nil {
			return err
		}
		if got.Broker != "" {
			fmt.Fprintln(sh.Err, "warning: fleetd is not connected to its broker; robots may hold stops that are not listed, "+
				"so check the robots themselves: "+got.Broker)
		}
		if err := sh.show(got, func(w io.Writer) {
			if got.Complete || len(got.Stops) > 0 {
				stopTable(w, got.Stops)
			}
		}); err != nil || got.Complete {
			return err
		}
		return &failure{code: exitPartial, err: errors.New("robots may hold more stops than are listed: fleetd has not read its database " +
			"yet, or a robot reports a stop that is not persisted yet; try again in a moment (fleetd version shows the cause), or check " +
			"the robots (fleetd robot list)")}
	}
}

func releasedText(_ *shell, out io.Writer, got api.Released) {
	fmt.Fprintf(out, "released %s; robots that hold no other stop are DISABLED and need fleetd safety enable, or in E_STOP and need "+
		"fleetd safety reset first; after E_STOP the story then waits for fleetd auto continue\n", strings.Join(got.IDs, " "))
	if len(got.StillLatched) > 0 {
		fmt.Fprintln(out, "still latched:")
		stopTable(out, got.StillLatched)
	}
}

func stopTable(out io.Writer, stops []latch.LatchedStop) {
	if len(stops) == 0 {
		fmt.Fprintln(out, "no latched stops")
		return
	}
	writeTable(out, "ID\tSINCE\tLEVEL\tON\tBY\tWHY", stops, func(h latch.LatchedStop) []any {
		on := strings.Join(h.Robots, " ")
		switch {
		case h.All:
			on = "all robots"
		case len(h.Robots) > 5:
			on = countText(len(h.Robots), "robot")
		case len(h.Robots) == 0 && len(h.Labels) > 0:
			for _, key := range slices.Sorted(maps.Keys(h.Labels)) {
				on = strings.TrimSpace(on + " -l " + key + "=" + h.Labels[key])
			}
		}
		why := h.Why
		if !h.Persisted {
			why = strings.TrimSpace(why + " (not persisted yet)")
		}
		level := strings.ReplaceAll(string(h.Level), "_", "-")
		return []any{h.ID, formatTime(h.Since), level, dash(on), dash(schema.Asker(h.Client, h.By)), dash(why)}
	})
}
