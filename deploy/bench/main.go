// Bench measures Troupe on this machine: each figure beside its floor, which is the least that the same costs here
// without Troupe, in arms that alternate within one run. It starts its programs itself, on the loopback, and ends them.
//
// It fails if something takes more than 12 times as long for ten times as many robots (16 times in a quick run), whatever the
// machine: so a loop over all robots inside a loop over all robots is found without a limit of time.
//
//	go run ./deploy/bench                  every bench, for more than half an hour
//	go run ./deploy/bench --quick          smaller sizes, under 3 minutes
//	go run ./deploy/bench --only rtt,rest  some of them; results are printed only
//	go run ./deploy/bench --list           their names
//
// A robot that stays connected and misses a command, or that carries one out twice while others come and go, fails it, too:
//
//	go run ./deploy/bench --only churn --for 1h
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := start(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are what the command line says, and where progress goes.
type options struct {
	quick, awake, list bool
	lasts              time.Duration
	only               []string
	out                string // file for the results; empty: none
	programs           string // folder
	say                func(line string)
}

func parse(args []string, errors io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(errors)
	only := f.String("only", "", "names of benches, separated by commas; the results are then not written")
	f.BoolVar(&o.quick, "quick", false, "smaller sizes and fewer rounds, and only the benches that say whether something grows too fast")
	f.BoolVar(&o.awake, "awake", true,
		"keep the cores awake with loops of the lowest priority, for arms and floors alike; false with --quick, which "+
			"measures no single round trips and may run where processor time is limited")
	f.DurationVar(&o.lasts, "for", 0, "how long robots come and go in the bench churn; default: 5m, with --quick 1m")
	f.BoolVar(&o.list, "list", false, "print the benches and end")
	f.StringVar(&o.out, "out", "", "file for the results as JSON; default: in "+resultsFolder+", or none with --only")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	chosen := false
	f.Visit(func(one *flag.Flag) { chosen = chosen || one.Name == "awake" })
	o.awake = o.awake && (chosen || !o.quick)
	if f.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", f.Arg(0))
	}
	if o.lasts < 0 {
		return o, fmt.Errorf("for %v: want a time above 0", o.lasts)
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	for _, name := range o.only {
		if _, ok := benchByName(name); !ok {
			return o, fmt.Errorf("there is no bench %q; there are %s", name, strings.Join(names(), ", "))
		}
	}
	if o.out == "" && o.only == nil {
		o.out = committedPath(o.quick)
	}
	return o, nil
}

// committedPath is the file with the committed results of such runs.
func committedPath(quick bool) string {
	if quick {
		return resultsFolder + "/quick.json"
	}
	return resultsFolder + "/full.json"
}

// selected returns the benches of a run.
func (o options) selected() []bench {
	return slices.DeleteFunc(all(), func(b bench) bool {
		if o.only != nil {
			return !slices.Contains(o.only, b.Name)
		}
		return o.quick && !b.Quick
	})
}

func benchByName(name string) (bench, bool) {
	benches := all()
	at := slices.IndexFunc(benches, func(b bench) bool { return b.Name == name })
	if at < 0 {
		return bench{}, false
	}
	return benches[at], true
}

func names() (out []string) {
	for _, b := range all() {
		out = append(out, b.Name)
	}
	return out
}

// start runs what the arguments say.
func start(ctx context.Context, args []string, out, progress io.Writer) error {
	o, err := parse(args, progress)
	if err != nil {
		return err
	}
	if o.list {
		for _, b := range all() {
			fmt.Fprintf(out, "%-12s %s\n", b.Name, b.What)
		}
		return nil
	}
	began := time.Now()
	o.say = func(line string) { fmt.Fprintf(progress, "%6.1f s  %s\n", time.Since(began).Seconds(), line) }
	if err := enterRoot(); err != nil {
		return err
	}
	o.say("building the programs")
	if o.programs, err = buildPrograms(ctx); err != nil {
		return err
	}
	data, err := os.MkdirTemp("", "troupe-bench-")
	if err != nil {
		return fmt.Errorf("make the folder of the data: %w", err)
	}
	defer os.RemoveAll(data)
	report, err := runAll(ctx, o, o.selected(), data)
	if len(report.Results) > 0 {
		writeReport(out, &report, committedResults(committedPath(o.quick)))
	}
	if len(report.Results) > 0 && o.out != "" { // of a run that failed, too: what was measured until then
		written := writeResults(o.out, report)
		if written == nil {
			o.say("results are in " + o.out + "; commit it if nothing else ran on this machine")
		}
		err = errors.Join(err, written)
	}
	return err
}

// runAll runs the benches. A bench in which something grew too fast is run once more, because the machine may have
// been busy meanwhile: the run fails if it does so again.
func runAll(ctx context.Context, o options, benches []bench, data string) (Report, error) {
	var report Report
	machine, err := examineMachine(data, o.awake)
	if err != nil {
		return report, err
	}
	if o.awake {
		end, err := keepAwake()
		if err != nil {
			return report, err
		}
		defer end()
	}
	var failed []error
	for _, b := range benches {
		result, err := execute(ctx, b, o, data)
		if err == nil && tooFast(result) != nil {
			o.say(fmt.Sprintf("%s: measured again, because %v", b.Name, tooFast(result)))
			result, err = execute(ctx, b, o, data)
		}
		if ctx.Err() != nil {
			return report, fmt.Errorf("interrupted: %w", err)
		}
		if err == nil {
			err = tooFast(result)
		}
		if err != nil {
			failed = append(failed, err)
			o.say(err.Error())
		}
		report.Results = append(report.Results, result)
	}
	machine.LoadEnd = load()
	report.Machine = machine
	return report, errors.Join(failed...)
}

// tooFast returns an error that names everything that grew faster than its size.
func tooFast(result Result) error {
	var found []error
	for _, g := range growths(result.Steps) {
		if g.exceeded() {
			found = append(found, fmt.Errorf("%s grows faster than its size: something visits all for each of all: %s", result.Bench, g))
		}
	}
	return errors.Join(found...)
}

// enterRoot changes to the root of the tree.
func enterRoot() error {
	at, err := os.Getwd()
	if err != nil {
		return err
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return os.Chdir(at)
		}
		if at == filepath.Dir(at) {
			return errors.New("run it within the tree: it builds the programs")
		}
		at = filepath.Dir(at)
	}
}
