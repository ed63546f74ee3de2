package brain

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// heartbeatsOf records when the robot sends heartbeats, and returns the list.
func heartbeatsOf(r *rig) *[]schema.Heartbeat {
	var list []schema.Heartbeat
	before := r.sent
	r.sent = func(p effect.Publish) {
		if p.Topic == schema.TopicHeartbeat {
			var h schema.Heartbeat
			if err := json.Unmarshal(p.Payload, &h); err != nil {
				r.t.Fatal(err)
			}
			list = append(list, h)
		}
		before(p)
	}
	return &list
}

// atRest is a robot that has been at rest for two minutes.
func atRest(t *testing.T, accepts int64) (*rig, *[]schema.Heartbeat) {
	r := newRig(t)
	beats := heartbeatsOf(r)
	r.bootConnected("s")
	r.beats, r.accepts = true, accepts
	r.beat(0)
	r.until(2 * time.Minute)
	return r, beats
}

// longest is the longest time between two of the heartbeats.
func longest(beats []schema.Heartbeat) (ms int64) {
	for i := 1; i < len(beats); i++ {
		ms = max(ms, beats[i].MonoMS-beats[i-1].MonoMS)
	}
	return ms
}

// shortest is the shortest time between two of the last n heartbeats.
func shortest(beats []schema.Heartbeat, n int) (ms int64) {
	beats = beats[max(0, len(beats)-n):]
	ms = math.MaxInt64
	for i := 1; i < len(beats); i++ {
		ms = min(ms, beats[i].MonoMS-beats[i-1].MonoMS)
	}
	return ms
}

func TestRobotAtRestSendsAtMostTenKilobytesAMinute(t *testing.T) {
	r, _ := atRest(t, schema.RestHeartbeatMS)
	var bytes, states, heartbeats int
	r.sent = func(p effect.Publish) {
		topic := len(schema.DefaultNamespace.Topic(p.Topic, r.cfg.ID))
		bytes += 2 + 2 + topic + 2 + len(p.Payload) // header, length and number of the packet
		switch p.Topic {
		case schema.TopicState:
			states++
		case schema.TopicHeartbeat:
			heartbeats++
		}
	}
	const minutes = 10
	r.until(r.now + minutes*time.Minute)
	t.Logf("%d bytes, %d states and %d heartbeats a minute", bytes/minutes, states/minutes, heartbeats/minutes)
	if bytes/minutes > 10_000 || states < minutes || heartbeats < 6*minutes {
		t.Errorf("in %d min %d bytes, %d states and %d heartbeats", minutes, bytes, states, heartbeats)
	}
}

func TestHeartbeatsAreRareOnlyAtRest(t *testing.T) {
	const usual, rest = 2250, schema.RestHeartbeatMS // usual: at the first step of the loop that is not earlier
	for _, c := range []struct {
		name    string
		accepts int64
		then    func(*rig)
		most    int64
	}{
		{"at rest", rest, func(*rig) {}, rest + 250},
		{"fleetd of an earlier release", 0, func(*rig) {}, usual},
		{"fleetd that is silent", rest, func(r *rig) { r.beats = false; r.until(r.now + 15*time.Second) }, usual},
		{"a second fleetd of an earlier release", rest, func(r *rig) {
			for i := range 60 {
				r.soon(time.Duration(i)*time.Second, event.Heartbeat{Client: "fleetd-b", Beat: schema.FleetHeartbeat{TS: epoch, Session: "b", Seq: 1}})
			}
		}, usual},
		{"a panel of an earlier release", rest, func(r *rig) {
			for i := range 60 {
				r.soon(time.Duration(i)*time.Second, event.Heartbeat{Client: "panel", FromConsole: true, Beat: schema.FleetHeartbeat{TS: epoch,
					Session: "p", Seq: 1}})
			}
		}, usual},
		{"somebody has control", rest, func(r *rig) {
			r.give(event.Command{Client: "op1", Group: "control", Verb: "acquire", Payload: []byte(`{"args":{"ttl_ms":60000}}`)})
		}, usual},
		{"acts are performed", rest, func(r *rig) {
			pin := stories["talk"]
			r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
			r.until(r.now + time.Second)
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
			r.give(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte("ato")})
			if r.until(r.now + 500*time.Millisecond); !r.s.performing() {
				r.t.Fatal("it performs nothing")
			}
		}, usual},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, beats := atRest(t, c.accepts)
			c.then(r)
			*beats = (*beats)[:0]
			r.until(r.now + 45*time.Second) // longer than a robot must be at rest, and then twice its interval
			got := longest(*beats)
			if got > c.most || c.most > usual && got < rest {
				t.Errorf("%d ms between two heartbeats, want %d", got, c.most)
			}
		})
	}
}

