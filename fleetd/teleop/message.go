package teleop

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"troupe/fleetd/drive"
	"troupe/schema"
)

// Frame is what a person's device sends 10 to 20 times a second, from the beginning of the
// connection to its end, also while the stick is at rest.
type Frame struct {
	Lease string  `json:"lease" doc:"id of the lease, from the answer to control/acquire or control/takeover"`
	Seq   int64   `json:"seq" doc:"rises with every frame of the connection"`
	T     float64 `json:"t" doc:"time of the device in milliseconds, by a clock that is never set; comes back in the echo"`
	VX    float64 `json:"vx" doc:"forwards, m/s"`
	WZ    float64 `json:"wz" doc:"to the left, rad/s"`
	// LatencyMS is checked by fleetd too, with the way to the robot added.
	LatencyMS float64 `json:"latency_ms,omitempty" doc:"age of the newest echo's frame when the echo came, or of the oldest frame without an echo if that is older"`
}

// MaxFrame bounds the bytes of a frame.
const MaxFrame = 512

// decodeFrame decodes a frame of a person's device.
func decodeFrame(text []byte) (f Frame, err error) {
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("read frame: %w", err)
	}
	if f.Lease == "" || f.Seq < 1 || math.IsNaN(f.LatencyMS) {
		return f, errors.New("read frame: lease, and seq of 1 or more, are required")
	}
	return f, nil
}

func (f Frame) drive() drive.Frame {
	ms := min(max(f.LatencyMS, 0), 60_000)
	return drive.Frame{Lease: f.Lease, Seq: f.Seq, VX: f.VX, WZ: f.WZ, Latency: time.Duration(ms * float64(time.Millisecond))}
}

// Message is what a person's device receives. Type says which of the other fields it has.
type Message struct {
	Type Type `json:"type" enum:"limits,echo,robot,refused,stopped,ended"`

	// limits, once at the beginning
	MPS   float64 `json:"mps,omitempty" doc:"limits: the greatest vx"`
	RadPS float64 `json:"radps,omitempty" doc:"limits: the greatest wz"`

	// echo, for each frame
	Seq     int64   `json:"seq,omitempty" doc:"echo: the frame's"`
	T       float64 `json:"t,omitempty" doc:"echo: the frame's"`
	RobotMS int64   `json:"robot_ms,omitempty" doc:"echo: round trip from fleetd to the robot and back"`

	// robot, ten times a second
	MonoMS  int64          `json:"mono_ms,omitempty" doc:"robot: the robot's time; until_ms of a lease counts in it"`
	Figures map[string]any `json:"figures,omitempty" doc:"robot: the data of telemetry/drive: vx_mps, wz_radps, and if it knows where it is x_m, y_m and theta_rad"`

	// refused, at most once a second; stopped and ended
	Cause  drive.Cause `json:"cause,omitempty" doc:"refused: the robot's reason; stopped, ended: why"`
	Detail string      `json:"detail,omitempty" doc:"refused, stopped, ended: the same for people"`
}

// Type is the type of a Message.
type Type string

// The types.
const (
	TypeLimits  Type = "limits"
	TypeEcho    Type = "echo"
	TypeRobot   Type = "robot"
	TypeRefused Type = "refused" // the robot does not follow the frames
	TypeStopped Type = "stopped" // fleetd stopped the robot; the stick must be released
	TypeEnded   Type = "ended"   // the last message
)

// refusal is the data of the event teleop_refused.
type refusal struct {
	Reason schema.Reason `json:"reason"`
	Detail string        `json:"detail"`
}

// report is a message telemetry/drive: the values that this package needs, and in figures all of its
// data, for the person's device.
type report struct {
	monoMS  int64
	frame   int64
	age     time.Duration
	figures map[string]any
}

func decodeReport(payload []byte) (r report, ok bool) {
	m, problems := schema.Decode[schema.Telemetry](payload)
	if len(problems) > 0 || json.Unmarshal(m.Data, &r.figures) != nil {
		return r, false
	}
	number := func(name string) int64 { v, _ := r.figures[name].(float64); return int64(v) }
	r.monoMS, r.frame, r.age = m.MonoMS, number("frame"), time.Duration(number("frame_age_ms"))*time.Millisecond
	return r, true
}
