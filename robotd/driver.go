package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"troupe/broker/server"
	"troupe/robotd/driver/bus/check"
)

// driverCommand is for those who write an adapter of their robot's units.
func driverCommand() *cobra.Command {
	root := &cobra.Command{Use: "driver", Short: "try the adapters of a robot's units", Args: cobra.NoArgs}
	var cfg check.Config
	var listen string
	try := &cobra.Command{
		Use:   "check",
		Short: "try an adapter on the bus, and say which rules of the contract it keeps",
		Long: `It takes the place of robotd: it feeds the adapter, orders and commands it, and looks
at what comes back. End robotd first. Speakers, faces, leds and screens do something
harmless. Rules that make a unit move are tried only with --move. Others try that a unit
does not move when it must not, so an adapter that breaks them moves it: with --move and
without, take the wheels off the ground, and keep the emergency stop at hand.

The contract is in topics.md, "The bus of a robot".`,
		Example: "  robotd driver check --bus-listen 127.0.0.1:1884\n  robotd driver check --bus mqtt://127.0.0.1:1884 --adapter base --move",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if listen != "" {
				s, failed := serveBus(listen, slog.New(slog.DiscardHandler))
				if failed != nil {
					return failed
				}
				defer func() { err = errors.Join(err, s.Close()) }()
				cfg.Dial, cfg.URL = s.Dial, "mqtt://"+s.Addr()
			}
			return runCheck(cmd.Context(), cmd.OutOrStdout(), cfg)
		},
	}
	f := try.Flags()
	f.StringVar(&cfg.URL, "bus", "mqtt://127.0.0.1:1884", "address of the broker on the robot")
	f.StringVar(&listen, "bus-listen", "", "address on this machine at which to serve the bus itself, such as 127.0.0.1:1884")
	f.StringVar(&cfg.Adapter, "adapter", "", "name of the adapter; default: the only one on the bus")
	f.BoolVar(&cfg.Move, "move", false, "also try the rules that make units move")
	f.DurationVar(&cfg.Wait, "wait", 0, "how long to wait for the adapter; default 10s")
	root.AddCommand(try)
	return root
}

// runCheck tries the adapter and prints each rule.
func runCheck(ctx context.Context, out io.Writer, cfg check.Config) error {
	cfg.Begin = func(r check.Report) {
		fmt.Fprintf(out, "adapter %s on the bus %s: %s; this takes up to a minute\n", r.Adapter, cfg.URL, strings.Join(r.Units, ", "))
	}
	report, err := check.Run(ctx, cfg)
	if err != nil {
		return fmt.Errorf("check the adapter: %w", err)
	}
	count := map[check.Verdict]int{}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range report.Results {
		count[r.Verdict]++
		word := string(r.Verdict)
		if r.Verdict == check.Breaks {
			word = strings.ToUpper(word)
		}
		line := r.Says
		if r.Why != "" {
			line += ": " + r.Why
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", word, r.Rule, line)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d kept, %d broken, %d untried\n", count[check.Keeps], count[check.Breaks], count[check.Untried])
	if count[check.Breaks] > 0 {
		return fmt.Errorf("adapter %s on the bus %s breaks %d of the rules", report.Adapter, cfg.URL, count[check.Breaks])
	}
	return nil
}

// serveBus serves the bus of a robot's units, to clients of this machine.
func serveBus(address string, log *slog.Logger) (*server.Server, error) {
	s, err := server.New(server.Config{MQTT: address, Dev: true, Bus: true, Logger: log})
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("serve the bus: %w: another program serves %s, perhaps robotd: end it, leave --bus-listen out if it is the bus "+
			"to use, or give --bus-listen another port", err, address)
	case err != nil:
		return nil, fmt.Errorf("serve the bus: %w", err)
	}
	return s, nil
}
