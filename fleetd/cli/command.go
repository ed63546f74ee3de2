package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema"
)

func resultOf(c api.Command) string {
	if c.Answer == nil {
		return ""
	}
	if c.Answer.Reason != "" {
		return strings.TrimSpace(string(c.Answer.Result) + " " + string(c.Answer.Reason))
	}
	return string(c.Answer.Result)
}

// becauseText says why a command is in its state, with the commands of this program and the place
// within the argument that the robot refused; an argument itself is clear from the text.
func becauseText(c api.Command) string {
	text := inCommands(c.Because, c.Robot)
	if c.Answer == nil {
		return text
	}
	if at := placeOf(c.Answer.Pointer); strings.Contains(at, "/") {
		text += " (at " + at + ")"
	}
	return text
}

func (sh *shell) commandCommand() *cobra.Command {
	return group("command", "commands sent to robots: list, batches, get, cancel", &cobra.Command{
		Use: "get ID", Short: "show the state of a command or a batch", Args: exactlyOne,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var b api.Batch
			if sh.do(cmd.Context(), "get-batch", given{"id": args[0]}, &b) == nil {
				return sh.show(b, func(w io.Writer) { batchTable(w, b) })
			}
			return sh.doAndShow(cmd.Context(), "get-command", given{"id": args[0]})
		}),
	})
}

// cancelText shows the command if fleetd cancelled it, or what was sent to the robot.
func cancelText(sh *shell, out io.Writer, got api.CancelResult) {
	if got.Cancel == nil {
		sh.commandTable(out, []api.Command{got.Command})
		return
	}
	batchTable(out, *got.Cancel)
}

func (sh *shell) awaitCancel(ctx context.Context, got api.CancelResult, wait time.Duration) (err error) {
	if got.Cancel != nil {
		if *got.Cancel, err = sh.await(ctx, *got.Cancel, wait); err != nil {
			return err
		}
	}
	if err := sh.show(got, func(out io.Writer) { cancelText(sh, out, got) }); err != nil || got.Cancel == nil {
		return err
	}
	return batchError(*got.Cancel)
}

func batchesTable(_ *shell, out io.Writer, got api.BatchList) {
	writeTable(out, "AT\tCOMMAND\tTO\tROBOTS\tBY\tWHY\tID", got.Batches, func(b api.Batch) []any {
		return []any{formatTime(b.At), commandText(b.Verb), dash(b.Selector), b.Total, dash(b.By), dash(b.Why), b.ID}
	})
}

func (sh *shell) commandTable(out io.Writer, commands []api.Command) {
	header := sh.header("AT\tROBOT\tCOMMAND\tBY\tWHY\tSTATE\tRESULT\tBECAUSE\tID", "BATCH")
	writeTable(out, header, commands, func(c api.Command) []any {
		asker := dash(orElse(c.By, c.Principal))
		cells := []any{formatTime(c.At), c.Robot, commandText(c.Verb), asker, dash(c.Why), c.State, dash(resultOf(c)), becauseText(c), c.ID}
		return append(cells, sh.wide(c.Batch)...)
	})
}

func formatTime(t schema.Time) string {
	if t == 0 {
		return "-"
	}
	return t.Time().Local().Format(time.DateTime)
}

func (sh *shell) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "show the version of this program and of fleetd, and fleetd's health", Args: cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			var s api.Status
			err := sh.do(cmd.Context(), "version", nil, &s)
			out := map[string]any{"fleetd": sh.version}
			if err == nil {
				out["server"] = s
			}
			return sh.show(out, func(w io.Writer) {
				fmt.Fprintln(w, "fleetd", sh.version)
				var answer *failure
				switch {
				case errors.As(err, &answer) && answer.problem != nil:
					fmt.Fprintf(w, "the server at %s does not tell its version: %v\n", sh.server, err)
					return
				case err != nil:
					fmt.Fprintf(w, "no answer of the server at %s: %v\n", sh.server, err)
					return
				}
				fmt.Fprintf(w, "server %s at %s, name %s, fleet id %s\n", s.Version, sh.server, s.Name, dash(s.FleetID))
				fmt.Fprintf(w, "       broker %s, database %s\n", healthText(s.Broker), healthText(s.Database))
				fmt.Fprintln(w, "       "+leaderText(s.Leadership))
				for _, i := range s.Instances[min(1, len(s.Instances)):] {
					fmt.Fprintln(w, "       "+instanceText(i, s.TS.Time()))
				}
				if s.Disputed != "" {
					fmt.Fprintln(w, "       DISPUTED: "+disputeText(s.Disputed))
				}
			})
		}),
	}
}

func healthLine(s api.Status) string { return "database and disk ok, broker " + healthText(s.Broker) }

// leaderText says which fleetd instance is the leader.
func leaderText(l api.Leadership) string {
	switch {
	case l.Leads:
		return "leader: this instance (" + l.Why + ")"
	case l.Leader != "":
		return "leader: " + l.Leader
	}
	return "leader: none (" + l.Why + ")"
}

// instanceText says how another instance is.
func instanceText(i api.InstanceHealth, now time.Time) string {
	text := "also " + i.Name
	if i.Version != "" {
		text += " " + i.Version + ", since " + i.StartedAt.Time().Local().Format(time.DateTime)
		if !i.Database {
			text += ", its database NOT OK"
		}
	}
	if i.Leads {
		text += ", leads"
	}
	if !i.Broker {
		text += ", SILENT"
	}
	return fmt.Sprintf("%s, last heartbeat %v ago", text, now.Sub(i.HeardAt.Time()).Round(time.Second))
}

func healthText(h api.Health) string {
	if h.OK {
		return strings.TrimSpace("ok " + h.Kind)
	}
	return "NOT OK: " + h.Why
}
