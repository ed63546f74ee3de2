package measure

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"troupe/schema"
)

// Window is for how many minutes before and after the present one a State remembers what it emitted. If the clock is set back
// by less, values join those that the minute had; if by more, the minute that has more values in the end stays.
const Window = 15

// State is the minutes of all robots that are not over, and those that were emitted lately.
type State struct {
	robots map[string]*robot
	tick   int64 // the minute of the newest Tick, in Unix seconds
}

type robot struct {
	minutes  []minute         // in no order; one or two, and after a change of the clock up to 2*Window
	every    time.Duration    // between heartbeats
	beat     schema.Heartbeat // the newest
	beatAt   time.Time
	drivenAt time.Time
}

type minute struct {
	Point
	changed bool // since it was emitted
}

// NewState makes a state without robots.
func NewState() *State { return &State{robots: map[string]*robot{}} }

// Event is what a State takes in: Beat, Report, Config, Driven, Gone or Tick.
type Event interface{ event() }

// Beat is a heartbeat that arrived.
type Beat struct {
	Robot     string
	Heartbeat schema.Heartbeat
	RoundTrip time.Duration // that it shows; 0 = none
}

// Report is a state document that a robot published just now.
type Report struct {
	Robot string
	State *schema.State
}

// Config is the settings that a robot reports.
type Config struct {
	Robot  string
	Config *schema.ReportedConfig
}

// Driven is the speed of a robot that somebody drives.
type Driven struct {
	Robot    string
	SpeedMPS float64
}

// Gone is a robot that left the fleet.
type Gone struct{ Robot string }

// Tick says that time has passed. At the first one of a minute, the minutes that are over are emitted.
type Tick struct{}

func (Beat) event()   {}
func (Report) event() {}
func (Config) event() {}
func (Driven) event() {}
func (Gone) event()   {}
func (Tick) event()   {}

// drivenEvery is the least time between two speeds that count: robots send ten a second.
const drivenEvery = 450 * time.Millisecond

// WantsSpeed reports whether the speed of a robot would count now.
func (s *State) WantsSpeed(robot string, now time.Time) bool {
	r := s.robots[robot]
	return r == nil || absolute(now.Sub(r.drivenAt)) >= drivenEvery
}

func absolute(d time.Duration) time.Duration { return max(d, -d) }

// Step takes in an event and returns the minutes that are over. A minute that gets further values after that, because the
// clock was set back, is returned again with all of its values.
func Step(s *State, now time.Time, ev Event) []Minute {
	switch ev := ev.(type) {
	case Beat:
		s.robot(ev.Robot).takeBeat(ev, now)
	case Report:
		s.robot(ev.Robot).takeState(ev.State, now)
	case Config:
		s.robot(ev.Robot).takeConfig(ev.Config)
	case Driven:
		r := s.robot(ev.Robot)
		r.drivenAt = now
		r.add(Speed, ev.SpeedMPS, now)
	case Gone:
		delete(s.robots, ev.Robot)
	case Tick:
		return s.emit(MinuteOf(now))
	}
	return nil
}

func (s *State) robot(id string) *robot {
	r := s.robots[id]
	if r == nil {
		r = &robot{every: schema.DefaultHeartbeat}
		s.robots[id] = r
	}
	return r
}

// emit returns the changed minutes of all robots but the present one, in the order of robots and time.
func (s *State) emit(present int64) (out []Minute) {
	if present == s.tick {
		return nil
	}
	s.tick = present
	for id, r := range s.robots {
		for i := range r.minutes {
			if m := &r.minutes[i]; m.changed && m.Start != present {
				m.changed = false
				out = append(out, Minute{id, m.Point})
			}
		}
		r.minutes = slices.DeleteFunc(r.minutes, func(m minute) bool {
			return !m.changed && max(m.Start-present, present-m.Start) > Window*MinuteS
		})
	}
	slices.SortFunc(out, func(a, b Minute) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.Robot, b.Robot))
	})
	return out
}

func (r *robot) add(of Series, v float64, now time.Time) {
	if math.IsNaN(v) || math.IsInf(v, 0) { // of a robot that computes nonsense
		return
	}
	start := MinuteOf(now)
	i := len(r.minutes) - 1
	for ; i >= 0 && r.minutes[i].Start != start; i-- {
	}
	if i < 0 {
		r.minutes = append(r.minutes, minute{Point: Point{Start: start}})
		i = len(r.minutes) - 1
	}
	r.minutes[i].Values[of].Add(v)
	r.minutes[i].changed = true
}

func (r *robot) takeBeat(b Beat, now time.Time) {
	h, before := b.Heartbeat, r.beat
	if b.RoundTrip > 0 {
		r.add(RoundTrip, milliseconds(b.RoundTrip), now)
	}
	// A robot that was switched off has another boot. Between its heartbeats there was no silence that says something of the network.
	if gap := now.Sub(r.beatAt); h.Boot == before.Boot && gap >= 0 {
		r.add(HeartbeatGap, milliseconds(gap), now)
	}
	// The robot sends the next heartbeat heartbeat_ms after the last one, or when that one announced it, in the first step of
	// its loop that is not earlier. If it is no longer at rest, it sends it before.
	if late := h.MonoMS - before.MonoMS - cmp.Or(before.NextMS, r.every.Milliseconds()); h.Session == before.Session &&
		h.Boot == before.Boot && h.Seq == before.Seq+1 && late >= 0 {
		r.add(LoopLateness, float64(late), now)
	}
	r.beat, r.beatAt = h, now
}

// batteryDetail is what robots say of the unit battery.
var batteryDetail = regexp.MustCompile(`^(\d{1,3}) %(, charging)?$`)

func (r *robot) takeState(d *schema.State, now time.Time) {
	for _, u := range d.Units {
		if u.Kind != string(schema.UnitBattery) {
			continue
		}
		if m := batteryDetail.FindStringSubmatch(u.Detail); m != nil {
			percent, _ := strconv.Atoi(m[1])
			r.add(Battery, float64(percent), now)
			break
		}
	}
	hottest := math.Inf(-1)
	for _, device := range d.Diagnosis {
		if c := device.TemperatureC; c != nil {
			hottest = max(hottest, *c)
		}
	}
	if !math.IsInf(hottest, -1) {
		r.add(Temperature, hottest, now)
	}
	if d.Link.State != schema.LinkNever {
		r.add(SilenceBudget, float64(d.Link.BudgetMS), now)
	}
}

func (r *robot) takeConfig(c *schema.ReportedConfig) {
	r.every = schema.DefaultHeartbeat
	if ms, err := strconv.ParseInt(string(c.Applied["heartbeat_ms"]), 10, 64); err == nil && ms > 0 {
		r.every = time.Duration(ms) * time.Millisecond
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
