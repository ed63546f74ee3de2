// Command cluster runs a fleet on a cluster of three nodes of nats-server on this machine, with two instances of fleetd, a
// pair of Postgres servers and real robots with simulated bodies. It ends and cuts off what one names, and prints what was
// seen.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	cfg := config{root: "."}
	var then string
	c := &cobra.Command{
		Use: "cluster", Short: "a fleet on three nodes of nats-server, to try out what happens when parts of it end", SilenceUsage: true,
		SilenceErrors: true,
		Long:          "Reads commands, one a line, from --then (separated by ;) or the standard input:\n\n" + commandsHelp(), Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			script, err := parseScript(then)
			if err != nil {
				return err
			}
			began := time.Now()
			say := func(format string, args ...any) {
				fmt.Fprintf(cmd.OutOrStdout(), "%6.1f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
			}
			folder, err := os.MkdirTemp("", "cluster-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(folder)
			cfg.folder = folder
			f, err := start(cmd.Context(), cfg, say)
			if err != nil {
				return err
			}
			defer f.end()
			say("consoles: %s", strings.Join(f.api, " "))
			for _, words := range script {
				say("> %s", strings.Join(words, " "))
				if err := f.do(cmd.Context(), words); err != nil {
					return err
				}
			}
			if script != nil {
				return nil
			}
			return f.converse(cmd.Context(), cmd.InOrStdin())
		},
	}
	c.Flags().IntVar(&cfg.robots, "robots", 6, "number of robots")
	c.Flags().BoolVar(&cfg.isolate, "isolate", false, "node n3 and every third robot get a network of their own, for partition; needs root")
	c.Flags().IntVar(&cfg.crowd, "crowd", 0, "of simulated robots for the command crowd, beside the others")
	c.Flags().StringVar(&cfg.programs, "programs", "", "folder with broker, fleetd and robotd; without it they are built")
	c.Flags().StringVar(&then, "then", "", "commands, separated by semicolons; after the last one the fleet ends")
	return c
}

