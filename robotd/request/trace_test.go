package request

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"troupe/robotd/command"
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
	s      *State
	boot   int64
	disk   map[command.Key]command.Record
	now    Now
	offset time.Duration
	late   time.Duration
}

func newWorld() *world {
	w := &world{boot: 1, disk: map[command.Key]command.Record{}}
	w.s, _ = Restore(1, nil, nil)
	return w
}

func (w *world) play(t *testing.T, line string) string {
	t.Helper()
	at, word, words := golden.Timed(t, line)
	w.now.Mono, w.now.Wall, w.now.Offset = at, noon.Add(at), w.offset
	var keys []command.Key
	for _, k := range words {
		keys = append(keys, command.Key(k))
	}
	var in Input
	switch word {
	case "clock":
		w.now.ClockKnown, w.offset = true, 0
		if len(words) > 0 {
			var err error
			if w.offset, err = time.ParseDuration(words[0]); err != nil {
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
		in = Arrival{Client: words[0], Group: group, Verb: verb, Payload: []byte(w.times(t, strings.TrimSpace(payload))), Retained: word == "retained", Late: w.late}
	case "saved":
		in = Saved{Keys: keys}
	case "refused":
		in = Saved{Keys: keys[1:], Refused: schema.Reason(words[0])}
	case "outcome":
		o := Outcome{Key: keys[0], Verdict: schema.Verdict{Status: schema.Status(words[1])}, StateSeq: 7}
		if len(words) > 2 {
			o.Reason = schema.Reason(words[2])
		}
		in = o
	case "revoked":
		in = Revoked{Key: keys[0], Reason: schema.Reason(words[1])}
	case "delivered":
		in = Delivered{keys[0]}
	case "connected":
		in = Connected{}
	case "tick":
		in = Tick{}
	default:
		t.Fatalf("%q: unknown input", line)
	}
	return w.format(Step(w.s, w.now, in, nil))
}

// times replaces @ and a duration by the fleet's time.
func (w *world) times(t *testing.T, payload string) string {
	before, rest, ok := strings.Cut(payload, "@")
	if !ok {
		return payload
	}
	length, after, _ := strings.Cut(rest, `"`)
	d, err := time.ParseDuration(length)
	if err != nil {
		t.Fatalf("%q: %v", payload, err)
	}
	return before + w.now.Wall.Add(w.offset+d).String() + `"` + after
}

func (w *world) restart() string {
	var saved []command.Record
	for _, r := range w.disk {
		saved = append(saved, r)
	}
	w.boot++
	var out []Effect
	w.s, out = Restore(w.boot, saved, nil)
	return w.format(out)
}

func (w *world) format(effects []Effect) string {
	var b strings.Builder
	for _, e := range effects {
		switch e := e.(type) {
		case Dispatch:
			fmt.Fprintf(&b, "  dispatch %s %s\n", e.Key, strings.TrimSpace(e.Verb.ID()+" "+e.Verb.FirstArgument(e.Args)))
		case Save:
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
		case Alert:
			fmt.Fprintf(&b, "  alarm %s %s %s\n", e.Reason, e.Client, e.Verb)
		}
	}
	return b.String()
}

// formatAck returns an answer in one line.
func formatAck(a schema.Ack) string {
	id := "null"
	if a.ID != nil {
		id = *a.ID
	}
	words := []string{id, a.Verb, string(a.Status)}
	for _, w := range []struct{ name, v string }{{"result", string(a.Result)}, {"reason", string(a.Reason)}, {"retry", string(a.Retry)}, {"pointer", a.Pointer}} {
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
