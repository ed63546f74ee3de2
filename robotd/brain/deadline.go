package brain

import "time"

// watchEvery is how often the robot looks whether anybody can still reach it,
// and whether a mode or a handler takes too long.
const watchEvery = 250 * time.Millisecond

// Deadline is when Step wants the next Tick, if no event comes before: with the
// period of the executor while anything is performed or may move, else at the
// next thing that time alone brings.
func Deadline(s *State) time.Duration {
	if s.performing() || s.feeding() {
		return s.ticked + s.cfg.Tick
	}
	at := s.ticked + watchEvery
	sooner := func(d time.Duration, ok bool) {
		if ok && d < at {
			at = d
		}
	}
	sooner(s.unsavedUntil, s.unsavedUntil > 0)
	sooner(s.stops.Deadline())
	sooner(s.requests.Deadline())
	sooner(s.desired.Deadline())
	sooner(s.manual.Deadline(&s.body, s.report.Session()))
	sooner(s.report.Deadline())
	return at
}
