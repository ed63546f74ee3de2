package stage

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/api"
	"troupe/fleetd/selector"
	"troupe/robotd/driver/sim"
	"troupe/robotd/robot"
)

// The speed of a simulated day is that of its slow processes only: nothing of the body moves
// while it is pushed, and for 3 s of real time after, however fast the day passes.
func TestBodyStandsWhileItIsPushedAndThreeSecondsAfter(t *testing.T) {
	t.Parallel()
	var pushed atomic.Pointer[sim.Sim]
	adjust := func(c *robot.Config) {
		body := sim.New(c.Sim)
		pushed.Store(body)
		c.Driver = body
	}
	_, err := runStage(t, Config{Robots: 1, Data: t.TempDir(), Speed: 100, Adjust: adjust}, func(o *operatorSetup) {
		body := pushed.Load()
		if _, err := request[api.Batch](t.Context(), o.fleetd, "POST", "/commands", nil, map[string]any{
			"verb": "act/perform", "selector": selector.IDs("r1"), "by": operator,
			"args": jsontext.Value(`{"actions":[{"type":"goto","start_ms":0,"point":"stage","speed_mps":0.3,"timeout_ms":90000}]}`),
		}); err != nil {
			t.Fatal(err)
		}
		until(t, "it drives", func() bool { return body.Snapshot().V > 0.2 })
		body.Push(true)
		until(t, "it stands", func() bool { return body.Snapshot().V == 0 })
		stands := func(how string, lasts time.Duration) {
			first := body.Snapshot()
			looks := time.NewTicker(10 * time.Millisecond)
			defer looks.Stop()
			for began := time.Now(); time.Since(began) < lasts; <-looks.C {
				if s := body.Snapshot(); s.V != 0 || s.W != 0 || s.X != first.X || s.Y != first.Y || s.Yaw != first.Yaw || s.Pitch != first.Pitch ||
					s.Lean != first.Lean {
					t.Fatalf("%s it moves after %v: %+v, was %+v", how, time.Since(began), s, first)
				}
			}
		}
		stands("while it is pushed", time.Second)
		body.Push(false)
		stands("after the push", 2900*time.Millisecond)
		until(t, "it drives on", func() bool { return body.Snapshot().V > 0.2 })
	})
	if err != nil {
		t.Error(err)
	}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	looks := time.NewTicker(5 * time.Millisecond)
	defer looks.Stop()
	for deadline := time.Now().Add(30 * time.Second); !holds(); <-looks.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited 30 s until %s", what)
		}
	}
}
