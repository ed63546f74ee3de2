package sim_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/score"
)

// robot is a body that is enabled, fed and read.
type robot struct {
	*sim.Sim
	t    *testing.T
	key  uint64
	seen []driver.Event
}

// with runs f with an open body in a synctest bubble.
func with(t *testing.T, c sim.Config, f func(*robot)) {
	t.Helper()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	bubble.Test(t, func(t *testing.T) {
		r := &robot{Sim: sim.New(c), t: t}
		if err := r.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		r.Order(driver.ToRun)
		r.read()
		f(r)
	})
}

func (r *robot) read() {
	for {
		synctest.Wait()
		select {
		case e := <-r.Events():
			r.seen = append(r.seen, e)
		default:
			return
		}
	}
}

func (r *robot) tick() {
	r.Feed()
	time.Sleep(driver.Tick)
	r.read()
}

func (r *robot) pass(d time.Duration) {
	for ; d > 0; d -= driver.Tick {
		r.tick()
	}
}

func (r *robot) start(unit string, do score.Action) uint64 {
	r.key++
	r.Start(driver.Command{Key: r.key, Unit: unit, Do: &do, Text: do.Text().In("en"), Holds: do.EndMS != nil || do.TimeoutMS != nil})
	r.read()
	return r.key
}

// takes returns how long a command takes; the test fails if the command does not
// succeed.
func (r *robot) takes(key uint64) time.Duration {
	r.t.Helper()
	began := time.Now()
	for range 50 * 120 {
		for _, e := range r.seen {
			if e.Key == key {
				if e.Kind != driver.Done {
					r.t.Fatalf("command %d ended %+v", key, e)
				}
				return time.Since(began)
			}
		}
		r.tick()
	}
	r.t.Fatalf("command %d does not end", key)
	return 0
}

func (r *robot) has(want func(driver.Event) bool) bool { return slices.ContainsFunc(r.seen, want) }

func number[T any](v T) *T { return &v }

func between(t *testing.T, what string, got, low, high time.Duration) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s took %v, want %v to %v", what, got, low, high)
	}
}

func TestSpeechDurationFollowsText(t *testing.T) {
	with(t, sim.Config{}, func(r *robot) {
		text := score.Text{"en": strings.Repeat("Seven.. ", 14)} // 112 characters: eight seconds
		between(t, "speech", r.takes(r.start("speaker", score.Action{Do: score.Say{Text: text}})), 7900*time.Millisecond, 8100*time.Millisecond)
		between(t, "fast speech", r.takes(r.start("speaker", score.Action{Do: score.Say{Text: text, Rate: number(2.0)}})), 3900*time.Millisecond,
			4100*time.Millisecond)
		between(t, "slow speech", r.takes(r.start("speaker", score.Action{Do: score.Say{Text: text, Rate: number(0.5)}})), 15800*time.Millisecond,
			16200*time.Millisecond)
		r.Slow(0.5)
		between(t, "speech of a slow robot", r.takes(r.start("speaker", score.Action{Do: score.Say{Text: text}})), 15800*time.Millisecond,
			16200*time.Millisecond)
	})
}

func TestSoundsHaveTheirLengthsAndOverlap(t *testing.T) {
	with(t, sim.Config{}, func(r *robot) {
		long := r.start("speaker", score.Action{Do: score.Sound{Sound: "fanfare"}})
		between(t, "chime", r.takes(r.start("speaker", score.Action{Do: score.Sound{Sound: "chime"}})), 1200*time.Millisecond,
			1300*time.Millisecond)
		if got := r.Snapshot().Saying; len(got) != 1 || got[0] != "fanfare" {
			t.Errorf("still playing: %v", got)
		}
		between(t, "the rest of the fanfare", r.takes(long), 1700*time.Millisecond, 1900*time.Millisecond)
		r.key++
		r.Start(driver.Command{Key: r.key, Unit: "speaker", Do: &score.Action{Do: score.Sound{Sound: "applause"}}, From: 3 * time.Second})
		between(t, "the rest of an applause", r.takes(r.key), 980*time.Millisecond, 1100*time.Millisecond)
		loop := r.start("speaker", score.Action{EndMS: number(int64(60_000)), Do: score.Sound{Sound: "bell", Loop: true}})
		r.pass(30 * time.Second)
		if got := r.Snapshot().Saying; len(got) != 1 {
			t.Errorf("a loop ended by itself: %v", got)
		}
		r.Stop(loop)
		if got := r.Snapshot().Saying; len(got) != 0 {
			t.Errorf("playing after its stop: %v", got)
		}
	})
}

