package safety

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/golden"
)

const time1s = time.Second

// TestTraces plays each script of testdata. A line is a time and an input; the indented
// lines below it are the core's decision.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		w := newWorld()
		return func(line string) string { return w.play(t, line) }
	})
}

// world holds the core and the facts that a script sets.
type world struct {
	s CoreState
	f Facts
	l Limits
}

func newWorld() *world {
	return &world{
		s: Boot(0), l: Defaults(),
		f: Facts{Units: []Unit{{ID: "drive", State: UnitIdle}, {ID: "head", State: UnitIdle}}, Mode: Mode{Active: true, Wants: true}},
	}
}

func (w *world) play(t *testing.T, line string) string {
	t.Helper()
	now, verb, rest := golden.Timed(t, line)
	args := map[string]string{}
	var words []string
	for _, a := range rest {
		if k, v, ok := strings.Cut(a, "="); ok {
			args[k] = strings.ReplaceAll(v, "_", " ")
		} else {
			words = append(words, a)
		}
	}
	var r Request
	switch verb {
	case "tick":
	case "another-core":
		*w = *newWorld()
		w.s = Boot(now)
		return ""
	case "unit":
		for i := range w.f.Units {
			if w.f.Units[i].ID == words[0] || words[0] == "all" {
				w.f.Units[i].State, w.f.Units[i].Fault = UnitState(words[1]), args["fault"]
			}
		}
	case "press":
		w.f.Inputs = []string{words[0]}
	case "release-input":
		w.f.Inputs = nil
	case "latch":
		w.f.Latches = append(w.f.Latches, Latch{ID: words[0], By: args["by"], Why: args["why"], Level: Verb(args["level"])})
	case "unlatch":
		w.f.Latches = nil
	case "asks": // the mode or a unit: its stop and, of a unit, its name
		a := Request{Verb: Verb(words[1]), Source: words[0], Why: args["why"]}
		if words[0] != "mode" {
			a.Source, a.Key = "unit", words[0]
		}
		if w.f.StopsAsked = []Request{a}; args["operator"] != "" { // in the same step
			r = Request{Verb: Verb(args["operator"]), Source: "operator", By: "op1"}
		}
		defer func() { w.f.StopsAsked = nil }()
	case "critical":
		w.f.Critical = []Cause{{Event: SoftStopAsked, Reason: schema.ReasonUnitCritical, Source: "unit", Key: words[0], Why: args["why"]}}
	case "uncritical":
		w.f.Critical = nil
	case "mode":
		w.f.Mode = map[string]Mode{
			"wants": {Active: true, Wants: true}, "rests": {Active: true}, "none": {},
			"failed": {Failed: "follow", FailedWhy: schema.ReasonModeFailed}, "switching": {Switching: true}, "done": {Active: true, Wants: true,
				ShutdownDone: true},
		}[words[0]]
	default:
		r = Request{Verb: Verb(verb), ID: args["id"], Source: "operator", By: args["by"], Why: args["why"]}
		for _, word := range words {
			r.Local = r.Local || word == "local"
		}
		if seen, ok := args["seen"]; ok {
			r.HasSeen = true
			var err error
			if r.Seen, err = time.ParseDuration(seen); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
	}
	d := w.s.step(now, w.l, w.f, r)
	var b strings.Builder
	if d.Changed {
		fmt.Fprintf(&b, "  %s -> %s on %s (%s)", d.From, d.To, d.Cause.Event, d.Why)
		if d.Cause.Key+d.Cause.By != "" {
			fmt.Fprintf(&b, ", cause %s", d.Cause)
		}
		if d.Cause.Source == "mode" && d.Cause.Key != "" {
			fmt.Fprintf(&b, " [%s]", d.Cause.Reason)
		}
		b.WriteString("\n")
	} else {
		fmt.Fprintf(&b, "  %s\n", w.s.At)
	}
	if a := d.Answer; a.Present {
		verdict := "refused"
		if a.Taken {
			verdict = "taken"
		}
		fmt.Fprintf(&b, "  %s", verdict)
		if a.Reason != "" {
			fmt.Fprintf(&b, " %s: %s", a.Reason, a.Detail)
		}
		b.WriteString("\n")
	}
	return b.String()
}
