package teleop

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
)

// After a stop, after motion was forbidden and under a new lease the drive moves
// only after the holder has released the stick, whatever frames are lost.
func TestDriveMovesOnlyAfterStickWasReleased(t *testing.T) {
	drove := false
	rapid.Check(t, func(t *rapid.T) {
		s, now := Boot(), time.Minute
		f := Facts{MaxMPS: 1, MaxRadPS: 1, Period: 20 * time.Millisecond}
		seq, leases := int64(0), 0
		released := false
		check := func(after string) {
			if s.At == Driving && !released {
				t.Fatalf("it drives after %s, and the stick was not released", after)
			}
			if s.At != Driving && (s.VX != 0 || s.WZ != 0) {
				t.Fatalf("%s with a set-point of %v, %v", s.At, s.VX, s.WZ)
			}
			drove = drove || s.At == Driving
		}
		for range rapid.IntRange(10, 60).Draw(t, "steps") {
			now += time.Duration(rapid.IntRange(1, 900).Draw(t, "ms")) * time.Millisecond
			what := rapid.SampledFrom([]string{"frame", "frame", "frame", "zero", "zero", "update", "stop", "forbid", "allow", "allow", "lease",
				"lease", "no_robot"}).Draw(t, "what")
			switch what {
			case "frame", "zero":
				seq++
				in := Frame{Client: f.Client, VelocityFrame: schema.VelocityFrame{Lease: f.Lease, Seq: seq, TTLMS: 400, SeenMonoMS: now.Milliseconds()}}
				if what == "frame" {
					in.VXMPS = 0.2
				} else if f.Lease != "" && f.Forbid == "" {
					released = true
				}
				ReceiveFrame(&s, now, f, in)
			case "update":
				Update(&s, now, f)
			case "stop":
				released = false
				Stop(&s)
			case "forbid":
				released, f.Forbid = false, schema.ReasonLinkLost
				Update(&s, now, f)
			case "allow":
				f.Forbid = ""
				Update(&s, now, f)
			default:
				released, f.Lease, f.Client = false, "", ""
				if what == "lease" {
					leases++
					f.Lease, f.Client = string(rune('a'+leases)), rapid.SampledFrom([]string{"op1", "op2"}).Draw(t, "who")
				}
				Update(&s, now, f)
			}
			check(what)
		}
	})
	if !drove {
		t.Error("it never drove, so the test proves nothing")
	}
}
