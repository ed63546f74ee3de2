package view_test

import (
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

// A state that waited on its way, as behind those of thousands of robots, makes a stop that it names no younger: fleetd would take
// one that was released meanwhile for a new one.
func TestWayOfAStateIsNoDifferenceOfTheClocks(t *testing.T) {
	f := newFleet(t, 1)
	const offset, way = 500 * time.Millisecond, 30 * time.Second // of the robot's clock, which is slow
	ahead := func(clock schema.HeartbeatClock) time.Duration {
		f.seq++
		f.take("r0", schema.TopicHeartbeat, schema.Heartbeat{
			Session: "s", Boot: "later", Seq: f.seq, MonoMS: f.seq * 2000, Mode: schema.ModeMnl, Safety: schema.SafetyDisabled, StateSeq: 1,
			Link: schema.HeartbeatLink{State: schema.LinkUp}, Clock: clock,
		})
		now := time.Now()
		body, err := schema.Encode(schema.State{
			TS: schema.TimeOf(now.Add(-offset - way)), Session: "s", Boot: "later", StateSeq: f.seq,
			Safety: schema.StateSafety{State: schema.SafetyDisabled},
			Mode: schema.StateMode{System: schema.SystemRunning, Active: schema.ModeMnl, Intended: schema.ModeMnl, Phase: schema.PhaseRunning,
				Calibrated: true},
			Auto: schema.StateAuto{Status: schema.AutoNotActive, PauseHolders: []schema.Pause{}},
		})
		if err != nil {
			t.Fatal(err)
		}
		seen, problems := f.Take(schema.TopicState, "r0", link.Message{Topic: schema.DefaultNamespace.Topic(schema.TopicState, "r0"),
			Payload: body}, now)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return seen.Ahead.Round(100 * time.Millisecond)
	}
	if got := ahead(schema.HeartbeatClock{}); got != offset+way {
		t.Errorf("fleetd's clock counts as %v ahead of a robot that does not know the fleet's time, want %v", got, offset+way)
	}
	if got := ahead(schema.HeartbeatClock{Known: true, OffsetMS: offset.Milliseconds()}); got != offset {
		t.Errorf("fleetd's clock counts as %v ahead, want %v", got, offset)
	}
	if got := ahead(schema.HeartbeatClock{}); got != offset {
		t.Errorf("when the robot no longer knows the fleet's time, fleetd's clock counts as %v ahead, want %v", got, offset)
	}
}
