package manual

import (
	"cmp"
	"time"

	"troupe/robotd/control"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/robotd/teleop"
	"troupe/schema"
	"troupe/schema/score"
)

// telemetryEvery is the interval at which the robot publishes its speed while a client has
// control.
const telemetryEvery = 100 * time.Millisecond

// UpdateSetPoint updates the set-point of the drive, the first if there are several. It runs after
// control, safety and the mode in every step, so that whatever forbids driving ends it in the
// same step.
func (t Step) UpdateSetPoint() {
	f := t.teleopFacts()
	drove := t.stick.At == teleop.Driving
	if len(t.frames) == 0 {
		t.logDecision(teleop.Update(&t.stick, t.Now.Mono, f))
	}
	for _, ev := range t.frames {
		in := teleop.Frame{Client: ev.Client, VelocityFrame: ev.Frame}
		switch {
		case ev.Retained:
			in.Refused, in.Detail = schema.ReasonRetainedCommand, "a frame is never retained"
		case len(ev.Problems) > 0:
			in.Refused, in.Detail = schema.ReasonBadRequest, ev.Problems[0].String()
		}
		t.logDecision(teleop.ReceiveFrame(&t.stick, t.Now.Mono, f, in))
	}
	t.frames = t.frames[:0]
	if !drove && t.stick.At == teleop.Driving { // acts lose the drive
		t.cancel(schema.ReasonSuperseded, func(h entry) bool {
			return h.class == score.ClassBody || h.lane == ActLane && h.moves
		})
	}
	if drove && t.stick.At != teleop.Driving {
		t.Out.Do(effect.Move{Velocity: driver.Velocity{TTL: driver.VelocityTTL}})
	}
	t.recordDrive()
}

// recordDrive notes the set-point for the act that is being recorded.
func (t Step) recordDrive() {
	vx, wz := 0.0, 0.0
	if t.stick.At == teleop.Driving {
		vx, wz = t.stick.VX, t.stick.WZ
	}
	t.taught.Drive(vx, wz, t.Now.Mono)
}

// logDecision logs a transition of the stick, and makes an event of the frames that were refused.
func (t Step) logDecision(d teleop.Decision) {
	if d.Changed && (d.From == teleop.Driving || d.To == teleop.Driving) {
		t.Out.LogTransition("teleop", string(d.From), string(d.To), d.Why, string(d.On))
	}
	if r := d.Refusals; r.Count > 0 {
		t.Out.Event("teleop_refused", cmp.Or(r.Client, "teleop"), string(r.Reason), "", refusedFrames{r.Reason, r.Detail, r.Count})
	}
}

type refusedFrames struct {
	Reason schema.Reason `json:"reason"`
	Detail string        `json:"detail,omitempty"`
	Count  int64         `json:"count"`
}

// releaseStick ends driving; the stick has to be released before it counts again.
func (t Step) releaseStick() (drove bool) {
	drove = t.stick.At == teleop.Driving
	t.logDecision(teleop.Stop(&t.stick))
	if drove {
		t.Out.Do(effect.Move{Velocity: driver.Velocity{TTL: driver.VelocityTTL}})
	}
	return drove
}

// SendSetPoint sends the set-point to the drive, once a tick.
func (t Step) SendSetPoint() {
	if s := t.stick; s.At == teleop.Driving {
		ttl := s.Until - t.Now.Mono
		t.Out.Do(effect.Move{
			Velocity: driver.Velocity{VX: s.VX, WZ: s.WZ, TTL: ttl},
			Demanded: driver.Velocity{VX: s.DemandedVX, WZ: s.DemandedWZ, TTL: ttl},
		})
	}
}

