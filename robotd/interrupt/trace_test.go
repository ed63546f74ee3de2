package interrupt

import (
	"fmt"
	"strings"
	"testing"

	"troupe/schema"
	"troupe/schema/golden"
)

// TestTraces plays each script in testdata: a line is a time and an input, and the
// indented lines below it are the decision.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		w := newWorld()
		return func(line string) string { return w.play(t, line) }
	})
}

type world struct {
	r Registry
	s State
	f Facts
}

// newWorld has two handlers beside those of every robot: one that performs an activity, and
// one that preempts it.
func newWorld() *world {
	w := &world{r: Defaults(), f: Facts{Condition: true}}
	w.r.Handlers = append(w.r.Handlers, Handler{ID: "party", Priority: 8, Activity: true}, Handler{ID: "alarm", Priority: 30, Preempt: true})
	w.s = Boot(&w.r)
	return w
}

func (w *world) play(t *testing.T, line string) string {
	t.Helper()
	now, word, words := golden.Timed(t, line)
	in := Input{What: What(word)}
	arg := ""
	if len(words) > 0 {
		arg = words[0]
	}
	switch in.What {
	case "paused":
		w.f.Paused, w.f.PausedBy, in.What = true, "the story is paused by safety", Tick
	case "resumed":
		w.f.Paused, in.What = false, Tick
	case "condition":
		w.f.Condition, w.f.Why, in.What = arg == "met", strings.Join(words[1:], " "), Tick
	case Request:
		in.Handler = arg
		if len(words) > 1 {
			in.Interrupter = words[1]
		}
		in.Replaces = len(words) > 2 && words[2] == "replaces"
	case Cancel, Done, Error:
		in.ID = arg
	case Run, Stop:
		in.Interrupter = arg
	case Enter, Leave:
		w.f.Ato = in.What == Enter
		in.Reason = schema.ReasonNotInAto
	case CancelAll:
		in.Reason = schema.Reason(arg)
	}
	d := Step(&w.s, now, &w.r, w.f, in)
	var b strings.Builder
	for _, e := range d.Ended {
		b.WriteString("  " + strings.TrimSpace(fmt.Sprintf("ended: %s %s after %s %s", e.ID, e.Outcome, e.Lasted, e.Reason)) + "\n")
	}
	if d.Start.ID != "" {
		fmt.Fprintf(&b, "  start: %s for %s\n", d.Start.ID, d.Start.Interrupter)
	}
	if d.Joins.ID != "" {
		fmt.Fprintf(&b, "  joins: %s\n", d.Joins.ID)
	}
	if a := d.Answer; a.Status != "" {
		b.WriteString("  " + strings.TrimSpace(fmt.Sprintf("answer: %s %s %s", a.Status, a.Reason, a.Detail)) + "\n")
	}
	b.WriteString("  =")
	for _, e := range w.s.Running() {
		b.WriteString(" " + e.ID)
	}
	for i, name := range w.r.Interrupters {
		if state := w.s.Interrupter(i); state != schema.InterrupterAllowed {
			fmt.Fprintf(&b, " %s:%s", name, state)
		}
	}
	b.WriteString("\n")
	return b.String()
}
