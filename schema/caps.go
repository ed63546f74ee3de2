package schema

import (
	"cmp"
	"slices"
)

// Caps describes a robot and its capabilities. Retained; published once per boot and on
// change.
type Caps struct {
	TS       Time         `json:"ts"`
	Session  string       `json:"session"`
	Robot    CapsRobot    `json:"robot"`
	Software CapsSoftware `json:"software"`
	Limits   CapsLimits   `json:"limits"`
	Verbs    []string     `json:"verbs"` // group/verb
	// Arguments lists the arguments that the robot accepts, by verb; it refuses
	// others. A verb without an entry has none. Earlier releases do not send it: nil.
	Arguments map[string][]string `json:"arguments,omitzero"`
	// Actions lists the types of actions that the robot's acts may have. Earlier releases
	// do not send it: nil.
	Actions []string `json:"actions,omitempty"`
	Units   []Unit   `json:"units"`
	Points  []string `json:"points"` // names that goto accepts; empty without a map
	// TaughtPoints are those of Points that were taught on the robot, on the map in force, whose
	// digest is TaughtMap; empty = the body's own. Fleetd can take them into places with the
	// same map.
	TaughtPoints []TaughtPoint `json:"taught_points,omitempty"`
	TaughtMap    string        `json:"taught_map_sha256,omitempty"`
	Languages    []string      `json:"languages"`
	// Labels are the fleet's labels of the robot, such as site: museum.
	Labels       map[string]string `json:"labels,omitempty"`
	Handlers     []string          `json:"handlers"`
	Interrupters []string          `json:"interrupters"`
	Features     []Feature         `json:"features,omitempty"` // readers ignore unknown ones
	Notes        []string          `json:"notes"`              // what an operator must know, such as that a stop is not an emergency stop
	Truncated    bool              `json:"truncated,omitzero"` // over the size limit: labels and the ends of long lists are left out
}

// CapsRobot identifies the body.
type CapsRobot struct {
	Model  string `json:"model"`
	Serial string `json:"serial,omitempty"`
	HW     string `json:"hw,omitempty"` // the driver's description of the hardware: a revision, or that it is simulated
	Driver string `json:"driver"`
}

// CapsSoftware identifies the program.
type CapsSoftware struct {
	Robotd   string   `json:"robotd"`
	Protocol []string `json:"protocol"`
}

// TaughtPoint is a point that was taught on the robot. Its coordinates hold only on its map.
type TaughtPoint struct {
	ID       string  `json:"id"`
	XM       float64 `json:"x_m"`
	YM       float64 `json:"y_m"`
	ThetaRad float64 `json:"theta_rad"`
}

// CapsLimits holds limits of the robot.
type CapsLimits struct {
	MaxCmdBytes  int `json:"max_cmd_bytes"`
	MaxBlobBytes int `json:"max_blob_bytes"`
	DedupeWindow int `json:"dedupe_window"`
}

// UnitKind is the kind of a unit; the action table lists which kind each action needs.
type UnitKind string

const (
	UnitSpeaker UnitKind = "speaker"
	UnitFace    UnitKind = "face"
	UnitLED     UnitKind = "led"
	UnitScreen  UnitKind = "screen"
	UnitHead    UnitKind = "head"
	UnitDrive   UnitKind = "drive"
	UnitBattery UnitKind = "battery"
	UnitSensor  UnitKind = "sensor"
)

// UnitKinds lists them all.
var UnitKinds = []UnitKind{UnitSpeaker, UnitFace, UnitLED, UnitScreen, UnitHead, UnitDrive, UnitBattery, UnitSensor}

// Moves reports whether units of this kind can move the robot or a part of it. The
// safety core permits or forbids exactly these.
func (k UnitKind) Moves() bool { return k == UnitHead || k == UnitDrive }

// Unit is one device of a robot with its own limits. A catalogue (Faces, Sounds, Views,
// Images) is empty if the unit accepts any name. A unit performs only the motions that it
// lists. A drive that lists an angle or a height takes poses.
type Unit struct {
	ID          string   `json:"id"`
	Kind        UnitKind `json:"kind"`
	Faces       []string `json:"faces,omitempty"`
	Sounds      []string `json:"sounds,omitempty"`
	Views       []string `json:"views,omitempty"`  // of a screen
	Images      []string `json:"images,omitempty"` // of a screen
	Motions     []string `json:"motions,omitempty"`
	YawRad      *Range   `json:"yaw_rad,omitzero"`
	PitchRad    *Range   `json:"pitch_rad,omitzero"`
	RollRad     *Range   `json:"roll_rad,omitzero"`
	HeightM     *Range   `json:"height_m,omitzero"`
	MaxSpeedMPS float64  `json:"max_speed_mps,omitzero"`
	MaxSideMPS  float64  `json:"max_side_mps,omitzero"` // to the left and right; 0 = it cannot
	// For a drive that accepts velocities.
	MaxTurnRadPS float64 `json:"max_turn_radps,omitzero"`
	BrakingMPS2  float64 `json:"braking_mps2,omitzero"` // its deceleration when nothing moves it any more
}

// Speeds returns the maximum speeds of a drive, those of a slow one if it states none.
func (u *Unit) Speeds() (mps, radps float64) {
	return cmp.Or(u.MaxSpeedMPS, 0.3), cmp.Or(u.MaxTurnRadPS, 0.5)
}

// FindUnit returns the unit of a kind that an order means: the one that it names, or else
// the first of units.
func FindUnit(units []Unit, kind UnitKind, id string) (Unit, bool) {
	for _, u := range units {
		if u.Kind == kind && (id == "" || id == u.ID) {
			return u, true
		}
	}
	return Unit{}, false
}

// Range is a closed interval.
type Range struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// Holds reports whether v is within r. A nil range contains every value.
func (r *Range) Holds(v float64) bool { return r == nil || v >= r.Min && v <= r.Max }

// Validate reports missing or invalid fields.
func (m *Caps) Validate() []Problem {
	var c checks
	c.present("/session", m.Session != "")
	c.present("/software/robotd", m.Software.Robotd != "")
	c.present("/verbs", len(m.Verbs) > 0)
	for i := range m.Units {
		c.id(at("/units", i, "id"), m.Units[i].ID)
	}
	return c
}

// Takes reports whether the robot accepts an argument of a verb, and whether that is
// known. If caps list no arguments, it is known only for two: every release has
// seen_mono_ms, and every release that lists features has seen_boot.
func (m *Caps) Takes(verb, argument string) (takes, known bool) {
	switch {
	case m.Arguments != nil:
		return slices.Contains(m.Arguments[verb], argument), true
	case argument == "seen_mono_ms":
		return true, true
	case argument == "seen_boot":
		return len(m.Features) > 0, true
	}
	return false, false
}

// Acts is the robot's catalogue of the acts that it was taught.
type Acts struct {
	TS      Time     `json:"ts"`
	Session string   `json:"session"`
	Digest  string   `json:"digest"` // SHA-256 over the ids and revisions
	Acts    []ActRef `json:"acts"`
}

// ActRef is one act of a catalogue.
type ActRef struct {
	ID   string `json:"id"`
	Rev  int64  `json:"rev"`
	Name string `json:"name,omitempty"`
}

// Validate reports missing or invalid fields.
func (m *Acts) Validate() []Problem {
	var c checks
	c.present("/session", m.Session != "")
	c.digest("/digest", m.Digest)
	for i := range m.Acts {
		c.id(at("/acts", i, "id"), m.Acts[i].ID)
	}
	return c
}
