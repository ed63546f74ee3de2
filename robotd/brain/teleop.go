package brain

import (
	"cmp"
	"time"

	"troupe/robotd/control"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/robotd/safety"
	"troupe/robotd/teleop"
	"troupe/schema"
	"troupe/schema/score"
)

// telemetryEvery is how often the robot says how fast it is while somebody has
// it in hand.
const telemetryEvery = 100 * time.Millisecond

// A drive that does not say how fast it can go is driven no faster manually.
const (
	unsaidMPS   = 0.3
	unsaidRadPS = 0.5
)

// hand is what the robot knows of being driven manually.
type hand struct {
	stick  teleop.State
	frames []event.Frame // that came in this step

	vx, wz    float64 // as the drive says
	told      time.Duration
	telemetry int64 // sent so far
}

// framed takes a frame as it came. One that came before a stop is too late.
func (t *step) framed(ev event.Frame) {
	if ev.N == 0 || ev.N >= t.stopped {
		t.hand.frames = append(t.hand.frames, ev)
	}
}

// stick moves the set-point of the drive. It comes after control, safety and the
// mode have spoken, in every step: what forbids driving ends it in the same step.
func (t *step) stick() {
	f := t.teleopFacts()
	drove := t.hand.stick.At == teleop.Driving
	if len(t.hand.frames) == 0 {
		t.sticked(teleop.Look(&t.hand.stick, t.now.Mono, f))
	}
	for _, ev := range t.hand.frames {
		in := teleop.Frame{Client: ev.Client, VelocityFrame: ev.Frame}
		switch {
		case ev.Retained:
			in.Refused, in.Detail = schema.ReasonRetainedCommand, "a frame is never retained"
		case len(ev.Problems) > 0:
			in.Refused, in.Detail = schema.ReasonBadRequest, ev.Problems[0].String()
		}
		t.sticked(teleop.Heard(&t.hand.stick, t.now.Mono, f, in))
	}
	t.hand.frames = t.hand.frames[:0]
	if !drove && t.hand.stick.At == teleop.Driving { // whoever has the stick wants the wheels
		t.cancelManual(schema.ReasonSuperseded, func(h manualNow) bool {
			return h.lane == manualLane(score.ClassBody) || h.lane == manualActs && h.moves
		})
	}
	if drove && t.hand.stick.At != teleop.Driving {
		t.do(effect.Move{Velocity: driver.Velocity{TTL: driver.VelocityTTL}})
	}
}

// sticked carries what the stick came to.
func (t *step) sticked(d teleop.Decision) {
	if d.Changed && (d.From == teleop.Driving || d.To == teleop.Driving) {
		t.note("teleop", string(d.From), string(d.To), d.Why, string(d.On))
	}
	if r := d.Tell; r.Count > 0 {
		t.tell("teleop_refused", cmp.Or(r.Client, "teleop"), string(r.Reason), "", refusedFrames{r.Reason, r.Detail, r.Count})
	}
}

type refusedFrames struct {
	Reason schema.Reason `json:"reason"`
	Detail string        `json:"detail,omitempty"`
	Count  int64         `json:"count"`
}

// letGo takes the stick away until it is let go.
func (t *step) letGo() (drove bool) {
	drove = t.hand.stick.At == teleop.Driving
	t.sticked(teleop.Stop(&t.hand.stick))
	if drove {
		t.do(effect.Move{Velocity: driver.Velocity{TTL: driver.VelocityTTL}})
	}
	return drove
}

// push tells the drive its set-point, once a tick.
func (t *step) push() {
	if s := t.hand.stick; s.At == teleop.Driving {
		t.do(effect.Move{Velocity: driver.Velocity{VX: s.VX, WZ: s.WZ, TTL: s.Until - t.now.Mono}})
	}
}

func (t *step) teleopFacts() teleop.Facts {
	f := teleop.Facts{Period: t.cfg.Tick, MaxMPS: unsaidMPS, MaxRadPS: unsaidRadPS}
	if t.control.At == control.Held {
		f.Client, f.Lease = t.control.Lease.Who.Client, t.control.Lease.ID
	}
	drive, ok := t.body.Of(schema.UnitDrive)
	if !ok {
		f.Forbid = schema.ReasonUnknownVerb
		return f
	}
	f.MaxMPS, f.MaxRadPS = cmp.Or(drive.MaxSpeedMPS, f.MaxMPS), cmp.Or(drive.MaxTurnRadPS, f.MaxRadPS)
	f.Forbid = t.manualCommand(schema.UnitDrive)
	return f
}

// manualCommand answers why a unit of this kind cannot be told something manually now.
func (t *step) manualCommand(k schema.UnitKind) schema.Reason {
	lost, _ := t.linkLost()
	shut := safety.Gate(t.safety.At, safety.ClassOf(k), safety.Act)
	switch {
	case t.mode.Active != schema.ModeMnl || t.mode.Phase != mode.Ready || t.mode.Paused(&t.cfg.Mode):
		return schema.ReasonNotInMnl
	case shut != "":
		return shut
	case k.Moves() && (lost || t.report.Session() == ""):
		return schema.ReasonLinkLost
	}
	return ""
}

// driveFigures is telemetry/drive.
type driveFigures struct {
	VXMPS   float64 `json:"vx_mps"`
	WZRadPS float64 `json:"wz_radps"`
}

// tellDrive says how fast the robot is while somebody has it in hand, with the
// time that a frame has to echo. It promises nothing, and so waits for no disk.
func (t *step) tellDrive() {
	if at, due := t.telemetryDue(); !due || t.now.Mono < at {
		return
	}
	t.hand.told = t.now.Mono
	t.hand.telemetry++
	t.do(effect.Publish{Topic: schema.TopicTelemetry, Param: "drive", First: true, Payload: effect.Encode(&schema.Telemetry{
		Session: t.report.Session(), Seq: t.hand.telemetry, MonoMS: t.now.Mono.Milliseconds(),
		Data: effect.Encode(driveFigures{t.hand.vx, t.hand.wz}),
	})})
}

func (s *State) telemetryDue() (time.Duration, bool) {
	_, drives := s.body.Of(schema.UnitDrive)
	return s.hand.told + telemetryEvery, drives && s.report.Session() != "" && s.control.At == control.Held
}