// TestLateHeartbeatsOfFleetdCostNoMessages: they come late for all robots of a fleet at once, when a machine is busy or a node of a
// cluster is lost, and the messages of all robots about that would make it worse.
func TestLateHeartbeatsOfFleetdCostNoMessages(t *testing.T) {
	r, _ := atRest(t, schema.RestHeartbeatMS)
	silent := func(d time.Duration) {
		r.beats = false
		r.until(r.now + d)
		r.beats = true
		r.beat(0)
		r.until(r.now + 3*time.Second)
	}
	silent(20 * time.Second) // the robot goes to safe, and stays there
	r.until(r.now + time.Minute)
	sent := map[schema.TopicKind]int{}
	r.sent = func(p effect.Publish) { sent[p.Topic]++ }
	silent(9 * time.Second)
	if r.s.modes.Mode().Active != schema.ModeSafe || sent[schema.TopicHeartbeat] > 2 || sent[schema.TopicState] > 1 || len(sent) > 2 {
		t.Errorf("in %s the robot sent %v", r.s.modes.Mode().Active, sent)
	}
}

// A state that another change has published while heartbeats were late shows the link as it was then.
func TestStateShowsTheLinkThatIsBack(t *testing.T) {
	r, _ := atRest(t, schema.RestHeartbeatMS)
	var shown schema.LinkState
	r.sent = func(p effect.Publish) {
		if d, problems := schema.Decode[schema.State](p.Payload); p.Topic == schema.TopicState && len(problems) == 0 {
			shown = d.Link.State
		}
	}
	r.beats = false
	r.until(r.now + 20*time.Second) // the robot goes to safe, and stays there
	r.beats = true
	r.beat(0)
	r.until(r.now + time.Minute)
	r.beats = false
	for late := r.now + 20*time.Second; r.s.link.Told() && r.now < late; {
		r.until(r.now + 100*time.Millisecond)
	}
	r.give(event.Command{Client: "op1", Group: "safety", Verb: "halt"})
	r.until(r.now + time.Second)
	r.beats = true
	r.beat(0)
	r.until(r.now + 3*time.Second)
	if shown != schema.LinkUp {
		t.Errorf("3 s after the link is back, the state shows %s", shown)
	}
}

// A fleetd that connects calls a robot lost from which it receives nothing for 10 s.
func TestNewFleetdGetsHeartbeatsSoon(t *testing.T) {
	r, beats := atRest(t, schema.RestHeartbeatMS)
	r.until(time.Duration((*beats)[len(*beats)-1].MonoMS)*time.Millisecond + 3*time.Second)
	*beats = nil
	r.give(event.Heartbeat{Client: "fleetd-b", Beat: schema.FleetHeartbeat{TS: epoch.Add(r.now), Session: "b", Seq: 1,
		MaxHeartbeatMS: schema.RestHeartbeatMS}})
	r.until(r.now + 10*time.Second - time.Millisecond)
	if n := len(*beats); n < 4 {
		t.Errorf("%d heartbeats in the 10 s after another fleetd connected", n)
	}
}

func TestChangeOfTheStateIsInAHeartbeatWithinTwoSeconds(t *testing.T) {
	r, beats := atRest(t, schema.RestHeartbeatMS)
	*beats = nil
	r.give(event.Command{Client: "op1", Group: "safety", Verb: "halt"})
	r.until(r.now + 2*time.Second)
	if n := len(*beats); n == 0 || (*beats)[n-1].Safety != r.s.safety.At || (*beats)[n-1].StateSeq != r.s.report.StateSeq() {
		t.Errorf("2 s after a stop, state %d in %s: %+v", r.s.report.StateSeq(), r.s.safety.At, *beats)
	}
}

