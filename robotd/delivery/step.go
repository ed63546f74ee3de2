package delivery

import (
	"fmt"
	"time"

	"troupe/schema"
)

// Step takes one input and appends what is to be done to out, in order. Edges
// that need nothing from outside follow one another within a step, and each is
// told.
func Step[C any](s *State[C], now Now, c *Config[C], f Facts, in Input, out []Effect) []Effect {
	switch in := in.(type) {
	case Document:
		out = s.document(now, c, in, out)
	case Emptied:
		out = append(out, Note{Detail: "the desired state was deleted from the broker; that changes nothing"})
	case Belong:
		s.belong(in.FleetID)
	case Arriving:
		out = s.arriving(now, c, in, out)
	case Fetched:
		out = s.fetched(now, c, in, out)
	case Written:
		out = s.written(now, c, in, out)
	case Started:
		if s.onTrial(in.SHA256) {
			out = s.settle(now, OnStarted, out)
		}
	case StartFailed:
		if s.onTrial(in.SHA256) {
			out = s.rollBack(OnStartFailed, outcome{reason: orInternal(in.Reason), detail: in.Detail}, out)
		}
	case Adopt:
		out = s.adopt(now, c, in.FleetID, out)
	case Refit:
		out = s.refit(now, c, in.ActsDigest, out)
	case Tick:
	default:
		panic(fmt.Sprintf("delivery: unknown input %T", in))
	}
	return s.move(now, c, f, out)
}

// saveAgain is how long a disk that refused is left alone.
const saveAgain = 5 * time.Second

// move takes the edges that time, facts and finished work open.
func (s *State[C]) move(now Now, c *Config[C], f Facts, out []Effect) []Effect {
	if s.unsaved > 0 && now.Mono >= s.unsaved && s.candidate == nil {
		s.unsaved = 0
		out = append(out, s.save(), Tell{From: s.phase, To: s.phase, Why: "the disk refused it before", Report: s.Report()})
	}
	if late := s.desired.Deadline; late > 0 && now.Fleet > late {
		out = s.tooLate(out)
	}
	for {
		was := s.phase
		switch s.phase {
		case schema.DeployFetching:
			if now.Mono >= s.deadline {
				out = s.fail(now, c, OnTimeout, outcome{reason: schema.ReasonTimeout, detail: fmt.Sprintf("no bytes within %s", c.patience(s.fruitless))}, out)
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
			if f.lets(s.staged.Apply) {
				s.deadline = now.Mono + c.Probation
				out = s.take(OnTurn, out)
			}
		case schema.DeployActivating:
			switch {
			case !f.Performing || f.Held:
				out = s.settle(now, OnAtRest, out)
			case now.Mono >= s.deadline:
				out = s.rollBack(OnProbation, outcome{reason: schema.ReasonTimeout, detail: fmt.Sprintf("it did not begin within %s", c.Probation)}, out)
			}
		}
		if s.phase == was {
			return out
		}
	}
}

// tooLate gives up what the fleet has stopped waiting for.
func (s *State[C]) tooLate(out []Effect) []Effect {
	if _, ok := Table.Next(s.phase, OnTooLate); !ok || s.candidate != nil {
		return out
	}
	if s.phase == schema.DeployFetching {
		out = append(out, StopFetch{s.load.now.SHA256})
	}
	s.load, s.staged = load[C]{}, nil
	s.why = outcome{reason: schema.ReasonExpired, detail: "the fleet waited for it until " + s.desired.Deadline.String()}
	return s.takeSaved(OnTooLate, out)
}

// lets answers whether a story may take over now.
func (f Facts) lets(apply schema.Apply) bool {
	switch {
	case !f.Performing:
		return true
	case f.Interrupted:
		return false
	case apply == schema.ApplyNow:
		return true
	}
	return apply == schema.ApplyNextAct && f.Boundary
}

// take moves along the table and tells it. Taking an edge that is not listed is
// a fault of this room.
func (s *State[C]) take(on Event, out []Effect) []Effect {
	row, ok := Table.Next(s.phase, on)
	if !ok {
		panic(fmt.Sprintf("delivery: %s has no edge for %s", s.phase, on))
	}
	from := s.phase
	s.phase = row.To
	return append(out, Tell{From: from, To: row.To, On: on, Why: row.Why, Report: s.Report()})
}

// takeSaved is take with what changed on disk before it is told.
func (s *State[C]) takeSaved(on Event, out []Effect) []Effect {
	told := s.take(on, nil)
	return append(append(out, s.save()), told...)
}

func (s *State[C]) moving() bool {
	_, ok := Table.Next(s.phase, OnNewer)
	return ok
}

// settle makes the staged story the active one.
func (s *State[C]) settle(now Now, on Event, out []Effect) []Effect {
	if s.active != nil {
		s.previous = &s.active.Accepted
	}
	s.active, s.staged, s.why = s.staged, nil, outcome{}
	s.active.Since = now.Wall
	return s.takeSaved(on, out)
}

// rollBack drops the staged story; the active one was never let go.
func (s *State[C]) rollBack(on Event, why outcome, out []Effect) []Effect {
	s.staged, s.why = nil, why
	return s.takeSaved(on, out)
}

// refit looks at the stories again after the robot changed.
func (s *State[C]) refit(now Now, c *Config[C], digest string, out []Effect) []Effect {
	s.actsDigest = digest
	again := s.phase == schema.DeployRejected && aboutRobot(s.why.reason)
	if s.active != nil {
		was := s.active.Fit
		again = again && s.active.Rev != s.desired.Rev
		l := *s.active
		l.Fit = c.Judge.Fit(l.Content)
		s.active = &l
		switch {
		case l.Fit.Reason != "" && s.phase == schema.DeployActive:
			s.why = outcomeOf(l.Fit)
			out = s.takeSaved(OnEmptied, out)
		case l.Fit.Reason == "" && s.phase == schema.DeployRejected && s.active.Rev == s.desired.Rev:
			s.why = outcome{}
			out = s.takeSaved(OnRefilled, out)
		case fmt.Sprint(was.Pruned) != fmt.Sprint(l.Fit.Pruned) || was.Reason != l.Fit.Reason:
			out = append(out, pruned(&l), Tell{From: s.phase, To: s.phase, Why: "what of the story can be performed changed", Report: s.Report()})
		}
	}
	if s.staged != nil {
		l := *s.staged
		l.Fit = c.Judge.Fit(l.Content)
		s.staged = &l
		if l.Fit.Reason != "" && s.phase == schema.DeployWaiting {
			s.staged, s.why = nil, outcomeOf(l.Fit)
			out = s.takeSaved(OnRefused, out)
		}
	}
	if again {
		out = s.fetch(now, c, OnRefit, out)
	}
	return out
}

// backoff is how long to wait after an attempt.
func backoff(attempts int, most time.Duration) time.Duration {
	return min(time.Second<<min(max(attempts-1, 0), 20), most)
}

func orInternal(r schema.Reason) schema.Reason {
	if r == "" {
		return schema.ReasonInternal
	}
	return r
}
