package sim

import (
	"slices"
	"strings"

	"troupe/schema"
)

// Inject plays a fault or signal into the body. Check has to allow it.
func (s *Sim) Inject(in schema.SimInput) {
	switch in := in.(type) {
	case schema.SimPeople:
		s.People(int(in.Count), in.BearingRad)
	case schema.SimTouch:
		s.Touch(in.Area, in.On)
	case schema.SimPress:
		s.Press(in.Choice)
	case schema.SimSound:
		s.Sound(in.On, in.NoiseDB)
	case schema.SimDark:
		s.Dark(in.On)
	case schema.SimIntent:
		s.Hear(in.Utterance())
	case schema.SimPush:
		s.Push(in.On)
	case schema.SimLift:
		s.Lift(in.On)
	case schema.SimFall:
		s.Fall(in.On)
	case schema.SimObstacle:
		if !in.On {
			s.RemoveObstacles()
		} else {
			s.Obstacle(in.AheadM)
		}
	case schema.SimHeat:
		s.Heat(in.Unit, in.Celsius)
	case schema.SimBreak:
		s.Break(in.Unit, in.What)
	case schema.SimRepair:
		s.Repair(in.Unit)
	case schema.SimAskStop:
		s.AskStop(in.Unit, in.Stop)
	case schema.SimHang:
		s.Hang(in.Unit, in.On)
	case schema.SimFailNext:
		s.FailNext(in.Unit, in.Reason)
	case schema.SimSlow:
		s.Slow(in.Pace)
	case schema.SimBattery:
		s.SetBattery(in.Level)
	case schema.SimDock:
		s.BreakDock(!in.Works)
	case schema.SimStopInput:
		s.PressStop(in.Name, in.Pressed)
	}
}

// Check returns why the body cannot take an input.
func (s *Sim) Check(in schema.SimInput) []schema.Problem {
	switch in := in.(type) {
	case schema.SimTouch:
		return checkName("/area", "touch area", in.Area, touchAreas)
	case schema.SimStopInput:
		return checkName("/name", "stop input", in.Name, stopInputs)
	case schema.SimUnitInput:
		return s.checkUnit(in.OnUnit())
	}
	return nil
}

func checkName(pointer, what, name string, known []string) []schema.Problem {
	if slices.Contains(known, name) {
		return nil
	}
	return []schema.Problem{schema.NewProblem(pointer, "out_of_range", "there is no "+what+" "+name, "the "+what+"s are "+
		strings.Join(known, ", "))}
}

func (s *Sim) checkUnit(id string) []schema.Problem {
	if s.kindOf(id) != "" {
		return nil
	}
	var ids []string
	for _, u := range s.units {
		ids = append(ids, u.ID)
	}
	slices.Sort(ids)
	return []schema.Problem{schema.NewProblem("/unit", "unknown_unit", "there is no unit "+id, "the units are "+strings.Join(ids, ", "))}
}
