package score

import "time"

// DurationMS estimates the duration of a without pauses.
func (a Act) DurationMS() int64 { return simulate(a).root.end }

// duration returns how long an action lasts, and whether its end is an estimate. For a group
// it returns 0: a group ends with the last of its actions.
func duration(x *Action) (length int64, estimated bool) {
	switch {
	case x.Type() == TypeGroup:
		least, most := Act{Actions: x.Inner()}.Lasts()
		return 0, least != most
	case x.EndMS != nil:
		return *x.EndMS - x.StartMS, false
	case x.TimeoutMS != nil:
		return min(estimate(x), *x.TimeoutMS), true
	}
	return 0, false
}

// Expected estimates how long a unit takes until it reports that x is done; 0 = x has
// an end of its own, takes as long as its file, or waits for a person.
func Expected(x *Action) time.Duration {
	if row, _ := RowOf(x.Type()); row.OpenEnd || x.EndMS != nil {
		return 0
	}
	return time.Duration(estimate(x)) * time.Millisecond
}

func estimate(x *Action) int64 {
	if e, ok := x.Do.(estimator); ok {
		return e.estimateMS()
	}
	row, _ := RowOf(x.Type())
	return row.EstimateMS
}
