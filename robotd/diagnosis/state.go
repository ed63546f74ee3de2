// Package diagnosis decides which units are out of order or too hot, what the robot does
// about each, and which safeguards keep it from moving.
//
// A unit is checked by what its driver reports, by its calibration and by whether it answers
// its commands. One that has reported nothing some seconds after start-up, or when the robot
// is enabled, counts as faulty until it does. What follows depends on the severity of the
// unit, not on the fault: nothing, the unit is taken from acts, or the robot goes to rest by a soft stop and cannot be enabled. Heat ends
// by itself; damage of a critical unit is acknowledged by a person.
//
// The package stops nothing at once: a unit switches itself off at its own limit, which the
// safety core sees as an error of the unit.
package diagnosis

import (
	"cmp"
	"math"
	"slices"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/driver"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

// The time limits of the checks.
const (
	answerWithin = 5 * time.Second  // for a command that takes no time
	reportWithin = 10 * time.Second // for the first report after start-up
)

// Keys of values on the disk: each precedes the id of a unit.
const (
	FaultKey = "fault." // the damage that nobody has acknowledged
	HeatKey  = "heat."  // the level of heat, while it keeps the robot at rest
)

// State is what the robot knows of its units' health.
type State struct {
	cfg              *Config
	devices          []device
	signalSafeguards [len(signalSafeguards)]signalSafeguard
	started          time.Duration
	coreState        schema.SafetyState // of the safety core, at the newest check
	causes           []safety.Cause     // why the robot is at rest
	changed          bool               // a unit has something to report
}

// New returns the state of a robot whose units have reported nothing.
func New(cfg *Config, units []schema.Unit, now clock.Now, saved map[string]string) State {
	s := State{cfg: cfg, started: now.Mono}
	for _, u := range units {
		d := device{unit: u, phase: Normal, since: now.Wall}
		if saved[HeatKey+u.ID] != "" {
			d.heat.level, d.heatSaved, d.phase = len(heats)-1, true, Resting
		}
		if d.damage = saved[FaultKey+u.ID]; d.damage != "" {
			d.phase, d.savedDamage = Repaired, d.damage
		}
		d.shown = shown{phase: d.phase}
		s.devices = append(s.devices, d)
	}
	for i := range s.devices {
		s.changed = s.changed || s.devices[i].phase != Normal
	}
	s.listCauses()
	return s
}

func (s *State) device(id string) *device {
	i := slices.IndexFunc(s.devices, func(d device) bool { return d.unit.ID == id })
	if i < 0 {
		return nil
	}
	return &s.devices[i]
}

// Sense notes a report of the body.
func (s *State) Sense(now time.Duration, ev driver.Event) {
	switch ev.Kind {
	case driver.Unit:
		if d := s.device(ev.Unit); d != nil {
			d.reported, d.silent, d.broken, d.lost = true, false, "", false
			if ev.State == driver.Error {
				d.broken, d.lost = ev.Detail, ev.Lost
			}
		}
	case driver.Done, driver.Failed:
		s.answered(ev.Key)
	case driver.Sensed:
		s.signal(now, ev)
	}
}

func (s *State) signal(now time.Duration, ev driver.Event) {
	if ev.Signal == driver.Heat {
		if d := s.device(ev.Name); d != nil && !math.IsNaN(ev.Level) && !math.IsInf(ev.Level, 0) {
			d.heat.known, d.heat.celsius = true, ev.Level
		}
		return
	}
	for i := range signalSafeguards {
		if signalSafeguards[i].signal == ev.Signal {
			s.signalSafeguards[i].sense(now, ev.On)
		}
	}
}

// Started notes a command for a unit that has to answer it: one that takes no time, or that
// is done when the unit has reached, said or performed something. Sounds take as long as
// they are.
func (s *State) Started(now time.Duration, c *driver.Command) {
	d := s.device(c.Unit)
	if d == nil || d.key != 0 {
		return
	}
	var until time.Duration
	if c.Holds {
		expected := score.Expected(c.Do)
		if expected == 0 || c.Do.TimeoutMS == nil {
			return
		}
		limit := time.Duration(*c.Do.TimeoutMS)*time.Millisecond - c.From
		if until = now + limit; limit < expected {
			return // too short for what it asks
		}
	}
	d.key, d.asked, d.until = c.Key, now, until
}

// Stopped notes that a command needs no answer any more.
func (s *State) Stopped(now time.Duration, key uint64) {
	for i := range s.devices {
		d := &s.devices[i]
		if d.key != key {
			continue
		}
		d.key = 0
		if d.until > 0 && now >= d.until {
			d.late++
		}
	}
}

func (s *State) answered(key uint64) {
	for i := range s.devices {
		if d := &s.devices[i]; key != 0 && d.key == key {
			d.key, d.unanswered, d.late = 0, false, 0
		}
	}
}

// Calibrated notes the result of a calibration for each unit.
func (s *State) Calibrated(units []driver.Calibrated) {
	for _, u := range units {
		if d := s.device(u.Unit); d != nil {
			d.calibration = ""
			if u.Reason != "" {
				d.calibration = "calibration: " + schema.SanitizeText(cmp.Or(u.Detail, u.Reason.Describe().Text))
			}
		}
	}
}

// Check decides what the robot does about each unit. It runs in every step, before the
// safety core, whose state is coreState.
func (s *State) Check(now clock.Now, coreState schema.SafetyState) {
	active := now.Mono-s.started >= reportWithin
	if coreState == schema.SafetyEnabled && s.coreState != coreState {
		active = true
	}
	s.coreState = coreState
	for i := range s.devices {
		d := &s.devices[i]
		if !d.reported && active {
			d.silent = true
		}
		if d.key != 0 && d.until == 0 && now.Mono-d.asked >= answerWithin {
			d.key, d.unanswered = 0, true
		}
		d.heat.update(now.Mono, s.cfg.ThresholdsOf(d.unit))
		s.judge(d, now.Wall)
		is := d.current()
		s.changed = s.changed || is != d.shown && (d.phase != Normal || d.shown.phase != Normal)
	}
	for i := range s.signalSafeguards {
		g := &s.signalSafeguards[i]
		g.active = (g.on || now.Mono < g.until) && s.cfg.SafeguardOn(signalSafeguards[i].name)
	}
	if s.changed {
		s.listCauses()
	}
}

// judge takes the finding of a check. A unit of which nothing is known stays damaged: nobody has
// seen that it is repaired.
func (s *State) judge(d *device, now schema.Time) {
	found := d.finding(s.cfg.SeverityOf(d.unit))
	if d.phase == Damaged && found != FoundDamage {
		if d.isUnknown() && s.cfg.SeverityOf(d.unit) == schema.SeverityCritical {
			return
		}
		found = Mended
	}
	d.transition(found, now)
}

// listCauses notes why the robot is at rest.
func (s *State) listCauses() {
	s.causes = s.causes[:0]
	for i := range s.devices {
		if d := &s.devices[i]; d.phase.rests() {
			s.causes = append(s.causes, safety.Cause{Event: safety.SoftStopAsked, Reason: schema.ReasonUnitCritical, Source: "unit", Key: d.unit.ID,
				Why: d.why() + "; " + d.wayOut()})
		}
	}
}

// Causes returns why the robot has to be at rest, for the safety core.
func (s *State) Causes() []safety.Cause { return s.causes }

// Unusable returns why nobody may use a unit, and the way out; empty = it may be used.
func (s *State) Unusable(unit string) string {
	if d := s.device(unit); d != nil && d.disabled() {
		return d.why() + "; " + d.wayOut()
	}
	return ""
}

// MotionBarred returns why nothing may move, though the safety core permits it; empty = nothing
// prevents it.
func (s *State) MotionBarred() schema.Reason {
	for i := range s.signalSafeguards {
		if s.signalSafeguards[i].active {
			return schema.ReasonSafeguard
		}
	}
	return ""
}

// MotionDetail explains MotionBarred, with the way out.
func (s *State) MotionDetail() string {
	for i := range s.signalSafeguards {
		if s.signalSafeguards[i].active {
			return signalSafeguards[i].detail + "; motion is allowed again a while after that is over"
		}
	}
	return ""
}

// AtoPaused returns why ato has to be paused; empty = it has not.
func (s *State) AtoPaused() schema.Reason {
	if s.EntryRefused() != "" || s.Safeguarded(schema.SafeguardCriticalTemperature) {
		return schema.ReasonSafeguard
	}
	return s.MotionBarred()
}

// EntryRefused returns why ato must not be entered; empty = it may be.
func (s *State) EntryRefused() schema.Reason {
	if s.cfg.SafeguardOn(schema.SafeguardCriticalDiagnosis) && (s.any(Damaged) || s.any(Repaired)) {
		return schema.ReasonSafeguard
	}
	return ""
}

// Safeguarded reports whether a safeguard has a cause now.
func (s *State) Safeguarded(by schema.Safeguard) bool {
	switch by {
	case schema.SafeguardCriticalDiagnosis:
		return s.EntryRefused() != ""
	case schema.SafeguardCriticalTemperature:
		return s.any(Resting) && s.cfg.SafeguardOn(by)
	}
	for i := range signalSafeguards {
		if signalSafeguards[i].name == by {
			return s.signalSafeguards[i].active
		}
	}
	return false
}

func (s *State) any(p Phase) bool {
	for i := range s.devices { // every step asks, and a device is large
		if s.devices[i].phase == p {
			return true
		}
	}
	return false
}

// Refs name the units that a refusal is about.
func (s *State) Refs(why schema.Reason) (refs []schema.Ref) {
	for i := range s.devices {
		if d := &s.devices[i]; d.phase.rests() || why == schema.ReasonDeviceDisabled && d.phase == Disabled {
			refs = append(refs, schema.Ref{Kind: schema.RefUnit, ID: d.unit.ID})
		}
	}
	return refs
}
