package fleet_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/fleet"
	"troupe/fleetd/fleet/fleettest"
	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/verb"
)

// instance is one of several fleetd instances on one database and one broker, each with its own
// connections to both, which a test can cut.
type instance struct {
	*world
	cable *brokertest.Cable
	gate  *pgtest.Cable
}

// instances runs a test in fake time, with two fleetd instances of which fleetd-a leads.
func instances(t *testing.T, test func(t *testing.T, a, b *instance, db *store.Store), options ...func(*fleet.Config)) {
	t.Helper()
	dsn, folder := storetest.Postgres(t), t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		one, two := pgtest.NewCable(), pgtest.NewCable()
		t.Cleanup(func() { one.Cut(); two.Cut() }) // at last: the driver may still close connections that were lost
		first := &world{T: t}
		first.newBroker()
		broker := first.broker.Load()
		start := func(name string, w *world, gate *pgtest.Cable) *instance {
			d := &instance{world: w, cable: &brokertest.Cable{To: broker.Dial}, gate: gate}
			w.broker.Store(broker)
			w.config = fleet.Config{
				Name: name, Dial: d.cable.Dial, Database: dsn, DialDatabase: d.gate.Dial, Spool: filepath.Join(folder, name+".stops"), Dev: true,
				Logger: logger(t).With("fleetd", name),
			}
			for _, o := range options {
				o(&w.config)
			}
			d.startFleetd()
			return d
		}
		a := start("fleetd-a", first, one)
		a.leads()
		b := start("fleetd-b", &world{T: t}, two)
		t.Cleanup(func() {
			if b.Fleet != nil {
				b.stopFleetd()
			}
		})
		b.until("fleetd-b knows who leads", func() bool { return b.Status().Leadership.Leader == "fleetd-a" })
		test(t, a, b, storetest.Open(t, dsn))
	})
}

// leads waits until fleetd leads.
func (d *instance) leads() {
	d.Helper()
	d.until(d.config.Name+" leads", func() bool { return d.Status().Leadership.Leads })
}

// cutOff cuts a fleetd instance off from everything, as the end of its machine does: nobody
// receives what it sends from then on.
func (d *instance) cutOff() {
	d.cable.Cut()
	d.gate.Cut()
}

// sees waits until fleetd shows a robot online and its own.
func (d *instance) sees(ids ...string) {
	d.Helper()
	for _, id := range ids {
		d.until(d.config.Name+" sees "+id, func() bool {
			r, ok := d.Robot(id)
			return ok && r.Adopted && r.Presence.Status == "online" && r.State != nil && r.Caps != nil
		})
	}
}

// presence is the fleetd instances' own document, as the broker has it.
func (d *instance) presence() schema.Presence {
	d.Helper()
	c := d.broker.Load().Client(d.T, "obs")
	defer c.Close()
	c.Subscribe("troupe/v1/fleet/presence")
	p, problems := schema.Decode[schema.Presence](c.Expect("troupe/v1/fleet/presence").Payload)
	if len(problems) > 0 {
		d.Fatal(problems)
	}
	return p
}

