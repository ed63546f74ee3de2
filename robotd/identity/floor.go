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

// timeFile holds the fleet's time, in RFC 3339, as the robot heard it last.
const timeFile = "time"

// Floor is the least that it can be now, as far as a robot knows. Its own clock may
// have stood still while it was switched off, or begun anew in 1970; certificates
// are judged by whichever is later.
type Floor struct {
	Built time.Time // the program; zero: nobody knows
	Heard time.Time // from the fleet; zero: never
}

// Now is what a clock says, or the floor where that is later.
func (f Floor) Now(clock time.Time) time.Time {
	for _, t := range []time.Time{f.Built, f.Heard} {
		if t.After(clock) {
			clock = t
		}
	}
	return clock
}

// Hear takes the fleet's time, heard over a connection whose certificates are good
// until then; zero: nobody proved himself there. What is told by no one who proved
// himself is not believed, and nothing that would make those certificates useless
// either: a fleetd instance whose clock is years ahead would shut every robot out for good.
func (f Floor) Hear(fleet, until time.Time) Floor {
	if fleet.After(f.Heard) && fleet.Before(until) {
		f.Heard = fleet
	}
	return f
}

// HeardTime reads the fleet's time that data holds; zero where there is none. One
// after the end of the robot's own certificate was never heard: whoever wrote it
// would shut the robot out for good.
func HeardTime(data string) (time.Time, error) {
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
		return time.Time{}, fmt.Errorf("the fleet's time in %s is %s, and the robot's certificate ends %s: it is not believed",
			path, t.UTC().Format(time.RFC3339), i.Leaf().NotAfter.UTC().Format(time.RFC3339))
	}
	return t, nil
}

// KeepTime writes the fleet's time into data. It survives a loss of power.
func KeepTime(data string, t time.Time) error {
	if err := write(filepath.Join(data, timeFile), []byte(t.UTC().Format(time.RFC3339)+"\n"), 0o644); err != nil {
		return err
	}
	return syncFolder(data)
}
