package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

// commandFlags are the flags of every command to robots.
type commandFlags struct {
	targets
	why       string
	wait      time.Duration
	dryRun    bool
	expect    int
	ttl       time.Duration
	condition api.Condition
}

const (
	waitByDefault = 30 * time.Second // --wait without a duration
	stopWait      = 5 * time.Second  // default wait for the answers to a stop
	stopWaitMost  = 60 * time.Second // fleetd's own limit
	stopGrace     = 3 * time.Second  // added to the wait until fleetd counts as not answering
	pollInterval  = 300 * time.Millisecond
)

func (o *commandFlags) flags(c *cobra.Command) {
	o.targets.flags(c)
	f := c.Flags()
	f.StringVar(&o.why, "why", "", "the reason, for the audit")
	waitFlag(c, &o.wait)
	f.BoolVar(&o.dryRun, "dry-run", false, "only show which robots would get it")
	f.IntVar(&o.expect, "expect", -1, "refuse unless exactly this many robots would get it")
	f.StringVar((*string)(&o.condition.Mode), "if-mode", "", "only if the robot is in this mode")
	f.Int64Var(&o.condition.StoryRev, "if-story-rev", 0, "only if the robot's active story has this revision")
	f.DurationVar(&o.ttl, "ttl", 0, "the robot refuses it if it is older than this")
}

// waitFlag adds --wait, alone or with a duration.
func waitFlag(c *cobra.Command, wait *time.Duration) {
	c.Flags().DurationVar(wait, "wait", *wait, "wait for the result, as --wait or --wait=10s")
	c.Flags().Lookup("wait").NoOptDefVal = waitByDefault.String()
}

func (sh *shell) modeCommand() *cobra.Command {
	var o commandFlags
	var restart bool
	set := &cobra.Command{
		Use: "set MODE ROBOT...", Short: "change the mode: str or start-up, mnl or manual, ato or automatic", Args: atLeastOne,
		Example: "  fleetd mode set ato r1 r2 --wait\n  fleetd mode set mnl -l site=museum --why 'closing time'",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return sh.sendCommand(cmd.Context(), "mode/set", map[string]any{"mode": modeNamed(args[0]), "restart": restart}, args[1:], o)
		}),
	}
	o.flags(set)
	set.Flags().BoolVar(&restart, "restart", false, "restart the mode if it is active already")
	others := sh.verbsOf("mode", "set")
	return group("mode", "the mode of robots: set; pause, resume, kill; param; enable, disable", append([]*cobra.Command{set}, others...)...)
}

// modeNamed returns the id of a mode by its id or its long name.
func modeNamed(name string) string {
	for id, long := range modeNames {
		if strings.EqualFold(name, long) {
			return string(id)
		}
	}
	return name
}

// withoutArgs makes the command of a verb without arguments.
func (sh *shell) withoutArgs(use, verb, short string) *cobra.Command {
	var o commandFlags
	c := &cobra.Command{
		Use: use + " ROBOT...", Short: short,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return sh.sendCommand(cmd.Context(), verb, nil, args, o)
		}),
	}
	o.flags(c)
	return c
}

func (sh *shell) autoCommand() *cobra.Command {
	var o commandFlags
	var token string
	again := &cobra.Command{
		Use: "continue ROBOT...", Short: "release the pause that --token names, else your oldest, else every one whose cause is gone, such as a stop that was reset",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var given map[string]any
			if token != "" {
				given = map[string]any{"token": token}
			}
			return sh.sendCommand(cmd.Context(), "auto/continue", given, args, o)
		}),
	}
	o.flags(again)
	var skip commandFlags
	var act string
	next := &cobra.Command{
		Use: "skip ROBOT...", Short: "end the running act and go on with the next one; while paused, the next one waits",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var given map[string]any
			if act != "" {
				given = map[string]any{"act": act}
			}
			return sh.sendCommand(cmd.Context(), "auto/skip", given, args, skip)
		}),
	}
	skip.flags(next)
	next.Flags().StringVar(&act, "act", "", "skip this act only: a robot that performs another one by now refuses")
	again.Flags().StringVar(&token, "token", "", "which pause to release, from robot get")
	return group("auto", "the performance in mode ato: start, skip, stop, pause, continue",
		sh.withoutArgs("start", "auto/start", "start a stopped story at its first act"),
		sh.withoutArgs("stop", "auto/stop", "end the act and rewind the story; no activity begins before auto start"),
		next,
		sh.withoutArgs("pause", "auto/pause", "pause; the story goes on when every pause is released"),
		again)
}

func (sh *shell) safetyCommand() *cobra.Command {
	enable := sh.withoutArgs("enable", "safety/enable", "allow the robot to move: what is active may move at once")
	enable.Long = "Allow the robot to move: what is active may move at once. fleetd sends along the last heartbeat that it received, and the robot refuses if that is too old; right after a stop fleetd first waits for the robot's next heartbeat, at most 2.5 s."
	reset := sh.withoutArgs("reset", "safety/reset", "go from E_STOP to DISABLED; the robot does not move yet")
	reset.Long = "Go from E_STOP to DISABLED; the robot does not move yet. It refuses (reset_settling) until nothing has been wrong for a second; with --wait this command asks again until then, for 5 s at most."
	return group("safety", "the permission to move: enable, reset", enable, reset)
}

func (sh *shell) awaitBatch(ctx context.Context, b api.Batch, wait time.Duration) error {
	b, err := sh.await(ctx, b, wait)
	if err != nil {
		return err
	}
	if err := sh.show(b, func(w io.Writer) { batchTable(w, b) }); err != nil {
		return err
	}
	return batchError(b)
}