func TestOneOfTwoInstancesLeads(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, db *store.Store) {
		if s := b.Status().Leadership; s.Leads || s.Why != "fleetd-a leads" || s.Since == 0 {
			t.Errorf("fleetd-b says %+v", s)
		}
		if s := a.Status().Leadership; s.Leader != "fleetd-a" || s.Why == "" {
			t.Errorf("fleetd-a says %+v", s)
		}
		before := b.presence()
		ear := b.broker.Load().Client(t, "obs")
		ear.Subscribe("troupe/v1/fleet/#")
		r := fleettest.Start(t, "r1", b.broker.Load().Dial)
		a.sees("r1")
		b.sees("r1")

		// What is asked of the one that follows is done, and the other shows it.
		b.publish()
		b.assign("museum", "r1")
		a.converged("r1")
		b.converged("r1")
		b.must("PUT", "/robots/r1/labels", map[string]any{"labels": map[string]string{"site": "museum"}}, nil)
		a.until("fleetd-a knows the label", func() bool { d, _ := a.Robot("r1"); return d.Labels["site"] == "museum" })
		b.state(b.command(setMode("ato", "r1")), "SUCCEEDED")
		a.state(a.command(setMode("mnl", "r1")), "SUCCEEDED")
		if n := count(r.Received(), "mode/set"); n != 2 {
			t.Errorf("two commands of two fleetd instances came %d times", n)
		}
		r.Event("mode_changed")
		b.until("the event is stored", func() bool {
			all, err := db.Events(t.Context(), store.EventQuery{Robot: "r1"})
			return err == nil && len(all) == 1
		})

		// Both are there, and one speaks for them.
		for _, name := range []string{"fleetd-a", "fleetd-b"} {
			ear.Expect("troupe/v1/fleet/heartbeat/" + name)
		}
		b.stopFleetd()
		if after := a.presence(); after.Session != before.Session || after.State != schema.PresenceOnline {
			t.Errorf("the end of a fleetd instance that follows changed %+v to %+v", before, after)
		}
		for _, m := range ear.Inbox("troupe/v1/fleet/presence") {
			if p, _ := schema.Decode[schema.Presence](m.Payload); p.Session != before.Session {
				t.Errorf("somebody else wrote the presence: %s", m.Payload)
			}
		}
	})
}

func TestFollowerLeadsAfterTheLeaderDies(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, _ *store.Store) {
		fleettest.Start(t, "r1", b.broker.Load().Dial)
		fleettest.Start(t, "r2", b.broker.Load().Dial)
		b.sees("r1", "r2")
		b.publish()
		b.assign("museum", "r1")
		b.converged("r1")
		first := b.presence()

		a.cutOff()
		b.assign("museum", "r2") // nobody leads at this moment
		b.leads()
		if s := b.Status().Leadership; s.Why != "fleetd-a is gone" || s.Leader != "fleetd-b" {
			t.Errorf("fleetd-b says %+v", s)
		}
		b.converged("r2")
		b.until("the presence is the new leader's", func() bool {
			p := b.presence()
			return p.State == schema.PresenceOnline && p.Session != first.Session && p.Boot != first.Boot
		})
		b.until("fleetd-a knows that it leads no more", func() bool { return !a.Status().Leadership.Leads })

		// It comes back, and follows.
		a.gate.Mend()
		a.cable.Mend()
		a.until("fleetd-a follows", func() bool { return a.Status().Leadership.Leader == "fleetd-b" && a.Status().Broker.OK })
		if p := b.presence(); p.State != schema.PresenceOnline || p.Session == first.Session {
			t.Errorf("the presence is %+v", p)
		}
		if d, _ := a.Robot("r2"); !d.Desired.Converged {
			a.converged("r2")
		}
	})
}

