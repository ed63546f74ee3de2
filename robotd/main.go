// Command robotd is the program that runs on each robot: safety, modes, story, commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/cobra"

	"troupe/robotd/robot"
	"troupe/schema/build"
	"troupe/schema/logs"
	"troupe/schema/program"
)

// exitReboot is the exit status after sys/reboot (EX_TEMPFAIL): the service manager starts robotd
// again.
const exitReboot = 75

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command().ExecuteContext(ctx)
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "robotd:", err)
	if errors.Is(err, robot.ErrReboot) {
		os.Exit(exitReboot)
	}
	os.Exit(1)
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "robotd --id NAME",
		Short: "safety, modes, story and commands of one robot",
		Long: `robotd runs the modes of one robot (start-up, manual, automatic, safe), performs its
story, and publishes over MQTT what it does and why. After the start the robot does
not move until it receives safety/enable. Its stops are stops in software, never an
emergency stop.

A robot of a fleet with certificates is enrolled once (robotd enrol), which stores its
name and its broker. Then it needs only: robotd --data DIR.

Each flag can also be set in a YAML file (--config; link_loss: {ato: continue} for
--link-loss-ato) or in the environment (TROUPE_ROBOTD_LINK_LOSS_ATO). A flag overrides
the environment, and the environment overrides the file. The fleet's desired
configuration overrides the file; values that a flag or the environment sets cannot be
changed by it.`,
		Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd) },
	}
	robot.Flags(root.Flags())
	root.AddCommand(enrolCommand(), renewCommand(), recordCommand(), driverCommand(), simCommand(), program.Describe())
	root.AddCommand(&cobra.Command{Use: "version", Short: "print the version", Args: cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), "robotd", build.Version()) }})
	root.AddCommand(doctorCommand())
	return root
}

func run(cmd *cobra.Command) (err error) {
	cfg, level, err := robot.Load(cmd.Flags(), os.Environ())
	if err != nil {
		return err
	}
	cfg.Version = build.Version()
	if cfg.Logger, err = logs.New(os.Stderr, cfg.LogFormat, level.String()); err != nil {
		return err
	}
	cfg.Ready = func() {
		fmt.Fprintf(cmd.OutOrStdout(), "ready robot=%s broker=%s\n", cfg.ID, cfg.Broker)
	}
	if cfg.Body.Listen != "" {
		s, failed := serveBus(cfg.Body.Listen, cfg.Logger.With("connection", "bus"))
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		cfg.Body.Dial = s.Dial
	}
	if cfg.ServiceManager, err = serviceManager(); err != nil {
		return err
	}
	return robot.Run(cmd.Context(), cfg)
}

// serviceManager is systemd if it has started robotd.
func serviceManager() (s robot.ServiceManager, err error) {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		return s, nil
	}
	if s.Watchdog, err = daemon.SdWatchdogEnabled(false); err != nil {
		return s, fmt.Errorf("read the watchdog's time from the environment: %w", err)
	}
	s.Tell = func(state string) error {
		_, err := daemon.SdNotify(false, state)
		return err
	}
	return s, nil
}
