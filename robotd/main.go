// Command robotd is the mode controller that runs on each robot.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"troupe/robotd/robot"
	"troupe/schema/build"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "robotd:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "robotd --id NAME",
		Short: "the mode controller of one robot",
		Long: `robotd puts a mode in charge of one robot (start-up, manual, automatic, safe),
performs its story, and tells over MQTT what it does and why. After its start the
robot does not move until somebody sends safety/enable. What it decides to stop is
stopped by software: that is never an emergency stop.

A robot of a fleet with certificates is enrolled once (robotd enrol) and then knows
its name and its broker: robotd --data DIR.

Each flag may also stand in a YAML file (--config; link_loss: {ato: continue} for
--link-loss-ato) or in the environment (TROUPE_ROBOTD_LINK_LOSS_ATO). A flag wins over
the environment, that over the file. The fleet's desired configuration wins over the
file, and is refused for what a flag or the environment says.`,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd) },
	}
	robot.Flags(root.Flags())
	root.AddCommand(enrolCommand(), renewCommand())
	root.AddCommand(&cobra.Command{Use: "version", Short: "say which version this is", Args: cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), "robotd", build.Revision()) }})
	return root
}

func run(cmd *cobra.Command) error {
	cfg, level, err := robot.Load(cmd.Flags())
	if err != nil {
		return err
	}
	cfg.Version = build.Revision()
	cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
	cfg.Ready = func() {
		fmt.Fprintf(cmd.OutOrStdout(), "ready robot=%s broker=%s\n", cfg.ID, cfg.Broker)
	}
	return robot.Run(cmd.Context(), cfg)
}
