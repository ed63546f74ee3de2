package schema

import (
	"cmp"
	"slices"
)

// Caps describes a robot and its capabilities. Retained; published once per boot and on
// change.
type Caps struct {
	TS           Time                `json:"ts" doc:"when this was written"`
	Session      string              `json:"session" doc:"the connection that wrote this"`
	Robot        CapsRobot           `json:"robot" doc:"the body"`
	Software     CapsSoftware        `json:"software" doc:"the program and the version of this contract"`
	Limits       CapsLimits          `json:"limits" doc:"the sizes that the robot accepts"`
	Verbs        []string            `json:"verbs" doc:"the commands that it takes, as group/verb"`
	Arguments    map[string][]string `json:"arguments,omitzero" doc:"the arguments that it accepts, by verb; it refuses others, and a verb without an entry has none; an earlier release does not send it"`
	Actions      []string            `json:"actions,omitempty" doc:"the types of actions that its acts may have; an earlier release does not send it"`
	Units        []Unit              `json:"units" doc:"the units of the body and what each can do"`
	Points       []string            `json:"points" doc:"names that goto accepts; empty without a map"`
	TaughtPoints []TaughtPoint       `json:"taught_points,omitempty" doc:"those of points that were taught on the robot, on the map in force"`
	TaughtMap    string              `json:"taught_map_sha256,omitempty" doc:"digest of the map on which they lie; left out for the body's own"`
	Languages    []string            `json:"languages" doc:"that it speaks, the preferred one first"`
	TimeZone     string              `json:"time_zone,omitempty" doc:"in which its hours and weekdays are, as an IANA name; Local if its computer does not name it"`
	Labels       map[string]string   `json:"labels,omitempty" doc:"the fleet's labels of the robot, such as site: museum"`
	Handlers     []string            `json:"handlers" doc:"what interrupt/request takes"`
	Interrupters []string            `json:"interrupters" doc:"on whose behalf interrupts may be requested"`
	Features     []Feature           `json:"features,omitempty" doc:"what this release can beyond the verbs; readers ignore unknown ones"`
	Notes        []string            `json:"notes" doc:"what an operator must know, such as that a stop is not an emergency stop"`
	Truncated    bool                `json:"truncated,omitzero" doc:"over the size limit: labels and the ends of long lists are left out"`
}

// CapsRobot identifies the body.
type CapsRobot struct {
	Model  string `json:"model" doc:"of the body"`
	Serial string `json:"serial,omitempty" doc:"of the body"`
	HW     string `json:"hw,omitempty" doc:"the driver's description of the hardware: a revision, or that it is simulated"`
	Driver string `json:"driver" doc:"the code that drives it"`
}

// CapsSoftware identifies the program.
type CapsSoftware struct {
	Robotd   string   `json:"robotd" doc:"version of robotd"`
	Protocol []string `json:"protocol" doc:"minor versions of this contract, see Versions"`
}

// TaughtPoint is a point that was taught on the robot. Its coordinates hold only on its map.
type TaughtPoint struct {
	ID       string  `json:"id" doc:"its name"`
	XM       float64 `json:"x_m" doc:"on the map"`
	YM       float64 `json:"y_m" doc:"on the map"`
	ThetaRad float64 `json:"theta_rad" doc:"heading"`
}

// CapsLimits holds limits of the robot.
type CapsLimits struct {
	MaxCmdBytes  int `json:"max_cmd_bytes" doc:"size of a command"`
	MaxBlobBytes int `json:"max_blob_bytes" doc:"size of a blob that is fetched over MQTT"`
	DedupeWindow int `json:"dedupe_window" doc:"how many commands with an id the robot remembers of each client; it carries out none of them twice"`
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
	UnitSensor  UnitKind = "sensor" // takes no actions; only its faults and its temperature are reported
)

// UnitKindRow is what holds of all units of a kind.
type UnitKindRow struct {
	Kind   UnitKind
	Moves  bool // they can move the robot or a part of it: the safety core permits or forbids exactly these
	Sounds bool // they are heard: in E_STOP only the safety core may use them

	Severity     DeviceSeverity // of their faults, unless a setting says otherwise; empty = serious
	Temperatures Thresholds     // likewise; zero = usual
}

// UsualTemperatures lie below those at which a unit switches itself off, so that the robot rests before
// it has to stop.
var UsualTemperatures = Thresholds{Warm: 60, Hot: 70, Critical: 80}

// UnitKindTable lists the kinds. A battery is critical because nothing but rest helps one that is
// damaged or hot.
var UnitKindTable = []UnitKindRow{
	{Kind: UnitSpeaker, Sounds: true},
	{Kind: UnitFace},
	{Kind: UnitLED},
	{Kind: UnitScreen},
	{Kind: UnitHead, Moves: true},
	{Kind: UnitDrive, Moves: true},
	{Kind: UnitBattery, Severity: SeverityCritical, Temperatures: Thresholds{Warm: 45, Hot: 55, Critical: 65}},
	{Kind: UnitSensor},
}

