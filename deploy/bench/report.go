package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// writeReport writes a run as a table for people, each figure beside that of an earlier run if it has it.
func writeReport(out io.Writer, report, earlier *Report) {
	m := report.Machine
	fmt.Fprintf(out, "commit %s, %s, %s, %d cores, load %s (%s after it), CPU kept awake: %s\n", m.Commit, m.Go, m.System, m.Cores,
		m.Load, m.LoadEnd,
		yesNo(m.Awake))
	fmt.Fprintf(out, "fdatasync floor: p50 %s, p99 %s, max %s of %d\n", showMicroseconds(m.Fsync.P50), showMicroseconds(m.Fsync.P99),
		showMicroseconds(m.Fsync.Max), m.Fsync.Samples)
	if earlier != nil {
		e := earlier.Machine
		fmt.Fprintf(out, "in brackets: the change since commit %s of %s, load %s, CPU kept awake: %s\n", e.Commit, e.Time, e.Load, yesNo(e.Awake))
	}
	for _, result := range report.Results {
		writeResult(out, result, earlier.result(result.Bench))
	}
}

func writeResult(out io.Writer, result, earlier Result) {
	fmt.Fprintf(out, "\n%s (%.0f s)", result.Bench, result.Seconds)
	if b, ok := benchByName(result.Bench); ok {
		fmt.Fprintf(out, ": %s\n  floor: %s", b.What, b.Floor)
	}
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, a := range result.Arms {
		fmt.Fprintf(table, "  %s\t%s\n", a.Name, strings.Join(armColumns(a, earlier.arm(a.Name)), "\t"))
	}
	_ = table.Flush() // out is a terminal or a buffer
	for _, a := range result.Arms {
		if len(a.Uses) > 0 {
			var uses []string
			for _, u := range a.Uses {
				uses = append(uses, u.String())
			}
			fmt.Fprintf(out, "    %s: %s\n", a.Name, strings.Join(uses, "; "))
		}
	}
	for _, g := range growths(result.Steps) {
		verdict := "ok"
		if g.exceeded() {
			verdict = "TOO MUCH"
		}
		fmt.Fprintf(out, "  growth: %s: %s\n", g, verdict)
	}
	for _, n := range result.Notes {
		fmt.Fprintf(out, "  %s\n", n)
	}
}

// armColumns are the figures of an arm. An earlier arm without figures has no changes.
func armColumns(a, earlier Arm) (columns []string) {
	if a.Latency != nil {
		was := Latency{}
		if earlier.Latency != nil {
			was = *earlier.Latency
		}
		columns = append(columns, "p50 "+showMicroseconds(a.P50)+change(a.P50, was.P50), "p99 "+showMicroseconds(a.P99)+change(a.P99, was.P99),
			"max "+showMicroseconds(a.Max), fmt.Sprintf("n %d", a.Samples))
	}
	if a.Ratio > 0 {
		text := fmt.Sprintf("%.2f x %s%s, p99 %.2f x%s", a.Ratio, a.Of, verdict(a.Ratio, a.Goal), a.RatioP99, verdict(a.RatioP99, a.GoalP99))
		columns = append(columns, text)
	}
	for _, v := range a.Values {
		columns = append(columns, v.Name+" "+v.show()+change(v.Is, earlier.value(v.Name)))
	}
	if a.Latency != nil || a.Lost+a.Doubled > 0 {
		columns = append(columns, fmt.Sprintf("lost %d", a.Lost), fmt.Sprintf("doubled %d", a.Doubled))
	}
	return columns
}

// verdict says whether a ratio is good enough, if there is a goal.
func verdict(ratio, goal float64) string {
	switch {
	case goal == 0:
		return ""
	case ratio > goal:
		return fmt.Sprintf(" (MISSES %.4g)", goal)
	}
	return fmt.Sprintf(" (within %.4g)", goal)
}

func (a Arm) value(name string) float64 {
	for _, v := range a.Values {
		if v.Name == name {
			return v.Is
		}
	}
	return 0
}

func (v Value) show() string {
	switch v.Unit {
	case "B":
		return showBytes(v.Is)
	case "B/s":
		return showBytes(v.Is) + "/s"
	case "s":
		return showMicroseconds(v.Is * 1e6)
	case "":
		return fmt.Sprintf("%.4g", v.Is)
	}
	return fmt.Sprintf("%.4g %s", v.Is, v.Unit)
}

// change shows the difference to an earlier figure; nothing if there was none.
func change(now, was float64) string {
	if was == 0 {
		return ""
	}
	return fmt.Sprintf(" [%+.0f%%]", 100*(now/was-1))
}

func showMicroseconds(us float64) string {
	switch {
	case us >= 10e6:
		return fmt.Sprintf("%.1f s", us/1e6)
	case us >= 1e6:
		return fmt.Sprintf("%.2f s", us/1e6)
	case us >= 100e3:
		return fmt.Sprintf("%.0f ms", us/1e3)
	case us >= 1e3:
		return fmt.Sprintf("%.2f ms", us/1e3)
	}
	return fmt.Sprintf("%.0f µs", us)
}

func showBytes(b float64) string {
	switch abs := math.Abs(b); {
	case abs >= 1<<30:
		return fmt.Sprintf("%.2f GiB", b/(1<<30))
	case abs >= 1<<20:
		return fmt.Sprintf("%.1f MiB", b/(1<<20))
	case abs >= 1<<10:
		return fmt.Sprintf("%.1f KiB", b/(1<<10))
	}
	return fmt.Sprintf("%.0f B", b)
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
