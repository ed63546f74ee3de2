// Package bus is the contract between robotd and the adapters of a robot's units: processes
// in any language that serve units over MQTT on the robot itself.
//
// robotd gives orders and an adapter carries them out. Each watches the other: a unit that
// moves and gets no ticks stops by itself, as by a dead man's switch, and the units of an
// adapter that is silent or sends wrong data are in error.
package bus

import (
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Version is the version of the contract, which every payload carries.
const Version = 1

// The rates of both sides.
const (
	// TickEvery is the interval of ticks while robotd feeds. Watchdog is how long a unit may
	// move without one.
	TickEvery = 20 * time.Millisecond
	Watchdog  = 200 * time.Millisecond
	// MissedStates is how many states may be missing before an adapter counts as silent.
	MissedStates = 10
	// MaxRate is how many messages per second an adapter may send, MaxBurst how many at once.
	MaxRate, MaxBurst = 500, 200
	// HealAfter is how long an adapter has to behave before it is trusted again.
	HealAfter = time.Second
	// MaxPayload is the greatest payload in bytes.
	MaxPayload = 64 << 10
)

// The bounds of the interval of an adapter's states, in milliseconds. That of an adapter
// with a unit that moves is the shortest.
const (
	MinStateMS = 20
	MaxStateMS = 100
)

// RobotPresence says that robotd is there. Retained; its will says that robotd is gone.
type RobotPresence struct {
	V        int64  `json:"v" doc:"1"`
	Present  bool   `json:"present" doc:"false = robotd is gone: what moves stops"`
	Session  string `json:"session" doc:"of robotd's connection"`
	Robot    string `json:"robot,omitempty" doc:"the robot's name"`
	Language string `json:"language,omitempty" doc:"in which the robot speaks, such as en"`
	Assets   string `json:"assets,omitempty" doc:"directory of the stories' files, each under its SHA-256"`
}

// Presence says that an adapter is there, and what it has. Retained; its will says that it
// is gone.
type Presence struct {
	V        int64     `json:"v" doc:"1"`
	Present  bool      `json:"present" doc:"false = the adapter is gone"`
	Session  string    `json:"session" doc:"chosen by the adapter's process at its start, 1 to 32 of a-z, 0-9 and hyphens"`
	Describe *Describe `json:"describe,omitzero" doc:"what the adapter has; left out if it is gone"`
}

// Describe is what an adapter has. It does not change while robotd runs.
type Describe struct {
	Model      string        `json:"model" doc:"the body's model"`
	Serial     string        `json:"serial,omitempty" doc:"its serial number"`
	Hardware   string        `json:"hardware,omitempty" doc:"the manufacturer's revision"`
	StateMS    int64         `json:"state_ms" doc:"interval of its states: 20 if a unit moves, else 20 to 100"`
	Units      []schema.Unit `json:"units" doc:"each with id (1 to 32 of a-z, 0-9 and hyphens, not beginning with a hyphen) and kind; by kind with faces, sounds, fixed_volume, views, images, motions, max_speed_mps, max_turn_radps, braking_mps2, and of a head at least one of yaw_rad, pitch_rad and roll_rad as {min, max}"`
	Points     []string      `json:"points,omitempty" doc:"names that goto accepts on its own map"`
	Languages  []string      `json:"languages,omitempty" doc:"that it speaks"`
	Homing     []string      `json:"homing,omitempty" doc:"units whose calibration moves them"`
	Calibrates bool          `json:"calibrates,omitzero" doc:"whether it takes calibrate"`
}

// Health says whether robotd uses an adapter: for the adapter's log, and for robotd doctor. An
// adapter need not read it.
type Health struct {
	V      int64  `json:"v" doc:"1"`
	Health string `json:"health" doc:"good; a word for what is wrong, such as silent or doubled; or unused, if robotd was not given the name of the adapter"`
	Why    string `json:"why,omitempty" doc:"why robotd does not use the adapter"`
	WayOut string `json:"way_out,omitempty" doc:"what to do"`
}

// Tick feeds an adapter and repeats the order in force.
type Tick struct {
	V     int64 `json:"v" doc:"1"`
	Seq   int64 `json:"seq" doc:"counts up"`
	Order Order `json:"order" doc:"to every unit that moves: idle, run, stop, halt, error or reset; an unknown one means error"`
}

// Order is robotd's order to every unit that moves.
type Order string

// The orders.
const (
	OrderIdle  Order = "idle"  // brake to standstill, and do not move
	OrderRun   Order = "run"   // actions and velocities may move
	OrderStop  Order = "stop"  // as idle
	OrderHalt  Order = "halt"  // brake at once, then error
	OrderError Order = "error" // off, until reset
	OrderReset Order = "reset" // from error to idle, if the fault is gone and the unit stands
)

// Start begins one action of one unit.
type Start struct {
	V       int64         `json:"v" doc:"1"`
	Key     uint64        `json:"key" doc:"of the action, for its answer and its stop; never reused while robotd runs"`
	Unit    string        `json:"unit" doc:"the unit"`
	Holds   bool          `json:"holds,omitzero" doc:"true = the action has a duration: the adapter sends done or failed when it ends, or it lasts until its stop; false = the adapter sends done as soon as it is applied"`
	Text    string        `json:"text,omitempty" doc:"say, screen: the text in the robot's language"`
	Choices []string      `json:"choices,omitempty" doc:"screen: the texts of do.choices in the robot's language"`
	FromMS  int64         `json:"from_ms,omitzero" doc:"skip so much, which was done before an interruption"`
	Asset   string        `json:"asset,omitempty" doc:"SHA-256 of the file that do names, which is its name in the directory of assets"`
	Do      *score.Action `json:"do" doc:"the action, as in a story"`
}

// Stop ends an action or a calibration.
type Stop struct {
	V   int64  `json:"v" doc:"1"`
	Key uint64 `json:"key" doc:"of the action; unknown ones are ignored"`
}

// Velocity drives manually until it is renewed or its time is over.
type Velocity struct {
	V       int64   `json:"v" doc:"1"`
	Unit    string  `json:"unit" doc:"the drive"`
	VXMPS   float64 `json:"vx_mps" doc:"m/s forward"`
	WZRadPS float64 `json:"wz_radps" doc:"rad/s to the left"`
	TTLMS   int64   `json:"ttl_ms" doc:"for how long it holds, at most 400"`
}

// Calibrate homes the units and loads the map.
type Calibrate struct {
	V   int64  `json:"v" doc:"1"`
	Key uint64 `json:"key" doc:"for its answer and its stop"`
	Map *Map   `json:"map,omitzero" doc:"left out = the body's own"`
}

// Map names the file of a map.
type Map struct {
	Name   string `json:"name" doc:"for people"`
	SHA256 string `json:"sha256" doc:"of its file, which is its name in the directory of assets"`
}

// State is the state of every unit of an adapter.
type State struct {
	V       int64                `json:"v" doc:"1"`
	Session string               `json:"session" doc:"as in the presence"`
	Seq     int64                `json:"seq" doc:"counts up"`
	TMS     int64                `json:"t_ms" doc:"the adapter's monotonic clock"`
	Units   map[string]UnitState `json:"units" doc:"every unit of the adapter, by its id"`
}

// UnitState is the state of one unit. Fields that do not fit its kind are left out.
type UnitState struct {
	State      string   `json:"state" doc:"idle, run, halt or error; idle or error if it does not move"`
	Fault      string   `json:"fault,omitempty" doc:"the present fault; left out as soon as its cause is gone"`
	VXMPS      *float64 `json:"vx_mps,omitzero" doc:"drive: measured, m/s forward"`
	WZRadPS    *float64 `json:"wz_radps,omitzero" doc:"drive: measured, rad/s to the left"`
	SetVXMPS   *float64 `json:"set_vx_mps,omitzero" doc:"drive: the set-point of vx_mps"`
	SetWZRadPS *float64 `json:"set_wz_radps,omitzero" doc:"drive: the set-point of wz_radps"`
	XM         *float64 `json:"x_m,omitzero" doc:"drive: where it is on its map, with y_m and theta_rad"`
	YM         *float64 `json:"y_m,omitzero" doc:"drive"`
	ThetaRad   *float64 `json:"theta_rad,omitzero" doc:"drive: counter-clockwise from the x axis, -2π..2π"`
	YawRad     *float64 `json:"yaw_rad,omitzero" doc:"head: measured, or else where its servos were sent, -2π..2π; each axis that it describes, if it knows it"`
	PitchRad   *float64 `json:"pitch_rad,omitzero" doc:"head: as yaw_rad"`
	RollRad    *float64 `json:"roll_rad,omitzero" doc:"head: as yaw_rad"`
	Level      *float64 `json:"level,omitzero" doc:"battery: 0..1"`
	Charging   bool     `json:"charging,omitzero" doc:"battery"`
	Celsius    *float64 `json:"celsius,omitzero" doc:"its temperature, -50..200"`
}

// Angles returns yaw, pitch and roll of a head; nil for those that it does not report.
func (n *UnitState) Angles() [3]*float64 { return [3]*float64{n.YawRad, n.PitchRad, n.RollRad} }

// Event is an answer of an adapter, or something that it notices.
type Event struct {
	V          int64             `json:"v" doc:"1"`
	Session    string            `json:"session" doc:"as in the presence"`
	Kind       EventKind         `json:"kind" doc:"done, failed, sensed, asks, heard, waits, calibrating or calibrated"`
	Key        uint64            `json:"key,omitzero" doc:"done, failed, calibrated"`
	Choice     string            `json:"choice,omitempty" doc:"done: the id of the choice that a person made on the screen"`
	Reason     schema.Reason     `json:"reason,omitempty" doc:"failed, waits: one of the contract's reasons"`
	Detail     string            `json:"detail,omitempty" doc:"failed, asks: one sentence"`
	Unit       string            `json:"unit,omitempty" doc:"asks, waits"`
	Stop       string            `json:"stop,omitempty" doc:"asks: soft-stop, stop, halt or estop of the whole robot"`
	Signal     string            `json:"signal,omitempty" doc:"sensed: touch, press, estop-input, people, sound, dark, push, lift or fall"`
	Name       string            `json:"name,omitempty" doc:"touch, press, estop-input: which; the press reset leads out of E_STOP after a stop input"`
	On         bool              `json:"on,omitzero" doc:"every signal but people: whether it begins"`
	Count      int64             `json:"count,omitzero" doc:"people: how many"`
	BearingRad float64           `json:"bearing_rad,omitzero" doc:"people: where the nearest one is, to the left of straight ahead, -π..π"`
	LevelDBA   float64           `json:"level_dba,omitzero" doc:"sound: dB(A), 0 = not measured"`
	Heard      *schema.Utterance `json:"heard,omitzero" doc:"heard: what a person wants"`
	Level      float64           `json:"level,omitzero" doc:"calibrating: progress, 0..1"`
	Units      []Calibrated      `json:"units,omitempty" doc:"calibrated: each unit that was calibrated or could not be"`
	Map        *MapResult        `json:"map,omitzero" doc:"calibrated: what became of the map; left out without one"`
}

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	Done            EventKind = "done"        // an action has ended as it should
	Failed          EventKind = "failed"      // an action has failed
	Sensed          EventKind = "sensed"      // a signal of the body
	Asks            EventKind = "asks"        // a unit asks for a stop of the whole robot
	Heard           EventKind = "heard"       // the body understood what a person wants
	Waits           EventKind = "waits"       // the calibration of a unit waits for safety/enable
	Calibrating     EventKind = "calibrating" // how far calibration is
	CalibrationDone EventKind = "calibrated"
)

// Calibrated is the result of one unit.
type Calibrated struct {
	Unit   string        `json:"unit" doc:"the unit"`
	Reason schema.Reason `json:"reason,omitempty" doc:"why it is not calibrated; left out = it is"`
	Detail string        `json:"detail,omitempty" doc:"one sentence"`
}

// MapResult says what became of the map.
type MapResult struct {
	Points []string      `json:"points" doc:"names that goto accepts from now on"`
	Reason schema.Reason `json:"reason,omitempty" doc:"bad_map: it could not be read, and the one before is in force"`
	Detail string        `json:"detail,omitempty" doc:"one sentence that names the map"`
}