// An operator enables a robot at rest with the newest heartbeat that it sent, or the one before.
func TestHeartbeatOfRobotAtRestEnablesIt(t *testing.T) {
	for _, c := range []struct {
		name    string
		back    int           // how many heartbeats before the newest
		age     time.Duration // of the newest
		enabled bool
	}{
		{"newest", 0, 9 * time.Second, true},
		{"the one before, just after the newest", 1, time.Second, true},
		{"the one before, long after the newest", 1, 6 * time.Second, false},
		{"two before", 2, time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, beats := atRest(t, schema.RestHeartbeatMS)
			for n := len(*beats); len(*beats) == n || shortest(*beats, 3) < schema.RestHeartbeatMS; {
				r.until(r.now + 100*time.Millisecond)
			}
			seen := (*beats)[len(*beats)-1-c.back]
			r.until(r.now + c.age)
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: fmt.Appendf(nil, `{"id":"x","args":{"seen_mono_ms":%d,"seen_boot":%q}}`, seen.MonoMS, seen.Boot)})
			r.until(r.now + 100*time.Millisecond)
			if got := r.s.safety.At == schema.SafetyEnabled; got != c.enabled {
				t.Errorf("%v after a heartbeat of %d ms ago: %s", c.age, (r.now-r.old).Milliseconds()-seen.MonoMS, r.s.safety.At)
			}
		})
	}
}

// TestHeartbeatInTimeAtRestCostsNoStep has a change wait in the robot, which a whole step publishes.
func TestHeartbeatInTimeAtRestCostsNoStep(t *testing.T) {
	for _, c := range []struct {
		name  string
		then  func(*rig)
		after time.Duration // the heartbeat before it
		by    string        // client, and session
		whole bool
	}{
		{"in time", func(*rig) {}, time.Second, "fleetd", false},
		{"late", func(*rig) {}, 1600 * time.Millisecond, "fleetd", true},
		{"another fleetd", func(*rig) {}, time.Second, "fleetd-b", true},
		{"fleetd has restarted", func(*rig) {}, time.Second, "fleetd anew", true},
		{"the robot may move", func(r *rig) {
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
		}, time.Second, "fleetd", true},
		{"somebody has control", func(r *rig) {
			r.give(event.Command{Client: "op1", Group: "control", Verb: "acquire", Payload: []byte(`{"args":{"ttl_ms":60000}}`)})
		}, time.Second, "fleetd", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _ := atRest(t, schema.RestHeartbeatMS)
			r.beats = false
			c.then(r)
			r.until(r.now + c.after - (r.now - r.old - lastBeat(r)))
			published := false
			r.watch = func(_ event.Event, effects []effect.Effect) {
				published = published || len(effects) > 0
			}
			const ahead = 100 * time.Millisecond // of the clock of the others
			r.s.report.Changed(effect.FlushNow)
			client, session, _ := strings.Cut(c.by, " ")
			r.give(event.Heartbeat{Client: client, Beat: schema.FleetHeartbeat{TS: epoch.Add(r.now + ahead), Session: cmp.Or(session, "fleetd"),
				Seq: r.beatSeq + 1, MaxHeartbeatMS: schema.RestHeartbeatMS}})
			if published != c.whole {
				t.Errorf("a whole step: %v, want %v", published, c.whole)
			}
			if c.whole {
				return
			}
			if lastBeat(r) != r.now-r.old {
				t.Errorf("the newest heartbeat came at %v, the link knows one at %v", r.now-r.old, lastBeat(r))
			}
			if fleet, _ := r.s.link.FleetTime(r.wall()); fleet != epoch.Add(r.now+ahead) {
				t.Errorf("the fleet's time is %v, want %v", fleet, epoch.Add(r.now+ahead))
			}
		})
	}
}

// lastBeat is when the newest heartbeat of fleetd came, since boot.
func lastBeat(r *rig) time.Duration {
	var h schema.Heartbeat
	now := r.wall()
	r.s.link.Fill(&h, now)
	return now.Mono - time.Duration(h.Link.FleetAgeMS)*time.Millisecond
}
