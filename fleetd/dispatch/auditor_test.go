package dispatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/store"
	"troupe/schema"
)

// audits runs an auditor while test runs.
func audits(t *testing.T, test func(w *world, a *dispatch.Auditor)) {
	inWorld(t, func(w *world) {
		a := dispatch.NewAuditor(w.deps)
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan struct{})
		go func() { a.Run(ctx, w.db); close(over) }()
		defer func() { cancel(); <-over }()
		test(w, a)
	})
}

// hears gives the auditor a command of a client to r1.
func hears(a *dispatch.Auditor, client, verb, payload string) {
	group, name, _ := strings.Cut(verb, "/")
	a.Note(schema.TopicParams{RID: "r1", CID: client, Group: group, Verb: name}, link.Message{Payload: []byte(payload)}, time.Now())
}

// audit is the audit, the newest first.
func (w *world) audit() (lines []string) {
	w.Helper()
	notes, err := w.db.Audit(context.Background(), store.AuditQuery{Limit: 5000})
	if err != nil {
		w.Fatal(err)
	}
	for _, n := range notes {
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
		a.Note(schema.TopicParams{RID: "r1", CID: "op1", Group: "mode", Verb: "set"}, link.Message{Retain: true, Payload: []byte("retained")}, time.Now())
		hears(a, "kiosk", "intent/post", `{"id":"k2","name":"greet","text":"what a person said"}`)
		hears(a, "op1", "sys/ping", strings.Repeat("x", 1000))
		w.sleep(2 * time.Second)
		got := w.audit()
		want := []string{" at op1|command sys/ping|robot r1|" + strings.Repeat("x", 256), " at kiosk|command intent/post|robot r1|", `ben at op1|command safety/enable|robot r1|{"id":"k1","by":"ben"}`, " at op1|command mode/set|robot r1|ato"}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("noted\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestCommandFloodIsCountedInTheAudit(t *testing.T) {
	audits(t, func(w *world, a *dispatch.Auditor) {
		for range 1000 {
			hears(a, "stop1", "safety/stop", "")
		}
		w.sleep(2 * time.Second)
		all := w.audit()
		if want := "fleetd|command|MQTT|800 more were not noted: there were too many"; len(all) != 201 || all[0] != want {
			t.Errorf("%d lines, the last is %q, want 201 and %q", len(all), all[0], want)
		}
		w.sleep(20 * time.Second)
		hears(a, "stop1", "safety/stop", "")
		w.sleep(2 * time.Second)
		if n := len(w.audit()); n != 202 {
			t.Errorf("after the flood there are %d lines, want 202", n)
		}
	})
}

func TestAuditIsWrittenWhenTheDatabaseIsBack(t *testing.T) {
	audits(t, func(w *world, a *dispatch.Auditor) {
		w.db.breaks(errAway)
		hears(a, "op1", "mode/set", "first")
		w.sleep(5 * time.Second)
		hears(a, "op1", "mode/set", "second")
		w.sleep(5 * time.Second)
		w.db.breaks(nil)
		w.sleep(2 * time.Second)
		if got := fmt.Sprint(w.audit()); got != "[ at op1|command mode/set|robot r1|second  at op1|command mode/set|robot r1|first]" {
			t.Errorf("noted is %s", got)
		}
	})
}

func TestFollowerAuditsNothing(t *testing.T) {
	audits(t, func(w *world, a *dispatch.Auditor) {
		w.locked(func() { w.leads = false })
		hears(a, "op1", "mode/set", "while another leads")
		w.sleep(2 * time.Second)
		w.locked(func() { w.leads = true })
		w.sleep(2 * time.Second)
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
			w.sleep(50 * time.Millisecond)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		a.Run(ctx, w.db)
		if all := w.audit(); len(all) != 2001 || !strings.Contains(all[0], "1000 more were not noted") {
			t.Errorf("%d lines, the last is %q", len(all), all[0])
		}
	})
}
