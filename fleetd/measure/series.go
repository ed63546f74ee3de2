package measure

import (
	"slices"
	"strings"
)

// Series is one measurement of a robot. Its number is in the rows of the database and never changes.
type Series int

// The series.
const (
	Battery Series = iota
	Temperature
	LoopLateness
	RoundTrip
	HeartbeatGap
	SilenceBudget
	Speed
	SeriesCount int = iota
)

// SeriesRow says what a series is.
type SeriesRow struct {
	Name string // on the wire
	Unit string
	Text string
	// perUnit is how many steps of the packed form one unit has: values are rounded to the nearest step.
	perUnit float64
}

// Table is the series by their numbers.
var Table = [SeriesCount]SeriesRow{
	Battery: {"battery", "%", "charge of the battery", 10},
	Temperature: {"temperature", "°C",
		"temperature of the hottest unit among those that are warm, hot or out of order; robots report no others", 10},
	LoopLateness:  {"loop_lateness", "ms", "by how much the robot's control loop was late, measured with its own clock at each heartbeat", 10},
	RoundTrip:     {"round_trip", "ms", "round trip of a message from fleetd to the robot and back", 10},
	HeartbeatGap:  {"heartbeat_gap", "ms", "time between two heartbeats of the robot as they arrived", 0.1},
	SilenceBudget: {"silence_budget", "ms", "how much more silence there might have been until the robot counts the link as lost", 0.1},
	Speed:         {"speed", "m/s", "speed while somebody drives the robot; it reports no other", 1000},
}

func (s Series) String() string { return Table[s].Name }

// ParseSeries finds a series by its name.
func ParseSeries(name string) (Series, bool) {
	i := slices.IndexFunc(Table[:], func(r SeriesRow) bool { return r.Name == name })
	return Series(i), i >= 0
}

// Names are the names of all series, for sentences.
func Names() string {
	var all []string
	for _, r := range Table {
		all = append(all, r.Name)
	}
	return strings.Join(all, ", ")
}
