// Package drivertest is the conformance test suite of the interface driver.Driver.
package drivertest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/score"
)

// Body is a body under test, with methods to inject faults.
type Body interface {
	driver.Driver
	Break(unit, what string)
	Repair(unit string)
	PressStop(input string, pressed bool)
	Hang(unit string, on bool)
	// MapFile makes a map with one point and gives its file to the body; the body may go
	// anywhere within 3 m of the origin, and not to 50 m. BadMapFile is one that no body reads.
	MapFile(point string, x, y float64) driver.Map
	BadMapFile() driver.Map
}

// Conform runs the suite. newBody returns a body that is not open yet. The body has a
// speaker, a face, a led, a head, and a drive that needs no homing and states its
// speed limits and its braking. The suite runs in bubbles of testing/synctest, so the
// body may use timers but no devices.
func Conform(t *testing.T, newBody func() Body) {
	t.Helper()
	in := func(name string, f func(*testing.T, *harness)) {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			bubble.Test(t, func(t *testing.T) {
				s := newHarness(t, newBody())
				f(t, s)
				s.close()
			})
		})
	}
	in("open reports the state of every unit", reportsEveryUnit)
	in("a second open fails", opensOnce)
	in("nothing moves before it is enabled", nothingMovesDisabled)
	in("every command is answered once", everyCommandAnswered)
	in("a stopped command is not answered", stoppedNotAnswered)
	in("a bad command is refused", badCommands)
	in("an order to stop brakes to standstill and ends in idle", stopEndsIdle)
	in("a halt ends in error", haltEndsInError)
	in("an order to error works in every state", errorFromEveryState)
	in("an order from another goroutine ends motion", orderFromBeside)
	in("an unknown order grants no permission", unknownOrder)
	in("the watchdog puts an unfed moving unit into error", watchdog)
	in("the watchdog trips although nobody reads events", watchdogUnread)
	in("the watchdog ignores a unit at standstill", watchdogIgnoresRest)
	in("a reset waits for the cause to be gone", resetNeedsCauseGone)
	in("a stop input stops what moves", stopInput)
	in("a unit that hangs can be stopped", hangStops)
	in("units of one kind work side by side", unitsOfOneKind)
	in("a velocity ends after its TTL", velocityEnds)
	in("the standstill after a velocity is reported", reportsStandstill)
	in("a velocity is clamped to the drive's limits", velocityLimited)
	in("a velocity ends with the permission to move", velocityStopped)
	in("a velocity of an act holds until its stop", velocityOfAct)
	in("motions, poses and catalogues are as the units list them", listedActions)
	in("no method blocks on an unread event channel", neverBlocks)
	in("calibration succeeds, and fails with a broken unit", calibrates)
	in("calibration loads a map, and one that cannot be read changes nothing", loadsMap)
	in("calibration ends with its context", calibrationCancelled)
	in("close ends everything and can be repeated", closes)
	t.Run("random orders run nothing that was not enabled", func(t *testing.T) { randomOrders(t, newBody) })
}

func reportsEveryUnit(t *testing.T, s *harness) {
	for _, u := range s.b.Body().Units {
		s.wantState(u.ID, driver.Idle)
	}
}

func opensOnce(t *testing.T, s *harness) {
	if s.b.Open(t.Context()) == nil {
		t.Error("the second Open succeeded")
	}
}

func everyCommandAnswered(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	speaker, face, led, head, drive := s.unit(schema.UnitSpeaker), s.unit(schema.UnitFace), s.unit(schema.UnitLED), s.unit(schema.UnitHead),
		s.unit(schema.UnitDrive)
	faces := s.b.Body().Units[slices.IndexFunc(s.b.Body().Units, func(u schema.Unit) bool { return u.Kind == schema.UnitFace })].Faces
	keys := []uint64{
		s.start(speaker, hello()), s.start(head, look(0.5)), s.start(drive, place(0.2)),
		s.start(face, score.Action{Do: score.Face{Face: faces[0]}}),
		s.start(led, score.Action{Do: score.LED{Colour: "#102030"}}),
	}
	s.pass(30 * time.Second)
	for _, k := range keys {
		s.wantAnswer(k, driver.Done, "")
	}
}

