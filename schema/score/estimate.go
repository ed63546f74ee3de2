package score

import (
	"time"
	"unicode/utf8"
)

// Estimated durations of actions that end when their unit is done; used for display and
// warnings.
const (
	guessCharsPerSecond = 14
	guessSoundMS        = 3000
	guessHeadMS         = 1500
	guessChoiceMS       = 10_000
	guessMotionMS       = 3000
	guessPoseMS         = 2000
	guessGotoMS         = 15_000
)

// DurationMS estimates the duration of a without pauses.
func (a Act) DurationMS() int64 { return simulate(a).root.end }

// duration returns how long an action lasts, and whether its end is an estimate. For a group
// it returns 0: a group ends with the last of its actions.
func duration(x *Action) (length int64, estimated bool) {
	switch {
	case x.Type == TypeGroup:
		least, most := Act{Actions: x.Actions}.Lasts()
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
	if x.Type == TypeSound || x.Type == TypeScreen || x.EndMS != nil {
		return 0
	}
	return time.Duration(estimate(x)) * time.Millisecond
}

func estimate(x *Action) int64 {
	switch x.Type {
	case TypeSay:
		longest := 0
		for _, t := range x.Text {
			longest = max(longest, utf8.RuneCountInString(t))
		}
		rate := 1.0
		if x.Rate != nil {
			rate = *x.Rate
		}
		return int64(float64(longest) * 1000 / guessCharsPerSecond / rate)
	case TypeSound:
		return guessSoundMS
	case TypeHead:
		return guessHeadMS
	case TypeScreen:
		return guessChoiceMS
	case TypeMotion:
		return guessMotionMS
	case TypePose:
		return guessPoseMS
	case TypeGoto:
		return guessGotoMS
	}
	return 0
}
