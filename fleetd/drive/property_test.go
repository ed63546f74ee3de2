package drive

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever happens, in any order: a robot is driven only after the stick was released since
// the last cause that stopped it, never for longer than FrameGap after the last frame, and
// never beyond its limits; and when driving ends, the robot gets a frame with velocity zero.
func TestRobotIsDrivenOnlyByFreshFramesAfterTheStickWasReleased(t *testing.T) {
	drove := 0
	// The few cases of a short run may all be ones without driving.
	for runs := 0; runs == 0 || drove == 0 && runs < 20; runs++ {
		rapid.Check(t, driving(&drove))
	}
	if drove == 0 {
		t.Error("it never drove, so the test proves nothing")
	}
}

// driving is one case; drove counts the events after which a robot is driven.
func driving(drove *int) func(t *rapid.T) {
	return func(t *rapid.T) {
		now := morning
		s := New(now)
		f := Facts{Lease: "a", Connected: true, Limits: Limits{MPS: 0.6, RadPS: 1.5, Braking: 1}, SeenMonoMS: 1000, SeenAt: now}
		var seq int64
		heard, released, sent := now, false, 0.0
		take := func(d Decision) {
			if d.Send != nil {
				sent = d.Send.VXMPS
				if v := d.Send.VXMPS; v > 0.6 || v < -0.6 || d.Send.TTLMS > FrameGap.Milliseconds() {
					t.Fatalf("sent %+v", d.Send)
				}
			}
			if d.Zeroed != "" {
				released = false
			}
			switch {
			case s.At == Driving && !released:
				t.Fatal("it drives, and the stick was not released")
			case s.At == Driving && now.Sub(heard) >= FrameGap:
				t.Fatalf("it drives %v after the last frame", now.Sub(heard))
			case s.At != Driving && sent != 0:
				t.Fatalf("%s, and the robot was told %v m/s", s.At, sent)
			}
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 300).Draw(t, "ms")) * time.Millisecond)
			switch rapid.SampledFrom([]string{"push", "push", "push", "zero", "speed", "speed", "look", "slow", "link", "lease", "forbid", "other"}).
				Draw(t, "what") {
			case "push", "slow":
				seq++
				in := Frame{Lease: "a", Seq: seq, VX: rapid.Float64Range(-2, 2).Filter(func(v float64) bool { return v != 0 }).Draw(t, "vx")}
				if rapid.Bool().Draw(t, "slow") {
					in.Latency = MaxLatency + time.Millisecond
				}
				if f.Lease == "a" {
					d := Tick(&s, now, f) // what the loop does before each frame
					take(d)
					heard = now
				}
				take(Receive(&s, now, f, in))
			case "zero":
				seq++
				take(Tick(&s, now, f))
				if f.Lease == "a" && f.Connected {
					heard, released = now, true
				}
				take(Receive(&s, now, f, Frame{Lease: "a", Seq: seq}))
			case "speed":
				f.SeenMonoMS, f.SeenAt = 1000+now.Sub(morning).Milliseconds(), now
				take(Tick(&s, now, f))
			case "link":
				f.Connected = !f.Connected
				take(Tick(&s, now, f))
			case "lease":
				f.Lease = rapid.SampledFrom([]string{"a", "a", "a", "", "b"}).Draw(t, "lease")
				take(Tick(&s, now, f))
			case "forbid":
				if rapid.IntRange(0, 9).Draw(t, "forbid") == 0 {
					f.Forbidden = "signed out"
				}
				take(Tick(&s, now, f))
			case "other":
				take(Receive(&s, now, f, Frame{Lease: "b", Seq: seq + 1, VX: 1}))
			default:
				take(Tick(&s, now, f))
			}
			if s.At == Driving {
				*drove++
			}
		}
	}
}
