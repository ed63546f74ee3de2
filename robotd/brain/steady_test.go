package brain

import (
	"testing"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// TestTickAllocatesLittle checks that a robot which performs, and one which only
// waits, make next to no garbage fifty times a second.
func TestTickAllocatesLittle(t *testing.T) {
	for _, c := range []struct {
		name  string
		ready func(*rig)
		most  float64
	}{
		{"at rest", func(r *rig) {}, 0},
		{"enabled in manual", func(r *rig) {
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
			r.until(2 * time.Second)
		}, 0},
		{"in the middle of an act", func(r *rig) {
			pin := stories["tour"]
			r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
			r.until(time.Second)
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
			r.give(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte("ato")})
			r.until(2500 * time.Millisecond)
		}, 0},
		{"in the middle of an activity, beside many", func(r *rig) {
			live(r, crowd())
			r.give(event.Command{Client: "op1", Group: "life", Verb: "focus", Payload: []byte("talk")})
			r.until(r.now + 500*time.Millisecond)
			if _, run, _ := r.s.life.Focused(); run == "" {
				t.Error("no activity has the focus")
			}
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.boot()
			r.give(event.Connected{Session: "s"})
			r.until(500 * time.Millisecond)
			c.ready(r)
			out := make([]effect.Effect, 0, 64)
			now := r.wall()
			got := testing.AllocsPerRun(200, func() {
				now.Mono += time.Millisecond // less than a heartbeat or an act in all
				out = Step(r.s, now, event.Tick{}, out[:0])
			})
			if got > c.most {
				t.Errorf("a tick allocates %v times, at most %v are wanted", got, c.most)
			}
		})
	}
}

// BenchmarkTick is one tick of a robot in the middle of an act.
func BenchmarkTick(b *testing.B) {
	r := newRig(b)
	r.bootConnected("s")
	out := make([]effect.Effect, 0, 64)
	now := r.wall()
	for b.Loop() {
		now.Mono += time.Microsecond
		out = Step(r.s, now, event.Tick{}, out[:0])
	}
}
