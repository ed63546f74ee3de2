package mode

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/robotd/command"
	"troupe/schema"
	"troupe/schema/golden"
)

// TestTraces plays each script of testdata. A line is a time and an input; the indented
// lines below it are the supervisor's decision.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		w := &world{c: Defaults()}
		w.s = Boot(&w.c)
		return func(line string) string { return w.play(t, line) }
	})
}

// world holds the supervisor and the facts that a script sets.
type world struct {
	c    Config
	s    Supervisor
	f    Facts
	lost time.Duration // when the link was lost
}

func (w *world) play(t *testing.T, line string) string {
	t.Helper()
	now, word, words := golden.Timed(t, line)
	in := Input{Kind: Kind(word)}
	for _, a := range words {
		switch k, v, _ := strings.Cut(a, "="); k {
		case "req":
			in.Req = command.Key(v)
		case "reason":
			in.Reason = schema.Reason(v)
		case "restart":
			in.Restart = true
		default:
			in.Mode = schema.ModeID(a)
		}
	}
	switch word { // most set a fact; a tick follows at once
	case "another-robot":
		*w = world{c: Defaults()}
		w.s = Boot(&w.c)
		return ""
	case "statuses":
		var b strings.Builder
		for i, m := range w.c.Modes {
			fmt.Fprintf(&b, "  %s %s\n", m.ID, w.s.Status[i])
		}
		return b.String()
	case "boot-mode":
		w.c.Boot, w.s.Intended, in.Kind = in.Mode, in.Mode, Tick
	case "link-loss-continue":
		w.c.Modes[w.c.index(in.Mode)].LinkLoss, in.Kind = schema.LinkLossContinue, Tick
	case "switched-off":
		w.s.Status[w.c.index(in.Mode)], in.Kind = schema.ModeDisabled, Tick
	case "link-lost":
		w.f.LinkLost, w.lost, in.Kind = true, now, Tick
	case "link-up":
		w.f.LinkLost, in.Kind = false, Tick
	case "may-move":
		w.f.MotionEnabled, in.Kind = true, Tick
	case "not-ready":
		w.f.NotReady, in.Kind = append(w.f.NotReady, NotReady{in.Mode, in.Reason, "as the script says"}), Tick
	case "all-ready":
		w.f.NotReady, in.Kind = nil, Tick
	case "no-pause":
		w.f.NoPause, in.Kind = Refusal{Reason: in.Reason}, Tick
	case "forbid":
		w.f.Forbid, in.Kind = in.Reason, Tick
	case "why-not":
		var b strings.Builder
		for _, why := range w.s.WhyNot(&w.c, w.f, in.Mode, nil) {
			fmt.Fprintf(&b, "  %s %s: %s\n", why.Result, why.Reason, why.Detail)
		}
		if b.Len() == 0 {
			b.WriteString("  can be selected\n")
		}
		return b.String()
	}
	if w.f.LostFor = 0; w.f.LinkLost {
		w.f.LostFor = now - w.lost
	}
	d := w.s.step(now, &w.c, w.f, in)
	return w.render(d)
}

func (w *world) render(d Decision) string {
	var b strings.Builder
	if d.Changed {
		fmt.Fprintf(&b, "  %s -> %s on %s (%s)\n", d.From, d.To, d.On, d.Why)
	}
	for _, o := range d.Orders() {
		fmt.Fprintf(&b, "  order: %s %s\n", o.Do, o.Mode)
	}
	if a := d.Answer; a.Status != "" {
		b.WriteString("  " + strings.TrimSpace(fmt.Sprintf("answer: %s %s %s %s", a.Status, a.Result, a.Reason, a.Detail)) + "\n")
	}
	if e := d.Ended; e.To != "" {
		b.WriteString("  " + strings.TrimSpace(fmt.Sprintf("ended: %s %s %s %s %s", e.To, e.Status, e.Result, e.Reason, e.Detail)) + "\n")
	}
	if d.Fallback != "" {
		fmt.Fprintf(&b, "  fallback: from %s, %s\n", d.Fallback, d.Reason)
	}
	if d.SafetyStop {
		b.WriteString("  asks the safety core for STOP\n")
	}
	active := string(w.s.Active)
	if i := w.c.index(w.s.Active); i >= 0 {
		active += " " + string(w.s.Status[i])
	}
	fmt.Fprintf(&b, "  = %s [%s]\n", w.s.Phase, active)
	return b.String()
}
