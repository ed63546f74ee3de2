package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/golden"
)

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

// TestTraces plays each script of testdata: a line is a time and an event, the indented
// lines below it are the resulting steps. Between the lines the command gets a wake event
// whenever Due asks for it.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string { return (&driver{t: t}).play })
}

// driver stands in for the dispatcher of one command.
type driver struct {
	t        *testing.T
	c        Command
	present  bool
	orphaned bool            // its fleetd instance is gone, so it gets no more wake events
	did      strings.Builder // since the last line of the script
}

func (d *driver) play(line string) string {
	d.t.Helper()
	d.did.Reset()
	after, word, words := golden.Timed(d.t, line)
	now := morning.Add(after)
	for i := 0; !d.orphaned && word != "orphaned" && word != "observed"; i++ {
		due, ok := Due(d.c, d.present)
		if d.c.ID == "" || !ok || due.After(now) {
			break
		}
		if i == 100 {
			d.t.Fatalf("a hundred wake events before %v", after)
		}
		d.step(due, Event{Kind: Wake})
	}
	n := Event{Kind: EventKind(word)}
	switch n.Kind {
	case Begin, SentLive:
		d.c = newCommand(d.t, words[0])
		d.present = words[1] == "present"
	case RobotOnline:
		d.present = true
	case RobotOffline:
		d.present = false
	case Answered:
		n.Answer = schema.Ack{ID: &d.c.ID, Verb: d.c.Verb, Status: schema.Status(words[0]), Session: "s"}
		if len(words) > 1 {
			n.Answer.Reason = schema.Reason(words[1])
		}
	case Shown:
		n.Last = schema.LastRequest{ID: d.c.ID, Verb: d.c.Verb, Status: schema.Status(words[0])}
	case "orphaned":
		return d.setOrphaned(Orphan(d.c, now))
	case "observed":
		return d.setOrphaned(Observe(d.c, now, schema.Ack{ID: &d.c.ID, Verb: d.c.Verb, Status: schema.Status(words[0]), Session: "s"}))
	case NoRecord, Wake, CancelRequested, NotSent, Released:
	default:
		d.t.Fatalf("%q is not an event", word)
	}
	d.step(now, n)
	return d.did.String()
}

// setOrphaned notes the state of the command without its fleetd instance.
func (d *driver) setOrphaned(c Command) string {
	d.orphaned = true
	if c.State == d.c.State {
		fmt.Fprintln(&d.did, "    nothing")
	} else {
		fmt.Fprintf(&d.did, "    -> %s, %s\n", c.State, c.Because)
	}
	d.c = c
	return d.did.String()
}

func newCommand(t *testing.T, verb string) Command {
	t.Helper()
	args := ""
	if verb == "mode/set" {
		args = `{"mode":"ato"}`
	}
	names := 0
	x, problems := Expand(Request{Verb: verb, Args: []byte(args), Selector: "r1", By: "op1"}, []Target{{Robot: "r1"}}, morning, func() string {
		names++
		return fmt.Sprintf("id%d", names)
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return x.Commands[0]
}

func (d *driver) step(now time.Time, n Event) {
	n.Present = d.present
	was := d.c.State
	var effects []Effect
	d.c, effects = Step(d.c, now, n)
	words := []string{fmt.Sprintf("    %v %s:", now.Sub(morning), n.Kind)}
	for _, e := range effects {
		words = append(words, string(e))
	}
	if d.c.State != was {
		words = append(words, "->", string(d.c.State)+",", d.c.Because)
	}
	if len(words) == 1 {
		words = append(words, "nothing")
	}
	fmt.Fprintln(&d.did, strings.Join(words, " "))
	if due, ok := Due(d.c, d.present); ok && !due.After(now) {
		d.t.Fatalf("at %v the state is %s and Due returns %v: an endless loop", now.Sub(morning), d.c.State, due.Sub(morning))
	}
}
