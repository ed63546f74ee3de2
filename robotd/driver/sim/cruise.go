package sim

import (
	"fmt"
	"math"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

// cruise is the velocity of a running drive action, which holds until its stop.
type cruise struct {
	key  uint64
	v, w float64
}

func (s *Sim) startCruise(c driver.Command, do score.Drive) {
	if why, detail := s.motionRefusal(&s.movers[0]); why != "" {
		s.failed(c.Key, why, detail)
		return
	}
	r := &cruise{key: c.Key}
	for _, axis := range []struct {
		name string
		want *float64
		most float64
		to   *float64
	}{
		{"forward", do.VXMPS, maxSpeed, &r.v}, {"sideways", do.VYMPS, 0, new(float64)}, {"turning", do.WZRadPS, maxTurn, &r.w},
	} {
		switch {
		case axis.want == nil:
		case !(math.Abs(*axis.want) <= axis.most): // NaN is beyond every limit
			s.failed(c.Key, schema.ReasonOutOfRange, fmt.Sprintf("%s at %g: the drive does at most %g", axis.name, *axis.want, axis.most))
			return
		default:
			*axis.to = *axis.want
		}
	}
	s.abort(drive, schema.ReasonSuperseded, "a newer command moves the drive")
	s.cruise = r
}

func (s *Sim) stopCruise(key uint64) {
	if s.cruise != nil && s.cruise.key == key {
		s.cruise = nil
	}
}

func (s *Sim) abortCruise(why schema.Reason, detail string) {
	if s.cruise != nil {
		s.failed(s.cruise.key, why, detail)
		s.cruise = nil
	}
}