func TestDriveArrivesWithinSpeedLimits(t *testing.T) {
	with(t, sim.Config{At: "entrance"}, func(r *robot) {
		key := r.start("drive", score.Action{TimeoutMS: number(int64(60_000)), Do: score.Goto{Point: "desk"}})
		last, moved := r.Snapshot(), false
		began := time.Now()
		for !r.has(func(e driver.Event) bool { return e.Key == key }) {
			r.tick()
			now := r.Snapshot()
			step := math.Hypot(now.X-last.X, now.Y-last.Y)
			if now.V > 0.6+1e-9 || step > 0.6*0.02+2*0.01 {
				t.Fatalf("too fast: %+v after %+v", now, last)
			}
			if now.V-last.V > 0.5*0.02+1e-9 || now.W > 1.5+1e-9 {
				t.Fatalf("not plausible: %+v after %+v", now, last)
			}
			moved = moved || now.V > 0.5
			last = now
			if time.Since(began) > time.Minute {
				t.Fatalf("never arrives: %+v", now)
			}
		}
		between(t, "3.2 m", time.Since(began), 5500*time.Millisecond, 15*time.Second)
		if l := r.Snapshot(); math.Hypot(l.X-3, l.Y-1) > 0.001 || math.Abs(l.Theta-math.Pi/2) > 0.02 || l.V != 0 || l.W != 0 || !moved {
			t.Errorf("arrived at %+v", l)
		}
		// From every point to every other.
		for _, from := range r.Body().Points {
			for _, to := range r.Body().Points {
				r.takes(r.start("drive", score.Action{Do: score.Goto{Point: from}}))
				r.takes(r.start("drive", score.Action{Do: score.Goto{Point: to, SpeedMPS: number(0.3)}}))
			}
		}
		r.takes(r.start("drive", score.Action{Do: score.Goto{XM: number(-2.5), YM: number(0.7)}}))
		if l := r.Snapshot(); math.Hypot(l.X+2.5, l.Y-0.7) > 0.02 {
			t.Errorf("arrived at %+v", l)
		}
	})
}

func TestManualDrivingEndsAfterTTL(t *testing.T) {
	with(t, sim.Config{At: "entrance"}, func(r *robot) {
		for range 100 { // renewed at 20 Hz
			r.Move(driver.Velocity{VX: 5, WZ: 0.2, TTL: time.Hour})
			r.pass(50 * time.Millisecond)
		}
		v := r.Snapshot().V
		if v != 0.6 {
			t.Errorf("drives at %v m/s, want 0.6", v)
		}
		r.Move(driver.Velocity{VX: 0.6, TTL: time.Hour})
		last := time.Now()
		for r.Snapshot().V != 0 {
			r.tick()
		}
		brake := time.Duration(v / 1.0 * float64(time.Second))
		if took := time.Since(last); took > driver.VelocityTTL+brake+100*time.Millisecond {
			t.Errorf("stands still %v after the last Move", took)
		}
		r.Move(driver.Velocity{VX: math.NaN(), WZ: math.Inf(1), TTL: time.Second})
		r.pass(time.Second)
		if l := r.Snapshot(); l.V != 0 || l.W != 0 || math.IsNaN(l.X+l.Theta) {
			t.Errorf("moves after a velocity of NaN and infinity: %+v", l)
		}
	})
}

func TestHeadTurnsWithinItsLimits(t *testing.T) {
	with(t, sim.Config{}, func(r *robot) {
		between(t, "one radian",
			r.takes(r.start("head", score.Action{Do: score.Head{Axes: score.Axes{YawRad: number(1.0)}, Speed: number(0.5)}})), 980*time.Millisecond,
			1100*time.Millisecond)
		between(t, "two radians at once",
			r.takes(r.start("head", score.Action{Do: score.Head{Axes: score.Axes{YawRad: number(-1.0), PitchRad: number(0.3)},
				Speed: number(1.0)}})), 980*time.Millisecond, 1100*time.Millisecond)
		if l := r.Snapshot(); l.Yaw != -1 || l.Pitch != 0.3 || l.Roll != 0 {
			t.Errorf("looks at %+v", l)
		}
		bad := r.start("head", score.Action{Do: score.Head{Axes: score.Axes{YawRad: number(1.3)}}})
		if !r.has(func(e driver.Event) bool { return e.Key == bad && e.Reason == schema.ReasonOutOfRange }) {
			t.Errorf("1.3 rad was accepted: %+v", r.seen)
		}
	})
}