// UnitKinds lists their names.
var UnitKinds = func() (names []UnitKind) {
	for _, r := range UnitKindTable {
		names = append(names, r.Kind)
	}
	return names
}()

// Row returns the row of a kind. One that this release does not know neither moves nor sounds.
func (k UnitKind) Row() UnitKindRow {
	for _, r := range UnitKindTable {
		if r.Kind == k {
			return r
		}
	}
	return UnitKindRow{Kind: k}
}

// Moves reports whether units of this kind can move the robot or a part of it.
func (k UnitKind) Moves() bool { return k.Row().Moves }

// Sounds reports whether units of this kind are heard.
func (k UnitKind) Sounds() bool { return k.Row().Sounds }

// Unit is one device of a robot with its own limits. A catalogue (Faces, Sounds, Views,
// Images) is empty if the unit accepts any name. A unit performs only the motions that it
// lists. A drive that lists an angle or a height takes poses.
type Unit struct {
	ID           string   `json:"id" doc:"what actions and manual commands take as unit"`
	Kind         UnitKind `json:"kind" doc:"speaker, face, led, screen, head, drive, battery or sensor"`
	Faces        []string `json:"faces,omitempty" doc:"that a face shows"`
	Sounds       []string `json:"sounds,omitempty" doc:"that a speaker plays"`
	Formats      []string `json:"formats,omitempty" doc:"of files that a speaker plays or a face shows, such as wav-pcm16, ogg-vorbis, ogg-opus, mp3, flac, png or jpeg; left out: it does not say"`
	FixedVolume  bool     `json:"fixed_volume,omitzero" doc:"of a speaker whose volume the robot cannot change; left out: it can"`
	Views        []string `json:"views,omitempty" doc:"that a screen shows"`
	Images       []string `json:"images,omitempty" doc:"that a screen shows"`
	Motions      []string `json:"motions,omitempty" doc:"that the unit performs"`
	YawRad       *Range   `json:"yaw_rad,omitzero" doc:"how far it turns to the left; less than 0: to the right"`
	PitchRad     *Range   `json:"pitch_rad,omitzero" doc:"how far a head looks up, or a body leans back; less than 0: down, or forward"`
	RollRad      *Range   `json:"roll_rad,omitzero" doc:"how far it leans to the side; the driver decides which side is positive"`
	HeightM      *Range   `json:"height_m,omitzero" doc:"of a pose"`
	MaxSpeedMPS  float64  `json:"max_speed_mps,omitzero" doc:"of a drive"`
	MaxSideMPS   float64  `json:"max_side_mps,omitzero" doc:"to the left and right; left out: it cannot"`
	MaxTurnRadPS float64  `json:"max_turn_radps,omitzero" doc:"of a drive that accepts velocities"`
	BrakingMPS2  float64  `json:"braking_mps2,omitzero" doc:"its deceleration when nothing moves it any more"`
}

// Catalogues returns the lists of names and formats of u.
func (u *Unit) Catalogues() []*[]string {
	return []*[]string{&u.Faces, &u.Sounds, &u.Motions, &u.Views, &u.Images, &u.Formats}
}

// Speeds returns the maximum speeds of a drive, those of a slow one if it states none.
func (u *Unit) Speeds() (mps, radps float64) {
	return cmp.Or(u.MaxSpeedMPS, 0.3), cmp.Or(u.MaxTurnRadPS, 0.5)
}

// Forward returns the range of a drive's speed in m/s; less than 0 is backwards.
func (u *Unit) Forward() Range {
	mps, _ := u.Speeds()
	return Range{Min: -mps, Max: mps}
}

// Turning returns the range of a drive's turning speed in rad/s.
func (u *Unit) Turning() Range {
	_, radps := u.Speeds()
	return Range{Min: -radps, Max: radps}
}

// HasVolume reports whether u can be made louder and quieter.
func (u *Unit) HasVolume() bool { return u.Kind.Sounds() && !u.FixedVolume }

// HasVolume reports whether one of units is a speaker whose volume can be changed.
func HasVolume(units []Unit) bool {
	return slices.ContainsFunc(units, func(u Unit) bool { return u.HasVolume() })
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
	Min float64 `json:"min" doc:"the least value"`
	Max float64 `json:"max" doc:"the greatest value"`
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
	TS      Time     `json:"ts" doc:"when this was written"`
	Session string   `json:"session" doc:"the connection that wrote this"`
	Digest  string   `json:"digest" doc:"SHA-256 over the ids and revisions"`
	Acts    []ActRef `json:"acts" doc:"the acts that were taught on the robot"`
}

// ActRef is one act of a catalogue.
type ActRef struct {
	ID   string `json:"id" doc:"what act/perform takes"`
	Rev  int64  `json:"rev" doc:"how often it was taught since it was last deleted"`
	Name string `json:"name,omitempty" doc:"for people"`
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
