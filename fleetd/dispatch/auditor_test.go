package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/audit"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/store"
	"troupe/schema"
)

// audits runs an auditor while test runs.
func audits(t *testing.T, test func(w *world, a *dispatch.Auditor)) {
	inWorld(t, func(w *world) {
		a := dispatch.NewAuditor(w.deps)
		defer w.Start(func(ctx context.Context) { a.Run(ctx, w.db) })()
		test(w, a)
	})
}

// hears gives the auditor a command of a client to r1.
func hears(a *dispatch.Auditor, client, verb, payload string) {
	group, name, _ := strings.Cut(verb, "/")
	a.Note(schema.TopicParams{RID: "r1", CID: client, Group: group, Verb: name}, link.Message{Payload: []byte(payload)}, time.Now())
}

// entries is the audit, the newest first.
func (w *world) entries() []audit.Entry {
	w.Helper()
	notes, err := w.db.Audit(context.Background(), store.AuditQuery{Limit: 5000})
	if err != nil {
		w.Fatal(err)
	}
	return notes
}

// audit is the audit in lines, the newest first.
func (w *world) audit() (lines []string) {
	w.Helper()
	for _, n := range w.entries() {
		lines = append(lines, fmt.Sprintf("%s|%s|%s|%s", strings.TrimSuffix(n.Who+" at "+n.Principal, " at "), n.What, n.Target, n.Detail))
	}
	return lines
}

