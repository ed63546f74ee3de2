package schema

import "slices"

// Caps is what a robot is and can do: retained, once per boot and on change.
type Caps struct {
	TS       Time         `json:"ts"`
	Session  string       `json:"session"`
	Robot    CapsRobot    `json:"robot"`
	Software CapsSoftware `json:"software"`
	Limits   CapsLimits   `json:"limits"`
	Verbs    []string     `json:"verbs"` // group/verb
	// Arguments are those that the robot takes, by verb; it refuses any other. A
	// verb without an entry takes none. Earlier releases do not list them: nil.
	Arguments map[string][]string `json:"arguments,omitzero"`
	Units     []Unit              `json:"units"`
	Points    []string            `json:"points"` // names that goto knows; empty without a map
	Languages []string            `json:"languages"`
	// Labels are what the fleet calls the robot by, such as site: museum.
	Labels       map[string]string `json:"labels,omitempty"`
	Handlers     []string          `json:"handlers"`
	Interrupters []string          `json:"interrupters"`
	Features     []Feature         `json:"features,omitempty"` // what not every robot can do; unknown ones are to be ignored
	Notes        []string          `json:"notes"`              // what a person must know, such as what a stop is not
	Truncated    bool              `json:"truncated,omitzero"` // over the limit: labels and the ends of long lists left out
}

// CapsRobot identifies the body.
type CapsRobot struct {
	Model  string `json:"model"`
	Serial string `json:"serial,omitempty"`
	HW     string `json:"hw,omitempty"` // what its driver says of the hardware: a revision, or that there is none
	Driver string `json:"driver"`
}

// CapsSoftware identifies the program.
type CapsSoftware struct {
	Robotd   string   `json:"robotd"`
	Protocol []string `json:"protocol"`
}

// CapsLimits are the robot's own bounds.
type CapsLimits struct {
	MaxCmdBytes  int `json:"max_cmd_bytes"`
	MaxBlobBytes int `json:"max_blob_bytes"`
	DedupeWindow int `json:"dedupe_window"`
}

// UnitKind is what a unit is for; the action table says which kind an action
// needs.
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

// Moves reports whether units of this kind can move the robot or a part of it:
// the safety gate closes exactly these.
func (k UnitKind) Moves() bool { return k == UnitHead || k == UnitDrive }

// Unit is one device of a robot with its own limits. Catalogues are empty when
// the unit takes any name.
type Unit struct {
	ID          string   `json:"id"`
	Kind        UnitKind `json:"kind"`
	Faces       []string `json:"faces,omitempty"`
	Sounds      []string `json:"sounds,omitempty"`
	Motions     []string `json:"motions,omitempty"`
	YawRad      *Range   `json:"yaw_rad,omitzero"`
	PitchRad    *Range   `json:"pitch_rad,omitzero"`
	RollRad     *Range   `json:"roll_rad,omitzero"`
	MaxSpeedMPS float64  `json:"max_speed_mps,omitzero"`
	// Of a drive that takes velocities.
	MaxTurnRadPS float64 `json:"max_turn_radps,omitzero"`
	BrakingMPS2  float64 `json:"braking_mps2,omitzero"` // how fast it slows down by itself
}

// Range is a closed interval.
type Range struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// Holds reports whether v lies within r; a missing range holds everything.
func (r *Range) Holds(v float64) bool { return r == nil || v >= r.Min && v <= r.Max }

// Validate reports what caps must carry and do not.
func (m *Caps) Validate() []Problem {
	var c checks
	c.said("/session", m.Session != "")
	c.said("/software/robotd", m.Software.Robotd != "")
	c.said("/verbs", len(m.Verbs) > 0)
	for i := range m.Units {
		c.id(at("/units", i, "id"), m.Units[i].ID)
	}
	return c
}

// Takes reports whether the robot takes an argument of a verb, and whether that is
// known. Where caps list no arguments it is known of sight alone: seen_mono_ms has
// been there from the first release, and seen_boot is older than features, which
// every robot lists since.
func (m *Caps) Takes(verb, argument string) (takes, known bool) {
	switch {
	case m.Arguments != nil:
		return slices.Contains(m.Arguments[verb], argument), true
	case argument == argSeen.Name:
		return true, true
	case argument == argBoot.Name:
		return len(m.Features) > 0, true
	}
	return false, false
}

// Acts is the robot's own catalogue of taught acts.
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

// Validate reports what a catalogue of acts must carry and does not.
func (m *Acts) Validate() []Problem {
	var c checks
	c.said("/session", m.Session != "")
	c.digest("/digest", m.Digest)
	for i := range m.Acts {
		c.id(at("/acts", i, "id"), m.Acts[i].ID)
	}
	return c
}
