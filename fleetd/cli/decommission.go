package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/decommission"
	"troupe/fleetd/view"
)

func (sh *shell) decommissionCommand() *cobra.Command {
	var why string
	var yes, status bool
	var wait time.Duration
	c := &cobra.Command{
		Use: "decommission ROBOT", Short: "remove a robot from the fleet", Args: func(cmd *cobra.Command, args []string) error {
			if status && len(args) == 0 {
				return nil
			}
			return exactlyOne(cmd, args)
		},
		Long: `Remove a robot from the fleet: fleetd revokes its credentials; when the robot is offline,
fleetd deletes its desired documents at the broker, then those that the robot published, the
presence first, and archives its row. Its history stays. fleetd stop --all no longer waits for
its answer. The removal continues in the background, also after a restart of fleetd.

A robot that is online, or whose presence is unknown, is refused, unless --yes is given: then
it is stopped and disconnected as soon as fleetd knows whether it is online.
--status shows the progress; if no robot is named, of every removal.`,
		Example: "  fleetd robot decommission r7 --why 'worn out'\n  fleetd robot decommission r7 --status\n  fleetd robot decommission --status",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return sh.listDecommissions(cmd.Context())
			}
			var d api.Decommission
			a := apiRequest{method: http.MethodGet, path: robotPath(args[0], "decommission")}
			if !status {
				a.method, a.body = http.MethodPost, api.DecommissionRequest{Yes: yes, Attribution: audit.Attribution{Who: sh.by, Why: why}}
			}
			if err := sh.call(cmd.Context(), a, &d); err != nil {
				return err
			}
			if !status {
				var err error
				if d, err = sh.awaitDecommission(cmd.Context(), d, wait); err != nil {
					return err
				}
			}
			if err := sh.show(d, func(w io.Writer) { fmt.Fprintln(w, decommissionText(d)) }); err != nil {
				return err
			}
			if !d.Step.Over() && !status {
				return &failure{code: exitTimeout}
			}
			return nil
		}),
	}
	c.Flags().StringVar(&why, "why", "", "the reason, for the audit")
	c.Flags().BoolVar(&yes, "yes", false, "also if the robot is or may be online")
	c.Flags().BoolVar(&status, "status", false, "only show the progress, of every removal if no robot is named")
	c.Flags().DurationVar(&wait, "wait", 30*time.Second, "how long to wait until it is done")
	return c
}

func (sh *shell) listDecommissions(ctx context.Context) error {
	var l struct {
		Decommissions []api.Decommission `json:"decommissions"`
	}
	if err := sh.call(ctx, apiRequest{method: http.MethodGet, path: "decommissions"}, &l); err != nil {
		return err
	}
	return sh.show(l, func(out io.Writer) {
		if len(l.Decommissions) == 0 {
			fmt.Fprintln(out, "no robot was removed")
			return
		}
		w := newTable(out)
		fmt.Fprintln(w, "ROBOT\tSTEP\tBEGUN\tENDED\tBY\tWHY")
		for _, d := range l.Decommissions {
			writeRow(w, d.Robot, d.Step, formatTime(d.Begun), formatTime(d.Ended), dash(d.By), dash(orElse(d.Waiting, d.Why)))
		}
		_ = w.Flush() // a write error shows at the next write
	})
}

// awaitDecommission waits until the robot is removed, or time is up.
func (sh *shell) awaitDecommission(ctx context.Context, d api.Decommission, wait time.Duration) (api.Decommission, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	for !d.Step.Over() {
		select {
		case <-ctx.Done():
			return d, nil
		case <-look.C:
		}
		var now api.Decommission // json.Unmarshal keeps fields that the answer omits
		if err := sh.call(context.WithoutCancel(ctx), apiRequest{method: http.MethodGet, path: robotPath(d.Robot, "decommission")}, &now); err != nil {
			return d, err
		}
		d = now
	}
	return d, nil
}

func decommissionText(d api.Decommission) string {
	switch {
	case d.Step == decommission.Archived:
		return d.Robot + " is removed from the fleet"
	case d.Step == decommission.Cancelled:
		return d.Robot + " was enrolled again or adopted meanwhile, and remains in the fleet"
	case d.Waiting != "":
		return fmt.Sprintf("%s is being removed (step %s): %s", d.Robot, d.Step, d.Waiting)
	}
	return fmt.Sprintf("%s is being removed (step %s)", d.Robot, d.Step)
}

func (sh *shell) orphansCommand() *cobra.Command {
	var remove bool
	var why string
	c := &cobra.Command{
		Use: "orphans [ROBOT...]", Short: "list retained documents of unknown robots",
		Long: `List the retained documents of robots that are unknown to the fleet; --delete deletes those of
the named robots. They are never deleted automatically.`,
		Example: "  fleetd robot orphans\n  fleetd robot orphans r9 --delete",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if remove {
				return sh.deleteOrphans(cmd.Context(), args, why)
			}
			if len(args) > 0 {
				return usage("names of robots are for --delete; without it all are listed")
			}
			var l struct {
				Orphans []view.StrayDocuments `json:"orphans"`
			}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "orphans"}, &l); err != nil {
				return err
			}
			return sh.show(l, func(w io.Writer) { orphanTable(w, l.Orphans) })
		}),
	}
	c.Flags().BoolVar(&remove, "delete", false, "delete the documents of the named robots")
	whyFlag(c, &why)
	return c
}

func (sh *shell) deleteOrphans(ctx context.Context, names []string, why string) error {
	if len(names) == 0 {
		return usage("--delete: name the robots whose documents to delete")
	}
	for _, name := range names {
		var o view.StrayDocuments
		path := "orphans/" + url.PathEscape(name)
		if err := sh.call(ctx, apiRequest{method: http.MethodDelete, path: path, query: sh.attributionQuery(why)}, &o); err != nil {
			return err
		}
		if err := sh.show(o, func(w io.Writer) { fmt.Fprintf(w, "%s: %d documents deleted\n", o.Robot, len(o.Topics)) }); err != nil {
			return err
		}
	}
	return nil
}

func orphanTable(out io.Writer, all []view.StrayDocuments) {
	if len(all) == 0 {
		fmt.Fprintln(out, "no documents of unknown robots")
		return
	}
	w := newTable(out)
	fmt.Fprintln(w, "ROBOT\tPRESENCE\tOLDEST DOCUMENT\tTOPICS")
	for _, o := range all {
		var last []string
		for _, topic := range o.Topics {
			_, below, _ := strings.Cut(topic, "/robots/"+o.Robot+"/")
			last = append(last, below)
		}
		writeRow(w, o.Robot, o.PresenceStatus, o.Seen, strings.Join(last, " "))
	}
	_ = w.Flush() // a write error shows at the next write
}
