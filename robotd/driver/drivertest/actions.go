package drivertest

import (
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

// velocityOfAct checks that the velocity of a drive action holds until its stop, is not
// answered, and stays within the limits of the drive.
func velocityOfAct(t *testing.T, s *harness) {
	u := s.drive()
	s.order(driver.ToRun)
	end := int64(5000)
	ahead, wild := u.MaxSpeedMPS/2, 2*u.MaxSpeedMPS
	key := s.start(u.ID, score.Action{EndMS: &end, Do: score.Drive{VXMPS: &ahead}})
	s.pass(3 * time.Second)
	if v, _ := s.fastest(); v != ahead {
		t.Errorf("driven at %v m/s it was %v m/s fast", ahead, v)
	}
	s.b.Stop(key)
	s.pass(time.Duration(ahead/u.BrakingMPS2*float64(time.Second)) + 200*time.Millisecond)
	s.wantStandstill("the action was stopped")
	if got := s.answers(key); len(got) != 0 {
		t.Errorf("a velocity was answered with %+v", got)
	}
	refused := s.start(u.ID, score.Action{EndMS: &end, Do: score.Drive{VXMPS: &wild}})
	s.wantAnswer(refused, driver.Failed, schema.ReasonOutOfRange)
	halted := s.start(u.ID, score.Action{EndMS: &end, Do: score.Drive{VXMPS: &ahead}})
	s.pass(time.Second)
	s.order(driver.ToHalt)
	s.wantAnswer(halted, driver.Failed, schema.ReasonStopped)
}

// listedActions checks that a body carries out what its units list (motions, heights of poses, and each name of a
// catalogue, such as sounds, faces, views and images), and refuses what they do not list.
func listedActions(t *testing.T, s *harness) {
	s.order(driver.ToRun)
	limit := int64(20_000)
	run := func(unit string, do score.Action) {
		t.Helper()
		key := s.start(unit, do)
		for left := 15 * time.Second; left > 0 && len(s.answers(key)) == 0; left -= driver.Tick {
			s.pass(driver.Tick)
		}
		s.pass(time.Second) // a second answer would come now
		s.wantAnswer(key, driver.Done, "")
	}
	refuse := func(unit string, do score.Action) {
		t.Helper()
		s.wantAnswer(s.start(unit, do), driver.Failed, schema.ReasonOutOfRange)
	}
	for _, u := range s.b.Body().Units {
		for _, name := range u.Motions {
			run(u.ID, score.Action{TimeoutMS: &limit, Do: score.Motion{Motion: name}})
		}
		if len(u.Motions) > 0 {
			refuse(u.ID, score.Action{TimeoutMS: &limit, Do: score.Motion{Motion: "no-such-motion"}})
		}
		for _, row := range score.KindOf(u.Kind).Actions {
			for _, f := range row.Fields {
				if f.Names == nil || len(f.Names(&u)) == 0 {
					continue
				}
				do := score.Action{Do: row.Do}
				if !row.AtOnce {
					do.TimeoutMS = &limit
				}
				for _, name := range f.Names(&u) {
					do.Set(f.Name, name)
					run(u.ID, do)
				}
				do.Set(f.Name, "no-such-"+f.Name)
				refuse(u.ID, do)
			}
		}
		if r := u.HeightM; r != nil && u.Kind == schema.UnitDrive {
			run(u.ID, score.Action{TimeoutMS: &limit, Do: score.Pose{Axes: score.Axes{HeightM: &r.Min}}})
			run(u.ID, score.Action{TimeoutMS: &limit, Do: score.Pose{Axes: score.Axes{HeightM: &r.Max}}})
			beyond := r.Max + 1
			refuse(u.ID, score.Action{TimeoutMS: &limit, Do: score.Pose{Axes: score.Axes{HeightM: &beyond}}})
		}
	}
}
