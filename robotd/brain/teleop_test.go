package brain

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// standsAfter is the contract's own number.
const standsAfter = 400 * time.Millisecond

// What the drive of the bench can do.
const (
	benchSpeedUp = 0.5 // m/s²
	benchBrakes  = 1.0 // m/s²
)

// move takes a velocity as a body does that may move.
func (b *timedBody) move(v driver.Velocity) {
	if b.state["drive"] != driver.Run || b.ordered != driver.ToRun {
		return
	}
	b.want, b.over = v, b.r.now+v.TTL
	if !b.rolls && v.VX != 0 {
		b.rolls = true
		b.roll()
	}
}

// roll lets the drive go for a tick, again and again until it stands.
func (b *timedBody) roll() {
	b.r.come(coming{at: b.r.now + driver.Tick, do: func() {
		want, t := b.want.VX, driver.Tick.Seconds()
		if b.r.now >= b.over || b.state["drive"] != driver.Run || b.ordered != driver.ToRun {
			want = 0
		}
		b.v = driver.Ramp(b.v, want, benchSpeedUp*t, benchBrakes*t)
		b.r.soon(0, event.Reported{Event: driver.Event{Kind: driver.Speed, Unit: "drive", VX: b.v}})
		if b.rolls = b.v != 0 || want != 0; b.rolls {
			b.roll()
		}
	}})
}

// frames is a person with a stick and a bad connection to a robot: frames are lost,
// late, twice and out of order, and somebody else sends some, too.
type frames struct {
	*rapid.T
	r     *rig
	seq   int64
	seen  int64 // mono_ms that the person saw last
	lease string
	taken int64 // newest seq that arrived of the holder

	valid  time.Duration // when the last frame came that may move the robot
	speed  float64       // the greatest that any valid frame asked for
	point  float64       // the set-point that the drive was sent
	driven int           // valid frames with a speed
}

// arrives is a frame that comes now. Whether it may move the robot is judged here
// by the contract alone.
func (f *frames) arrives(sent event.Frame) {
	s := f.r.s
	f.r.give(sent)
	mono := (f.r.now - f.r.old).Milliseconds()
	if f.lease != s.manual.Control().Lease.ID {
		f.lease, f.taken = s.manual.Control().Lease.ID, 0
	}
	mine := sent.Client == s.manual.Control().Lease.Who.Client && sent.Frame.Lease == f.lease
	if !mine || sent.Frame.Seq <= f.taken {
		return
	}
	f.taken = sent.Frame.Seq
	if age := mono - sent.Frame.SeenMonoMS; age < 0 || age > 500 || s.safety.At != schema.SafetyEnabled ||
		s.modes.Mode().Active != schema.ModeMnl {
		return
	}
	f.valid = f.r.now
	if sent.Frame.VXMPS != 0 {
		f.driven++
		f.speed = max(f.speed, math.Abs(sent.Frame.VXMPS))
	}
}

// check holds what has to hold at every moment: the set-point is zero 400 ms after
// the last valid frame, and the drive has braked as fast as it can since.
func (f *frames) check() {
	since := f.r.now - f.valid
	if since > standsAfter && f.point != 0 {
		f.Fatalf("at %v the set-point is %v, the last valid frame came %v ago", f.r.now, f.point, since)
	}
	braking := (since - standsAfter - driver.Tick).Seconds() // the drive counts its own ticks
	if most := f.speed - max(0, braking)*benchBrakes; math.Abs(f.r.body.v) > max(most, 0)+1e-9 {
		f.Fatalf("at %v the drive goes %v m/s, the last valid frame came %v ago", f.r.now, f.r.body.v, since)
	}
}

