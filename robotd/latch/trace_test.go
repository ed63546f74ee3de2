package latch

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/golden"
)

// TestTraces plays each script of testdata: a line is a time and what came, the
// indented lines below it are what the latches made of it.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		w := &world{f: Facts{Robot: "r1"}}
		return func(line string) string { return w.play(t, line) }
	})
}

type world struct {
	s Latched
	f Facts
}

func (w *world) play(t *testing.T, line string) string {
	t.Helper()
	at, word, args := golden.Timed(t, line)
	now := schema.Time(at.Milliseconds())
	doc := Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 1, FleetID: "fleetd"}}
	var anew bool
	var stops []schema.StopLatch
	for _, a := range args {
		key, value, named := strings.Cut(a, "=")
		switch {
		case key == "rev":
			doc.Rev, _ = strconv.ParseInt(value, 10, 64)
		case key == "fleet_id":
			doc.FleetID = value
		case a == "anew":
			anew = true
		case a == "unsigned":
			doc.Verification = Unverified
		case a == "replayed":
			doc.Verification = Replayed
		case !named:
			id, level, _ := strings.Cut(a, ":")
			if level == "" {
				level = "stop"
			}
			stops = append(stops, schema.StopLatch{ID: id, Level: schema.StopLevel(level), Since: now})
		}
	}
	var in Input
	switch word {
	case "obeys":
		w.f.FleetID = args[0]
		return ""
	case "asked":
		in = Asked{StopLatch: stops[0], Anew: anew}
	case "desired", "fleet":
		doc.Stops = stops
		if word == "fleet" {
			doc.From = event.FleetStops
		}
		in = doc
	case "desired-unreadable":
		in = Document{StopDocument: event.StopDocument{From: event.RobotStops, Problem: "syntax"}}
	case "fleet-unreadable":
		in = Document{StopDocument: event.StopDocument{From: event.FleetStops, Problem: "syntax"}}
	case "local-release":
		in = LocalRelease{}
	default:
		t.Fatalf("%q: no such word", line)
	}
	d := w.s.step(now, w.f, in)
	var b strings.Builder
	for _, m := range d.Transitions {
		fmt.Fprintf(&b, "  %s: %s -> %s (%s)\n", m.Latch.ID, m.From, m.To, m.Why)
	}
	if d.PartlyIgnored != "" {
		fmt.Fprintf(&b, "  %s: %s\n", d.PartlyIgnored, d.Detail)
	}
	held := "nothing"
	for i, l := range w.s.Latches {
		if i == 0 {
			held = ""
		}
		held += fmt.Sprintf(" %s:%s", l.ID, l.Level)
	}
	fmt.Fprintf(&b, "  holds %s\n", strings.TrimSpace(held))
	return b.String()
}
