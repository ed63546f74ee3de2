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
	takeContexts(c)
	return func(ctx context.Context, _ []string, r rowRequest) error {
		if len(sh.several) > 0 {
			return stopInContexts(ctx, sh, stopRequest(r, wait), wait > 0)
		}
		var b api.Batch
		if err := sh.call(ctx, stopRequest(r, wait), &b); err != nil {
			return err
		}
		if err := sh.show(b, func(w io.Writer) { stopText(w, b, "") }); err != nil || wait == 0 || b.Total == 0 {
			return err
		}
		return batchError(b)
	}
}

// stopText prints the answer to a stop. of is the flag that names its fleet, if it went to several.
func stopText(w io.Writer, b api.Batch, of string) {
	if b.Total > 0 {
		batchTable(w, b)
	}
	fmt.Fprintf(w, "latched as %s; fleetd stop release %s%s --why REASON releases it\n", b.Latch, b.Latch, of)
	if b.Unspooled {
		fmt.Fprintln(w, "fleetd could not write it to its disk; robots hold it: check fleetd stop list")
	}
}

// stopRequest is a request for a stop, with whose answer fleetd waits for the robots.
func stopRequest(r rowRequest, wait time.Duration) apiRequest {
	a := r.http()
	a.hint, a.timeout = "stop the robots at the robots", wait+stopGrace
	a.prefer = fmt.Sprintf("wait=%d", int(min(wait, stopWaitMost).Seconds()+0.5))
	return a
}

func releaseStops(sh *shell, c *cobra.Command) finish {
	takeContexts(c)
	alone := needsReason("robots may move again")(sh, c)
	return func(ctx context.Context, args []string, r rowRequest) error {
		if why, _ := r.body["why"].(string); len(sh.several) > 0 && strings.TrimSpace(why) != "" {
			return releaseInContexts(ctx, sh, args, why)
		}
		return alone(ctx, args, r)
	}
}

func listStops(sh *shell, c *cobra.Command) finish {
	takeContexts(c)
	return func(ctx context.Context, _ []string, r rowRequest) error {
		if len(sh.several) > 0 {
			return inContexts(ctx, sh, func(ctx context.Context, one *shell) (got api.LatchedList, err error) {
				err = one.call(ctx, r.http(), &got)
				return got, err
			}, func(w io.Writer, _ *shell, got api.LatchedList) { stopTable(w, got.Stops) },
				func(got api.LatchedList) error { return incompleteStops(got.Complete) })
		}
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
		}); err != nil {
			return err
		}
		return incompleteStops(got.Complete)
	}
}

// incompleteStops is the failure of a list of stops that may lack some.
func incompleteStops(complete bool) error {
	if complete {
		return nil
	}
	return &failure{code: exitPartial, err: errors.New("robots may hold more stops than are listed: fleetd has not read its database " +
		"yet, or a robot reports a stop that is not persisted yet; try again in a moment (fleetd version shows the cause), or check " +
		"the robots (fleetd robot list)")}
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
