package teleop

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/golden"
)

// TestTraces plays each script in testdata: a line is a time and an input, and the
// indented lines below it are the decision.
//
//	lease ID CLIENT, lease          there is a holder, or none
//	forbid REASON, allow            whether the robot may be driven
//	frame VX WZ [seq= lease= client= seen= ttl=]   seen is an age
//	stop, update
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		w := &world{s: Boot(), f: Facts{MaxMPS: 0.5, MaxRadPS: 1, Period: 20 * time.Millisecond}}
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
	now, word, words := golden.Timed(t, line)
	var d Decision
	switch word {
	case "lease":
		w.f.Lease, w.f.Client = "", ""
		if len(words) > 0 {
			w.f.Lease, w.f.Client = words[0], words[1]
		}
		d = Update(&w.s, now, w.f)
	case "forbid":
		w.f.Forbid = schema.Reason(words[0])
		d = Update(&w.s, now, w.f)
	case "allow":
		w.f.Forbid = ""
		d = Update(&w.s, now, w.f)
	case "update":
		d = Update(&w.s, now, w.f)
	case "stop":
		d = Stop(&w.s)
	case "frame":
		d = ReceiveFrame(&w.s, now, w.f, w.frame(now, words))
	default:
		t.Fatalf("%q: unknown input", line)
	}
	var b strings.Builder
	if d.Changed {
		fmt.Fprintf(&b, "  %s -> %s on %s: %s\n", d.From, d.To, d.On, d.Why)
	}
	if r := d.Refusals; r.Count > 0 {
		fmt.Fprintf(&b, "  report: %d of %s refused: %s (%s)\n", r.Count, r.Client, r.Reason, r.Detail)
	}
	fmt.Fprintf(&b, "  = %s", w.s.At)
	if w.s.At == Driving {
		fmt.Fprintf(&b, " %v %v until %v", w.s.VX, w.s.WZ, w.s.Until)
	}
	return b.String() + "\n"
}

func (w *world) frame(now time.Duration, words []string) Frame {
	w.seq++
	in := Frame{Client: w.f.Client, VelocityFrame: schema.VelocityFrame{Lease: w.f.Lease, Seq: w.seq, TTLMS: 400,
		SeenMonoMS: now.Milliseconds()}}
	in.VXMPS, _ = strconv.ParseFloat(words[0], 64)
	in.WZRadPS, _ = strconv.ParseFloat(words[1], 64)
	for _, setting := range words[2:] {
		key, value, _ := strings.Cut(setting, "=")
		d, _ := time.ParseDuration(value)
		switch key {
		case "seq":
			in.Seq, _ = strconv.ParseInt(value, 10, 64)
		case "lease":
			in.Lease = value
		case "client":
			in.Client = value
		case "seen":
			in.SeenMonoMS = (now - d).Milliseconds()
		case "ttl":
			in.TTLMS = d.Milliseconds()
		}
	}
	return in
}