func TestFaceReturnsAfterHeldFaceStops(t *testing.T) {
	with(t, sim.Config{}, func(r *robot) {
		r.start("face", score.Action{Do: score.Face{Face: "smile"}})
		key := r.start("face", score.Action{EndMS: number(int64(500)), Do: score.Face{Face: "wink"}})
		if got := r.Snapshot().Face; got != "wink" {
			t.Errorf("shows %s", got)
		}
		r.Stop(key)
		if got := r.Snapshot().Face; got != "smile" {
			t.Errorf("shows %s after the wink", got)
		}
		r.start("led", score.Action{Do: score.LED{LED: "left", Pattern: "rainbow", PeriodMS: 800}})
		if got := r.Snapshot().LED; got != "rainbow every 800 ms on left" {
			t.Errorf("the led shows %q", got)
		}
		r.start("speaker", score.Action{Do: score.Say{Text: score.Text{"en": "hello"}, Voice: "anna"}})
		if got := r.Snapshot().Saying; len(got) != 1 || got[0] != "anna: hello" {
			t.Errorf("says %q", got)
		}
		r.start("led", score.Action{Do: score.LED{Colour: "#20c0ff", Pattern: "breathe"}})
		if got := r.Snapshot().LED; got != "#20c0ff breathe" {
			t.Errorf("led: %s", got)
		}
	})
}

func TestHomingWaitsForEnable(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	bubble.Test(t, func(t *testing.T) {
		r := &robot{Sim: sim.New(sim.Config{Homing: true}), t: t}
		if err := r.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var got *driver.Calibration
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if c, err := r.Calibrate(t.Context(), driver.Map{}); err == nil {
				got = &c
			}
		}()
		r.pass(30 * time.Second)
		if n := slices.IndexFunc(r.seen, func(e driver.Event) bool {
			return e.Kind == driver.Waits && e.Unit == "head" && e.Reason == schema.ReasonNeedsEnable
		}); n < 0 || got != nil {
			t.Fatalf("does not wait: %+v, %+v", got, r.seen)
		}
		r.Order(driver.ToRun)
		r.pass(time.Second)
		early := r.start("drive", score.Action{Do: score.Goto{Point: "desk"}})
		if !r.has(func(e driver.Event) bool { return e.Key == early && e.Reason == schema.ReasonNotCalibrated }) {
			t.Error("a goto was accepted before homing ended")
		}
		r.Order(driver.ToIdle) // homing waits again
		r.pass(30 * time.Second)
		waits := 0
		for _, e := range r.seen {
			if e.Kind == driver.Waits && e.Unit == "drive" {
				waits++
			}
		}
		if waits != 2 || got != nil {
			t.Fatalf("the drive reported %d times that it waits, want 2; the calibration ended with %+v", waits, got)
		}
		r.Order(driver.ToRun)
		r.pass(4 * time.Second)
		<-ended
		if got == nil || !got.OK() || len(got.Map.Points) == 0 {
			t.Fatalf("got %+v", got)
		}
		var far []float64
		for _, e := range r.seen {
			if e.Kind == driver.Calibrating {
				far = append(far, e.Level)
			}
		}
		if len(far) < 5 || !slices.IsSorted(far) || far[len(far)-1] < 0.9 || far[len(far)-1] > 1 {
			t.Errorf("reported progress: %v", far)
		}
		r.takes(r.start("drive", score.Action{Do: score.Goto{Point: "desk"}}))
	})
}

