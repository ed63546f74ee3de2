package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"troupe/broker/link"
	"troupe/robotd/crowd"
	"troupe/robotd/robot"
	"troupe/schema"
	"troupe/schema/build"
	"troupe/schema/logs"
	"troupe/schema/profile"
)

// simCommand is for trying out and measuring a fleet that does not exist.
func simCommand() *cobra.Command {
	cfg := crowd.Config{LinkLoss: map[schema.ModeID]schema.LinkLoss{}}
	var engine, ca, passwordFile, scenario, level, bootMode, profiles, namespace string
	var linkLoss map[string]string
	var every time.Duration
	c := &cobra.Command{
		Use:   "sim --count N",
		Short: "run thousands of simulated robots in this process",
		Long: `Run simulated robots, s1 to sN, in this process: for trying out and measuring a broker
and a fleetd before there are robots. Each has the safety, modes, story and commands of
a robot and a connection of its own; its body and its disk are in memory, and what it
remembers ends with this process. Their caps say "` + crowd.Model + `".

The counts are printed on one line: robots that are connected, that obey a fleet
(adopted), that have a story they can perform, that perform it, that are stopped; and
since the beginning: final answers to commands, live stops received, connections lost,
errors. stop_first and stop_last are when the first and the last robot received the
newest live stop. At the end, each kind of error is printed.`,
		Example: `  robotd sim --count 100
  robotd sim --count 10000 --broker mqtt://127.0.0.1:1883 --spread 16 --scenario crowd.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			cfg.Version = build.Version()
			cfg.BootMode, cfg.Namespace = schema.ModeID(bootMode), schema.Namespace(namespace)
			for m, loss := range linkLoss {
				cfg.LinkLoss[schema.ModeID(m)] = schema.LinkLoss(loss)
			}
			if cfg.Logger, err = logs.New(os.Stderr, "text", level); err != nil {
				return err
			}
			if cfg.Engine, err = link.ParseEngine(engine); err != nil {
				return fmt.Errorf("--engine: %w", err)
			}
			if cfg.TLS, err = trusting(ca); err != nil {
				return err
			}
			if passwordFile != "" {
				text, err := os.ReadFile(passwordFile)
				if err != nil {
					return fmt.Errorf("read the password: %w", err)
				}
				cfg.Password = strings.TrimRight(string(text), "\r\n")
			}
			if scenario != "" {
				if cfg.Scenario, err = crowd.ReadScenario(scenario); err != nil {
					return err
				}
			}
			if !cmd.Flags().Changed("seed") {
				cfg.Seed = rand.Uint64()
			}
			if every < 100*time.Millisecond {
				return fmt.Errorf("every %v: want at least 100ms", every)
			}
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(heapGrowth)
			}
			if profiles != "" {
				stop, err := serveProfiles(profiles)
				if err != nil {
					return err
				}
				defer stop()
			}
			return runSim(cmd.Context(), cmd.OutOrStdout(), cfg, every, scenario)
		},
	}
	f := c.Flags()
	f.IntVar(&cfg.Count, "count", 100, "number of robots")
	f.StringVar(&cfg.Prefix, "prefix", "s", "of their ids: s gives s1, s2, ...")
	f.IntVar(&cfg.First, "first", 1, "number of the first one, for a second process beside another")
	f.StringVar(&cfg.Broker, "broker", robot.DefaultBroker, "mqtt://host:port or mqtts://host:port")
	f.StringVar(&engine, "engine", string(link.Troupe), "engine of that broker: troupe, mosquitto or nats")
	f.StringVar(&namespace, "namespace", string(schema.DefaultNamespace), "first level of every topic")
	f.StringVar(&ca, "broker-ca", "", "PEM file with the CAs of an mqtts broker; default: those of the system")
	f.StringVar(&passwordFile, "password-file", "", "file with the password of each of the robots; default: they have none")
	f.IntVar(&cfg.Spread, "spread", 0, "connect from so many addresses, 127.0.0.1 and following, to a broker on this machine: "+
		"brokers pace connections by address")
	f.StringVar(&scenario, "scenario", "", "YAML file of what happens to the robots, read again at SIGHUP; docs/simulate.md has its format")
	f.StringVar(&bootMode, "boot-mode", "", "mode after the start; default: that of robotd")
	f.StringToStringVar(&linkLoss, "link-loss", nil, "what a mode does without heartbeats of fleetd, as ato=continue; default: that of robotd")
	f.Uint64Var(&cfg.Seed, "seed", 0, "of what the scenario draws; default: another one at each start")
	f.DurationVar(&every, "every", 5*time.Second, "how often a line of counts is printed, if the output is no terminal")
	f.StringVar(&profiles, "pprof", "",
		"address of this machine at which profiles are served for go tool pprof, such as 127.0.0.1:9103; default: none")
	f.StringVar(&level, "log-level", "error", "debug, info, warn or error")
	return c
}

// serveProfiles serves profiles of this process at an address until stop is called.
func serveProfiles(addr string) (stop func(), err error) {
	if err := profile.CheckAddress(addr); err != nil {
		return nil, fmt.Errorf("--pprof: %w", err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--pprof: %w", err)
	}
	mux := http.NewServeMux()
	profile.Register(mux)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(l) }() // until it is closed
	return func() { _ = server.Close() }, nil
}

// heapGrowth is by how many percent the heap grows before it is collected. Nearly all of it is the robots, which stay, so
// Go's 100 would double the memory for little work.
const heapGrowth = 40

// trusting returns the TLS settings for a broker with a certificate of the CAs in a file; nil without one.
func trusting(ca string) (*tls.Config, error) {
	if ca == "" {
		return nil, nil
	}
	text, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("read the CAs: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: there is no certificate in it, as PEM", ca)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}, nil
}

// runSim runs the robots and prints their counts, at a terminal always on the same line. scenario is the path of the file that is read
// again at SIGHUP; empty = there is none.
func runSim(ctx context.Context, out io.Writer, cfg crowd.Config, every time.Duration, scenario string) error {
	before, after := "", "\n"
	if file, is := out.(*os.File); is && term.IsTerminal(int(file.Fd())) {
		before, after, every = "\r\x1b[K", "", time.Second
	}
	running := make(chan *crowd.Crowd, 1)
	ended := make(chan error, 1)
	go func() { ended <- crowd.Run(ctx, cfg, func(c *crowd.Crowd) { running <- c }) }()
	tick := time.NewTicker(every)
	defer tick.Stop()
	reload := make(chan os.Signal, 1)
	if scenario != "" {
		signal.Notify(reload, syscall.SIGHUP)
		defer signal.Stop(reload)
	}
	var c *crowd.Crowd
	var last crowd.Counts
	for {
		select {
		case c = <-running:
			fmt.Fprintf(out, "ready robots=%d broker=%s\n", cfg.Count, cfg.Broker)
		case <-reload:
			next, err := crowd.ReadScenario(scenario)
			if err != nil {
				cfg.Logger.Error("scenario not changed", "error", err)
			} else if c != nil {
				c.Change(next)
			}
		case <-tick.C:
			if c == nil {
				continue
			}
			if counts := c.Counts(); counts.Robots == cfg.Count { // fewer once some have ended
				last = counts
				fmt.Fprint(out, before, counts, after)
			}
		case err := <-ended:
			if before != "" {
				fmt.Fprintln(out)
			}
			for _, line := range last.ErrorLines() {
				fmt.Fprintln(out, line)
			}
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
	}
}
