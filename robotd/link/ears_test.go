package link

import (
	"testing"
	"time"
)

func TestAConnectionIsDeafOnlyWhileADeskIsThereThatIsNotHeard(t *testing.T) {
	c := Defaults()
	for _, row := range []struct {
		name string
		live func(*Ears) // up to one minute after boot
		deaf bool
	}{
		{"no connection", func(*Ears) {}, false},
		{"no fleetd", func(e *Ears) { e.Opened(0) }, false},
		{"a fleetd instance never heard", func(e *Ears) { e.Opened(0); e.Fleetd(true, 0) }, true},
		{"a fleetd instance that came just now", func(e *Ears) { e.Opened(0); e.Fleetd(true, time.Minute-time.Second) }, false},
		{"a fleetd instance heard just now", func(e *Ears) { e.Opened(0); e.Fleetd(true, 0); e.Heard(59 * time.Second) }, false},
		{"a fleetd instance heard long ago", func(e *Ears) { e.Opened(0); e.Fleetd(true, 0); e.Heard(time.Second) }, true},
		{"a fleetd instance that said goodbye", func(e *Ears) { e.Opened(0); e.Fleetd(true, 0); e.Fleetd(false, time.Second) }, false},
		{"a fleetd instance of the connection before", func(e *Ears) { e.Opened(0); e.Fleetd(true, 0); e.Closed(); e.Opened(time.Second) }, false},
		{"a fleetd instance that says so again", func(e *Ears) { e.Opened(0); e.Fleetd(true, 0); e.Fleetd(true, time.Minute-1) }, true},
	} {
		e := Ears{looked: time.Minute - tick}
		row.live(&e)
		if got := e.Deaf(time.Minute, c); got != row.deaf {
			t.Errorf("%s: deaf %v", row.name, got)
		}
	}
}

func TestARobotThatStoodStillIsNotDeaf(t *testing.T) {
	c := Defaults()
	var e Ears
	e.Opened(0)
	e.Fleetd(true, 0)
	e.Deaf(time.Second, c)
	// It hung for a minute, and what it heard meanwhile still waits.
	if e.Deaf(time.Minute, c) {
		t.Error("deaf before it had a chance to hear")
	}
	for now := time.Minute; now < time.Minute+2*c.Lost; now += tick {
		if e.Deaf(now, c) {
			t.Fatalf("deaf %v after it moved again", now-time.Minute)
		}
	}
	if !e.Deaf(time.Minute+2*c.Lost, c) {
		t.Error("not deaf though nothing came")
	}
}

// TestADeskThatHangsCostsFewConnections lets fleetd say for hours that it is
// there, and never beat.
func TestADeskThatHangsCostsFewConnections(t *testing.T) {
	var e Ears
	c, now := Defaults(), time.Duration(0)
	e.Opened(0)
	e.Fleetd(true, 0)
	var renewed []time.Duration
	for now < 3*time.Hour {
		now += time.Second
		if e.Deaf(now, c) {
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
