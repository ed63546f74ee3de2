package recorder

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

// Record is one message of a recording. The set is closed: each type has a row in channels.
type Record interface{ record() }

// The records.
type (
	// Sample is the regular record: the robot's state after a tick of the loop, 50 a
	// second while anything is performed or may move, and after another event that changed the
	// safety state.
	Sample struct {
		StepUS   int64              `json:"step_us" jsonschema:"description=duration of the step in microseconds; the record has the time at which it began"`
		LateUS   int64              `json:"late_us" jsonschema:"description=by how many microseconds the tick came after it was due"`
		Safety   schema.SafetyState `json:"safety"`
		Mode     schema.ModeID      `json:"mode"`
		Auto     schema.AutoStatus  `json:"auto"`
		Units    []Unit             `json:"units"`
		Demanded *Velocity          `json:"demanded,omitzero" jsonschema:"description=velocity that frames or a mode asked of the drive; 0 while an action drives it: see /action"`
		Sent     *Velocity          `json:"sent,omitzero" jsonschema:"description=the same within the limits of the drive: as the body got it"`
		Measured *Velocity          `json:"measured,omitzero" jsonschema:"description=newest speed that the body reported"`
		Position *Position          `json:"position,omitzero" jsonschema:"description=newest position that the body reported"`
		Battery  *float64           `json:"battery,omitzero" jsonschema:"description=level as a share of 1"`
	}
	// Unit is the state of a unit, also a record of its own when it changes.
	Unit struct {
		Unit   string       `json:"unit"`
		State  driver.State `json:"state"`
		Detail string       `json:"detail,omitempty"`
		Angles *Angles      `json:"angles,omitzero" jsonschema:"description=of a head: newest that the body reported"`
	}

	// Action is the start or the end of one action of a unit.
	Action struct {
		What     string        `json:"what" jsonschema:"enum=start,enum=stop,enum=done,enum=failed"`
		Key      uint64        `json:"key" jsonschema:"description=the same for the start and the end of an action"`
		Unit     string        `json:"unit,omitempty"`
		Demanded *score.Action `json:"demanded,omitzero" jsonschema:"description=the action before the limits of the unit"`
		Sent     *score.Action `json:"sent,omitzero" jsonschema:"description=the action as the body got it"`
		Text     string        `json:"text,omitempty"`
		Reason   schema.Reason `json:"reason,omitempty"`
		Detail   string        `json:"detail,omitempty"`
	}
	// Order is an order of the safety core to every unit that moves.
	Order struct {
		Order driver.Order `json:"order"`
	}

	// Command is a message that asked something of the robot, as received.
	Command struct {
		Client   string         `json:"client,omitempty"`
		Verb     string         `json:"verb" jsonschema:"description=group/name of a command; or fleet/stop, release stops or stop document. If a unit asks for a stop, client is the unit"`
		Payload  jsontext.Value `json:"payload,omitzero" jsonschema:"description=of another form than a JSON object or too long: its text"`
		Retained bool           `json:"retained,omitzero"`
	}
	// Answer is a published answer to a command.
	Answer struct {
		Client string         `json:"client"`
		Ack    jsontext.Value `json:"ack"`
	}
	// Event is an event as published.
	Event struct{ Payload jsontext.Value }

	// Transition is a transition of a state machine of the robot.
	Transition struct {
		Machine string `json:"machine"`
		From    string `json:"from"`
		To      string `json:"to"`
		Why     string `json:"why,omitempty"`
		Cause   string `json:"cause,omitempty"`
	}
	// Alert is a raised alert.
	Alert struct {
		Level  schema.AlertLevel `json:"level"`
		Type   string            `json:"type"`
		Source string            `json:"source,omitempty"`
		Detail string            `json:"detail,omitempty"`
		Hint   string            `json:"hint,omitempty"`
	}
	// Signal is what the body senses or understands.
	Signal struct {
		Signal  string            `json:"signal"`
		Name    string            `json:"name,omitempty"`
		On      bool              `json:"on"`
		Level   float64           `json:"level,omitzero"`
		Bearing float64           `json:"bearing_rad,omitzero"`
		Heard   *schema.Utterance `json:"heard,omitzero"`
	}

	// Dropped says how many records are missing since the last one of this kind.
	Dropped struct {
		Records int64 `json:"records"`
	}

	// Velocity is that of the drive.
	Velocity struct {
		VXMPS   float64 `json:"vx_mps"`
		WZRadPS float64 `json:"wz_radps"`
	}
	// Angles are those of a head; 0 for an axis that it lacks.
	Angles struct {
		YawRad   float64 `json:"yaw_rad"`
		PitchRad float64 `json:"pitch_rad"`
		RollRad  float64 `json:"roll_rad"`
	}
	// Position is where the drive is on the map.
	Position struct {
		XM       float64 `json:"x_m"`
		YM       float64 `json:"y_m"`
		ThetaRad float64 `json:"theta_rad"`
	}
)

func (Sample) record()     {}
func (Unit) record()       {}
func (Action) record()     {}
func (Order) record()      {}
func (Command) record()    {}
func (Answer) record()     {}
func (Event) record()      {}
func (Transition) record() {}
func (Alert) record()      {}
func (Signal) record()     {}
func (Dropped) record()    {}

// channel is where the records of one type are found in a file.
type channel struct {
	topic string
	of    reflect.Type
	about string
}

const droppedTopic = "/dropped"

// channels lists them by their number in a file, from 1.
var channels = []channel{
	{SampleTopic, reflect.TypeFor[Sample](), "the robot's state after each tick and each change of the safety state: safety, mode, units, " +
		"set-points, speed"},
	{"/unit", reflect.TypeFor[Unit](), "a unit's state, on each change"},
	{"/action", reflect.TypeFor[Action](), "start and end of each action of a unit"},
	{"/order", reflect.TypeFor[Order](), "orders of the safety core to the units that move"},
	{"/command", reflect.TypeFor[Command](), "what was asked of the robot"},
	{"/answer", reflect.TypeFor[Answer](), "what it answered"},
	{"/event", reflect.TypeFor[Event](), "events as published"},
	{"/transition", reflect.TypeFor[Transition](), "transitions of the robot's state machines, each with its reason"},
	{"/alert", reflect.TypeFor[Alert](), "alerts when they were raised"},
	{"/signal", reflect.TypeFor[Signal](), "what the body senses and understands"},
	{droppedTopic, reflect.TypeFor[Dropped](), "how many records are missing here"},
}

// channelOf returns the number of a record's channel.
func channelOf(r Record) uint16 {
	for i, c := range channels {
		if c.of == reflect.TypeOf(r) {
			return uint16(i + 1)
		}
	}
	panic(fmt.Sprintf("recorder: no channel for %T", r))
}

// encode returns the message of a record.
func encode(r Record) ([]byte, error) {
	switch e := r.(type) {
	case Event:
		return e.Payload, nil
	case Command:
		e.Payload = payload(e.Payload)
		r = e
	}
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", r, err)
	}
	return b, nil
}

// maxPayload is the longest payload of a message that is recorded whole.
const maxPayload = 4 << 10

// payload is a payload as recorded: itself if it is a JSON object, otherwise an object with its
// text, cut off.
func payload(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return nil // an empty one is left out
	}
	if len(v) <= maxPayload && v.Kind() == '{' && v.IsValid() {
		return v
	}
	text, err := jsontext.AppendQuote(nil, schema.SanitizeTextWithin(string(v[:min(len(v), maxPayload)]), maxPayload))
	if err != nil {
		return nil
	}
	return slices.Concat(jsontext.Value(`{"text":`), text, jsontext.Value(`}`))
}
