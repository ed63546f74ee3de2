package schema

import (
	"maps"
	"math"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// VelocityFrame is one frame of manual driving, sent at 5 to 20 Hz (the broker drops those beyond 50) with QoS 0 and not
// answered. The set-point is zero if no valid frame has arrived for 400 ms. The robot
// ignores a frame that is older than the newest accepted one, has expired, belongs to
// another lease, or whose SeenMonoMS is more than 500 ms old.
type VelocityFrame struct {
	Lease      string  `json:"lease" doc:"of the sender's control"`
	Seq        int64   `json:"seq" doc:"rises with every frame of the lease"`
	VXMPS      float64 `json:"vx" doc:"forwards, m/s"`
	WZRadPS    float64 `json:"wz" doc:"to the left, rad/s"`
	TTLMS      int64   `json:"ttl_ms" doc:"how long it holds, 1 to 500, of which at most 400 count"`
	SeenMonoMS int64   `json:"seen_mono_ms" doc:"newest mono_ms of the robot that the sender has received"`
}

// DecodeFrame decodes a frame. Unknown fields are a problem unless their names begin with
// x_, because a frame moves the robot.
func DecodeFrame(payload []byte) (VelocityFrame, []Problem) {
	f, ps := DecodeStrict[VelocityFrame](payload)
	if len(ps) == 0 || ps[0].Code != "unknown_field" {
		return f, ps
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(payload, &members); err != nil {
		return f, ps
	}
	maps.DeleteFunc(members, func(name string, _ jsontext.Value) bool { return strings.HasPrefix(name, "x_") })
	own, err := Encode(members)
	if err != nil {
		return f, ps
	}
	return DecodeStrict[VelocityFrame](own)
}

// MaxFrameTTLMS is the greatest time for which one frame is valid.
const MaxFrameTTLMS = 500

// Validate reports missing or invalid fields.
func (f *VelocityFrame) Validate() []Problem {
	var c checks
	c.present("/lease", f.Lease != "")
	c.atLeast("/seq", f.Seq, 1)
	c.atLeast("/ttl_ms", f.TTLMS, 1)
	if f.TTLMS > MaxFrameTTLMS {
		c.add("/ttl_ms", "out_of_range", "a frame drives for at most 500 ms", "send frames more often")
	}
	c.atLeast("/seen_mono_ms", f.SeenMonoMS, 1)
	c.finite("/vx", f.VXMPS)
	c.finite("/wz", f.WZRadPS)
	return c
}

func (c *checks) finite(pointer string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		c.add(pointer, "out_of_range", "not a finite number", "")
	}
}

// Telemetry is one message of a stream of measurements. There is one stream, drive: what a person who
// drives the robot has to see.
type Telemetry struct {
	Session string         `json:"session" doc:"the connection that wrote this"`
	Seq     int64          `json:"seq" doc:"counts up, per name and boot"`
	MonoMS  int64          `json:"mono_ms" doc:"monotonic time since robotd started"`
	Data    jsontext.Value `json:"data,omitempty" doc:"numbers with their units in the names"`
}

// Validate reports missing or invalid fields.
func (m *Telemetry) Validate() []Problem {
	var c checks
	c.present("/session", m.Session != "")
	c.atLeast("/seq", m.Seq, 1)
	return c
}
