package sim

import (
	"math"
	"slices"
	"sync"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
)

// The units.
const (
	speaker = "speaker"
	face    = "face"
	led     = "led"
	head    = "head"
	drive   = "drive"
	screen  = "screen"
	battery = "battery"

	twinSuffix = "-2" // follows the id of a unit in that of its twin
)

// touchAreas and stopInputs are those of the body, by name.
var (
	touchAreas = []string{"arm-left", "arm-right", "chest", "hand", "head"}
	stopInputs = []string{"back", "bumper", "front"}
)

// place is a position on the map in metres with a heading in radians, counted
// counter-clockwise from the x axis.
type place struct{ x, y, theta float64 }

// points is the map.
var points = map[string]place{
	"entrance": {0, 0, 0},
	"desk":     {3, 1, math.Pi / 2},
	"stage":    {6, -2, math.Pi},
	"fountain": {4, 4, -math.Pi / 2},
	"dock":     {-1, 0, 0},
}

// PointNames lists the points of the body's own map.
func PointNames() []string { return names(points) }

// The limits of the body.
const (
	maxSpeed  = 0.6 // m/s
	accel     = 0.5 // m/s²
	braking   = 1.0 // m/s², while it drives on, only slower
	stopping  = 3.0 // m/s², when nothing moves it any more
	maxTurn   = 1.5 // rad/s
	turnAccel = 3.0 // rad/s²
	headSpeed = 2.0 // rad/s
	leanSpeed = 0.2 // rad/s and m/s

	charactersPerSecond = 14
	shortestSpeech      = 400 * time.Millisecond

	settling    = 200 * time.Millisecond // a unit in error is not reset earlier than this
	holdTime    = 100 * time.Millisecond // a halted unit stands still this long before it goes to error
	homingTime  = 2 * time.Second
	loadingTime = 100 * time.Millisecond // time to load the map

	drainRest = 0.002 / 60 // share of the battery per second: eight hours of standing,
	drainMove = 0.006 / 60 // or almost three of driving
	charging  = 0.05       // share of the battery per minute, if the configuration says nothing else
	dockReach = 0.3        // m
)

var (
	yaw   = schema.Range{Min: -1.2, Max: 1.2}
	pitch = schema.Range{Min: -0.6, Max: 0.6}
	roll  = schema.Range{Min: -0.3, Max: 0.3}

	lean   = schema.Range{Min: -0.15, Max: 0.15} // pitch and roll of the drive
	height = schema.Range{Min: 0.9, Max: 1.1}
)

// kind is how the body simulates the units of a kind.
type kind struct {
	unit  schema.Unit // as the body describes it; shared, read-only
	pairs bool        // Config.Pairs gives the body a second one
	shows string      // what it shows at first; empty: it does not show one thing
	start func(*Sim, driver.Command)
	fail  func(s *Sim, why string) // fails its commands, unless it shows one thing or moves
}

// kinds lists them in the order of the body's units.
var kinds = []kind{speakerKind, faceKind, ledKind, headKind, driveKind, screenKind, batteryKind}

// kind returns how a unit is simulated.
func (s *Sim) kind(id string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.unit.Kind == s.kindOf(id) })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// Body describes the body.
func (s *Sim) Body() driver.Body {
	b := driver.Body{
		Model: "troupe-sim", Serial: s.config.Serial, Hardware: "simulated", Driver: "sim",
		Points:    []string{},
		Languages: []string{"en", "de", "fr", "es"},
	}
	b.Units = plainUnits()
	if s.config.Pairs {
		b.Units = pairedUnits()
	}
	if !s.config.NoMap {
		b.Points = names(points)
	}
	if s.config.Homing {
		b.Homing = []string{head, drive}
		if s.config.Pairs {
			b.Homing = append(b.Homing, head+twinSuffix)
		}
	}
	return b
}

// The units of every body, without and with twins; shared, read-only.
var (
	plainUnits  = sync.OnceValue(func() []schema.Unit { return unitsOf(false) })
	pairedUnits = sync.OnceValue(func() []schema.Unit { return unitsOf(true) })
)

func unitsOf(pairs bool) (units []schema.Unit) {
	for _, k := range kinds {
		units = append(units, k.unit)
	}
	for _, k := range kinds {
		if pairs && k.pairs {
			k.unit.ID += twinSuffix
			units = append(units, k.unit)
		}
	}
	return slices.Clip(units)
}

// kindOf returns the kind of a unit; empty if there is no such unit.
func (s *Sim) kindOf(id string) schema.UnitKind {
	for _, u := range s.units {
		if u.ID == id {
			return u.Kind
		}
	}
	return ""
}

func names[T any](m map[string]T) []string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return slices.Clip(list)
}
