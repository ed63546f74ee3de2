package sim

import (
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
)

// Inject plays a fault or signal into the body. It refuses inputs that the body does not
// know, and changes nothing then.
func (s *Sim) Inject(in schema.SimInput) []schema.Problem {
	switch in := in.(type) {
	case schema.SimPeople:
		s.People(int(in.Count))
	case schema.SimTouch:
		s.Touch(in.Area, in.On)
	case schema.SimPress:
		s.Press(in.Choice)
	case schema.SimSound:
		s.Sound(in.On, in.NoiseDB)
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
		return s.toUnit(in.Unit, func() { s.Heat(in.Unit, in.Celsius) })
	case schema.SimBreak:
		return s.toUnit(in.Unit, func() { s.Break(in.Unit, in.What) })
	case schema.SimRepair:
		return s.toUnit(in.Unit, func() { s.Repair(in.Unit) })
	case schema.SimHang:
		return s.toUnit(in.Unit, func() { s.Hang(in.Unit, in.On) })
	case schema.SimFailNext:
		return s.toUnit(in.Unit, func() { s.FailNext(in.Unit, in.Reason) })
	case schema.SimSlow:
		s.Slow(in.Pace)
	case schema.SimBattery:
		s.SetBattery(in.Level)
	case schema.SimDock:
		s.BreakDock(!in.Works)
	case schema.SimStopInput:
		s.PressStop(in.Name, in.Pressed)
	default:
		return []schema.Problem{schema.Fault("", "unknown_name", fmt.Sprintf("the simulated body takes no %T", in), "")}
	}
	return nil
}

func (s *Sim) toUnit(unit string, do func()) []schema.Problem {
	if s.kindOf(unit) != "" {
		do()
		return nil
	}
	var ids []string
	for _, u := range s.units {
		ids = append(ids, u.ID)
	}
	slices.Sort(ids)
	return []schema.Problem{schema.Fault("/unit", "unknown_unit", "there is no unit "+unit, "the units are "+strings.Join(ids, ", "))}
}
