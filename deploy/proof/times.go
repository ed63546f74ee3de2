package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timesFile is where a run adds how long each of its parts took, and recordedFile is such a file of
// a green run on main. Its first line names the commit.
const (
	timesFile    = ".cache/proof/times.tsv"
	recordedFile = "deploy/proof/times.tsv"
)

// The kinds of what is timed.
const (
	kindTarget  = "target"  // of the Makefile
	kindPackage = "package" // its tests
	kindSpec    = "spec"    // a browser plays it
)

// took is how long a part of a run took. CPU is that of a process and of those that it waited for,
// in user and system mode; zero if it is not known.
type took struct {
	kind, name string
	cpu, wall  time.Duration
}

func (t took) line() string {
	return fmt.Sprintf("%s\t%s\t%.1f\t%.1f\n", t.kind, t.name, t.cpu.Seconds(), t.wall.Seconds())
}

// watch measures one command.
type watch struct{ began time.Time }

func startWatch() watch { return watch{time.Now()} }

// end adds a line to the times.
func (w watch) end(kind, name string, state *os.ProcessState) error {
	t := took{kind: kind, name: name, cpu: state.UserTime() + state.SystemTime(), wall: time.Since(w.began)}
	f, err := os.OpenFile(filepath.Join(os.Getenv(rootVariable), timesFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("record how long %s took: %w", name, err)
	}
	_, err = f.WriteString(t.line())
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("record how long %s took: %w", name, err)
	}
	return nil
}

// times are the parts of a run. What ran several times, or in several processes, is added up.
type times []took

// readTimes reads such a file, and the commit that its first line may name.
func readTimes(path string) (all times, commit string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read times: %w", err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) == 2 && fields[0] == "commit" {
			commit = fields[1]
			continue
		}
		if len(fields) != 4 {
			return nil, "", fmt.Errorf("read times: %s: %q does not have four fields", path, lines.Text())
		}
		cpu, err1 := strconv.ParseFloat(fields[2], 64)
		wall, err2 := strconv.ParseFloat(fields[3], 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, "", fmt.Errorf("read times: %s: %w", path, err)
		}
		all.add(took{fields[0], fields[1], seconds(cpu), seconds(wall)})
	}
	return all, commit, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (all *times) add(t took) {
	if i := all.find(t.kind, t.name); i >= 0 {
		(*all)[i].cpu += t.cpu
		(*all)[i].wall += t.wall
		return
	}
	*all = append(*all, t)
}

func (all times) find(kind, name string) int {
	return slices.IndexFunc(all, func(t took) bool { return t.kind == kind && t.name == name })
}

// dearest returns the n parts of a kind with the most CPU, or time where CPU is not known.
func (all times) dearest(kind string, n int) times {
	var some times
	for _, t := range all {
		if kind == t.kind {
			some = append(some, t)
		}
	}
	slices.SortStableFunc(some, func(a, b took) int {
		return cmp.Or(cmp.Compare(b.cpu, a.cpu), cmp.Compare(b.wall, a.wall), strings.Compare(a.name, b.name))
	})
	return some[:min(n, len(some))]
}

// growth is from which factor on a part is named.
const growth = 1.25

// speed returns by which factor a run is slower than the recorded one: the median over targets, so
// that another machine, or a target that grew, is not taken for growth of all.
func speed(now, recorded times) float64 {
	var factors []float64
	for _, t := range now {
		if i := recorded.find(t.kind, t.name); t.kind == kindTarget && i >= 0 && recorded[i].cpu >= time.Second {
			factors = append(factors, float64(t.cpu)/float64(recorded[i].cpu))
		}
	}
	if len(factors) == 0 {
		return 1
	}
	slices.Sort(factors)
	return factors[len(factors)/2]
}

// report prints a run beside the recorded one.
func report(out io.Writer, now, recorded times, commit string) {
	factor := speed(now, recorded)
	fmt.Fprintf(out, "\nseconds of CPU, and in all; in brackets those of %.12s\n", cmp.Or(commit, "no run: make ci-times records one"))
	if commit != "" {
		fmt.Fprintf(out, "this run took %.2f times the CPU of that one (median of the targets)\n", factor)
	}
	for _, each := range []struct {
		kind string
		n    int
	}{{kindTarget, 20}, {kindPackage, 10}, {kindSpec, 10}} {
		for _, t := range now.dearest(each.kind, each.n) {
			line := fmt.Sprintf("    %-8s %7.1f %7.1f", t.kind, t.cpu.Seconds(), t.wall.Seconds())
			grew := ""
			if i := recorded.find(t.kind, t.name); i >= 0 {
				before := recorded[i]
				line += fmt.Sprintf("   (%7.1f %7.1f)", before.cpu.Seconds(), before.wall.Seconds())
				if each.kind == kindTarget && float64(t.cpu) > growth*factor*float64(before.cpu) {
					grew = "   GREW by more than a quarter"
				}
			}
			fmt.Fprintf(out, "%-46s %s%s\n", line, t.name, grew)
		}
	}
}
