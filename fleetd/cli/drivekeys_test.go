package cli

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestKeysOfATerminalAreRead(t *testing.T) {
	got := keysOf([]byte("w\x1b[A\x1bOD D\x1b"))
	if want := []key{keyForwards, keyForwards, keyLeft, keyStand, keyRight, keyQuit}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

// The repetitions of a held key arrive together over a slow connection.
func TestHeldArrowDoesNotQuit(t *testing.T) {
	keys := make(chan key, 100)
	readKeys(t.Context(), strings.NewReader(strings.Repeat("\x1b[A", 50)), keys)
	n := 0
	for k := range keys {
		if n++; k != keyForwards {
			t.Fatalf("key %d is %q", n, k)
		}
	}
	if n != 50 {
		t.Errorf("%d keys, want 50", n)
	}
}

func TestRobotStandsWhenAKeyIsNotRepeated(t *testing.T) {
	now := time.Unix(0, 0)
	d := driveKeys{speed: 0.2, turn: 0.6}
	after := func(wait time.Duration, wantVX, wantWZ float64) {
		t.Helper()
		now = now.Add(wait)
		if vx, wz := d.velocity(now); vx != wantVX || wz != wantWZ {
			t.Errorf("%v m/s, %v rad/s, want %v and %v", vx, wz, wantVX, wantWZ)
		}
	}
	after(0, 0, 0)
	d.press(keyForwards, now)
	after(499*time.Millisecond, 0.2, 0) // the terminal repeats it later
	d.press(keyForwards, now)
	after(199*time.Millisecond, 0.2, 0)
	after(time.Millisecond, 0, 0)
	d.press(keyLeft, now)
	after(0, 0, 0.6)
	d.press(keyStand, now)
	after(0, 0, 0)
}
