package score

import (
	"fmt"
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

// estimated is an action with its estimated times since the start of its act.
type estimated struct {
	pointer string
	action  *Action
	row     ActionRow
	from    int64
	to      int64
}

// rehearsal simulates an act with estimated durations.
type rehearsal struct {
	c   *checks
	all []estimated
}

// DurationMS estimates the duration of a without pauses.
func (a Act) DurationMS() int64 {
	r := rehearsal{c: &checks{}}
	return r.group("", a.Actions, 0)
}

// rehearse warns about actions that will probably start later than written. It is for acts
// without errors, in which only estimated durations can overlap.
func (c *checks) rehearse(a Act) {
	r := rehearsal{c: c}
	r.group("", a.Actions, 0)
	for i, late := range r.all {
		for _, early := range r.all {
			if early.row.Class != late.row.Class || early.action.Unit != late.action.Unit || late.row.Shares() || early.from >= late.from || late.from >= early.to {
				continue
			}
			c.warn(at(r.all[i].pointer, "start_ms"), CodeMayWait, fmt.Sprintf("will probably wait for %s, which takes until about %d ms", early.pointer, early.to), "start it later if its time matters")
			break
		}
	}
}

// group simulates a list of actions whose clock starts at begin. It returns when the last
// action ends.
func (r *rehearsal) group(base string, list []Action, begin int64) int64 {
	offset, end := begin, begin // time = offset + clock
	for _, i := range inOrder(list) {
		x := &list[i]
		p := at(base+"/actions", i)
		from := offset + x.StartMS
		alone := MethodOf(*x) == MethodExclusive
		if alone && end > from {
			r.c.warn(at(p, "start_ms"), CodeMayWait, fmt.Sprintf("is exclusive and will probably wait for those before it, until about %d ms", end), "start it later if its time matters")
			from = end
		}
		to := from
		switch {
		case x.Type == TypeGroup:
			to = r.group(p, x.Actions, from)
		case x.EndMS != nil:
			to += *x.EndMS - x.StartMS
		case x.TimeoutMS != nil:
			to += min(estimate(x), *x.TimeoutMS)
		}
		if row, _ := RowOf(x.Type); x.Type != TypeGroup {
			r.all = append(r.all, estimated{p, x, row, from, to})
		}
		if alone {
			offset += to - from
		}
		end = max(end, to)
	}
	return end
}

// Expected estimates how long a unit takes until it reports that x is done; 0 = x ends in
// another way, or as late as its file is long.
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
