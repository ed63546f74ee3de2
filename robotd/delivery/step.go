package delivery

import (
	"fmt"
	"slices"
	"time"

	"troupe/schema"
)

// Step processes one input and appends its effects to out, in order. Transitions
// that need no further input follow within the same step, and each has its PublishReport.
func Step[C any](s *State[C], now Now, c *Config[C], f Facts, in Input, out []Effect) []Effect {
	switch in := in.(type) {
	case Document:
		out = s.document(now, c, in, out)
	case DocumentDeleted:
		out = append(out, RecordEvent{Detail: "the desired state was deleted from the broker; that changes nothing"})
	case FleetKnown:
		s.learnFleet(in.FleetID)
	case Arriving:
		out = s.arriving(now, c, in, out)
	case Fetched:
		out = s.fetched(now, c, in, out)
	case Written:
		out = s.written(now, c, in, out)
	case Started:
		if s.onProbation(in.SHA256) {
			out = s.activate(now, OnStarted, out)
		}
	case StartFailed:
		if s.onProbation(in.SHA256) {
			out = s.rollBack(OnStartFailed, cause{reason: orInternal(in.Reason), detail: in.Detail}, out)
		}
	case Adopt:
		out = s.adopt(now, c, in.FleetID, out)
	case RobotChanged:
		out = s.refit(now, c, in.ActsDigest, out)
	case Tick:
	default:
		panic(fmt.Sprintf("delivery: unknown input %T", in))
	}
	return s.advance(now, c, f, out)
}

// resaveDelay is the pause before a Save that the disk refused is repeated.
const resaveDelay = 5 * time.Second

// advance takes the transitions that time, facts and finished work allow.
func (s *State[C]) advance(now Now, c *Config[C], f Facts, out []Effect) []Effect {
	if s.resaveAt > 0 && now.Mono >= s.resaveAt && s.candidate == nil {
		s.resaveAt = 0
		out = append(out, s.save(), PublishReport{From: s.phase, To: s.phase, Why: "saved now; the disk refused it before", Report: s.Report()})
	}
	if late := s.desired.Deadline; late > 0 && now.Fleet > late {
		out = s.tooLate(out)
	}
	for {
		was := s.phase
		switch s.phase {
		case schema.DeployFetching:
			if now.Mono >= s.deadline {
				out = s.fail(now, c, OnTimeout, cause{reason: schema.ReasonTimeout, detail: fmt.Sprintf("no bytes within %s",
					c.fetchTimeout(s.fruitless))}, out)
			}
		case schema.DeployFailed:
			if now.Mono >= s.deadline {
				out = s.fetch(now, c, OnRetry, out)
			}
		case schema.DeployVerifying:
			out = s.verify(now, c, out)
		case schema.DeployValidating:
			if s.candidate == nil {
				out = s.validate(c, out)
			}
		case schema.DeployStaged:
			out = s.take(OnWait, out)
		case schema.DeployWaiting:
			switch {
			case s.staged.Fit.Reason != "":
				out = s.refuseStaged(out)
			case f.mayApply(s.staged.Apply):
				s.deadline = now.Mono + c.Probation
				out = s.take(OnDue, out)
			}
		case schema.DeployActivating:
			switch {
			case s.staged.Fit.Reason != "":
				out = s.refuseStaged(out)
			case !f.Performing || f.Paused:
				out = s.activate(now, OnNothingPerformed, out)
			case now.Mono >= s.deadline:
				out = s.rollBack(OnProbation, cause{reason: schema.ReasonTimeout, detail: fmt.Sprintf("it did not begin within %s", c.Probation)}, out)
			}
		}
		if s.phase == was {
			return out
		}
	}
}

// tooLate gives up a delivery whose deadline has passed.
func (s *State[C]) tooLate(out []Effect) []Effect {
	if _, ok := Table.Next(s.phase, OnTooLate); !ok || s.candidate != nil {
		return out
	}
	if s.phase == schema.DeployFetching {
		out = append(out, StopFetch{s.load.current.SHA256})
	}
	s.load, s.staged = load[C]{}, nil
	s.why = cause{reason: schema.ReasonExpired, detail: "its deadline was " + s.desired.Deadline.String()}
	return s.takeSaved(OnTooLate, out)
}

