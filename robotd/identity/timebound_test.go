package identity

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimeIsNeverBelowLowerBound(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2030, 1, n, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		why                      string
		built, kept, fleet, ends time.Time
		clock, want              time.Time
	}{
		{"the clock is right", day(1), day(5), day(9), day(30), day(9), day(9)},
		{"the clock begins in 1970", day(1), day(5), day(9), day(30), time.Unix(0, 0), day(9)},
		{"no fleet time since the start", day(1), day(5), time.Time{}, day(30), time.Unix(0, 0), day(5)},
		{"no fleet time ever", day(1), time.Time{}, time.Time{}, day(30), time.Unix(0, 0), day(1)},
		{"a program newer than the fleet time", day(7), day(5), time.Time{}, day(30), time.Unix(0, 0), day(7)},
		{"fleetd's clock is past the end of the certificates", day(1), day(5), day(31), day(30), time.Unix(0, 0), day(5)},
		{"the sender was not authenticated", day(1), day(5), day(9), time.Time{}, time.Unix(0, 0), day(5)},
		{"fleetd's clock went back", day(1), day(5), day(3), day(30), time.Unix(0, 0), day(5)},
		{"the clock is ahead", day(1), day(5), day(9), day(30), day(20), day(20)},
	} {
		if got := (TimeLowerBound{Built: c.built, FleetTime: c.kept}).Observe(c.fleet, c.ends).Now(c.clock); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}

// With any times in heartbeats, the bound never goes back and never passes the end of
// the certificates.
func TestNoHeartbeatLocksRobotOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) time.Time { return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, name), 0) }
		f, ends := TimeLowerBound{Built: at("built"), FleetTime: at("kept")}, at("ends")
		open := f.Now(time.Unix(0, 0)).Before(ends)
		for range rapid.IntRange(0, 20).Draw(t, "heartbeats") {
			next := f.Observe(at("fleet"), ends)
			if next.FleetTime.Before(f.FleetTime) || next.Built != f.Built {
				t.Fatalf("%v after %v", next, f)
			}
			f = next
		}
		if now := f.Now(time.Unix(0, 0)); open && !now.Before(ends) {
			t.Fatalf("it is %v now, but the certificates ended at %v", now, ends)
		}
	})
}

func TestFleetTimeIsStored(t *testing.T) {
	data := t.TempDir()
	if got, err := LoadFleetTime(data); err != nil || !got.IsZero() {
		t.Errorf("before any fleet time: %v, %v", got, err)
	}
	want := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, w := range []time.Time{want, want.Add(time.Hour)} {
		if err := SaveFleetTime(data, w); err != nil {
			t.Fatal(err)
		}
		if got, err := LoadFleetTime(data); err != nil || !got.Equal(w) {
			t.Errorf("stored %v, read %v, %v", w, got, err)
		}
	}
	if err := os.WriteFile(filepath.Join(data, timeFile), []byte("20"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := LoadFleetTime(data); err == nil || !got.IsZero() {
		t.Errorf("from a damaged file: %v, %v", got, err)
	}
}
