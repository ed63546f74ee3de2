package drive

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"troupe/schema/fsm/fsmtest"
	"troupe/schema/golden"
)

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

func TestTableIsSound(t *testing.T) { fsmtest.Check(t, Table, ReleaseFirst, Stages, Ended) }

func TestTableMatchesDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/session.md", Table, ReleaseFirst)
}

// TestTraces plays each script of testdata: a line is a time and an input, and the indented
// lines below it are the decision.
//
//	frame VX WZ [lease= seq= latency=]
//	speed [latency=]        the robot reports its speed
//	lease ID, no-lease WHY, forbid WHY, linked, unlinked, gone, replaced, ending, look
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		w := &world{s: New(morning), f: Facts{
			Lease: "a", Connected: true, Limits: Limits{MPS: 0.6, RadPS: 1.5, Braking: 1}, SeenMonoMS: 1000, SeenAt: morning,
		}}
		return func(line string) string { return w.play(t, line) }
	})
}

type world struct {
	s   State
	f   Facts
	seq int64
}

func (w *world) play(t *testing.T, line string) string {
	t.Helper()
	after, word, words := golden.Timed(t, line)
	now := morning.Add(after)
	rest := strings.Join(words, " ")
	var d Decision
	switch word {
	case "frame":
		d = Receive(&w.s, now, w.f, w.frame(words))
		return w.text(now, d)
	case "speed":
		w.f.SeenMonoMS, w.f.SeenAt = 1000+after.Milliseconds(), now
		if latency, ok := strings.CutPrefix(rest, "latency="); ok {
			w.f.RobotLatency, _ = time.ParseDuration(latency)
		}
	case "lease":
		w.f.Lease, w.f.Why = rest, ""
	case "no-lease":
		w.f.Lease, w.f.Why = "", rest
	case "forbid":
		w.f.Forbidden = rest
	case "linked", "unlinked":
		w.f.Connected = word == "linked"
	case "gone":
		w.f.Gone = true
	case "replaced":
		w.f.Replaced = true
	case "ending":
		w.f.Ending = true
	case "look":
	default:
		t.Fatalf("%q: unknown input", line)
	}
	return w.text(now, Tick(&w.s, now, w.f))
}

func (w *world) frame(words []string) Frame {
	w.seq++
	in := Frame{Lease: "a", Seq: w.seq}
	in.VX, _ = strconv.ParseFloat(words[0], 64)
	in.WZ, _ = strconv.ParseFloat(words[1], 64)
	for _, setting := range words[2:] {
		key, value, _ := strings.Cut(setting, "=")
		switch key {
		case "lease":
			in.Lease = value
		case "seq":
			in.Seq, _ = strconv.ParseInt(value, 10, 64)
		case "latency":
			in.Latency, _ = time.ParseDuration(value)
		}
	}
	return in
}

func (w *world) text(now time.Time, d Decision) string {
	var b strings.Builder
	if d.Changed {
		fmt.Fprintf(&b, "  %s -> %s on %s: %s", d.From, d.To, d.On, d.Why)
		if d.Detail != "" {
			fmt.Fprintf(&b, " (%s)", d.Detail)
		}
		b.WriteByte('\n')
	}
	if d.Zeroed != "" {
		fmt.Fprintf(&b, "  stopped the robot: %s\n", d.Zeroed)
	}
	if d.Refused != "" {
		fmt.Fprintf(&b, "  refused: %s\n", d.Refused)
	}
	if f := d.Send; f != nil {
		fmt.Fprintf(&b, "  send %s +%d vx %v wz %v for %d ms, seen %d\n", f.Lease, f.Seq-morning.UnixMilli(), f.VXMPS, f.WZRadPS, f.TTLMS,
			f.SeenMonoMS)
	}
	if d.GiveBackControl {
		b.WriteString("  give control back\n")
	}
	fmt.Fprintf(&b, "  = %s", w.s.At)
	if w.s.At == Driving {
		fmt.Fprintf(&b, " %v %v", w.s.VX, w.s.WZ)
	}
	return b.String() + "\n"
}
