package request

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/golden"
)

// noon is the robot's wall clock at the start of a trace.
const noon schema.Time = 1_800_000_000_000

// TestTraces plays each script in testdata: a line is a time and an input, and
// the indented lines below it are its effects, in order.
//
//	cmd CLIENT GROUP/VERB PAYLOAD    retained CLIENT GROUP/VERB PAYLOAD
//	saved KEY...                     refused REASON KEY...
//	outcome KEY STATUS [REASON]      delivered KEY
//	revoked KEY REASON
//	clock [OFFSET]                   connected, tick, restart
//	late DURATION                    messages that arrive from now on may be that old
//
// In a payload, @-5s means the time five seconds ago by the fleet's clock.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		w := newWorld()
		return func(line string) string { return w.play(t, line) }
	})
}

// world is the state of the package with a disk.
type world struct {
	s     State
	boot  int64
	disk  map[command.Key]command.Record
	facts Facts
	late  time.Duration
}

func newWorld() *world {
	w := &world{boot: 1, disk: map[command.Key]command.Record{}}
	w.s = Restore(1, nil, nil)
	return w
}

func (w *world) play(t *testing.T, line string) string {
	t.Helper()
	at, word, words := golden.Timed(t, line)
	var keys []command.Key
	for _, k := range words {
		keys = append(keys, command.Key(k))
	}
	var do func(Step)
	switch word {
	case "clock":
		w.facts.ClockKnown, w.facts.FleetOffset = true, 0
		if len(words) > 0 {
			var err error
			if w.facts.FleetOffset, err = time.ParseDuration(words[0]); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
		return ""
	case "late":
		var err error
		if w.late, err = time.ParseDuration(words[0]); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		return ""
	case "restart":
		return w.restart()
	case "cmd", "retained":
		group, verb, _ := strings.Cut(words[1], "/")
		_, payload, _ := strings.Cut(line, words[1])
		ev := event.Command{Client: words[0], Group: group, Verb: verb, Payload: []byte(w.times(t, at, strings.TrimSpace(payload))),
			Retained: word == "retained"}
		do = func(t Step) { t.Arrive(ev, false, w.late, nil) }
	case "saved":
		do = saved("", keys...)
	case "refused":
		do = saved(schema.Reason(words[0]), keys[1:]...)
	case "outcome":
		v := schema.Verdict{Status: schema.Status(words[1])}
		if len(words) > 2 {
			v.Reason = schema.Reason(words[2])
		}
		do = func(t Step) { t.outcome(effect.Reply{To: keys[0], Verdict: v}, 7, nil) }
	case "revoked":
		do = func(t Step) { t.Revoke(effect.Revoke{Key: keys[0]}) }
	case "delivered":
		do = func(t Step) { t.Delivered(keys[0]) }
	case "connected":
		do = Step.Connected
	case "tick":
		do = Step.tick
	default:
		t.Fatalf("%q: unknown input", line)
	}
	return w.format(step(&w.s, clock.Now{Mono: at, Wall: noon.Add(at)}, w.facts, do))
}

// times replaces @ and a duration by the fleet's time.
func (w *world) times(t *testing.T, at time.Duration, payload string) string {
	before, rest, ok := strings.Cut(payload, "@")
	if !ok {
		return payload
	}
	length, after, _ := strings.Cut(rest, `"`)
	d, err := time.ParseDuration(length)
	if err != nil {
		t.Fatalf("%q: %v", payload, err)
	}
	return before + noon.Add(at+w.facts.FleetOffset+d).String() + `"` + after
}

func (w *world) restart() string {
	w.boot++
	var out []any
	w.s, out = restored(w.boot, slices.Collect(maps.Values(w.disk)))
	return w.format(out)
}

func (w *world) format(decided []any) string {
	var b strings.Builder
	for _, e := range decided {
		switch e := e.(type) {
		case effect.Dispatch:
			fmt.Fprintf(&b, "  dispatch %s %s\n", e.Key, strings.TrimSpace(e.Verb.ID()+" "+e.Verb.FirstArgument(e.Args)))
		case effect.SaveRequests:
			for _, k := range e.Forget {
				delete(w.disk, k)
				fmt.Fprintf(&b, "  erase %s\n", k)
			}
			for _, r := range e.Put {
				w.disk[r.Key()] = r
				state := string(r.Answer.Status)
				if state == "" {
					state = "unfinished"
				}
				fmt.Fprintf(&b, "  save %s %s\n", r.Key(), state)
			}
		case SendAck:
			b.WriteString("  answer " + e.Client + " " + formatAck(e.Ack) + "\n")
		}
	}
	for _, a := range w.s.alerts {
		fmt.Fprintf(&b, "  alarm %s %s %s\n", schema.ReasonRetainedCommand, a.client, a.verb)
	}
	w.s.alerts = nil
	return b.String()
}

// formatAck returns an answer in one line.
func formatAck(a schema.Ack) string {
	id := "null"
	if a.ID != nil {
		id = *a.ID
	}
	words := []string{id, a.Verb, string(a.Status)}
	for _, w := range []struct{ name, v string }{{"result", string(a.Result)}, {"reason", string(a.Reason)}, {"retry", string(a.Retry)},
		{"pointer", a.Pointer}} {
		if w.v != "" {
			words = append(words, w.name+"="+w.v)
		}
	}
	if a.StateSeq != 0 {
		words = append(words, "state_seq="+strconv.FormatInt(a.StateSeq, 10))
	}
	if a.Dup {
		words = append(words, "dup")
	}
	if a.UncheckedAge {
		words = append(words, "unchecked_age")
	}
	if a.Detail != "" {
		words = append(words, "("+a.Detail+")")
	}
	return strings.Join(words, " ")
}