// Stops need neither a database nor a leader, and lose nothing by their absence.
func TestFollowerStopsWithoutLeaderAndDatabase(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, db *store.Store) {
		r1 := fleettest.Start(t, "r1", b.broker.Load().Dial)
		fleettest.Start(t, "r2", b.broker.Load().Dial)
		b.sees("r1", "r2")
		a.cutOff()
		b.gate.Cut()
		all := b.stopped()
		one := b.stopped("r1")
		for id, want := range map[string][]string{"r1": {all.Latch, one.Latch}, "r2": {all.Latch}} {
			b.until(id+" holds what it should", func() bool {
				got := strings.Fields(b.latched(id))
				slices.Sort(got)
				slices.Sort(want)
				return slices.Equal(got, want)
			})
		}
		if r1.LiveStops() != 1 {
			t.Errorf("%d live stops were received", r1.LiveStops())
		}
		// Another client publishes a live stop meanwhile.
		wall := b.broker.Load().Client(t, "stop1")
		wall.Publish("troupe/v1/fleet/cmd/stop1/stop", "")
		b.until("the stop of that client to be received", func() bool { return len(b.Latched()) == 3 })

		b.gate.Mend()
		b.leads()
		b.persisted(all.Latch, one.Latch, "stop1")
		b.until("the documents say so", func() bool {
			desired, err := db.DesiredOf(t.Context(), "r2")
			return err == nil && strings.Contains(string(desired[schema.TopicDesiredStop]), all.Latch)
		})
		// A robot that was away receives it from the broker.
		late := fleettest.Start(t, "r3", b.broker.Load().Dial)
		b.until("r3 holds it", func() bool {
			return strings.Contains(b.latched("r3"), "stop1") || strings.Contains(b.latched("r3"), all.Latch)
		})
		late.Close()

		// Fleetd-a comes back, has nothing of its own to add, and releases what the other
		// holds.
		a.gate.Mend()
		a.cable.Mend()
		a.until("fleetd-a is back", func() bool { return len(a.Latched()) == 3 && a.Status().Broker.OK })
		if p := a.releases(all.Latch, one.Latch, "stop1"); p != nil {
			t.Fatal(p)
		}
		b.until("nothing is held", func() bool { return b.latched("r1") == "" && b.latched("r2") == "" && len(b.Latched()) == 0 })
		notes, err := db.Audit(t.Context(), store.AuditQuery{})
		if err != nil {
			t.Fatal(err)
		}
		written := map[string]int{}
		for _, n := range notes {
			written[string(n.What)+" "+n.Target]++
		}
		for _, id := range []string{all.Latch, one.Latch, "stop1"} {
			if written["stop stop "+id] != 1 || written["release stop "+id] != 1 {
				t.Errorf("%s is in the audit as %v", id, written)
			}
		}
	})
}

// The node of a cluster to which an instance is connected may be away. Its stops go out on the connections of the others.
func TestStopOfAnInstanceWithoutBrokerIsSentByTheOther(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, _ *store.Store) {
		r1 := fleettest.Start(t, "r1", b.broker.Load().Dial)
		r2 := fleettest.Start(t, "r2", b.broker.Load().Dial)
		b.sees("r1", "r2")
		b.until("the two know each other", func() bool { return len(a.Status().Others) == 1 })
		a.cable.Cut() // the leader publishes no documents
		for _, selector := range []map[string]any{{"all": true}, {"ids": []string{"r2"}}} {
			before := b.latched("r2")
			asked := make(chan *api.Problem, 1)
			go func() { // its answer waits for the broker
				asked <- a.ask("POST", "/stops", map[string]any{"selector": selector, "by": "anna", "why": "children on the stage"}, nil)
			}()
			b.within(500*time.Millisecond, "r2 to hold the stop", func() bool { return len(b.latched("r2")) > len(before) })
			p := <-asked
			if selector["all"] == nil && (p == nil || !p.Of(api.KindBroker) ||
				!strings.Contains(p.Detail, "is in the database, from which fleetd-b sends it")) {
				t.Errorf("fleetd-a answers %v", p)
			}
			a.until("fleetd-a misses its broker", func() bool { return !a.Status().Broker.OK }) // the first stop goes out before it does
		}
		if n := len(strings.Fields(b.latched("r1"))); n != 1 || r1.LiveStops() != 1 || r2.LiveStops() != 1 {
			t.Errorf("r1 holds %d stops; live stops received: %d and %d, want 1 each", n, r1.LiveStops(), r2.LiveStops())
		}
	})
}

// An instance that is connected again in a moment answers as if nothing had been.
func TestStopOfAnInstanceThatReconnectsIsAnsweredByTheRobots(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, _ *store.Store) {
		fleettest.Start(t, "r1", b.broker.Load().Dial)
		a.sees("r1")
		b.until("the two know each other", func() bool { return len(a.Status().Others) == 1 })
		a.cable.Cut()
		a.until("fleetd-a misses its broker", func() bool { return !a.Status().Broker.OK })
		time.AfterFunc(500*time.Millisecond, a.cable.Mend)
		var stopped api.Batch
		if p := a.ask("POST", "/stops", map[string]any{"selector": map[string]any{"all": true}, "by": "anna", "why": "children on the stage"},
			&stopped, "Prefer", "wait=10"); p != nil {
			t.Fatalf("fleetd-a answers %v", p)
		}
		if len(stopped.Commands) != 1 || stopped.Commands[0].State != "SUCCEEDED" {
			t.Errorf("fleetd-a says of the robots: %+v", stopped.Commands)
		}
	})
}