// converse carries out the commands of a person.
func (f *fleet) converse(ctx context.Context, in interface{ Read([]byte) (int, error) }) error {
	f.say("ready; help lists the commands, quit ends")
	lines := make(chan string)
	go func() {
		defer close(lines)
		for all := bufio.NewScanner(in); all.Scan(); {
			lines <- all.Text()
		}
	}()
	for {
		select {
		case line, more := <-lines:
			if !more || line == "quit" {
				return nil
			}
			if err := f.do(ctx, strings.Fields(line)); err != nil {
				f.say("%v", err)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// An action is a command of a person.
type action struct {
	name, help string
	run        func(ctx context.Context, f *fleet, args []string) error
}

var actions = []action{
	{"kill", "WHAT: end it as a power cut does: n1, leader-of=MQTT_msgs, fleetd-a, r1, or postgres, whose standby takes over 3 s later",
		func(ctx context.Context, f *fleet, args []string) error {
			return f.each(args, func(what string) error { return f.kill(ctx, what) })
		}},
	{"start", "WHAT: start it again: n1, fleetd-a", func(ctx context.Context, f *fleet, args []string) error {
		return f.each(args, func(what string) error { return f.restart(ctx, what) })
	}},
	{"partition", "n3: cut it off from everything with the robots of its network (--isolate)", func(_ context.Context, f *fleet,
		args []string) error {
		return f.each(args, func(what string) error { return f.cut(what, (*namespace).cut) })
	}},
	{"heal", "n3: connect it again", func(_ context.Context, f *fleet, args []string) error {
		return f.each(args, func(what string) error { return f.cut(what, (*namespace).mend) })
	}},
	{"perform", "publish the shipped stories, enable all robots and let them perform", func(ctx context.Context, f *fleet, _ []string) error {
		return f.perform(ctx)
	}},
	{"stop", "stop all robots, and print when each came to rest", func(ctx context.Context, f *fleet, _ []string) error {
		seen, err := f.stopAll(ctx, time.Now())
		f.say("%s", seen)
		if err != nil && ctx.Err() == nil { // a robot that cannot be reached is what one wants to see
			f.say("%v", err)
			err = nil
		}
		return err
	}},
	{"figures", "WHAT: what docs/cluster.md says of a lost node: kill n1, or the leader of MQTT_msgs, while robots perform, with messages, " +
		"an assignment and a stop", func(ctx context.Context, f *fleet, args []string) error {
		return f.each(args, func(what string) error { _, err := f.loseNode(ctx, what); return err })
	}},
	{"messages", "WHAT 9: kill the node that leads WHAT, such as MQTT_msgs, so often while numbered messages flow, and say which were lost",
		func(ctx context.Context, f *fleet, args []string) error {
			if len(args) != 2 {
				return errors.New("want a stream and a number of kills")
			}
			kills, err := strconv.Atoi(args[1])
			if err != nil {
				return err
			}
			return f.countLosses(ctx, args[0], kills)
		}},
	{"database", "kill the Postgres primary during an assignment and a stop", func(ctx context.Context, f *fleet, _ []string) error {
		return f.loseDatabase(ctx)
	}},
	{"away", "n1 2m: kill a node, change retained documents while it is away for so long, start it, and read them at each node",
		func(ctx context.Context, f *fleet, args []string) error { return f.awayFor(ctx, args, false) }},
	{"suspend", "n1 2m: the same, but the process of the node stands still, as one that a partition cut off, and goes on then",
		func(ctx context.Context, f *fleet, args []string) error { return f.awayFor(ctx, args, true) }},
	{"move", "have the fleet on Troupe's broker, then move it to NATS robot by robot, with stops in between",
		func(ctx context.Context, f *fleet, _ []string) error { return f.move(ctx) }},
	{"crowd", "connect the robots of --crowd to the three nodes, then as many to Troupe's broker, and measure both",
		func(ctx context.Context, f *fleet, _ []string) error { return f.compareCrowds(ctx) }},
	{"neighbours", "connect the robots of --crowd of two fleets, and measure what one notices of a burst and of a lost node in the other one",
		func(ctx context.Context, f *fleet, _ []string) error { return f.neighbours(ctx) }},
	{"retained", "publish 100 retained documents at one node, and read each at another one right after its acknowledgement",
		func(ctx context.Context, f *fleet, _ []string) error {
			missed, err := f.readElsewhere(ctx, 100)
			f.say("%d of 100 retained documents were missing at the other node", missed)
			return err
		}},
	{"fleetd", "ARGS: the command line of fleetd", func(ctx context.Context, f *fleet, args []string) error {
		text, err := f.ctl(ctx, args...)
		f.say("%s", text)
		return err
	}},
	{"status", "nodes with their clients, streams and leaders, and the robots", func(ctx context.Context, f *fleet, _ []string) error {
		f.status(ctx)
		return nil
	}},
	{"log", "WHAT: what it printed last: n1, fleetd-a, r1", func(_ context.Context, f *fleet, args []string) error {
		return f.each(args, func(what string) error {
			p, err := f.program(what)
			if err == nil {
				f.say("%s printed last:\n%s", what, p.Tail())
			}
			return err
		})
	}},
	{"wait", "5s: do nothing for so long", func(ctx context.Context, _ *fleet, args []string) error {
		d, err := time.ParseDuration(strings.Join(args, ""))
		if err != nil {
			return err
		}
		return sleep(ctx, d)
	}},
}

func (f *fleet) awayFor(ctx context.Context, args []string, suspended bool) error {
	if len(args) != 2 {
		return errors.New("want a node and a duration")
	}
	d, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	name := args[0]
	if stream, ok := strings.CutPrefix(name, leaderOf); ok {
		n, err := f.leaderOf(ctx, stream)
		if err != nil {
			return err
		}
		name = n.name
	}
	return f.away(ctx, name, d, suspended)
}

func commandsHelp() string {
	var b strings.Builder
	for _, a := range actions {
		fmt.Fprintf(&b, "  %-10s %s\n", a.name, a.help)
	}
	return b.String()
}

// parseScript returns the words of each command of a text, which semicolons separate. It refuses a command that does not exist before
// anything is started.
func parseScript(text string) (script [][]string, err error) {
	for line := range strings.SplitSeq(text, ";") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if _, err := find(words[0]); err != nil {
			return nil, err
		}
		script = append(script, words)
	}
	return script, nil
}

func find(name string) (action, error) {
	at := slices.IndexFunc(actions, func(a action) bool { return a.name == name })
	if at < 0 {
		return action{}, fmt.Errorf("%s is no command; these are:\n%s", name, commandsHelp())
	}
	return actions[at], nil
}

func (f *fleet) do(ctx context.Context, words []string) error {
	if len(words) == 0 {
		return nil
	}
	a, err := find(words[0])
	if err != nil {
		return err
	}
	return a.run(ctx, f, words[1:])
}

func (f *fleet) each(names []string, do func(string) error) error {
	if len(names) == 0 {
		return errors.New("want a name")
	}
	for _, name := range names {
		if err := do(name); err != nil {
			return err
		}
	}
	return nil
}
