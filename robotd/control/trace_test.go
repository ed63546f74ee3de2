package control

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/schema/golden"
	"troupe/schema/verb"
)

// TestTraces plays each script in testdata: a line is a time and an input, and the
// indented lines below it are the decision. A sender is CLIENT or CLIENT/PERSON,
// followed by scope=, ttl=, lease= and rank=.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		w := &world{c: Defaults(), s: Boot("b00t5678-rest")}
		return func(line string) string { return w.play(t, line) }
	})
}

type world struct {
	c Config
	s State
	n int
}

func (w *world) play(t *testing.T, line string) string {
	t.Helper()
	now, word, words := golden.Timed(t, line)
	if word == "required" {
		w.c.Required = Required(words[0])
		return ""
	}
	w.n++
	in := Input{What: What(word), Req: fmt.Sprintf("req%d", w.n)}
	if len(words) > 0 {
		in.Who.Client, in.Who.By, _ = strings.Cut(words[0], "/")
		words = words[1:]
	}
	for _, setting := range words {
		key, value, _ := strings.Cut(setting, "=")
		switch key {
		case "scope":
			in.Scope = Scope(value)
		case "ttl":
			in.TTL, _ = time.ParseDuration(value)
		case "lease":
			in.Lease = value
		case "rank":
			in.Rank, _ = RankOf(value)
		}
	}
	if need, ok := strings.CutPrefix(word, "may-"); ok {
		r := w.s.May(&w.c, verb.Need(need), in.Who)
		if r.Reason == "" {
			return "  yes\n"
		}
		return fmt.Sprintf("  no: %s (%s)\n", r.Reason, r.Detail)
	}
	var b strings.Builder
	d := Step(&w.s, now, &w.c, in)
	if d.Changed {
		fmt.Fprintf(&b, "  %s -> %s on %s: %s\n", d.From, d.To, d.On, d.Why)
	}
	if Lost(d.On) {
		fmt.Fprintf(&b, "  lost by %s, acquired with %s\n", d.Previous.Who, d.Previous.Req)
	}
	if d.Repeat {
		b.WriteString("  request must be repeated\n")
	}
	if a := d.Answer; a.Status != "" {
		line := strings.Join(strings.Fields(fmt.Sprintf("answer: %s %s %s %s", a.Status, a.Reason, a.Pointer, a.Detail)), " ")
		b.WriteString("  " + line + "\n")
		if d.Lease != nil {
			fmt.Fprintf(&b, "  with: lease %q of %s until %v\n", d.Lease.ID, d.Lease.Who, d.Lease.Until)
		}
	}
	b.WriteString("  = " + string(w.s.At))
	if l := w.s.Lease; l.ID != "" {
		fmt.Fprintf(&b, " %s by %s as %s, %s until %v", l.ID, l.Who, l.Rank, l.Scope, l.Until)
	}
	return b.String() + "\n"
}
