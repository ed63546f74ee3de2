// Package times keeps how long the parts of a test run took: targets of the Makefile, packages and
// specs. A run adds a line for each to a file, from several processes at once.
package times

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// File is where a run adds its lines, from the root of the tree.
const File = ".cache/proof/times.tsv"

// RootVariable is the environment variable with the root of the tree, if the run is timed.
const RootVariable = "TROUPE_ROOT"

// The kinds of what is timed.
const (
	Target  = "target"  // of the Makefile
	Package = "package" // its tests
	Spec    = "spec"    // a browser plays it
)

// Took is how long a part of a run took. CPU is that of a process and of those that it waited for,
// in user and system mode; zero if it is not known.
type Took struct {
	Kind, Name string
	CPU, Wall  time.Duration
}

// Line is t as a line of the file.
func (t Took) Line() string {
	return fmt.Sprintf("%s\t%s\t%.1f\t%.1f\n", t.Kind, t.Name, t.CPU.Seconds(), t.Wall.Seconds())
}

// Add adds t to the file of this run. It does nothing if the run is not timed.
func (t Took) Add() error {
	root := os.Getenv(RootVariable)
	if root == "" {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(root, File), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(t.Line())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("record how long %s took: %w", t.Name, err)
	}
	return nil
}

// All are the parts of a run. What ran several times, or in several processes, is added up.
type All []Took

// Read reads such a file, and the commit that a line of it may name. Without a file there is nothing.
func Read(path string) (all All, commit string, err error) {
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
		all.add(Took{fields[0], fields[1], seconds(cpu), seconds(wall)})
	}
	return all, commit, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (all *All) add(t Took) {
	if before, ok := all.Find(t.Kind, t.Name); ok {
		before.CPU += t.CPU
		before.Wall += t.Wall
		return
	}
	*all = append(*all, t)
}

// Find returns the part of that name.
func (all All) Find(kind, name string) (*Took, bool) {
	i := slices.IndexFunc(all, func(t Took) bool { return t.Kind == kind && t.Name == name })
	if i < 0 {
		return nil, false
	}
	return &all[i], true
}

// Dearest returns the n parts of a kind with the most CPU, or time where CPU is not known.
func (all All) Dearest(kind string, n int) All {
	some := slices.DeleteFunc(slices.Clone(all), func(t Took) bool { return t.Kind != kind })
	slices.SortStableFunc(some, func(a, b Took) int {
		return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.Wall, a.Wall), strings.Compare(a.Name, b.Name))
	})
	return some[:min(n, len(some))]
}