func TestBodyReportsItsPosition(t *testing.T) {
	at := func(r *robot) (x, y float64, n int) {
		for _, e := range r.seen {
			if e.Kind == driver.Position {
				x, y, n = e.X, e.Y, n+1
			}
		}
		return x, y, n
	}
	with(t, sim.Config{}, func(r *robot) {
		r.pass(time.Second)
		if x, y, n := at(r); n != 1 || x != -1 || y != 0 {
			t.Errorf("at the start it reported %v, %v as the last of %d positions", x, y, n)
		}
		r.Order(driver.ToRun)
		r.pass(100 * time.Millisecond)
		took := r.takes(r.start("drive", score.Action{Do: score.Goto{Point: "entrance"}}))
		r.pass(time.Second)
		if x, y, n := at(r); math.Abs(x) > 0.02 || math.Abs(y) > 0.02 || n > int(took/driver.SpeedEvery)+3 {
			t.Errorf("after %v it reported %v, %v as the last of %d positions", took, x, y, n)
		}
	})
	with(t, sim.Config{NoMap: true}, func(r *robot) {
		r.pass(time.Second)
		if _, _, n := at(r); n != 0 {
			t.Error("it reported a position without a map")
		}
	})
}

func TestBodyWithoutMapCalibratesAndRefusesGoto(t *testing.T) {
	with(t, sim.Config{NoMap: true}, func(r *robot) {
		if len(r.Body().Points) != 0 {
			t.Errorf("points: %v", r.Body().Points)
		}
		ended := make(chan driver.Calibration, 1)
		go func() {
			c, _ := r.Calibrate(r.t.Context(), driver.Map{})
			ended <- c
		}()
		r.pass(time.Second)
		if c := <-ended; len(c.Map.Points) > 0 || !c.OK() {
			t.Errorf("got %+v", c)
		}
		key := r.start("drive", score.Action{Do: score.Goto{Point: "desk"}})
		if !r.has(func(e driver.Event) bool { return e.Key == key && e.Kind == driver.Failed }) {
			t.Error("a goto was accepted without a map")
		}
	})
}

func TestBatteryDrainsAndChargesAtDock(t *testing.T) {
	with(t, sim.Config{At: "entrance", Battery: 0.5}, func(r *robot) {
		r.pass(10 * time.Minute)
		drained := r.Snapshot()
		if drained.Charging || drained.Battery > 0.49 || drained.Battery < 0.4 {
			t.Errorf("after ten minutes: %+v", drained)
		}
		r.SetBattery(0.15)
		r.read()
		if last := r.battery(); last.Level != 0.15 || last.Charging {
			t.Errorf("reported %+v", last)
		}
		r.takes(r.start("drive", score.Action{Do: score.Goto{Point: "dock"}}))
		r.pass(2 * time.Minute)
		if last := r.battery(); !last.Charging || last.Level < 0.2 {
			t.Errorf("reported at the dock: %+v", last)
		}
	})
}

func TestDockChargesAtItsRateUntilItBreaks(t *testing.T) {
	with(t, sim.Config{Battery: 0.3, Charging: 0.1}, func(r *robot) {
		r.pass(2 * time.Minute)
		if b := r.Snapshot(); !b.Charging || b.Battery < 0.49 || b.Battery > 0.51 {
			t.Errorf("after two minutes at a tenth a minute: %+v", b)
		}
		r.BreakDock(true)
		r.pass(time.Minute)
		if b := r.Snapshot(); b.Charging || b.Battery > 0.5 || r.battery().Charging {
			t.Errorf("a broken dock charges: %+v, reported %+v", b, r.battery())
		}
		r.BreakDock(false)
		r.pass(time.Minute)
		if b := r.Snapshot(); !b.Charging || b.Battery < 0.58 {
			t.Errorf("a mended dock does not charge: %+v", b)
		}
	})
	with(t, sim.Config{Battery: 0.3, DeadDock: true}, func(r *robot) {
		r.pass(time.Minute)
		if b := r.Snapshot(); b.Charging || b.Battery > 0.3 {
			t.Errorf("a dead dock charges: %+v", b)
		}
	})
}

func (r *robot) battery() driver.Event {
	for _, e := range slices.Backward(r.seen) {
		if e.Kind == driver.Battery {
			return e
		}
	}
	return driver.Event{}
}

