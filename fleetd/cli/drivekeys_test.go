package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/drive"
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

func TestControlIsKeptWhileKeysArePressed(t *testing.T) {
	began := time.Unix(0, 0)
	d := driveKeys{pressedAt: began}
	for seconds, want := range map[time.Duration]bool{0: true, 90: true, 91: false} {
		if got := d.present(began.Add(seconds * time.Second)); got != want {
			t.Errorf("%d s after the beginning somebody is present: %v", seconds, got)
		}
	}
	d.press(keyStand, began.Add(100*time.Second))
	if !d.present(began.Add(190*time.Second)) || d.present(began.Add(191*time.Second)) {
		t.Error("a key does not keep control for 90 s")
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

// A key is held while the network stalls: fleetd stops the robot, and no frame may look like a
// released key before it is released, however late the terminal repeats it.
func TestHeldKeyDoesNotDriveOnAfterFleetdStopped(t *testing.T) {
	for _, repeats := range []int64{30, 90, 450} { // ms, after the stop
		const stalls, back, released, again, ends = 700, 1000, 3000, 3600, 4000 // ms
		began := time.Unix(1000, 0)
		s, keys := drive.New(began), driveKeys{speed: 0.2, turn: 0.6}
		var before, stopped, drivesAgain bool
		next := int64(100)
		for ms := int64(0); ms < ends; ms += 10 {
			now := began.Add(time.Duration(ms) * time.Millisecond)
			facts := drive.Facts{Lease: "a", Connected: true, Limits: drive.Limits{MPS: 0.6, RadPS: 1}, SeenMonoMS: 1000 + ms, SeenAt: now}
			drive.Tick(&s, now, facts)
			if ms == back { // with the network fleetd's message comes
				keys.stopped(now)
			}
			if ms%50 == 0 && (ms < stalls || ms >= back) {
				vx, wz := keys.velocity(now)
				drive.Receive(&s, now, facts, drive.Frame{Lease: "a", Seq: ms + 1, VX: vx, WZ: wz})
			}
			drives := s.At == drive.Driving
			before, stopped, drivesAgain = before || drives && ms < stalls, stopped || drives && ms >= back && ms < again, drivesAgain || drives &&
				ms >= again
			if ms >= next && (ms < released || ms >= again) { // after the frame, which is the worse order
				keys.press(keyForwards, now)
				if next = ms + 100; ms >= back {
					next = ms + repeats
				}
			}
		}
		if !before || stopped || !drivesAgain {
			t.Errorf("repeated every %d ms: it drives before %v, after the stop %v, after a release %v", repeats, before, stopped, drivesAgain)
		}
	}
}
