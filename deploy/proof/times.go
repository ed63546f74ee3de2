package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"troupe/deploy/times"
)

// recordedFile has the times of a green run on main. Its first line names the commit.
const recordedFile = "deploy/proof/times.tsv"

// growth is from which factor on a part is named.
const growth = 1.25

// speed returns by which factor a run is slower than the recorded one: the median over targets, so
// that another machine, or a target that grew, is not taken for growth of all.
func speed(now, recorded times.All) float64 {
	var factors []float64
	for _, t := range now {
		if before, ok := recorded.Find(t.Kind, t.Name); ok && t.Kind == times.Target && before.CPU >= time.Second {
			factors = append(factors, float64(t.CPU)/float64(before.CPU))
		}
	}
	if len(factors) == 0 {
		return 1
	}
	slices.Sort(factors)
	return factors[len(factors)/2]
}

// report prints a run beside the recorded one.
func report(out io.Writer, now, recorded times.All, commit string) {
	factor := speed(now, recorded)
	from := "no run, until make ci-times records one"
	if commit != "" {
		from = fmt.Sprintf("%.12s", commit)
	}
	fmt.Fprintf(out, "\nseconds of CPU, and in all; in brackets those of %s\n", from)
	if commit != "" {
		fmt.Fprintf(out, "this run took %.2f times the CPU of that one (median of the targets)\n", factor)
	}
	for _, each := range []struct {
		kind string
		n    int
	}{{times.Target, 20}, {times.Package, 10}, {times.Spec, 10}} {
		for _, t := range now.Dearest(each.kind, each.n) {
			line := fmt.Sprintf("    %-8s %7.1f %7.1f", t.Kind, t.CPU.Seconds(), t.Wall.Seconds())
			grew := ""
			if before, ok := recorded.Find(t.Kind, t.Name); ok {
				line += fmt.Sprintf("   (%7.1f %7.1f)", before.CPU.Seconds(), before.Wall.Seconds())
				if each.kind == times.Target && float64(t.CPU) > growth*factor*float64(before.CPU) {
					grew = "   GREW by more than a quarter"
				}
			}
			fmt.Fprintf(out, "%-46s %s%s\n", line, t.Name, grew)
		}
	}
}
