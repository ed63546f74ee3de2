package presence

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/golden"
)

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

// TestTraces plays each script of testdata: a line is a time and what was received, the
// indented line below it is the resulting status.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		var f Facts
		fleetd := Fleetd{Connected: true, Since: morning}
		return func(line string) string {
			after, word, words := golden.Timed(t, line)
			now := morning.Add(after)
			f, fleetd = play(t, f, fleetd, now, word, words)
			s := Assess(f, fleetd, now)
			line = fmt.Sprintf("    %s since %s: %s", s.Status, s.Since.Format("15:04:05"), s.Why)
			if s.Cause != "" {
				line += fmt.Sprintf(" [%s]", s.Cause)
			}
			return line + "\n"
		}
	})
}

func play(t *testing.T, f Facts, d Fleetd, now time.Time, word string, words []string) (Facts, Fleetd) {
	t.Helper()
	retained := len(words) > 1 && words[1] == "retained"
	switch word {
	case "look":
		return f, d
	case "online", "offline", "lost":
		return f.ApplyPresence(schema.Presence{State: schema.PresenceState(word), Session: words[0], Boot: boot(words)}, retained, now), d
	case "shutdown":
		return f.ApplyPresence(schema.Presence{State: schema.PresenceOffline, Session: words[0], Boot: boot(words), Reason: "shutdown"},
			retained, now), d
	case "revoked", "expired": // the broker closed the connection
		return f.ApplyPresence(schema.Presence{State: schema.PresenceLost, Session: words[0], Boot: boot(words), Reason: word}, retained, now), d
	case "sleeping":
		wake, err := time.ParseDuration(words[1])
		if err != nil {
			t.Fatal(err)
		}
		said := schema.Presence{State: schema.PresenceSleeping, Session: words[0], WakeAt: schema.TimeOf(morning.Add(wake)), Reason: "night"}
		if len(words) > 2 { // the error of the robot's clock
			wrong, err := time.ParseDuration(words[2])
			if err != nil {
				t.Fatal(err)
			}
			said.TS, said.WakeAt = schema.TimeOf(now.Add(wrong)), said.WakeAt.Add(wrong)
		}
		return f.ApplyPresence(said, false, now), d
	case "beat":
		link := schema.LinkUp
		if len(words) > 1 && !strings.Contains(words[1], "=") {
			link = schema.LinkState(words[1])
		}
		next, err := time.ParseDuration(cmp.Or(option(words, "next="), "0s"))
		if err != nil {
			t.Fatal(err)
		}
		return f.ApplyHeartbeat(schema.Heartbeat{Session: words[0], Boot: boot(words), NextMS: next.Milliseconds(),
			Link: schema.HeartbeatLink{State: link}}, now), d
	case "trip":
		took, err := time.ParseDuration(words[0])
		if err != nil {
			t.Fatal(err)
		}
		return f.ApplyRoundTrip(took, now), d
	case "spoke":
		return f.ApplyMessage(now), d
	case "fleetd":
		return f, Fleetd{Connected: words[0] == "connected", Since: now}
	}
	t.Fatalf("unknown event %q", word)
	return f, d
}

// boot finds boot=... among the words.
func boot(words []string) string { return option(words, "boot=") }

// option is what follows the prefix in the word that has it; empty = no word has.
func option(words []string, prefix string) string {
	for _, w := range words {
		if b, ok := strings.CutPrefix(w, prefix); ok {
			return b
		}
	}
	return ""
}

// history draws messages of a robot with a few sessions, in any order.
func history(t *rapid.T) (Facts, time.Time, []string) {
	var f Facts
	now := morning
	var said []string
	for range rapid.IntRange(0, 30).Draw(t, "words") {
		now = now.Add(time.Duration(rapid.IntRange(0, 8000).Draw(t, "ms")) * time.Millisecond)
		session := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "session")
		word := rapid.SampledFrom([]string{"online", "offline", "lost", "sleeping", "beat", "spoke"}).Draw(t, "word")
		said = append(said, word+" "+session)
		switch word {
		case "beat":
			f = f.ApplyHeartbeat(schema.Heartbeat{Session: session}, now)
		case "spoke":
			f = f.ApplyMessage(now)
		default:
			f = f.ApplyPresence(schema.Presence{State: schema.PresenceState(word), Session: session}, false, now)
		}
	}
	return f, now, said
}

func TestLatePresenceOfAnotherSessionIsIgnored(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, now, said := history(rt)
		if f.State != schema.PresenceOnline {
			return
		}
		state := rapid.SampledFrom([]schema.PresenceState{schema.PresenceLost, schema.PresenceOffline, schema.PresenceSleeping}).Draw(rt,
			"late word")
		for _, session := range []string{"a", "b", "c", "d"} {
			if session != f.Session && f.ApplyPresence(schema.Presence{State: state, Session: session}, false, now) != f {
				rt.Fatalf("after %v, %s of %s changed the facts", said, state, session)
			}
		}
	})
}

// Only a heartbeat reopens a session, and only if the current one has been silent for Late.
func TestEndedSessionStaysEnded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, now, said := history(rt)
		for _, session := range f.ended {
			if session == "" {
				continue
			}
			if f.ApplyPresence(schema.Presence{State: schema.PresenceOnline, Session: session}, false, now) != f {
				rt.Fatalf("after %v, the presence document of %s reopened it", said, session)
			}
			late := now.Sub(f.StateAt) >= Late && (session == f.Session || now.Sub(f.AliveAt) >= Late)
			if g := f.ApplyHeartbeat(schema.Heartbeat{Session: session}, now); (g != f) != late {
				rt.Fatalf("after %v, the heartbeat of %s led to %+v", said, session, g)
			}
		}
	})
}

func TestSilenceNeverImprovesTheStatus(t *testing.T) {
	rank := map[Status]int{Online: 1, Degraded: 2, Lost: 3}
	rapid.Check(t, func(rt *rapid.T) {
		f, now, said := history(rt)
		fleetd := Fleetd{Connected: true, Since: morning.Add(-time.Hour)}
		was := Assess(f, fleetd, now).Status
		for s := range 20 {
			is := Assess(f, fleetd, now.Add(time.Duration(s)*time.Second)).Status
			if f.State == schema.PresenceOnline && rank[is] < rank[was] {
				rt.Fatalf("after %v it was %s, and after %d s of silence %s", said, was, s, is)
			}
			was = is
		}
		if f.State == schema.PresenceOnline && was != Lost {
			rt.Fatalf("after %v and 19 s of silence it is %s", said, was)
		}
	})
}

func TestStatusIsUnknownWhileFleetdIsDisconnected(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, now, _ := history(rt)
		if s := Assess(f, Fleetd{Connected: false, Since: now}, now); s.Status != Unknown || s.Status.Reachable() {
			rt.Fatalf("got %+v", s)
		}
	})
}