func (t Step) teleopFacts() teleop.Facts {
	f := teleop.Facts{Period: t.cfg.Tick}
	if t.control.At == control.Held {
		f.Client, f.Lease = t.control.Lease.Who.Client, t.control.Lease.ID
	}
	drive, ok := t.Body.First(schema.UnitDrive)
	if !ok {
		f.Forbid, f.ForbidDetail = schema.ReasonUnknownVerb, "this robot has no drive"
		return f
	}
	f.MaxMPS, f.MaxRadPS = drive.Speeds()
	f.Forbid = t.forbids(schema.UnitDrive)
	why := t.Health.Unusable(drive.ID)
	switch {
	case f.Forbid != "" && len(t.frames) > 0:
		f.ForbidDetail = t.explain(f.Forbid, drive)
	case f.Forbid == "" && why != "":
		f.Forbid, f.ForbidDetail = schema.ReasonDeviceDisabled, "the "+drive.ID+" cannot be used: "+why
	}
	return f
}

// forbids returns why a unit of this kind cannot be used manually now.
func (t Step) forbids(k schema.UnitKind) schema.Reason {
	shut := safety.Gate(t.Safety, safety.ClassOf(k), safety.Act)
	switch {
	case !t.Manual:
		return schema.ReasonNotInMnl
	case shut != "":
		return shut
	case k.Moves() && !t.Reachable:
		return schema.ReasonLinkLost
	case k.Moves():
		return t.Health.MotionBarred()
	}
	return ""
}

// explain says for people why a unit cannot be used manually now, and the way out.
func (t Step) explain(why schema.Reason, unit schema.Unit) string {
	name := cmp.Or(unit.ID, string(unit.Kind))
	switch why {
	case schema.ReasonNotInMnl:
		return t.Modes.NotManual()
	case schema.ReasonLinkLost:
		return "the " + name +
			" may not move: no heartbeat of fleetd or of a panel reaches the robot; connect fleetd, or open the robot's own page"
	case schema.ReasonSafeguard:
		return "the " + name + " may not move: " + t.Health.MotionDetail()
	}
	return t.Standstill.Refusal(name, safety.ClassOf(unit.Kind))
}

// driveFigures is the data of telemetry/drive.
type driveFigures struct {
	VXMPS   float64 `json:"vx_mps"`
	WZRadPS float64 `json:"wz_radps"`
	// Frame is the seq of the newest frame that counted, of which the sender can tell the
	// delay, and FrameAgeMS how long ago it arrived.
	Frame      int64  `json:"frame,omitzero"`
	FrameAgeMS *int64 `json:"frame_age_ms,omitempty"`
	// Where it is on its map, if it knows.
	XM       *float64 `json:"x_m,omitempty"`
	YM       *float64 `json:"y_m,omitempty"`
	ThetaRad *float64 `json:"theta_rad,omitempty"`
}

// Telemetry publishes the robot's speed while a client has control, and after that until the
// robot stands, with mono_ms, which senders of frames send back as seen_mono_ms. It depends on no save, so it does
// not wait for the disk.
func (t Step) Telemetry() {
	if at, due := t.telemetryDue(t.Body, t.Session); !due || t.Now.Mono < at {
		return
	}
	t.drive.sentAt = t.Now.Mono
	t.drive.sent++
	t.drive.sentMoving = t.drive.vx != 0 || t.drive.wz != 0
	d := driveFigures{VXMPS: t.drive.vx, WZRadPS: t.drive.wz}
	if seq, age := t.stick.Newest(t.Now.Mono); seq != 0 {
		d.Frame, d.FrameAgeMS = seq, new(age.Milliseconds())
	}
	if at, known := t.Body.Position(); known {
		d.XM, d.YM, d.ThetaRad = &at.XM, &at.YM, at.ThetaRad
	}
	t.Out.Do(effect.Publish{Topic: schema.TopicTelemetry, Param: "drive", First: true, Payload: effect.Encode(&schema.Telemetry{
		Session: t.Session, Seq: t.drive.sent, MonoMS: t.Now.Mono.Milliseconds(), Data: effect.Encode(d),
	})})
}

func (s *State) telemetryDue(b Body, session string) (time.Duration, bool) {
	_, drives := b.First(schema.UnitDrive)
	return s.drive.sentAt + telemetryEvery, drives && session != "" && (s.control.At == control.Held || s.drive.sentMoving)
}