// unitsOfOneKind holds for bodies with several heads: each turns, is superseded and is
// stopped by itself.
func unitsOfOneKind(t *testing.T, s *harness) {
	var heads []string
	for _, u := range s.b.Body().Units {
		if u.Kind == schema.UnitHead {
			heads = append(heads, u.ID)
		}
	}
	s.order(driver.ToRun)
	var first, newer []uint64
	for _, h := range heads {
		first = append(first, s.start(h, look(0.5)))
	}
	for i, h := range heads {
		newer = append(newer, s.start(h, look(-0.5)))
		for j := range heads {
			if got := len(s.answers(first[j])); (got > 0) != (j <= i) {
				t.Errorf("after a newer command for %s, that for %s was answered %d times", h, heads[j], got)
			}
		}
	}
	s.b.Stop(newer[0])
	s.pass(2 * time.Second)
	for i, k := range newer {
		if i > 0 {
			s.wantAnswer(k, driver.Done, "")
		} else if got := s.answers(k); len(got) != 0 {
			t.Errorf("a stopped command was answered with %+v", got)
		}
	}
}

func stoppedNotAnswered(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	end := int64(1000)
	keys := []uint64{
		s.start(s.unit(schema.UnitSpeaker), hello()), s.start(s.unit(schema.UnitHead), look(0.5)), s.start(s.unit(schema.UnitDrive), far()),
		s.start(s.unit(schema.UnitLED), score.Action{EndMS: &end, Do: score.LED{Colour: "#102030"}}),
	}
	s.pass(100 * time.Millisecond)
	for _, k := range keys {
		s.b.Stop(k)
		s.b.Stop(k)
	}
	s.b.Stop(99)
	s.pass(30 * time.Second)
	for _, k := range keys {
		if got := s.answers(k); len(got) != 0 {
			t.Errorf("command %d was stopped and then answered with %+v", k, got)
		}
	}
	s.wantState(s.unit(schema.UnitDrive), driver.Run)
}

func badCommands(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	s.key++
	s.b.Start(driver.Command{Key: s.key, Unit: s.unit(schema.UnitSpeaker)})
	empty := s.key
	keys := []uint64{
		empty, s.start("no-such-unit", hello()), s.start(s.unit(schema.UnitSpeaker), far()), s.start(s.unit(schema.UnitHead), look(100)),
		s.start(s.unit(schema.UnitDrive), score.Action{Do: score.Goto{Point: "no-such-point"}}),
		s.start(s.unit(schema.UnitDrive), score.Action{Do: score.Goto{}}),
	}
	for _, u := range s.b.Body().Units {
		if impossible := score.KindOf(u.Kind).Impossible; impossible != nil {
			for _, do := range impossible(&u) {
				keys = append(keys, s.start(u.ID, do))
			}
		}
	}
	s.pass(time.Second)
	for _, k := range keys {
		if got := s.answers(k); len(got) != 1 || got[0].Kind != driver.Failed || got[0].Reason == "" || got[0].Detail == "" {
			t.Errorf("bad command %d was answered with %+v", k, got)
		}
	}
}

func hangStops(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	s.b.Hang(s.unit(schema.UnitDrive), true)
	s.b.Hang(s.unit(schema.UnitSpeaker), true)
	drive, speech := s.start(s.unit(schema.UnitDrive), far()), s.start(s.unit(schema.UnitSpeaker), hello())
	s.pass(10 * time.Second)
	if len(s.answers(drive))+len(s.answers(speech)) != 0 {
		t.Fatal("a unit that hangs answered")
	}
	s.b.Stop(speech)
	s.order(driver.ToStop)
	s.pass(2 * time.Second)
	s.wantState(s.unit(schema.UnitDrive), driver.Idle)
	s.wantAnswer(drive, driver.Failed, schema.ReasonStopped)
}

func neverBlocks(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	for range 5000 {
		s.key++
		s.b.Start(driver.Command{Key: s.key, Unit: "no-such-unit", Do: &score.Action{}})
		s.b.Stop(s.key + 100_000)
		s.b.Feed()
	}
	s.b.Order(driver.ToError)
	s.read()
	s.wantState(s.unit(schema.UnitDrive), driver.Error)
	for k := uint64(1); k <= 5000; k++ {
		if len(s.answers(k)) != 1 {
			t.Fatalf("command %d was answered with %+v", k, s.answers(k))
		}
	}
}

