package link

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAConnectionIsDeafOnlyWhileADeskIsThereThatIsNotHeard(t *testing.T) {
	c := Defaults()
	for _, row := range []struct {
		name string
		live func(*Ears, *State) // up to one minute after boot
		deaf bool
	}{
		{"no connection", func(*Ears, *State) {}, false},
		{"no desk", func(e *Ears, _ *State) { e.Opened(0) }, false},
		{"a desk never heard", func(e *Ears, _ *State) { e.Opened(0); e.Desk(true, 0) }, true},
		{"a desk that came just now", func(e *Ears, _ *State) { e.Opened(0); e.Desk(true, time.Minute-time.Second) }, false},
		{"a desk heard just now", func(e *Ears, s *State) { e.Opened(0); e.Desk(true, 0); Heard(s, 59*time.Second, c, "fleetd") }, false},
		{"a desk heard long ago", func(e *Ears, s *State) { e.Opened(0); e.Desk(true, 0); Heard(s, time.Second, c, "fleetd") }, true},
		{"a desk that said goodbye", func(e *Ears, _ *State) { e.Opened(0); e.Desk(true, 0); e.Desk(false, time.Second) }, false},
		{"a desk of the connection before", func(e *Ears, _ *State) { e.Opened(0); e.Desk(true, 0); e.Closed(); e.Opened(time.Second) }, false},
		{"a desk that says so again", func(e *Ears, _ *State) { e.Opened(0); e.Desk(true, 0); e.Desk(true, time.Minute-1) }, true},
	} {
		e, s := Ears{}, Boot()
		row.live(&e, &s)
		if got := e.Deaf(s, time.Minute, c); got != row.deaf {
			t.Errorf("%s: deaf %v", row.name, got)
		}
	}
}

// TestADeskThatHangsCostsFewConnections lets the desk say for hours that it is
// there, and never beat.
func TestADeskThatHangsCostsFewConnections(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var e Ears
		s, c, now := Boot(), Defaults(), time.Duration(0)
		e.Opened(0)
		e.Desk(true, 0)
		var renewed []time.Duration
		for now < 3*time.Hour {
			now += time.Duration(rapid.IntRange(1, 250).Draw(t, "ms")) * time.Millisecond * 100
			if e.Deaf(s, now, c) {
				renewed = append(renewed, now)
				e.Closed()
				e.Opened(now)
				e.Desk(true, now)
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
	})
}
