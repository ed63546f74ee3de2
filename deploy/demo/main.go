// Command demo runs a broker, fleetd with its database, and performing robots in
// one process, for people to try out.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"troupe/deploy/stage"
	"troupe/robotd/robot"
)

const banner = `
  ****************************************************************************
  *  NOT PROTECTED: there are no passwords. Everybody on this machine can    *
  *  operate every robot and change every story. For trying out only; it     *
  *  serves addresses of this machine and no others.                         *
  ****************************************************************************

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// After the first signal the default handling is back: a second Ctrl-C ends
	// the demo at once.
	context.AfterFunc(ctx, stop)
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", explain(err))
		os.Exit(1)
	}
}

func command() *cobra.Command {
	cfg := stage.Config{Adjust: func(c *robot.Config) { c.Scenario.Live, c.RecorderBytes = true, 32<<20 }}
	var level slog.Level
	var logFile string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "a broker, fleetd and robots that perform, in one process",
		Args:  cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), cfg, level, logFile, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.IntVar(&cfg.Robots, "robots", 5, "how many robots, r1 and so on")
	f.StringVar(&cfg.MQTT, "mqtt", "127.0.0.1:1883", "address for MQTT; port 0 takes a free one")
	f.StringVar(&cfg.HTTP, "http", "127.0.0.1:8080", "address for the page and the HTTP interface; port 0 takes a free one")
	f.StringVar(&cfg.Data, "data", "./.demo", "directory for the robots' disks, the SQLite database and the log")
	f.StringVar(&cfg.Database, "database", "sqlite", "sqlite, or postgres://... of an empty database")
	f.StringVar(&cfg.Scenario, "scenario", "", "YAML file of what happens to the robots, each entry at its time (topics.md has its "+
		"format); it begins when all perform")
	f.Float64Var(&cfg.Speed, "speed", 1, "how many times as fast as in reality the scenario's clock runs, "+
		"and batteries and temperatures change, 1 to 100; acts, heartbeats and safety keep their own time")
	f.StringVar(&cfg.Story, "story", "", "the shipped story that every robot performs; by default they take all in turn")
	f.StringVar(&cfg.Body, "body", stage.BodySim, "sim, or laptop: this machine speaks and shows a face as the body of r1")
	f.StringVar(&cfg.Adapters, "adapters", "deploy/adapters", "directory of the adapters, for --body laptop")
	f.StringVar(&cfg.Face, "face", "127.0.0.1:8091", "address for the page with the face, for --body laptop; port 0 takes a free one")
	f.StringVar(&logFile, "log", "", "file for the log, - for the terminal; by default demo.log in the data directory")
	f.TextVar(&level, "log-level", slog.LevelInfo, "debug, info, warn or error")
	return cmd
}

func run(ctx context.Context, cfg stage.Config, level slog.Level, logFile string, out, terminal io.Writer) error {
	started := time.Now()
	fmt.Fprint(terminal, banner)
	log, err := openLog(cfg.Data, logFile, terminal)
	if err != nil {
		return err
	}
	defer log.Close()
	cfg.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))
	cfg.Say = func(line string) { fmt.Fprintf(terminal, "%5.1f s  %s\n", time.Since(started).Seconds(), line) }
	cfg.Ready = func(at stage.Addresses) {
		fmt.Fprint(out, readyText(at))
		fmt.Fprintf(terminal, "%5.1f s  ready; Ctrl-C ends the demo; started again with --data %s it continues\n", time.Since(started).Seconds(),
			cfg.Data)
	}
	context.AfterFunc(ctx, func() { fmt.Fprintln(terminal, "\nending; press Ctrl-C again to end at once") })
	return stage.Run(ctx, cfg)
}

// openLog opens the log file. On the terminal the log would hide the few lines
// that matter.
func openLog(folder, path string, terminal io.Writer) (io.WriteCloser, error) {
	if path == "-" {
		return struct {
			io.Writer
			io.Closer
		}{terminal, io.NopCloser(nil)}, nil
	}
	if path == "" {
		path = filepath.Join(folder, "demo.log")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return f, nil
}

// readyText returns the ready line, followed by commands to paste into another
// terminal.
func readyText(at stage.Addresses) string {
	host, port, _ := net.SplitHostPort(at.MQTT)
	broker := fmt.Sprintf("-h %s -p %s", host, port)
	ask := fmt.Sprintf("mosquitto_rr %s -V mqttv311 -i op1 -u op1 -q 1 -t %[2]scmd/op1/mode/set -e %[2]sack/op1 -m ", broker,
		"troupe/v1/robots/r1/")
	var b strings.Builder
	fmt.Fprintf(&b, "ready mqtt=%s http=%s\n", at.MQTT, at.HTTP)
	fmt.Fprintf(&b, "xdg-open %s/   # see it live, in a browser\n", at.HTTP)
	fmt.Fprintf(&b, "mosquitto_sub %s -u obs -i obs.1 -v -t 'troupe/v1/#'   # watch everything\n", broker)
	fmt.Fprintf(&b, "%smnl   # switch a robot to manual mode\n", ask)
	fmt.Fprintf(&b, "%sato   # switch it back to automatic mode\n", ask)
	fmt.Fprintf(&b, "go run ./fleetd robot list --server %s   # see the fleet\n", at.HTTP)
	fmt.Fprintf(&b, "go run ./fleetd robot watch r1 --server %s   # follow what one robot does, and why\n", at.HTTP)
	fmt.Fprintf(&b, "make build; export PATH=$PWD/bin:$PATH TROUPE_SERVER=%s   # after this: fleetd robot list, fleetd stop r1 ...\n", at.HTTP)
	if at.Face != "" {
		fmt.Fprintf(&b, "xdg-open %s   # the face of r1: touch it\n", at.Face)
	}
	return b.String()
}

// explain adds to an error the flag that helps.
func explain(err error) string {
	if a := (*stage.AddressError)(nil); errors.As(err, &a) {
		remedy := ""
		if a.Taken {
			remedy = fmt.Sprintf("; end it, or take another port, such as a free one with --%s 127.0.0.1:0", a.Of)
		}
		return fmt.Sprintf("--%s %s: %s%s", a.Of, a.Address, a.Why, remedy)
	}
	if u := (*stage.InUseError)(nil); errors.As(err, &u) {
		return fmt.Sprintf("--data %s: %v; end it, or give this demo a directory of its own", u.Folder, err)
	}
	if d := (*stage.DatabaseError)(nil); errors.As(err, &d) {
		return fmt.Sprintf("--database %s: %v; start it, or leave --database out for a file of this demo's own", d.Database, d.Why)
	}
	return err.Error()
}
