package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/rollout"
	"troupe/schema"
)

// waveColumns is how wide the bar of a wave with the most robots is.
const waveColumns = 30

// Signs of a bar, each one column wide.
const (
	signHas    = "█"
	signOnWay  = "▒"
	signFailed = "×"
	signAside  = "-"
	signWaits  = "·"
)

// legend says what the signs mean.
const legend = signHas + " has it  " + signOnWay + " on its way  " + signWaits + " waits  " + signFailed + " failed  " + signAside +
	" left out"

// signs is what each state of a robot looks like in a bar; other states wait.
var signs = map[rollout.RobotState]string{
	rollout.Confirmed: signHas, rollout.Unchanged: signHas,
	rollout.Offered: signOnWay, rollout.Active: signOnWay, rollout.Restoring: signOnWay,
	rollout.Rejected: signFailed, rollout.Failed: signFailed, rollout.TimedOut: signFailed, rollout.Reverted: signFailed,
	rollout.Silent: signFailed, rollout.NotRestored: signFailed,
	rollout.LeftOut: signAside, rollout.Superseded: signAside, rollout.Cancelled: signAside, rollout.ExpiredOffline: signAside,
	rollout.Decommissioned: signAside, rollout.Pinned: signAside, rollout.Restored: signAside,
}

// waveBar draws a wave: a bar as long as it has robots beside the largest wave, with a column for each part of them. Every
// state that some robots have shows, however few they are.
func waveBar(counts map[string]int, total, largest int) string {
	if total == 0 {
		return ""
	}
	columns := max(1, (total*waveColumns+largest/2)/max(largest, 1))
	if largest <= waveColumns {
		columns = total
	}
	bySign := map[string]int{}
	for state, n := range counts {
		bySign[orElse(signs[rollout.RobotState(state)], signWaits)] += n
	}
	var bar strings.Builder
	drawn, robots := 0, 0
	order := []string{signFailed, signHas, signOnWay, signAside, signWaits}
	for i, sign := range order {
		n := bySign[sign]
		robots += n
		end := (robots*columns + total/2) / total
		if n > 0 && end == drawn {
			end++
		}
		later := 0 // columns that the signs behind it need
		for _, other := range order[i+1:] {
			if bySign[other] > 0 {
				later++
			}
		}
		if end = min(end, columns-later); end > drawn {
			bar.WriteString(strings.Repeat(sign, end-drawn))
			drawn = end
		}
	}
	return bar.String()
}

// gateText says what a wave has to show.
func gateText(g rollout.Gate) string {
	if g.SuccessPercent == 0 && g.MaxFailurePercent >= 100 {
		return "no gate"
	}
	text := fmt.Sprintf("%v %% confirmed", g.SuccessPercent)
	if g.MaxFailurePercent == 0 {
		text += ", no failure"
	} else {
		text += fmt.Sprintf(", at most %v %% failed", g.MaxFailurePercent)
	}
	if g.SoakS > 0 {
		text += ", watched for " + (time.Duration(g.SoakS) * time.Second).String()
	}
	return strings.Replace(text, "m0s", "m", 1)
}

