package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/latch"
	"troupe/schema"
)

func (sh *shell) stopCommand() *cobra.Command {
	o := commandFlags{wait: stopWait}
	var level string
	c := &cobra.Command{
		Use: "stop ROBOT...", Short: "stop robots at once and latch the stop (software, not an emergency stop)",
		Long: `Stop robots at once and latch the stop. fleetd sends it before it persists it, also to robots
that seem offline, without waiting for the database or for a confirmation. Each robot stays
stopped under the id of the stop, across restarts of any program, until that id is released:

  fleetd stop list
  fleetd stop release ID --why 'the stage is clear'

After the release robots do not move until fleetd safety enable allows it. After halt or estop
they are in E_STOP and need fleetd safety reset first.

A stop with --level estop latches as halt, and stop list and audit show it so.

This is not an emergency stop: it is software, and needs a working network, broker and robot
program.`,
		Example: "  fleetd stop r1\n  fleetd stop --all --why 'fire drill'\n  fleetd stop r1 --level halt",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			switch level {
			case "stop", "soft-stop", "halt", "estop":
			default:
				return usage("--level %s: write stop, soft-stop, halt or estop", level)
			}
			return sh.sendStop(cmd.Context(), level, args, o)
		}),
	}
	o.targets.flags(c)
	c.Flags().StringVar(&o.why, "why", "", "the reason, for the audit")
	c.Flags().StringVar(&level, "level", "stop", "stop, soft-stop, halt or estop")
	waitFlag(c, &o.wait)
	c.AddCommand(sh.stopListCommand())
	return c
}

// sendStop asks fleetd to stop robots and latch the stop. fleetd waits for the answers,
// not this program: it would poll the batch, which leaves out robots that are unknown to
// the fleet.
func (sh *shell) sendStop(ctx context.Context, level string, names []string, o commandFlags) error {
	sel, err := o.selector(names)
	if err != nil {
		return err
	}
	var b api.Batch
	if err := sh.call(ctx, stopRequest("stops", api.LatchStopRequest{Selector: sel, Level: level, By: sh.by, Why: o.why}, o.wait), &b); err != nil {
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
	}); err != nil {
		return err
	}
	if o.wait == 0 || b.Total == 0 {
		return nil
	}
	return batchError(b)
}

// stopRequest is a request for a stop, with whose answer fleetd waits for the robots.
func stopRequest(path string, body any, wait time.Duration) apiRequest {
	return apiRequest{
		method: http.MethodPost, path: path, body: body, hint: "stop the robots at the robots",
		prefer: fmt.Sprintf("wait=%d", int(min(wait, stopWaitMost).Seconds()+0.5)), timeout: wait + stopGrace,
	}
}

func (sh *shell) stopListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the latched stops, the newest first", Args: cobra.NoArgs,
		Long: `List the latched stops, the newest first. The list may be incomplete while fleetd cannot read
its database, or a robot reports a stop that is not persisted yet; the command then warns on
standard error and exits with 3. It also warns if fleetd is not connected to its broker.`,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			var got api.LatchedList
			if err := sh.do(cmd.Context(), "list-stops", nil, &got); err != nil {
				return err
			}
			if got.Broker != "" {
				fmt.Fprintln(sh.Err, "warning: fleetd is not connected to its broker; robots may hold stops that are not listed, so check the robots themselves: "+got.Broker)
			}
			if err := sh.show(got, func(w io.Writer) {
				if got.Complete || len(got.Stops) > 0 {
					stopTable(w, got.Stops)
				}
			}); err != nil || got.Complete {
				return err
			}
			return &failure{code: exitPartial, err: errors.New("robots may hold more stops than are listed: fleetd has not read its database yet, or a robot reports a stop that is not persisted yet; try again in a moment (fleetd version shows the cause), or check the robots (fleetd robot list)")}
		}),
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
	w := newTable(out)
	fmt.Fprintln(w, "ID\tSINCE\tLEVEL\tON\tBY\tWHY")
	for _, h := range stops {
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
		writeRow(w, h.ID, formatTime(h.Since), strings.ReplaceAll(string(h.Level), "_", "-"), dash(on), dash(schema.Asker(h.Client, h.By)), dash(why))
	}
	_ = w.Flush() // a write error shows at the next write
}
