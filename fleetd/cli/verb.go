package cli

import (
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

// order is what every verb to robots can be told.
type order struct {
	targets
	why    string
	wait   time.Duration
	dryRun bool
	expect int
	ttl    time.Duration
	when   api.Condition
}

const (
	waitByDefault = 30 * time.Second // of --wait without a duration
	stopWait      = 5 * time.Second  // a stop's answers are waited for anyway
	stopWaitMost  = 60 * time.Second // fleetd waits no longer
	stopGrace     = 3 * time.Second  // more than that fleetd may not take to answer a stop
	lookAgain     = 300 * time.Millisecond
)

func (o *order) flags(c *cobra.Command) {
	o.targets.flags(c)
	f := c.Flags()
	f.StringVar(&o.why, "why", "", "the reason, for the record")
	waitFlag(c, &o.wait)
	f.BoolVar(&o.dryRun, "dry-run", false, "only say which robots would be told")
	f.IntVar(&o.expect, "expect", -1, "refuse unless so many robots would be told")
	f.StringVar((*string)(&o.when.Mode), "if-mode", "", "only where this mode is in charge")
	f.Int64Var(&o.when.StoryRev, "if-story-rev", 0, "only where the active story has this revision")
	f.DurationVar(&o.ttl, "ttl", 0, "how old it may be when it is done")
}

// waitFlag adds --wait, alone or with a duration.
func waitFlag(c *cobra.Command, wait *time.Duration) {
	c.Flags().DurationVar(wait, "wait", *wait, "wait for the result, as --wait or --wait=10s")
	c.Flags().Lookup("wait").NoOptDefVal = waitByDefault.String()
}

func (sh *shell) modeCommand() *cobra.Command {
	var o order
	var restart bool
	set := &cobra.Command{
		Use: "set MODE ROBOT...", Short: "put another mode in charge: str, mnl or ato", Args: atLeastOne,
		Example: "  fleetd mode set ato r1 r2 --wait\n  fleetd mode set mnl -l site=museum --why 'closing time'",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return sh.order(cmd.Context(), "mode/set", map[string]any{"mode": args[0], "restart": restart}, args[1:], o)
		}),
	}
	o.flags(set)
	set.Flags().BoolVar(&restart, "restart", false, "start it anew if it is active already")
	return group("mode", "who is in charge of robots: set", set)
}

// simple is a verb without arguments of its own.
func (sh *shell) simple(use, verb, short string) *cobra.Command {
	var o order
	c := &cobra.Command{
		Use: use + " ROBOT...", Short: short,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return sh.order(cmd.Context(), verb, nil, args, o)
		}),
	}
	o.flags(c)
	return c
}

func (sh *shell) autoCommand() *cobra.Command {
	var o order
	var token string
	again := &cobra.Command{
		Use: "continue ROBOT...", Short: "release a pause: your oldest, or the one named",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var given map[string]any
			if token != "" {
				given = map[string]any{"token": token}
			}
			return sh.order(cmd.Context(), "auto/continue", given, args, o)
		}),
	}
	o.flags(again)
	again.Flags().StringVar(&token, "token", "", "which pause to release, from robot get")
	return group("auto", "the performance: start, stop, pause, continue",
		sh.simple("start", "auto/start", "begin a stopped story at its first act"),
		sh.simple("stop", "auto/stop", "end the act, rewind the story, hold"),
		sh.simple("pause", "auto/pause", "hold; every pause must be released"),
		again)
}

func (sh *shell) safetyCommand() *cobra.Command {
	enable := sh.simple("enable", "safety/enable", "open the gate: what is active may move")
	enable.Long = "Open the gate: what is active may move. Fleetd sends along which heartbeat was seen last, and the robot refuses if that is too old."
	return group("safety", "the permission to move: enable, reset", enable,
		sh.simple("reset", "safety/reset", "lead out of E_STOP to DISABLED; it does not move yet"))
}

func (sh *shell) adoptCommand() *cobra.Command {
	wait := time.Duration(0)
	c := &cobra.Command{
		Use: "adopt ROBOT...", Short: "make robots this fleet's", Args: atLeastOne,
		Long: "Make robots known to this fleet, and tell each to obey its desired documents from now on, whatever fleet it obeyed before.",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var worst error
			for _, id := range args {
				var b api.Batch
				if err := sh.call(cmd.Context(), ask{method: http.MethodPost, path: "robots/" + url.PathEscape(id) + "/adopt", body: api.Signed{By: sh.by}}, &b); err != nil {
					return err
				}
				b, err := sh.await(cmd.Context(), b, wait)
				if err != nil {
					return err
				}
				if err := sh.show(b, func(w io.Writer) { batchTable(w, b) }); err != nil {
					return err
				}
				if wait > 0 && worst == nil {
					worst = ended(b)
				}
			}
			return worst
		}),
	}
	waitFlag(c, &wait)
	return c
}