// namesText names a few of so many robots.
func namesText(names []string, count int) string {
	text := strings.Join(names, " ")
	if more := count - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// planText draws the plan of a rollout.
func planText(sh *shell, out io.Writer, p api.RolloutPlan) {
	fmt.Fprintf(out, "%s to %s in %s (%s)\n", p.Text, countText(p.Total, "robot"), countText(len(p.Waves), "wave"), p.Selector)
	largest, label := 0, 0
	for _, w := range p.Waves {
		largest, label = max(largest, w.Total), max(label, uniseg.StringWidth(w.Name))
	}
	for _, w := range p.Waves {
		counts := map[string]int{string(rollout.Confirmed): w.Total - w.Refused, string(rollout.LeftOut): w.Refused}
		fmt.Fprintf(out, "  %s%6d  %s  %s\n", pad(w.Name, label), w.Total,
			pad(waveBar(counts, w.Total, largest), min(largest, waveColumns)), gateText(w.Gate))
		if len(w.Robots) > 0 {
			fmt.Fprintf(out, "  %s        %s\n", pad("", label), namesText(w.Robots, w.Total))
		}
	}
	if p.RefusedTotal > 0 {
		word := "cannot have it, and would be left out"
		if p.Spec.Refused == rollout.RefusedOffer {
			word = "would refuse it"
		}
		fmt.Fprintf(out, "%s %s:\n", countText(p.RefusedTotal, "robot"), word)
		refusalLines(out, p.Refused)
	}
	if p.WarningsTotal > 0 {
		fmt.Fprintf(out, "%s would leave out a part of it:\n", countText(p.WarningsTotal, "robot"))
		refusalLines(out, p.Warnings)
	}
	for _, some := range []struct {
		robots api.SomeRobots
		text   string
	}{{p.Unchanged, "already has it, and stays as it is"}, {p.Pinned, "is pinned, and keeps what it has"}, {p.Offline,
		"is not reachable now"}} {
		if some.robots.Count > 0 {
			fmt.Fprintf(out, "%s: %s\n", numbered(some.robots.Count, some.text), namesText(some.robots.Robots, some.robots.Count))
		}
	}
	for _, s := range p.Superseding {
		fmt.Fprintf(out, "%s taken from rollout %s (%s)\n", countText(s.Robots, "robot"), s.Rollout, s.Name)
	}
	if p.ExpectedEnd != 0 {
		fmt.Fprintf(out, "expected end: %s, if nothing fails and every robot is reachable\n", formatTime(p.ExpectedEnd))
	}
	if p.Approval {
		fmt.Fprintln(out, "a second person has to approve it before it starts")
	}
	fmt.Fprintf(out, "digest: %s\n", p.Digest)
}

// refusalLines writes a line for each reason, with the robots to which it applies.
func refusalLines(out io.Writer, all []api.RolloutRefusal) {
	robots := map[string][]string{}
	var reasons []string
	for _, r := range all {
		reason := strings.TrimPrefix(r.Reason+": "+oneLine(r.Detail), ": ")
		if robots[reason] == nil {
			reasons = append(reasons, reason)
		}
		robots[reason] = append(robots[reason], r.Robot)
	}
	for _, reason := range reasons {
		fmt.Fprintf(out, "  %s: %s\n", strings.Join(robots[reason], " "), reason)
	}
}

// numbered is "1 robot has it", "2 robots have it".
func numbered(n int, text string) string {
	if n != 1 {
		text = strings.NewReplacer("has", "have", "stays", "stay", "is ", "are ", "keeps", "keep", "it has", "they have", "it is",
			"they are").Replace(text)
	}
	return countText(n, "robot") + " " + text
}

// rolloutText draws a rollout as it is now.
func rolloutText(_ *shell, out io.Writer, d api.RolloutDetail) {
	fmt.Fprintf(out, "%s  %s to %s: %s", d.ID, d.Content, countText(d.Total, "robot"), d.State)
	if d.Why != "" {
		fmt.Fprintf(out, " (%s)", oneLine(d.Why))
	}
	fmt.Fprintln(out)
	largest, label := 0, 0
	for _, w := range d.Waves {
		largest, label = max(largest, w.Total), max(label, uniseg.StringWidth(w.Name))
	}
	for _, w := range d.Waves {
		line := fmt.Sprintf("  %s  %-12s  %s  %s", pad(w.Name, label), w.State, pad(waveBar(w.Counts, w.Total, largest),
			min(largest, waveColumns)), countsText(w.Counts))
		if w.State == rollout.WaveSoaking && w.SoakUntil != 0 {
			line += ", watched until " + w.SoakUntil.Time().Local().Format(time.TimeOnly)
		}
		if w.Why != "" && w.State != rollout.WavePassed && w.State != rollout.WaveSoaking {
			line += ": " + oneLine(w.Why)
		}
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	for _, f := range d.Failures {
		fmt.Fprintf(out, "%s failed, %s: %s (%s)\n", countText(f.Count, "robot"), orElse(f.Reason, "without a reason"),
			orElse(oneLine(f.Detail), "-"), namesText(f.Robots, f.Count))
	}
	if len(d.Can) > 0 {
		fmt.Fprintf(out, "possible now: fleetd rollout %s %s\n", strings.Join(d.Can, "|"), d.ID)
	}
}

// watchesRollout makes the command that watches a rollout of that which shows one.
func watchesRollout(sh *shell, c *cobra.Command) finish {
	c.Long = `Draw the waves of a rollout until it is over, or waits for a person. Where the output is no terminal, a line for each
change of a wave or of the rollout.
Exit codes: 0 SUCCEEDED, or ROLLED_BACK; 3 COMPLETED_WITH_FAILURES or ROLLBACK_INCOMPLETE; 1 ABORTED; 5 PAUSED, READY or
WAITING_FOR_APPROVAL: a person decides how it goes on.`
	c.Example = "  fleetd rollout watch 0198c0de"
	return func(ctx context.Context, args []string, _ rowRequest) error { return sh.watchRollout(ctx, args[0]) }
}

// watchRollout draws a rollout until it is over or waits for a person.
func (sh *shell) watchRollout(ctx context.Context, id string) error {
	w := rolloutWatch{sh: sh, live: sh.forPeople() && isTerminal(sh.Out), states: map[int]rollout.WaveState{}}
	etag, reported, answered := "", false, false
	for {
		got, next, err := sh.getRollout(ctx, id, etag)
		var f *failure
		switch {
		case ctx.Err() != nil:
			return nil // interrupted by the user
		case err != nil && (!answered || errors.As(err, &f) && f.code != exitTimeout && !f.isTemporary()):
			return err
		case err != nil && !reported:
			reported = true
			fmt.Fprintln(sh.Err, "fleetd:", err, "- trying again")
		case err == nil:
			reported, answered, etag = false, true, next
		}
		if got != nil {
			if err := w.show(*got); err != nil {
				return err
			}
			if over, err := rolloutOutcome(got.State); over {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followInterval):
		}
	}
}

// rolloutOutcome says whether a watch of a rollout in this state ends, and how.
func rolloutOutcome(s rollout.State) (over bool, err error) {
	switch s {
	case rollout.Succeeded, rollout.RolledBack:
		return true, nil
	case rollout.CompletedWithFailures, rollout.RollbackIncomplete:
		return true, &failure{code: exitPartial}
	case rollout.Aborted:
		return true, &failure{code: exitError}
	case rollout.Paused, rollout.Ready, rollout.WaitingForApproval, rollout.Draft:
		return true, &failure{code: exitConflict}
	}
	return false, nil
}

// rolloutWatch draws a rollout again and again.
type rolloutWatch struct {
	sh     *shell
	live   bool // on a terminal: the drawing before is replaced
	drawn  int  // lines of it
	state  rollout.State
	states map[int]rollout.WaveState
	counts string
}

func (w *rolloutWatch) show(d api.RolloutDetail) error {
	switch {
	case !w.sh.forPeople():
		return w.sh.showNext(d)
	case !w.live:
		return w.lines(d)
	}
	var text strings.Builder
	if d.State == rollout.Running { // why it began is known by now; what it waits for is below
		d.Why = ""
	}
	rolloutText(w.sh, sanitizingWriter{&text}, d)
	if over, _ := rolloutOutcome(d.State); !over {
		if d.Waits != "" {
			fmt.Fprintln(sanitizingWriter{&text}, oneLine(d.Waits))
		}
		fmt.Fprintln(&text, legend)
	}
	columns, height := w.sh.terminalSize()
	var lines []string
	for line := range strings.Lines(text.String()) {
		lines = append(lines, shorten(strings.TrimSuffix(line, "\n"), columns-1))
	}
	if left := len(lines) - (height - 1); left > 0 && height > 2 { // the cursor cannot go back over lines that scrolled away
		lines = append(lines[:height-2], fmt.Sprintf("… %d more lines: fleetd rollout get %s", left+1, d.ID))
	}
	var out strings.Builder
	if w.drawn > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", w.drawn)
	}
	for _, line := range lines {
		out.WriteString("\r" + line + "\x1b[K\n")
	}
	if len(lines) < w.drawn {
		out.WriteString("\x1b[J")
	}
	w.drawn = len(lines)
	_, err := io.WriteString(unsanitized(w.sh.Out), out.String())
	return err
}

// lines prints what has changed, a line for each.
func (w *rolloutWatch) lines(d api.RolloutDetail) error {
	now := schema.TimeOf(time.Now()).Time().Local().Format(time.TimeOnly)
	for _, v := range d.Waves {
		if w.states[v.Number] == v.State || v.State == rollout.WavePlanned {
			continue
		}
		w.states[v.Number] = v.State
		text := fmt.Sprintf("%s  %s: %s, %s", now, v.Name, v.State, countsText(v.Counts))
		if v.Why != "" && slices.Contains([]rollout.WaveState{rollout.WaveFailed, rollout.WaveInconclusive}, v.State) {
			text += ": " + oneLine(v.Why)
		}
		fmt.Fprintln(w.sh.Out, text)
	}
	if counts := countsText(d.Counts); counts != w.counts {
		w.counts = counts
		fmt.Fprintf(w.sh.Out, "%s  %s\n", now, counts)
	}
	if d.State != w.state {
		w.state = d.State
		text := fmt.Sprintf("%s  %s: %s", now, d.Content, d.State)
		if d.Why != "" {
			text += " (" + oneLine(d.Why) + ")"
		}
		fmt.Fprintln(w.sh.Out, text)
		if over, _ := rolloutOutcome(d.State); over {
			for _, f := range d.Failures {
				fmt.Fprintf(w.sh.Out, "  %s failed, %s: %s (%s)\n", countText(f.Count, "robot"), orElse(f.Reason, "without a reason"),
					orElse(oneLine(f.Detail), "-"), namesText(f.Robots, f.Count))
			}
			if len(d.Can) > 0 {
				fmt.Fprintf(w.sh.Out, "  possible now: fleetd rollout %s %s\n", strings.Join(d.Can, "|"), d.ID)
			}
		}
	}
	return nil
}
