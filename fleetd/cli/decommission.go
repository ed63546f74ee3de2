package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/decommission"
	"troupe/fleetd/view"
)

func decommissionRobot(sh *shell, c *cobra.Command) finish {
	status := c.Flags().Bool("status", false, "only show the progress, of every removal if no robot is named")
	wait := c.Flags().Duration("wait", 30*time.Second, "how long to wait until it is done")
	c.Args = func(cmd *cobra.Command, args []string) error {
		if *status && len(args) == 0 {
			return nil
		}
		return exactlyOne(cmd, args)
	}
	return func(ctx context.Context, args []string, r rowRequest) error {
		switch {
		case *status && len(args) == 0:
			return sh.doAndShow(ctx, "list-decommissions", nil)
		case *status:
			return sh.doAndShow(ctx, "get-decommission", given{"id": args[0]})
		}
		var d api.Decommission
		err := sh.call(ctx, r.http(), &d)
		if err == nil {
			d, err = sh.awaitDecommission(ctx, d, *wait)
		}
		if err == nil {
			err = sh.show(d, func(w io.Writer) { fmt.Fprintln(w, decommissionText(d)) })
		}
		if err == nil && !d.Step.Over() {
			return &failure{code: exitTimeout}
		}
		return err
	}
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
		if err := sh.do(context.WithoutCancel(ctx), "get-decommission", given{"id": d.Robot}, &now); err != nil {
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
			switch {
			case !remove && len(args) > 0:
				return usage("names of robots are for --delete; without it all are listed")
			case !remove:
				return sh.doAndShow(cmd.Context(), "list-orphans", nil)
			case len(args) == 0:
				return usage("--delete: name the robots whose documents to delete")
			}
			for _, name := range args {
				if err := sh.doAndShow(cmd.Context(), "delete-orphan", given{"id": name, "why": why}); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&remove, "delete", false, "delete the documents of the named robots")
	whyFlag(c, &why)
	return c
}

func orphanTable(_ *shell, out io.Writer, l api.OrphanList) {
	if len(l.Orphans) == 0 {
		fmt.Fprintln(out, "no documents of unknown robots")
		return
	}
	writeTable(out, "ROBOT\tPRESENCE\tOLDEST DOCUMENT\tTOPICS", l.Orphans, func(o view.StrayDocuments) []any {
		var last []string
		for _, topic := range o.Topics {
			_, below, _ := strings.Cut(topic, "/robots/"+o.Robot+"/")
			last = append(last, below)
		}
		return []any{o.Robot, o.PresenceStatus, o.Seen, strings.Join(last, " ")}
	})
}

func deletedText(o view.StrayDocuments) string {
	return fmt.Sprintf("%s: %d documents deleted", o.Robot, len(o.Topics))
}
