package operatorlink

import (
	"testing"
	"time"
)

func TestHalfOpenNeedsOnlineFleetdWithoutHeartbeats(t *testing.T) {
	c := Defaults()
	for _, row := range []struct {
		name string
		live func(*HalfOpen) // up to one minute after boot
		want bool
	}{
		{"no connection", func(*HalfOpen) {}, false},
		{"no fleetd", func(e *HalfOpen) { e.Opened(0) }, false},
		{"no heartbeat of fleetd", func(e *HalfOpen) { e.Opened(0); e.SetFleetdOnline(true, 0) }, true},
		{"fleetd online just now", func(e *HalfOpen) { e.Opened(0); e.SetFleetdOnline(true, time.Minute-time.Second) }, false},
		{"heartbeat just now", func(e *HalfOpen) { e.Opened(0); e.SetFleetdOnline(true, 0); e.Heartbeat(59 * time.Second) }, false},
		{"heartbeat long ago", func(e *HalfOpen) { e.Opened(0); e.SetFleetdOnline(true, 0); e.Heartbeat(time.Second) }, true},
		{"fleetd offline", func(e *HalfOpen) { e.Opened(0); e.SetFleetdOnline(true, 0); e.SetFleetdOnline(false, time.Second) }, false},
		{"fleetd online on the previous connection", func(e *HalfOpen) {
			e.Opened(0)
			e.SetFleetdOnline(true, 0)
			e.Closed()
			e.Opened(time.Second)
		}, false},
		{"fleetd online published again", func(e *HalfOpen) {
			e.Opened(0)
			e.SetFleetdOnline(true, 0)
			e.SetFleetdOnline(true, time.Minute-1)
		}, true},
	} {
		e := HalfOpen{checkedAt: time.Minute - tick}
		row.live(&e)
		if got := e.Detected(time.Minute, c); got != row.want {
			t.Errorf("%s: half-open %v", row.name, got)
		}
	}
}

func TestStalledRobotIsNotHalfOpen(t *testing.T) {
	c := Defaults()
	var e HalfOpen
	e.Opened(0)
	e.SetFleetdOnline(true, 0)
	e.Detected(time.Second, c)
	// It hung for a minute, and the messages that arrived meanwhile are unprocessed.
	if e.Detected(time.Minute, c) {
		t.Error("half-open before it processed any message")
	}
	for now := time.Minute; now < time.Minute+2*c.Lost; now += tick {
		if e.Detected(now, c) {
			t.Fatalf("half-open %v after it ran again", now-time.Minute)
		}
	}
	if !e.Detected(time.Minute+2*c.Lost, c) {
		t.Error("not half-open although no heartbeat arrived")
	}
}

// TestHungFleetdCausesFewReconnects: fleetd is online for hours and sends no
// heartbeats.
func TestHungFleetdCausesFewReconnects(t *testing.T) {
	var e HalfOpen
	c, now := Defaults(), time.Duration(0)
	e.Opened(0)
	e.SetFleetdOnline(true, 0)
	var renewed []time.Duration
	for now < 3*time.Hour {
		now += time.Second
		if e.Detected(now, c) {
			renewed = append(renewed, now)
			e.Closed()
			e.Opened(now)
			e.SetFleetdOnline(true, now)
		}
	}
	if n := len(renewed); n < 10 || n > 25 {
		t.Errorf("%d connections in three hours: %v", n, renewed)
	}
	for i := 1; i < len(renewed); i++ {
		if renewed[i]-renewed[i-1] < firstWait {
			t.Errorf("two connections within %v", renewed[i]-renewed[i-1])
		}
	}
}

// TestHeartbeatEndsTheWait: fleetd hung for an hour, works again, and then the connection is
// half-open.
func TestHeartbeatEndsTheWait(t *testing.T) {
	var e HalfOpen
	c, now := Defaults(), time.Duration(0)
	e.Opened(0)
	e.SetFleetdOnline(true, 0)
	for ; now < time.Hour || e.notBefore < now+longestWait/2; now += time.Second {
		if e.Detected(now, c) {
			e.Closed()
			e.Opened(now)
			e.SetFleetdOnline(true, now)
		}
	}
	e.Heartbeat(now)
	for end := now + 2*c.Lost; now < end; now += time.Second {
		if e.Detected(now, c) {
			t.Fatalf("half-open %v before silence is a loss", end-now)
		}
	}
	if !e.Detected(now, c) {
		t.Errorf("not half-open %v after the last heartbeat", 2*c.Lost)
	}
}