// mayApply reports whether a new content may become active now.
func (f Facts) mayApply(apply schema.Apply) bool {
	switch {
	case !f.Performing:
		return true
	case f.Interrupted:
		return false
	case apply == schema.ApplyNow:
		return true
	}
	return apply == schema.ApplyNextAct && f.BetweenActs
}

// take makes a transition of the table and reports it. A transition that the table
// does not list is a programming error in this package.
func (s *State[C]) take(on Event, out []Effect) []Effect {
	row, ok := Table.Next(s.phase, on)
	if !ok {
		panic(fmt.Sprintf("delivery: no transition from %s on %s", s.phase, on))
	}
	from := s.phase
	s.phase = row.To
	return append(out, PublishReport{From: from, To: row.To, On: on, Why: row.Why, Report: s.Report()})
}

// takeSaved is take, with the new state saved before it is reported.
func (s *State[C]) takeSaved(on Event, out []Effect) []Effect {
	effects := s.take(on, nil)
	return append(append(out, s.save()), effects...)
}

func (s *State[C]) inProgress() bool {
	_, ok := Table.Next(s.phase, OnNewer)
	return ok
}

// activate makes the staged story the active one.
func (s *State[C]) activate(now Now, on Event, out []Effect) []Effect {
	if s.active != nil {
		s.previous = &s.active.Accepted
	}
	s.active, s.staged, s.why = s.staged, nil, cause{}
	s.active.Since = now.Wall
	return s.takeSaved(on, out)
}

// rollBack drops the staged story; the active one has stayed active.
func (s *State[C]) rollBack(on Event, why cause, out []Effect) []Effect {
	s.staged, s.why = nil, why
	return s.takeSaved(on, out)
}

// refuseStaged drops the staged content because this robot can use nothing of it any more; the
// active one has stayed active.
func (s *State[C]) refuseStaged(out []Effect) []Effect {
	s.why = causeOf(s.staged.Fit)
	s.staged = nil
	return s.takeSaved(OnRefused, out)
}

// refit checks the contents again after the robot changed.
func (s *State[C]) refit(now Now, c *Config[C], digest string, out []Effect) []Effect {
	s.actsDigest = digest
	refetch := s.phase == schema.DeployRejected && aboutRobot(s.why.reason)
	if s.active != nil {
		before := s.active.Fit
		refetch = refetch && s.active.Rev != s.desired.Rev
		l := *s.active
		l.Fit = c.Judge.Fit(l.Content)
		s.active = &l
		switch {
		case l.Fit.Reason != "" && s.phase == schema.DeployActive:
			s.why = causeOf(l.Fit)
			out = s.takeSaved(OnUnusableNow, out)
		case l.Fit.Reason == "" && s.phase == schema.DeployRejected && s.active.Rev == s.desired.Rev:
			s.why = cause{}
			out = s.takeSaved(OnUsableAgain, out)
		case fmt.Sprint(before.Pruned) != fmt.Sprint(l.Fit.Pruned) || !slices.Equal(before.Refused, l.Fit.Refused) ||
			before.Reason != l.Fit.Reason:
			out = append(out, pruned(&l), PublishReport{From: s.phase, To: s.phase, Why: "the parts that can be performed have changed",
				Report: s.Report()})
		}
	}
	for _, one := range []**Loaded[C]{&s.candidate, &s.staged} {
		if *one != nil {
			l := **one
			l.Fit = c.Judge.Fit(l.Content)
			*one = &l // advance drops it, once it is written, if nothing of it can be used any more
		}
	}
	if refetch {
		out = s.fetch(now, c, OnRefit, out)
	}
	return out
}

// backoff is the wait after a failed attempt.
func backoff(attempts int, most time.Duration) time.Duration {
	return min(time.Second<<min(max(attempts-1, 0), 20), most)
}

func orInternal(r schema.Reason) schema.Reason {
	if r == "" {
		return schema.ReasonInternal
	}
	return r
}
