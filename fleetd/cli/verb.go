package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema/verb"
)

const (
	waitByDefault = 30 * time.Second // --wait without a duration
	stopWait      = 5 * time.Second  // default wait for the answers to a stop
	stopWaitMost  = 60 * time.Second // fleetd's own limit
	stopGrace     = 3 * time.Second  // added to the wait until fleetd counts as not answering
	pollInterval  = 300 * time.Millisecond
)

// waitFlag adds --wait, alone or with a duration.
func waitFlag(c *cobra.Command, wait *time.Duration) {
	c.Flags().DurationVar(wait, "wait", *wait, "wait for the result, as --wait or --wait=10s")
	c.Flags().Lookup("wait").NoOptDefVal = waitByDefault.String()
}

func (sh *shell) modeCommand() *cobra.Command {
	set := sh.verbCommand(verb.Must("mode", "set"), "set MODE ROBOT...", func(c *cobra.Command, words []string) (map[string]any, error) {
		restart, err := c.Flags().GetBool("restart")
		return map[string]any{"mode": modeNamed(words[0]), "restart": restart}, err
	})
	set.Short = "change the mode: str or start-up, mnl or manual, ato or automatic"
	set.Example = "  fleetd mode set ato r1 r2 --wait\n  fleetd mode set mnl -l site=museum --why 'closing time'"
	set.Flags().Bool("restart", false, "restart the mode if it is active already")
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

func (sh *shell) autoCommand() *cobra.Command {
	c := sh.verbs("auto", "the performance in mode ato: start, skip, stop, pause, continue")
	for _, below := range c.Commands() {
		below.Short = map[string]string{
			"start": "start a stopped story at its first act",
			"stop":  "end the act and rewind the story; no activity begins before auto start",
			"skip":  "end the running act and go on with the next one; while paused, the next one waits",
			"pause": "pause; the story goes on when every pause is released",
			"continue": "release the pause that --token names, else your oldest, else every one whose cause is gone, " +
				"such as a stop that was reset",
		}[below.Name()]
	}
	return c
}

func (sh *shell) safetyCommand() *cobra.Command {
	none := func(*cobra.Command, []string) (map[string]any, error) { return nil, nil }
	enable := sh.verbCommand(verb.Must("safety", "enable"), "enable ROBOT...", none)
	enable.Long = "Allow the robot to move: what is active may move at once. fleetd sends along the last heartbeat that it received, " +
		"and the robot refuses if that is too old; right after a stop fleetd first waits for the robot's next heartbeat, at most 2.5 s."
	reset := sh.verbCommand(verb.Must("safety", "reset"), "reset ROBOT...", none)
	reset.Long = "Go from E_STOP to DISABLED; the robot does not move yet. It refuses (reset_settling) until nothing has been wrong for " +
		"a second; with --wait this command asks again until then, for 5 s at most."
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
