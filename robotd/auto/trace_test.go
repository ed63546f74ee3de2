package auto

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
		w := &world{s: Boot()}
		return func(line string) string { return w.play(t, line) }
	})
}

// world is the state of ato and the facts, which a script changes.
type world struct {
	s State
	f Facts
}

func (w *world) play(t *testing.T, line string) string {
	t.Helper()
	now, word, words := golden.Timed(t, line)
	args := map[string]string{}
	flags := map[string]bool{}
	number := func(k string) (n int) {
		if args[k] != "" {
			if _, err := fmt.Sscan(args[k], &n); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
		return n
	}
	for _, a := range words {
		k, v, _ := strings.Cut(a, "=")
		args[k], flags[k] = v, true
	}
	hold := PauseCause{Present: !flags["over"], Sticky: flags["sticky"], Reason: schema.Reason(args["reason"])}
	in := Input{What: Tick}
	switch word {
	case "story":
		w.f.Story = Story{ID: args["id"], Rev: int64(number("rev")), Acts: number("acts"), Times: number("times"),
			OnError: OnError(args["on-error"]), Retries: number("retries")}
		w.f.Apply = schema.Apply(args["apply"])
		w.f.Place = Place{Revision: args["place"] != "", Act: number("place"), Kept: flags["kept"] || flags["same"], Same: flags["same"]}
		w.f.NoStory = schema.Reason(args["reason"])
	case "safety":
		w.f.Safety = hold
	case "safeguard":
		w.f.Safeguard = hold
	case "barred":
		w.f.EntryRefused = hold.Reason
	case "link":
		w.f.LinkLost = hold
	default:
		in = Input{What: What(word), Client: args["client"], Person: args["person"], Req: args["req"], Why: args["why"],
			Token: args["token"], Kind: Kind(args["kind"]), Key: args["key"], Reason: schema.Reason(args["reason"])}
	}
	return w.format(Step(&w.s, now, Defaults(), w.f, in))
}

func (w *world) format(d Decision) string {
	var b strings.Builder
	for _, t := range d.Released {
		fmt.Fprintf(&b, "  released %s\n", t.Name())
	}
	for _, t := range d.Acquired {
		fmt.Fprintf(&b, "  acquired %s\n", t.Name())
	}
	if d.Changed {
		fmt.Fprintf(&b, "  %s -> %s on %s (%s)\n", d.From, d.To, d.On, d.Why)
	}
	if d.Refused != "" {
		fmt.Fprintf(&b, "  cannot start: %s\n", d.Refused)
	}
	if o := d.Over; o.Number > 0 {
		fmt.Fprintf(&b, "  round %d of %s is over: %d performed, %d failed", o.Number, d.Story.ID, o.Performed, o.Failed)
		if o.Skipped > 0 {
			fmt.Fprintf(&b, ", %d skipped", o.Skipped)
		}
		b.WriteString("\n")
	}
	if d.Cancel {
		b.WriteString("  cancel the act\n")
	}
	if d.Begin {
		fmt.Fprintf(&b, "  begin act %d of %s\n", w.s.Act, w.s.Story.ID)
	}
	if a := d.Answer; a.Status != "" {
		b.WriteString("  " + strings.TrimSpace(fmt.Sprintf("answer: %s %s %s", a.Status, a.Reason, a.Detail)) + "\n")
	}
	fmt.Fprintf(&b, "  = %s", w.s.Status)
	if w.s.Reason != "" {
		fmt.Fprintf(&b, " %s", w.s.Reason)
	}
	if w.s.Status == schema.AutoPerforming || w.s.Status == schema.AutoPaused {
		fmt.Fprintf(&b, " act %d loop %d", w.s.Act, w.s.Loop)
	}
	if n := w.s.Count(); n > 0 {
		fmt.Fprintf(&b, " held %d, freezes %s", n, [...]string{"nothing", "the story", "everything"}[w.s.Freeze()])
	}
	b.WriteString("\n")
	return b.String()
}