func orderFromBeside(t *testing.T, s *harness) {
	drive := s.unit(schema.UnitDrive)
	s.order(driver.ToRun)
	s.b.Move(driver.Velocity{VX: 0.1, TTL: driver.VelocityTTL})
	s.pass(driver.Tick)
	ordered := make(chan struct{})
	go func() {
		defer close(ordered)
		s.b.Order(driver.ToError)
	}()
	<-ordered
	s.read()
	s.wantState(drive, driver.Error)
}

// calibrate runs a calibration to its end.
func calibrate(t *testing.T, s *harness, m driver.Map) (c driver.Calibration, err error) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c, err = s.b.Calibrate(t.Context(), m)
	}()
	for range 500 {
		s.pass(driver.Tick)
		select {
		case <-ended:
			return c, err
		default:
		}
	}
	t.Fatal("calibration does not end")
	return c, err
}

func loadsMap(t *testing.T, s *harness) {
	drive := s.unit(schema.UnitDrive)
	goTo := func(point string, x float64) score.Action {
		a := place(x)
		if point != "" {
			a.Do = score.Goto{Point: point}
		}
		return a
	}
	good, bad := s.b.MapFile("corner", 0.5, 0.5), s.b.BadMapFile()
	if c, err := calibrate(t, s, good); err != nil || !c.OK() || !slices.Equal(c.Map.Points, []string{"corner"}) {
		t.Fatalf("with a map: %+v, %v", c, err)
	}
	missing := driver.Map{Name: "gone", SHA256: strings.Repeat("0", 64)}
	for _, m := range []driver.Map{bad, missing} {
		if c, err := calibrate(t, s, m); err != nil || c.OK() || c.Map.Reason != schema.ReasonBadMap || !strings.Contains(c.Map.Detail, m.Name) {
			t.Errorf("with a map that cannot be read: %+v, %v", c, err)
		}
	}
	s.order(driver.ToRun)
	key := s.start(drive, goTo("corner", 0)) // the good one is still in force
	s.pass(30 * time.Second)
	s.wantAnswer(key, driver.Done, "")
	key = s.start(drive, goTo("", 50))
	s.pass(time.Second)
	s.wantAnswer(key, driver.Failed, schema.ReasonOutOfRange)
	if c, err := calibrate(t, s, driver.Map{}); err != nil || !c.OK() || !slices.Equal(c.Map.Points, s.b.Body().Points) {
		t.Errorf("with its own map again: %+v, %v", c, err)
	}
	key = s.start(drive, goTo("corner", 0))
	s.pass(time.Second)
	s.wantAnswer(key, driver.Failed, schema.ReasonOutOfRange)
}

func calibrates(t *testing.T, s *harness) {
	run := func() (driver.Calibration, error) { return calibrate(t, s, driver.Map{}) }
	if c, err := run(); err != nil || !c.OK() {
		t.Errorf("got %+v, %v", c, err)
	}
	s.b.Break(s.unit(schema.UnitHead), "stuck")
	if c, err := run(); err != nil || c.OK() || !slices.ContainsFunc(c.Units, func(u driver.Calibrated) bool {
		return u.Unit == s.unit(schema.UnitHead) && u.Reason == schema.ReasonUnitError && u.Detail == "stuck"
	}) {
		t.Errorf("with a broken unit: got %+v, %v", c, err)
	}
}

func calibrationCancelled(t *testing.T, s *harness) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.b.Calibrate(ctx, driver.Map{}); err == nil {
		t.Error("calibration succeeded with a cancelled context")
	}
	ended := make(chan error)
	go func() {
		_, err := s.b.Calibrate(t.Context(), driver.Map{})
		ended <- err
	}()
	synctest.Wait()
	if _, err := s.b.Calibrate(t.Context(), driver.Map{}); err == nil {
		t.Error("a second calibration was accepted while one runs")
	}
	if err := s.b.Close(); err != nil {
		t.Error(err)
	}
	if <-ended == nil {
		t.Error("calibration succeeded on a closed body")
	}
}

func closes(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	s.start(s.unit(schema.UnitDrive), far())
	s.pass(time.Second)
	s.close()
	s.close()
	s.read()
	if !s.closed {
		t.Error("the channel of events is still open")
	}
	s.b.Start(driver.Command{Key: 1000, Unit: s.unit(schema.UnitFace)})
	s.b.Stop(1000)
	s.b.Order(driver.ToRun)
	s.b.Feed()
}
