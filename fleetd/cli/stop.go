package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema"
)

func (sh *shell) stopCommand() *cobra.Command {
	o := order{wait: stopWait}
	var level string
	c := &cobra.Command{
		Use: "stop ROBOT...", Short: "stop robots at once and hold them (software, not an emergency stop)",
		Long: `Stop robots at once and hold them. It is sent before it is persisted, to robots that
are not heard as well, waits for no database and never asks back. Each robot holds the stop
under its id, over restarts of everything, until that id is released:

  fleetd stop list
  fleetd stop release ID --why 'the stage is clear'

Released robots are DISABLED: nothing moves by itself. To move again: fleetd safety enable.

This is software: it needs a network, a broker and a robot program that work. It is no
emergency stop.`,
		Example: "  fleetd stop r1\n  fleetd stop --all --why 'fire drill'\n  fleetd stop r1 --level halt",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			switch level {
			case "stop", "soft-stop", "halt", "estop":
			default:
				return usage("--level %s: write stop, soft-stop, halt or estop", level)
			}
			return sh.hold(cmd.Context(), level, args, o)
		}),
	}
	o.targets.flags(c)
	c.Flags().StringVar(&o.why, "why", "", "the reason, for the record")
	c.Flags().StringVar(&level, "level", "stop", "stop, soft-stop, halt or estop")
	waitFlag(c, &o.wait)
	c.AddCommand(sh.stopListCommand(), sh.stopReleaseCommand())
	return c
}

// hold asks fleetd to stop and hold robots. Fleetd waits for the answers, and
// not this program: the record, at which it would look, has no robots that the
// fleet does not know.
func (sh *shell) hold(ctx context.Context, level string, names []string, o order) error {
	sel, err := o.selector(names)
	if err != nil {
		return err
	}
	var b api.Batch
	if err := sh.call(ctx, ask{
		method: http.MethodPost, path: "stops", body: api.StopOrder{Selector: sel, Level: level, By: sh.by, Why: o.why},
		prefer: fmt.Sprintf("wait=%d", int(min(o.wait, stopWaitMost).Seconds()+0.5)), within: o.wait + stopGrace, hint: "stop the robots at the robots",
	}, &b); err != nil {
		return err
	}
	if err := sh.show(b, func(w io.Writer) {
		if b.Total > 0 {
			batchTable(w, b)
		}
		fmt.Fprintf(w, "latched as %s; fleetd stop release %s --why REASON releases it\n", b.Latch, b.Latch)
		if b.Unspooled {
			fmt.Fprintln(w, "fleetd could not keep it on its own disk: robots hold it, look at fleetd stop list")
		}
	}); err != nil {
		return err
	}
	if o.wait == 0 || b.Total == 0 {
		return nil
	}
	return ended(b)
}

type latchedStops struct {
	TS       schema.Time       `json:"ts"`
	Complete bool              `json:"complete"`
	Broker   string            `json:"broker,omitempty"`
	Stops    []api.LatchedStop `json:"stops"`
}

func (sh *shell) stopListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list the latched stops, the newest first", Args: cobra.NoArgs,
		Long: `List the latched stops, the newest first. While fleetd cannot read its database, or
a robot shows a stop that is not persisted yet, it lists the stops that it knows otherwise,
says on standard error that more may be held, and ends with code 3. It says there as well
that fleetd is not connected to its broker.`,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			var got latchedStops
			if err := sh.call(cmd.Context(), ask{method: http.MethodGet, path: "stops"}, &got); err != nil {
				return err
			}
			if got.Broker != "" {
				fmt.Fprintln(sh.Err, "fleetd is not connected to its broker, and robots may hold stops that it did not hear of: look at the robots; "+got.Broker)
			}
			if err := sh.show(got, func(w io.Writer) {
				if got.Complete || len(got.Stops) > 0 {
					stopTable(w, got.Stops)
				}
			}); err != nil || got.Complete {
				return err
			}
			return &failure{exitPartial, errors.New("fleetd has not read its database, or a robot shows a stop that is not persisted yet; they may hold more stops than are listed: look again in a moment (fleetd version says why), or look at the robots (fleetd robot list)")}
		}),
	}
}

func (sh *shell) stopReleaseCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "release ID...", Short: "release stops by their ids", Args: atLeastOne,
		Long: `Release stops by their ids, all of them or none. Robots that hold no other stop are DISABLED
then, and move only when somebody enables them. It needs the database, and is kept in the
audit with who released it and why.`,
		Example: "  fleetd stop release stop-260517-093000-1f0c --why 'the stage is clear'",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(why) == "" {
				return usage("say --why robots may move again")
			}
			var got api.Released
			if err := sh.call(cmd.Context(), ask{method: http.MethodPost, path: "stops/release", body: api.Releasing{IDs: args, By: sh.by, Why: why}}, &got); err != nil {
				return err
			}
			return sh.show(got, func(w io.Writer) {
				fmt.Fprintf(w, "released %s; robots that hold no other stop are DISABLED: fleetd safety enable lets them move\n", strings.Join(got.IDs, " "))
				if len(got.StillLatched) > 0 {
					fmt.Fprintln(w, "still held:")
					stopTable(w, got.StillLatched)
				}
			})
		}),
	}
	c.Flags().StringVar(&why, "why", "", "why robots may move again, for the record")
	return c
}

func stopTable(out io.Writer, stops []api.LatchedStop) {
	if len(stops) == 0 {
		fmt.Fprintln(out, "no stop is held")
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSINCE\tLEVEL\tON\tBY\tWHY")
	for _, h := range stops {
		on := strings.Join(h.Robots, " ")
		switch {
		case h.All:
			on = "all robots"
		case len(h.Robots) > 5:
			on = count(len(h.Robots), "robot")
		}
		why := h.Why
		if !h.Persisted {
			why = strings.TrimSpace(why + " (not persisted yet)")
		}
		row(w, h.ID, when(h.Since), h.Level, dash(on), dash(schema.Asker(h.Client, h.By)), dash(why))
	}
	_ = w.Flush() // a reader that went away is told by the next write
}
