package schema

import (
	"fmt"
	"time"
	_ "time/tzdata" // a computer without a database of time zones knows them, too
)

// ZoneOf returns the time zone with an IANA name. The name of the computer's own, Local, says nothing to others and is
// refused.
func ZoneOf(name string) (*time.Location, error) {
	if name == "" || name == time.Local.String() {
		return nil, fmt.Errorf("%q is no name of a time zone; one is Europe/Berlin", name)
	}
	return time.LoadLocation(name)
}