// Nobody knows of a stop that neither the broker nor the database has.
func TestStopThatOnlyThisInstanceHasIsNotCalledSent(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, _ *store.Store) {
		fleettest.Start(t, "r1", b.broker.Load().Dial)
		a.sees("r1")
		b.until("the two know each other", func() bool { return len(a.Status().Others) == 1 })
		a.cutOff()
		a.until("fleetd-a misses its broker", func() bool { return !a.Status().Broker.OK })
		p := a.ask("POST", "/stops", map[string]any{"selector": map[string]any{"all": true}, "by": "anna", "why": "children on the stage"}, nil)
		if p == nil || !p.Of(api.KindBroker) || !strings.Contains(p.Detail, "does not have it yet") {
			t.Errorf("fleetd-a answers %v", p)
		}
	})
}

// An instance may reach robots that the one that was asked does not reach, so each sends a fleet stop, once.
func TestFleetStopIsSentByEveryInstanceOnce(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, db *store.Store) {
		ear := b.broker.Load().Client(t, "fleetd", brokertest.WithID("fleetd.test"))
		ear.Subscribe("troupe/v1/fleet/cmd/+/stop")
		fleettest.Start(t, "r1", b.broker.Load().Dial)
		b.sees("r1")
		b.until("the two know each other", func() bool { return len(a.Status().Instances) == 2 && len(b.Status().Instances) == 2 })
		stopped := a.stopped()
		for _, name := range []string{"fleetd-a", "fleetd-b"} {
			ear.ExpectThat("troupe/v1/fleet/cmd/"+name+"/stop", func(m brokertest.Message) bool {
				return strings.Contains(string(m.Payload), stopped.Latch)
			})
		}
		a.persisted(stopped.Latch)
		b.sleep(5 * time.Second)
		if more := ear.Inbox("troupe/v1/fleet/cmd/+/stop"); len(more) != 0 {
			t.Errorf("it was sent again: %v", more)
		}
		if p := b.releases(stopped.Latch); p != nil {
			t.Fatal(p)
		}
		b.sleep(5 * time.Second)
		if held := a.Latched(); b.latched("r1") != "" || len(held) != 0 {
			t.Errorf("after the release r1 holds %q and fleetd-a lists %v", b.latched("r1"), held)
		}
	})
}

// A stop that every instance receives is persisted by one of them.
func TestLiveStopIsPersistedOnceByTwoInstances(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, db *store.Store) {
		fleettest.Start(t, "r1", b.broker.Load().Dial)
		b.sees("r1")
		wall := b.broker.Load().Client(t, "stop1")
		wall.Subscribe("troupe/v1/fleet/ack/stop1")
		wall.Publish("troupe/v1/fleet/cmd/stop1/stop", "")
		wall.ExpectThat("troupe/v1/fleet/ack/stop1", func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), "SUCCEEDED") })
		a.persisted("stop1")
		b.persisted("stop1")
		if p := b.releases("stop1"); p != nil {
			t.Fatal(p)
		}
		for _, d := range []*instance{a, b} {
			d.until("r1 to be released", func() bool { return d.latched("r1") == "" && len(d.Latched()) == 0 })
		}
		a.cutOff()
		b.leads()                          // and does not write it down again
		b.persisted(b.stopped("r1").Latch) // whatever waited was written with it
		notes, err := db.Audit(t.Context(), store.AuditQuery{})
		var did []string
		for _, n := range slices.Backward(notes) {
			if !strings.HasPrefix(string(n.What), "command ") {
				did = append(did, string(n.What))
			}
		}
		if want := []string{"adopt", "stop", "release", "stop"}; err != nil || !slices.Equal(did, want) {
			t.Errorf("%v, the audit has %v, want %v", err, did, want)
		}
	})
}

