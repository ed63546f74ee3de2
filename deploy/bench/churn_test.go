package main

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	commands "troupe/fleetd/command"
	"troupe/schema"
)

func TestMemoryIsComparedByThirds(t *testing.T) {
	for _, c := range []struct {
		samples     []float64
		first, last float64
	}{
		{nil, 0, 0},
		{[]float64{7}, 7, 7},
		{[]float64{7, 9}, 7, 9},
		{[]float64{1, 3, 50, 60, 10, 20}, 2, 15},
		{[]float64{1, 3, 50, 60, 70, 80, 10, 20}, 2, 15},
	} {
		if first, last := thirds(c.samples); first != c.first || last != c.last {
			t.Errorf("%v: %g and %g, not %g and %g", c.samples, first, last, c.first, c.last)
		}
	}
}

// watching is an observer of a robot that was connected at second 0.
func watching(t *testing.T) (o *observer, see func(second int, kind schema.TopicKind, doc any, more ...string), at func(int) time.Time) {
	o = &observer{robots: map[string]*observed{}, answers: map[string]int{}, intents: map[string]string{}}
	at = func(second int) time.Time { return time.Unix(1_000_000+int64(second), 0) }
	see = func(second int, kind schema.TopicKind, doc any, more ...string) {
		payload, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		o.received(message{Topic: []byte(topics.Topic(kind, append([]string{"s1"}, more...)...)), Payload: payload}, at(second))
	}
	see(0, schema.TopicPresence, schema.Presence{State: schema.PresenceOnline, Session: "a"})
	return o, see, at
}

func TestCommandIsLostUnlessItsRobotWasAway(t *testing.T) {
	online, lost := schema.PresenceOnline, schema.PresenceLost
	for _, c := range []struct {
		name   string
		state  commands.State // of the command that was sent at second 10
		since  []schema.Presence
		before []schema.Presence
		lost   bool
		missed int
	}{
		{name: "success", state: commands.Succeeded},
		{name: "no answer", state: commands.Unknown, lost: true},
		{name: "refused", state: commands.Rejected, lost: true},
		{name: "lost its connection", state: commands.Unknown, since: []schema.Presence{{State: lost, Session: "a"}}, missed: 1},
		{name: "left", state: commands.Undelivered, since: []schema.Presence{{State: schema.PresenceOffline, Session: "a"}}, missed: 1},
		{name: "away and success", state: commands.Succeeded, since: []schema.Presence{{State: lost, Session: "a"}}},
		{name: "away and no end", state: commands.Sent, since: []schema.Presence{{State: lost, Session: "a"}}, lost: true},
		{name: "away and back", state: commands.Unknown, missed: 1,
			since: []schema.Presence{{State: lost, Session: "a"}, {State: online, Session: "b"}}},
		{name: "connected anew", state: commands.Unknown, since: []schema.Presence{{State: online, Session: "b"}}, missed: 1},
		{name: "back before", state: commands.Unknown, lost: true,
			before: []schema.Presence{{State: lost, Session: "a"}, {State: online, Session: "b"}}},
		{name: "still away", state: commands.Undelivered, before: []schema.Presence{{State: lost, Session: "a"}}, missed: 1},
		{name: "says again that it is there", state: commands.Unknown, since: []schema.Presence{{State: online, Session: "a"}}, lost: true},
		{name: "an earlier connection ends", state: commands.Unknown, lost: true,
			before: []schema.Presence{{State: online, Session: "b"}}, since: []schema.Presence{{State: lost, Session: "a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, see, at := watching(t)
			for _, p := range c.before {
				see(5, schema.TopicPresence, p)
			}
			for _, p := range c.since {
				see(15, schema.TopicPresence, p)
			}
			var sum tally
			found := o.judge(&sum, []churnCommand{{ID: "1", Robot: "s1", State: c.state}}, at(10))
			if (len(found) == 1) != c.lost || (sum.lost == 1) != c.lost || sum.missed != c.missed || sum.commands != 1 {
				t.Errorf("%+v", sum)
			}
		})
	}
}

func TestCommandIsDoubledIfItWasCarriedOutAgain(t *testing.T) {
	answer := func(id string) schema.Ack { return schema.Ack{ID: &id, Verb: pingVerb, Status: schema.StatusSucceeded} }
	intent := func(id string, seq int64) schema.Event {
		return schema.Event{Type: "intent", ReqID: "fleetd/" + id, Boot: "boot", Seq: seq}
	}
	for _, c := range []struct {
		name    string
		sends   int
		answers int
		events  []schema.Event
		want    int
	}{
		{name: "one answer", sends: 1, answers: 1},
		{name: "two answers to one ping", sends: 1, answers: 2, want: 1},
		{name: "two answers to a ping that was sent twice", sends: 2, answers: 2},
		{name: "no answer", sends: 2},
		{name: "one intent", events: []schema.Event{intent("1", 7), intent("2", 8)}},
		{name: "its event comes again", events: []schema.Event{intent("1", 7), intent("1", 7)}},
		{name: "received again", events: []schema.Event{intent("1", 7), intent("1", 8)}, want: 1},
		{name: "another event", events: []schema.Event{intent("1", 7), {Type: "mode_changed", ReqID: "fleetd/1", Boot: "boot", Seq: 8}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, see, _ := watching(t)
			for range c.answers {
				see(1, schema.TopicAck, answer("ping"), "fleetd")
			}
			for _, e := range c.events {
				see(1, schema.TopicEvent, e)
			}
			pings := []churnCommand{{ID: "ping", Robot: "s1", Sends: c.sends}}
			if got := []int{o.doubled(pings), o.doubled(pings)}; !slices.Equal(got, []int{c.want, 0}) || o.err != nil {
				t.Errorf("%v, not %d and then none: %v", got, c.want, o.err)
			}
		})
	}
}
