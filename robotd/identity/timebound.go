package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// timeFile contains the newest fleet time that the robot has received, in RFC 3339.
const timeFile = "time"

// TimeLowerBound is a lower bound of the present time. The robot's own clock may have stood still
// while it was switched off, or restarted in 1970. Certificates are checked at the later
// of the two times.
type TimeLowerBound struct {
	Built     time.Time // when the program was built; zero: unknown
	FleetTime time.Time // the newest time from the fleet; zero: none
}

// Now returns the later of clock and the bound.
func (f TimeLowerBound) Now(clock time.Time) time.Time {
	for _, t := range []time.Time{f.Built, f.FleetTime} {
		if t.After(clock) {
			clock = t
		}
	}
	return clock
}

// Observe returns the bound after the robot has received a time from the fleet. until is
// when the certificates of the connection expire; zero means that the sender was not
// authenticated. A time from an unauthenticated sender is ignored, and so is a time
// after until: otherwise a fleetd whose clock is years ahead would lock every robot out
// for good.
func (f TimeLowerBound) Observe(fleet, until time.Time) TimeLowerBound {
	if fleet.After(f.FleetTime) && fleet.Before(until) {
		f.FleetTime = fleet
	}
	return f
}

// LoadFleetTime reads the fleet's time from data; zero if there is none. A time after the
// end of the robot's own certificate is refused, because it cannot come from a heartbeat and
// would lock the robot out for good.
func LoadFleetTime(data string) (time.Time, error) {
	path := filepath.Join(data, timeFile)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, fmt.Errorf("read the fleet's time: %w", err)
	}
	t, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}, fmt.Errorf("read the fleet's time in %s: %w", path, err)
	}
	if i, err := Load(data); err == nil && !t.Before(i.Leaf().NotAfter) {
		return time.Time{}, fmt.Errorf("the fleet's time in %s is %s, after the end of the robot's certificate at %s: it is ignored",
			path, t.UTC().Format(time.RFC3339), i.Leaf().NotAfter.UTC().Format(time.RFC3339))
	}
	return t, nil
}

// SaveFleetTime stores the fleet's time in data; it survives a loss of power.
func SaveFleetTime(data string, t time.Time) error {
	if err := writeFile(filepath.Join(data, timeFile), []byte(t.UTC().Format(time.RFC3339)+"\n"), 0o644); err != nil {
		return err
	}
	return syncFolder(data)
}