func TestDriveStopsWithoutValidFrames(t *testing.T) {
	driven := 0
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t)
		f := &frames{T: t, r: r, valid: -time.Hour}
		r.watch = func(_ event.Event, effects []effect.Effect) {
			for _, e := range effects {
				if m, ok := e.(effect.Move); ok {
					f.point = m.VX
				}
			}
		}
		r.sent = func(p effect.Publish) {
			if p.Topic == schema.TopicTelemetry {
				if m, problems := schema.Decode[schema.Telemetry](p.Payload); len(problems) == 0 {
					f.seen = m.MonoMS
				}
			}
		}
		r.boot()
		r.give(event.Connected{Session: "s"})
		r.beats = true
		r.beat(0)
		r.until(200 * time.Millisecond)
		ask := func(client, verb, payload string) {
			group, name := "control", verb
			if verb == "enable" || verb == "stop" {
				group = "safety"
			}
			r.give(event.Command{Client: client, Group: group, Verb: name, Payload: []byte(payload)})
			r.until(r.now + time.Millisecond)
		}
		ask("op1", "acquire", `{"args":{"ttl_ms":60000}}`)
		ask("op1", "enable", "")
		for range rapid.IntRange(20, 120).Draw(t, "frames") {
			gap := time.Duration(rapid.IntRange(10, 150).Draw(t, "gap")) * time.Millisecond
			for end := r.now + gap; r.now < end; f.check() {
				r.until(min(end, r.now+driver.Tick/4))
			}
			f.seq++
			frame := event.Frame{Client: "op1", Frame: schema.VelocityFrame{
				Lease: r.s.manual.Control().Lease.ID, Seq: f.seq, TTLMS: 400, SeenMonoMS: max(1, f.seen),
				VXMPS: rapid.SampledFrom([]float64{0.3, 0.2, -0.3, 0}).Draw(t, "vx"),
			}}
			late := time.Duration(0)
			switch rapid.SampledFrom([]string{"well", "well", "well", "well", "lost", "late", "twice", "foreign", "other lease", "takeover", "stop",
				"enable", "pause"}).Draw(t, "how") {
			case "lost":
				continue
			case "late":
				late = time.Duration(rapid.IntRange(1, 900).Draw(t, "late")) * time.Millisecond
			case "twice":
				r.come(coming{at: r.now + gap, do: func() { f.arrives(frame) }})
			case "foreign":
				frame.Client = "op2"
			case "other lease":
				frame.Frame.Lease = "another"
			case "takeover":
				ask(rapid.SampledFrom([]string{"op1", "op2"}).Draw(t, "by"), "takeover", "")
			case "stop":
				ask("op2", "stop", "")
			case "enable":
				ask(r.s.manual.Control().Lease.Who.Client, "enable", "")
			case "pause": // the person goes away
				for end := r.now + 2*time.Second; r.now < end; f.check() {
					r.until(min(end, r.now+driver.Tick))
				}
			}
			if late == 0 {
				f.arrives(frame)
				f.check()
				continue
			}
			r.come(coming{at: r.now + late, do: func() { f.arrives(frame) }})
		}
		driven += f.driven
		for end := r.now + 2*time.Second; r.now < end; f.check() {
			r.until(r.now + driver.Tick)
		}
		if r.body.v != 0 {
			t.Fatalf("nobody sends frames any more, and the drive goes %v m/s", r.body.v)
		}
	})
	if driven == 0 {
		t.Error("no frame ever drove the robot: the property proves nothing")
	}
}

// TestSetPointIsZeroAfterTwentyTicks counts the ticks between the last frame
// and the zero that the drive is sent.
func TestSetPointIsZeroAfterTwentyTicks(t *testing.T) {
	r := newRig(t)
	r.boot()
	r.give(event.Connected{Session: "s"})
	r.until(200 * time.Millisecond)
	r.give(event.Command{Client: "op1", Group: "control", Verb: "acquire"})
	r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
	r.until(time.Second)
	r.give(event.Frame{Client: "op1", Frame: schema.VelocityFrame{Lease: r.s.manual.Control().Lease.ID, Seq: 1, TTLMS: 500, SeenMonoMS: 1000}})
	var points []float64
	ticks, atZero := 0, -1
	r.watch = func(ev event.Event, effects []effect.Effect) {
		if _, tick := ev.(event.Tick); tick {
			ticks++
		}
		for _, e := range effects {
			if m, ok := e.(effect.Move); ok {
				if points = append(points, m.VX); m.VX == 0 && atZero < 0 {
					atZero = ticks
				}
			}
		}
	}
	r.give(event.Frame{Client: "op1", Frame: schema.VelocityFrame{Lease: r.s.manual.Control().Lease.ID, Seq: 2, VXMPS: 0.2, TTLMS: 500,
		SeenMonoMS: 1000}})
	r.until(3 * time.Second)
	if atZero < 2 || atZero > 20 {
		t.Errorf("the set-point was zero after %d ticks, want at most 20; it was sent %v", atZero, points)
	}
	if n := len(points); n < atZero || n > atZero+1 || !slices.Equal(points[n-1:], []float64{0}) || slices.Contains(points[:n-1], 0) {
		t.Errorf("it was sent %v in %d ticks: want the speed at every tick, and zero once", points, atZero)
	}
}