func TestInjectedFaultsAndSensors(t *testing.T) {
	with(t, sim.Config{}, func(r *robot) {
		r.FailNext("drive", schema.ReasonTimeout)
		bad := r.start("drive", score.Action{Do: score.Goto{Point: "desk"}})
		if !r.has(func(e driver.Event) bool {
			return e.Key == bad && e.Kind == driver.Failed && e.Reason == schema.ReasonTimeout
		}) {
			t.Error("the next goto did not fail")
		}
		r.takes(r.start("drive", score.Action{Do: score.Goto{Point: "entrance"}})) // only that one failed

		r.Touch("head", true)
		r.Press("help")
		r.Heat("drive", 71.5)
		r.People(2, 0)
		r.Sound(true, 62)
		r.Push(true)
		r.Lift(true)
		r.Fall(true)
		r.read()
		for _, want := range []driver.Event{
			{Kind: driver.Sensed, Signal: driver.Touch, Name: "head", On: true},
			{Kind: driver.Sensed, Signal: driver.Press, Name: "help", On: true},
			{Kind: driver.Sensed, Signal: driver.Heat, Name: "drive", Level: 71.5},
			{Kind: driver.Sensed, Signal: driver.People, Level: 2},
			{Kind: driver.Sensed, Signal: driver.Sound, On: true, Level: 62},
			{Kind: driver.Sensed, Signal: driver.Push, On: true},
			{Kind: driver.Sensed, Signal: driver.Lift, On: true},
			{Kind: driver.Sensed, Signal: driver.Fall, On: true},
		} {
			if !slices.Contains(r.seen, want) {
				t.Errorf("not reported: %+v", want)
			}
		}

		r.Break("speaker", "no sound card")
		key := r.start("speaker", score.Action{Do: score.Sound{Sound: "bell"}})
		if !r.has(func(e driver.Event) bool { return e.Key == key && e.Reason == schema.ReasonUnitError }) {
			t.Error("a broken speaker plays")
		}
		r.Repair("speaker")
		r.takes(r.start("speaker", score.Action{Do: score.Sound{Sound: "bell"}}))
	})
}

func TestStopInputDoesNotHideBrokenUnit(t *testing.T) {
	with(t, sim.Config{}, func(r *robot) {
		r.Break("head", "stuck")
		r.PressStop("bumper", true)
		r.PressStop("bumper", false)
		r.Order(driver.ToReset)
		r.pass(5 * time.Second)
		if l := r.Snapshot(); l.Head != driver.Error || l.Drive != driver.Idle {
			t.Errorf("head %s, drive %s", l.Head, l.Drive)
		}
	})
}

func TestUnreadSensorEventsDoNotDropAnswers(t *testing.T) {
	with(t, sim.Config{}, func(r *robot) {
		key := uint64(1000)
		r.Start(driver.Command{Key: key, Unit: "face", Do: &score.Action{Do: score.Face{Face: "sad"}}})
		for range 10_000 {
			r.Touch("head", true)
			synctest.Wait()
		}
		r.read()
		if !r.has(func(e driver.Event) bool { return e.Key == key && e.Kind == driver.Done }) {
			t.Error("the answer was lost")
		}
		if len(r.seen) > 1100 {
			t.Errorf("%d events were kept", len(r.seen))
		}
	})
}

func TestStopInputIsReportedDespiteSensorFlood(t *testing.T) {
	with(t, sim.Config{}, func(r *robot) {
		pressed := driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: "back", On: true}
		r.PressStop("back", true)
		for i := range 3000 { // nobody reads
			r.Heat("drive", float64(i))
		}
		r.PressStop("back", false)
		r.read()
		released := pressed
		released.On = false
		at, releasedAt := slices.Index(r.seen, pressed), slices.Index(r.seen, released)
		if at < 0 || releasedAt < at {
			t.Errorf("press was reported as event %d, release as %d of %d", at, releasedAt, len(r.seen))
		}
	})
}

// What a safety decision depends on keeps its own time: how far and how fast the body moves.
func TestSpeedConcernsOnlyBatteryAndTemperatures(t *testing.T) {
	with(t, sim.Config{Battery: 0.3, Charging: 0.01, Speed: 20}, func(r *robot) {
		r.Heat("head", 84)
		r.pass(time.Minute)
		if b := r.Snapshot(); b.Battery < 0.49 || b.Battery > 0.51 {
			t.Errorf("after twenty minutes of the day: %+v", b)
		}
		if heats := r.heats("head"); heats[len(heats)-1] > 26 {
			t.Errorf("the head cooled as %v", heats)
		}
		began := time.Now()
		r.takes(r.start("drive", score.Action{Do: score.Goto{Point: "desk"}}))
		if took := time.Since(began); took < 7*time.Second { // 4.1 m at 0.6 m/s
			t.Errorf("the drive took %v", took)
		}
	})
}