func TestCommandsOfOtherClientsAreAudited(t *testing.T) {
	audits(t, func(w *world, a *dispatch.Auditor) {
		hears(a, "op1", "mode/set", "a\nto")
		hears(a, "op1", "safety/enable", `{"id":"k1","by":"ben"}`)
		hears(a, "fleetd", "mode/set", "mine")
		hears(a, "other", "mode/set", "another instance's")
		a.Note(schema.TopicParams{RID: "r1", CID: "op1", Group: "mode", Verb: "set"}, link.Message{Retain: true, Payload: []byte("retained")},
			time.Now())
		hears(a, "kiosk", "intent/post", `{"id":"k2","name":"greet","text":"what a person said"}`)
		hears(a, "op1", "sys/ping", strings.Repeat("x", 1000))
		w.Sleep(2 * time.Second)
		got := w.audit()
		want := []string{" at op1|command sys/ping|robot r1|" + strings.Repeat("x", 256), " at kiosk|command intent/post|robot r1|", `ben at op1|command safety/enable|robot r1|{"id":"k1","by":"ben"}`, " at op1|command mode/set|robot r1|ato"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("noted\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestReasonOfACommandIsAudited(t *testing.T) {
	audits(t, func(w *world, a *dispatch.Auditor) {
		hears(a, "op1", "safety/stop", `{"why":"a test","args":{"why":"child in front"}}`)
		hears(a, "op1", "safety/stop", `{"args":{"why":"child in front"}}`)
		hears(a, "op1", "safety/enable", "")
		w.Sleep(2 * time.Second)
		var got []string
		for _, n := range w.entries() {
			got = append(got, n.Why)
		}
		if want := []string{"", "child in front", "a test"}; !slices.Equal(got, want) {
			t.Errorf("reasons are %q, want %q", got, want)
		}
	})
}

// The robot makes ids such as auto-1-7 for commands without one.
func TestEndOfACommandIsAudited(t *testing.T) {
	type step struct{ verb, payload, answer string } // an answer is "ID STATUS [REASON]", or else it is a command
	command := func(verb, payload string) step { return step{verb, payload, ""} }
	answer := func(verb, text string) step { return step{verb, "", text} }
	flood := step{}
	for name, c := range map[string]struct {
		steps []step
		want  string // of entries about ends, the oldest first: the payload of the command that has ended, outcome and detail
	}{
		"with an id":            {[]step{command("mode/set", `{"id":"k1"}`), answer("mode/set", "k1 ACCEPTED"), answer("mode/set", "k1 SUCCEEDED")}, `{"id":"k1"} done SUCCEEDED`},
		"malformed, with an id": {[]step{command("mode/set", `{"id":"k1","x":1}`), answer("mode/set", "k1 REJECTED bad_request")}, `{"id":"k1","x":1} refused REJECTED bad_request`},
		"without an id": {[]step{command("safety/enable", "a"), answer("safety/enable", "auto-1-7 REJECTED not_in_control")},
			"a refused REJECTED not_in_control"},
		"that could not be decoded": {[]step{command("mode/set", "{"), answer("mode/set", " REJECTED bad_request")},
			"{ refused REJECTED bad_request"},
		"of an unknown verb": {[]step{command("mode/dance", "a"), answer("mode/dance", " REJECTED unknown_verb")},
			"a refused REJECTED unknown_verb"},
		"one after the other": {[]step{command("mode/set", "a"), answer("mode/set", "auto-1-7 SUCCEEDED"), command("mode/set", "b"),
			answer("mode/set", "auto-1-8 FAILED")}, "a done SUCCEEDED, b failed FAILED"},
		"of another verb": {[]step{command("mode/set", "a"), command("auto/pause", "b"), answer("auto/pause", "auto-1-8 REJECTED"),
			answer("mode/set", "auto-1-7 SUCCEEDED")}, "b refused REJECTED, a done SUCCEEDED"},
		"one during a long one": {[]step{command("manual/say", "a"), answer("manual/say", "auto-1-7 ACCEPTED"), command("manual/say", "b"),
			answer("manual/say", "auto-1-8 REJECTED"), answer("manual/say", "auto-1-7 SUCCEEDED")}, "b refused REJECTED, a done SUCCEEDED"},
		"two at once": {[]step{command("mode/set", "a"), command("mode/set", "b"), answer("mode/set", "auto-1-8 REJECTED"),
			answer("mode/set", "auto-1-7 SUCCEEDED"), command("mode/set", "c"), answer("mode/set", "auto-1-9 SUCCEEDED")},
			"? refused REJECTED (one of several commands without an id), ? done SUCCEEDED (one of several commands without an id), c " +
				"done SUCCEEDED"},
		"answered again": {[]step{command("mode/set", "a"), answer("mode/set", "auto-1-7 SUCCEEDED"), command("mode/set", "b"),
			answer("mode/set", "auto-1-7 SUCCEEDED"), answer("mode/set", "auto-1-8 REJECTED")}, "a done SUCCEEDED, b refused REJECTED"},
		"after one that was lost": {[]step{command("mode/set", "a"), {answer: "wait"}, command("mode/set", "b"),
			answer("mode/set", "auto-1-8 REJECTED")}, "b refused REJECTED"},
		"after one in a flood": {[]step{flood, command("mode/set", "a"), {answer: "pause"}, command("mode/set", "b"),
			answer("mode/set", "auto-1-7 REJECTED")}, "? refused REJECTED (one of several commands without an id)"},
		"retained": {[]step{command("mode/set", "a"), answer("mode/set", " REJECTED retained_command"), answer("mode/set", "auto-1-7 SUCCEEDED")},
			"a done SUCCEEDED"},
	} {
		t.Run(name, func(t *testing.T) {
			audits(t, func(w *world, a *dispatch.Auditor) {
				for _, s := range c.steps {
					switch {
					case s == flood:
						for range 200 {
							hears(a, "stop1", "safety/stop", "")
						}
					case s.answer == "pause":
						w.Sleep(60 * time.Millisecond) // room for one more
					case s.answer == "wait":
						w.Sleep(2 * time.Minute)
					case s.answer == "":
						hears(a, "op1", s.verb, s.payload)
					default:
						words := strings.Split(s.answer+" ", " ")
						ack := schema.Ack{TS: schema.TimeOf(time.Now()), Session: "s", Verb: s.verb, Status: schema.Status(words[1]),
							Reason: schema.Reason(words[2])}
						if words[0] != "" {
							ack.ID = &words[0]
						}
						payload, err := json.Marshal(ack)
						if err != nil {
							t.Fatal(err)
						}
						a.Answered(schema.TopicParams{RID: "r1", CID: "op1"}, payload, time.Now())
					}
				}
				w.Sleep(2 * time.Second)
				commands := map[string]string{"": "?"}
				var got []string
				for _, n := range slices.Backward(w.entries()) {
					if n.Outcome == audit.Accepted {
						commands[n.ID] = n.Detail
					} else {
						got = append(got, fmt.Sprintf("%s %s %s", commands[n.Of], n.Outcome, n.Detail))
					}
				}
				if text := strings.Join(got, ", "); text != c.want {
					t.Errorf("ends are\n%s, want\n%s", text, c.want)
				}
			})
		})
	}
}

func TestCommandFloodIsCountedInTheAudit(t *testing.T) {
	audits(t, func(w *world, a *dispatch.Auditor) {
		for range 1000 {
			hears(a, "stop1", "safety/stop", "")
		}
		w.Sleep(2 * time.Second)
		all := w.audit()
		if want := "fleetd|command|MQTT|800 more were not noted: there were too many"; len(all) != 201 || all[0] != want {
			t.Errorf("%d lines, the last is %q, want 201 and %q", len(all), all[0], want)
		}
		w.Sleep(20 * time.Second)
		hears(a, "stop1", "safety/stop", "")
		w.Sleep(2 * time.Second)
		if n := len(w.audit()); n != 202 {
			t.Errorf("after the flood there are %d lines, want 202", n)
		}
	})
}

func TestAuditIsWrittenWhenTheDatabaseIsBack(t *testing.T) {
	audits(t, func(w *world, a *dispatch.Auditor) {
		w.db.breaks(errAway)
		hears(a, "op1", "mode/set", "first")
		w.Sleep(5 * time.Second)
		hears(a, "op1", "mode/set", "second")
		w.Sleep(5 * time.Second)
		w.db.breaks(nil)
		w.Sleep(2 * time.Second)
		if got := fmt.Sprint(w.audit()); got != "[ at op1|command mode/set|robot r1|second  at op1|command mode/set|robot r1|first]" {
			t.Errorf("noted is %s", got)
		}
	})
}

func TestFollowerAuditsNothing(t *testing.T) {
	audits(t, func(w *world, a *dispatch.Auditor) {
		w.Locked(func() { w.Leading = false })
		hears(a, "op1", "mode/set", "while another leads")
		w.Sleep(2 * time.Second)
		w.Locked(func() { w.Leading = true })
		w.Sleep(2 * time.Second)
		if got := w.audit(); len(got) != 0 {
			t.Errorf("noted is %q", got)
		}
	})
}

// Without a database nothing takes what the auditor notes.
func TestAuditIsBoundedWithoutADatabase(t *testing.T) {
	inWorld(t, func(w *world) {
		a := dispatch.NewAuditor(w.deps)
		for range 3000 {
			hears(a, "op1", "mode/set", "")
			w.Sleep(50 * time.Millisecond)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		a.Run(ctx, w.db)
		if all := w.audit(); len(all) != 2001 || !strings.Contains(all[0], "1000 more were not noted") {
			t.Errorf("%d lines, the last is %q", len(all), all[0])
		}
	})
}