// effects counts how often each command came, by its id: the same one again is known
// to a robot as a repetition, another one is done again.
func effects(r *fleettest.Robot, verb string) map[string]int {
	done := map[string]int{}
	for _, c := range r.Received() {
		if c.Verb == verb {
			done[c.Request.ID]++
		}
	}
	return done
}

// Two instances of fleetd command one robot at the same time; each command comes once, and of the
// mode class never two are under way.
func TestCommandsOfTwoInstancesArriveOnceAndInOrder(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, _ *store.Store) {
		r := fleettest.Start(t, "r1", b.broker.Load().Dial)
		a.sees("r1")
		b.sees("r1")
		r.Answer(func(string, verb.Request) []schema.Ack { return nil }) // until the test says so
		first := a.command(setMode("ato", "r1"))
		a.until("the first has come", func() bool { return len(effects(r, "mode/set")) == 1 })
		second := b.command(setMode("mnl", "r1"))
		third := a.command(setMode("ato", "r1"))
		other := b.command(order("sys/ping", "r1"))
		b.until("what is of no mode goes past", func() bool { return len(effects(r, "sys/ping")) == 1 })
		if n := len(effects(r, "mode/set")); n != 1 {
			t.Fatalf("%d commands for a mode are under way", n)
		}
		var c api.Command
		a.must("GET", "/commands/"+second, nil, &c)
		if c.Instance != "fleetd-b" || c.State != "QUEUED" {
			t.Errorf("the second is %+v", c)
		}
		if p := a.ask("POST", "/commands/"+second+"/cancel", audit.Attribution{Who: "ann"}, nil); p == nil || !p.Of(api.KindConflict) ||
			!strings.Contains(p.Hint+p.Detail, "fleetd-b") {
			t.Errorf("calling off what another instance has not sent: %v", p)
		}
		for i, id := range []string{first, second, third} {
			r.AnswerAgain(id, schema.Ack{Verb: "mode/set", Status: schema.StatusSucceeded}, []string{"fleetd-a", "fleetd-b"}[i%2])
			a.state(id, "SUCCEEDED")
			b.until("the next one comes", func() bool { return len(effects(r, "mode/set")) == min(i+2, 3) })
		}
		r.AnswerAgain(other, schema.Ack{Verb: "sys/ping", Status: schema.StatusSucceeded}, "fleetd-b")
		b.state(other, "SUCCEEDED")
	})
}

// People see of every instance what it says of itself, whichever one answers.
func TestInstancesShowEachOthersHealth(t *testing.T) {
	instances(t, func(t *testing.T, a, b *instance, _ *store.Store) {
		of := func(w *instance, name string) api.InstanceHealth {
			for _, i := range w.Status().Instances {
				if i.Name == name {
					return i
				}
			}
			return api.InstanceHealth{}
		}
		for _, w := range []*instance{a, b} {
			w.until("both are well", func() bool {
				one, two := of(w, "fleetd-a"), of(w, "fleetd-b")
				return one.Leads && one.Database && one.Broker && !two.Leads && two.Database && two.Broker && one.Version == "v1-test" &&
					one.StartedAt > 0
			})
			if !of(w, w.config.Name).This {
				t.Errorf("%s does not say which one it is: %+v", w.config.Name, w.Status().Instances)
			}
		}
		b.gate.Cut()
		a.until("fleetd-b says that it has no database", func() bool { two := of(a, "fleetd-b"); return two.Broker && !two.Database })
		b.gate.Mend()
		b.cable.Cut()
		a.until("fleetd-b is silent", func() bool { return !of(a, "fleetd-b").Broker })
		if two := of(a, "fleetd-b"); two.Version != "v1-test" || time.Since(two.HeardAt.Time()) < 15*time.Second {
			t.Errorf("the silent instance is %+v", two)
		}
		b.cable.Mend()
	}, func(c *fleet.Config) { c.Version = "v1-test" })
}
