package taught

import (
	"cmp"
	"math"
	"slices"
	"time"

	"troupe/schema/score"
)

// MaxActions is the highest number of actions of a taught act.
const MaxActions = 100

// Recording is an act that is being taught; without an id there is none. Times are since boot.
type Recording struct {
	Act     string
	Name    score.Text
	Since   time.Duration
	MaxMPS  float64 // limits of the drive
	MaxTurn float64 // rad/s
	actions []recorded
	drive   segment
	tooLong bool // an action was left out, because there were MaxActions already
}

// recorded is one action that was done. Its StartMS and EndMS count from its own begin.
type recorded struct {
	entry string // of the executor, until it has ended
	at    time.Duration
	do    score.Action
}

// segment is a part of manual driving with about one velocity.
type segment struct {
	from, last time.Duration
	first, now velocity
	way        velocity // the distance so far, in m and rad
}

type velocity struct{ vx, wz float64 }

// A segment ends when the velocity has changed by otherSpeed or otherTurn, but not before
// shortSegment.
const (
	otherSpeed   = 0.1 // m/s
	otherTurn    = 0.2 // rad/s
	shortSegment = 500 * time.Millisecond
	rest         = score.DriveRestMS * time.Millisecond
)

// Begin notes that an action has begun, as an entry of the executor.
func (r *Recording) Begin(entry string, do score.Action, now time.Duration) {
	switch {
	case r.Act == "":
	case len(r.actions) == MaxActions:
		r.tooLong = true
	default:
		r.actions = append(r.actions, recorded{entry: entry, at: now, do: do})
	}
}

// TooLong reports whether more than MaxActions were done, so that the act can never be kept:
// what was left out would be missing in it.
func (r *Recording) TooLong() bool { return r.tooLong }

// End notes that an action has ended. One that was ended from outside lasts as long as it
// did, if its type can have an end. One that failed is not recorded.
func (r *Recording) End(entry string, completed, failed bool, now time.Duration) {
	i := slices.IndexFunc(r.actions, func(a recorded) bool { return a.entry == entry })
	if i < 0 {
		return
	}
	a := &r.actions[i]
	a.entry = ""
	row, _ := score.RowOf(a.do.Type())
	lasted := (now - a.at).Milliseconds()
	switch {
	case completed:
	case failed, !row.End || lasted == 0:
		r.actions = slices.Delete(r.actions, i, i+1)
	default:
		a.do.TimeoutMS, a.do.EndMS = nil, &lasted
	}
}

// Drive notes the velocity of manual driving from now on.
func (r *Recording) Drive(vx, wz float64, now time.Duration) {
	if r.Act == "" {
		return
	}
	s, next := &r.drive, velocity{vx, wz}
	if s.first != (velocity{}) {
		t := (now - s.last).Seconds()
		s.way.vx, s.way.wz, s.last = s.way.vx+s.now.vx*t, s.way.wz+s.now.wz*t, now
		s.now = next
		long := now - s.from
		other := math.Abs(vx-s.first.vx) > otherSpeed || math.Abs(wz-s.first.wz) > otherTurn
		if next != (velocity{}) && (!other || long < shortSegment) && long < score.MaxDriveMS*time.Millisecond {
			return
		}
		r.endSegment()
	}
	*s = segment{from: now, last: now, first: next, now: next}
}

// endSegment adds the segment as an action. Its velocity covers the same way although the
// action rests at its end.
func (r *Recording) endSegment() {
	s := &r.drive
	long := min(s.last-s.from, score.MaxDriveMS*time.Millisecond)
	if long < score.MinDriveMS*time.Millisecond {
		return
	}
	end, t := long.Milliseconds(), (long - rest).Seconds()
	vx, wz := within(s.way.vx/t, r.MaxMPS), within(s.way.wz/t, r.MaxTurn)
	r.Begin("", score.Action{EndMS: &end, Do: score.Drive{VXMPS: &vx, WZRadPS: &wz}}, s.from)
}

// within rounds v and keeps it within a limit.
func within(v, limit float64) float64 { return min(max(math.Round(100*v)/100, -limit), limit) }

// Recorded returns the act that was recorded until now, and whether it is too long; the recording
// goes on. The act starts with its first action. A drive that has not ended is its last action.
func (r Recording) Recorded(now time.Duration) (a score.Act, tooLong bool) {
	r.actions = slices.Clone(r.actions)
	r.Drive(0, 0, now)
	a = score.Act{ID: r.Act, Name: r.Name, Actions: []score.Action{}}
	slices.SortStableFunc(r.actions, func(x, y recorded) int { return cmp.Compare(x.at, y.at) })
	for _, x := range r.actions {
		start := (x.at - r.actions[0].at).Milliseconds()
		do := x.do
		do.StartMS = start
		if do.EndMS != nil {
			end := *do.EndMS + start
			do.EndMS = &end
		}
		a.Actions = append(a.Actions, do)
	}
	return a, r.tooLong
}
