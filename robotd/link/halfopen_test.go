package link

import (
	"testing"
	"time"
)

func TestAConnectionIsDeafOnlyWhileADeskIsThereThatIsNotHeard(t *testing.T) {
	c := Defaults()
	for _, row := range []struct {
		name string
		live func(*HalfOpen) // up to one minute after boot
		deaf bool
	}{
		{"no connection", func(*HalfOpen) {}, false},
		{"no fleetd", func(e *HalfOpen) { e.Opened(0) }, false},
		{"a fleetd instance never heard", func(e *HalfOpen) { e.Opened(0); e.Fleetd(true, 0) }, true},
		{"a fleetd instance that came just now", func(e *HalfOpen) { e.Opened(0); e.Fleetd(true, time.Minute-time.Second) }, false},
		{"a fleetd instance heard just now", func(e *HalfOpen) { e.Opened(0); e.Fleetd(true, 0); e.Heard(59 * time.Second) }, false},
		{"a fleetd instance heard long ago", func(e *HalfOpen) { e.Opened(0); e.Fleetd(true, 0); e.Heard(time.Second) }, true},
		{"a fleetd instance that said goodbye", func(e *HalfOpen) { e.Opened(0); e.Fleetd(true, 0); e.Fleetd(false, time.Second) }, false},
		{"a fleetd instance of the connection before", func(e *HalfOpen) { e.Opened(0); e.Fleetd(true, 0); e.Closed(); e.Opened(time.Second) }, false},
		{"a fleetd instance that says so again", func(e *HalfOpen) { e.Opened(0); e.Fleetd(true, 0); e.Fleetd(true, time.Minute-1) }, true},
	} {
		e := HalfOpen{looked: time.Minute - tick}
		row.live(&e)
		if got := e.Detected(time.Minute, c); got != row.deaf {
			t.Errorf("%s: half-open %v", row.name, got)
		}
	}
}

func TestARobotThatStoodStillIsNotDeaf(t *testing.T) {
	c := Defaults()
	var e HalfOpen
	e.Opened(0)
	e.Fleetd(true, 0)
	e.Detected(time.Second, c)
	// It hung for a minute, and what it heard meanwhile still waits.
	if e.Detected(time.Minute, c) {
		t.Error("half-open before it had a chance to hear")
	}
	for now := time.Minute; now < time.Minute+2*c.Lost; now += tick {
		if e.Detected(now, c) {
			t.Fatalf("half-open %v after it moved again", now-time.Minute)
		}
	}
	if !e.Detected(time.Minute+2*c.Lost, c) {
		t.Error("not half-open though nothing came")
	}
}

// TestADeskThatHangsCostsFewConnections lets fleetd say for hours that it is
// there, and never beat.
func TestADeskThatHangsCostsFewConnections(t *testing.T) {
	var e HalfOpen
	c, now := Defaults(), time.Duration(0)
	e.Opened(0)
	e.Fleetd(true, 0)
	var renewed []time.Duration
	for now < 3*time.Hour {
		now += time.Second
		if e.Detected(now, c) {
			renewed = append(renewed, now)
			e.Closed()
			e.Opened(now)
			e.Fleetd(true, now)
		}
	}
	if n := len(renewed); n < 10 || n > 25 {
		t.Errorf("%d connections in three hours: %v", n, renewed)
	}
	for i := 1; i < len(renewed); i++ {
		if renewed[i]-renewed[i-1] < firstRenewal {
			t.Errorf("two connections within %v", renewed[i]-renewed[i-1])
		}
	}
}
