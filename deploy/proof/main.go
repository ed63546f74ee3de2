// Proof runs the tests of a change: every package once, under the race detector where something runs
// at once and the change or its turn reaches it, and of what tests repeat the shard of this tree. It
// records how long each part took. The Makefile calls it:
//
//	proof shard                print the shard
//	proof plan                 print what a run executes, and why
//	proof growth               succeed if the shard runs make bench-quick
//	proof test [-run=T PKG]    execute it and print the events of go test -json
//	proof quick                print the packages that a change reaches
//	proof list                 print the tests of each shard and compare all of them with those that exist
//	proof race-flags           print GOFLAGS of a run under the race detector
//	proof time TARGET COMMAND  run a command and record how long it took
//	proof times                print how long each part took, beside the recorded run
//	proof passed               the same, at the end of a run in which everything passed
//	proof record               record the last run that passed
//
// SHARD chooses a shard: a number, or all. BASE is the commit that a change is compared with; without
// it that is the commit of the recorded run, which tested what had changed since the one before it.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"troupe/deploy/shard"
	"troupe/deploy/times"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: proof shard|plan|growth|test|quick|list|race-flags|time|times|passed|record")
		os.Exit(2)
	}
	status, err := command(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "proof %s: %v\n", os.Args[1], err)
		status = cmp.Or(status, 1)
	}
	os.Exit(status)
}

func command(name string, args []string) (status int, err error) {
	if name == "exec" { // in the folder of a package
		at, err := os.Getwd()
		if err != nil {
			return 1, err
		}
		folder, err := filepath.Rel(os.Getenv(times.RootVariable), at)
		if err != nil {
			return 1, err
		}
		return execute(times.Package, filepath.ToSlash(folder), args), nil
	}
	root, err := findRoot()
	if err != nil {
		return 1, err
	}
	if err := errors.Join(os.Chdir(root), os.Setenv(times.RootVariable, root), os.MkdirAll(filepath.Dir(times.File), 0o755)); err != nil {
		return 1, err
	}
	switch name {
	case "time":
		if len(args) < 2 {
			return 2, errors.New("give a target and a command")
		}
		return execute(times.Target, args[0], args[1:]), nil
	case "times", "passed":
		now, _, err := times.Read(times.File)
		if err != nil {
			return 1, err
		}
		recorded, commit, err := times.Read(recordedFile)
		if err != nil {
			return 1, err
		}
		report(os.Stdout, now, recorded, commit)
		if name == "passed" {
			err = notePassed()
		}
		return 0, err
	case "record":
		return 0, record()
	case "race-flags":
		fmt.Println(raceFlags())
		return 0, nil
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	only := flags.String("test.run", "", "a test to run again, in the package that follows; gotestsum gives it under this name")
	if err := flags.Parse(args); err != nil {
		return 2, err
	}
	p, folders, err := planOfTree()
	if err != nil {
		return 1, err
	}
	switch name {
	case "shard":
		fmt.Println(p.shard)
	case "plan":
		p.print(os.Stdout)
	case "growth":
		if !p.shard.Has(growthShard) {
			return 1, nil
		}
	case "quick":
		for _, f := range reachedBy(changedNow(folders), folders) {
			fmt.Println("./" + f)
		}
	case "list":
		return 0, list(os.Stdout, folders)
	case "test":
		if *only != "" {
			p = p.again(*only, strings.TrimPrefix(flags.Arg(0), module))
		}
		passed, err := p.test(os.Stdout)
		if !passed {
			return 1, err
		}
		return 0, err
	default:
		return 2, errors.New("no such command")
	}
	return 0, nil
}

// findRoot returns the folder with go.mod.
func findRoot() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the root of the tree: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		if filepath.Dir(at) == at {
			return "", errors.New("find the root of the tree: no go.mod here or above")
		}
		at = filepath.Dir(at)
	}
}

// planOfTree returns the plan of what is in the work tree.
func planOfTree() (plan, []folder, error) {
	folders, err := readFolders()
	if err != nil {
		return plan{}, nil, err
	}
	hash := hashOfTree()
	s := shard.Shard(hash % shard.Count)
	if text := os.Getenv("SHARD"); text != "" {
		if s, err = shard.Parse(text); err != nil {
			return plan{}, nil, fmt.Errorf("SHARD: %w", err)
		}
	}
	_, recorded, err := times.Read(recordedFile)
	if err != nil {
		return plan{}, nil, err
	}
	base := cmp.Or(os.Getenv("BASE"), recorded)
	changed, all := changedSince(base, folders)
	p, err := newPlan(folders, changed, all, s)
	p.base, p.seed = base, cmp.Or(hash, 1) // rapid takes 0 for none
	return p, folders, err
}

// print says what the plan runs.
func (p plan) print(out io.Writer) {
	since := "everything counts as changed: " + cmp.Or(p.base, "no commit") + " is not in the history here, or go.mod changed"
	if !p.all {
		since = fmt.Sprintf("%d packages differ from %.12s", len(p.changed), p.base)
	}
	fmt.Fprintf(out, "shard %v of %d (SHARD=N for another one, SHARD=%s for all); %s\n", p.shard, shard.Count, shard.All, since)
	for _, r := range p.runs {
		fmt.Fprintf(out, "%4d packages %s", len(r.packages), r.what)
		if r.only != "" {
			fmt.Fprintf(out, ", only %s", r.only)
		}
		if r.skip != "" {
			fmt.Fprintf(out, ", but %s", r.skip)
		}
		fmt.Fprintln(out)
	}
	if p.shard.Has(growthShard) {
		fmt.Fprintln(out, "     make bench-quick: whether something takes longer than its number of robots says")
	}
	if !p.all { // otherwise they have one reason
		for _, f := range p.raced {
			fmt.Fprintf(out, "     %s is raced: %s\n", f.name, f.why)
		}
	}
}

// notePassed adds to the times of this run the commit that passed.
func notePassed() error {
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return nil // without a history there is nothing to compare with later
	}
	f, err := os.OpenFile(times.File, os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(f, "commit\t%s\n", commit)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("note that the run passed: %w", err)
	}
	return nil
}

// record keeps the times of the last run in the tree, if it passed: what has changed since then counts
// as changed in later runs.
func record() error {
	now, commit, err := times.Read(times.File)
	if err != nil {
		return err
	}
	if commit == "" {
		return errors.New("there is no run that passed: run .ci/run first")
	}
	text := "commit\t" + commit + "\n"
	for _, kind := range []string{times.Target, times.Package, times.Spec} {
		for _, t := range now.Dearest(kind, len(now)) {
			text += t.Line()
		}
	}
	if err := os.WriteFile(recordedFile, []byte(text), 0o644); err != nil {
		return fmt.Errorf("record the times: %w", err)
	}
	fmt.Printf("%s has the times of %.12s; commit it\n", recordedFile, commit)
	return nil
}
