package delivery

import (
	"fmt"
	"time"

	"troupe/schema"
)

// Step takes one input and appends what is to be done to out, in order. Edges
// that need nothing from outside follow one another within a step, and each is
// told.
func Step(s *State, now Now, c *Config, f Facts, in Input, out []Effect) []Effect {
	switch in := in.(type) {
	case Wished:
		out = s.wished(now, c, in.Wish, out)
	case Emptied:
		out = append(out, Note{Detail: "the wished story was deleted from the broker; that changes nothing"})
	case Blob:
		out = s.blob(now, c, in, out)
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
		out = s.adopt(now, c, in.Authority, out)
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
func (s *State) move(now Now, c *Config, f Facts, out []Effect) []Effect {
	if s.unsaved > 0 && now.Mono >= s.unsaved && s.candidate == nil {
		s.unsaved = 0
		out = append(out, Save{Kept: s.kept()}, Tell{From: s.phase, To: s.phase, Why: "the disk refused it before", Report: s.Report()})
	}
	for {
		was := s.phase
		switch s.phase {
		case schema.DeployFetching:
			if now.Mono >= s.deadline {
				out = s.fail(now, c, OnTimeout, outcome{reason: schema.ReasonTimeout, detail: fmt.Sprintf("no bytes within %s", c.Fetch)}, out)
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
func (s *State) take(on Event, out []Effect) []Effect {
	row, ok := Table.Next(s.phase, on)
	if !ok {
		panic(fmt.Sprintf("delivery: %s has no edge for %s", s.phase, on))
	}
	from := s.phase
	s.phase = row.To
	return append(out, Tell{From: from, To: row.To, On: on, Why: row.Why, Report: s.Report()})
}

// takeSaved is take with what changed on disk before it is told.
func (s *State) takeSaved(on Event, out []Effect) []Effect {
	told := s.take(on, nil)
	return append(append(out, Save{Kept: s.kept()}), told...)
}

func (s *State) moving() bool {
	_, ok := Table.Next(s.phase, OnNewer)
	return ok
}

// wished compares a wish with the newest one that was obeyed.
func (s *State) wished(now Now, c *Config, d schema.DesiredStory, out []Effect) []Effect {
	switch {
	case s.wish.Authority != "" && d.Authority != s.wish.Authority:
		known := s.foreign != nil && s.foreign.Authority == d.Authority && s.foreign.Rev == d.Rev
		s.foreign = &d
		if known {
			return out
		}
		out = append(out, Note{Reason: schema.ReasonWrongAuthority, Detail: fmt.Sprintf("a wish of authority %s is not obeyed: this robot belongs to %s; sys/adopt changes that", d.Authority, s.wish.Authority)})
		return append(out, Tell{From: s.phase, To: s.phase, Why: "a fleet that is not obeyed wished something", Report: s.Report()})
	case d.Rev < s.wish.Rev:
		return append(out, Note{Reason: schema.ReasonStaleRevision, Detail: fmt.Sprintf("revision %d came after revision %d", d.Rev, s.wish.Rev)})
	case d.Rev > s.wish.Rev:
		return s.begin(now, c, d, out)
	case !samePin(d.Story, s.wish.Story):
		return append(out, Note{Reason: schema.ReasonStaleRevision, Detail: fmt.Sprintf("revision %d came again with another content; a revision never changes", d.Rev)})
	}
	if s.phase == schema.DeployFailed {
		s.deadline = now.Mono // whoever says it again may have what was missing
	}
	if s.foreign != nil {
		s.foreign = nil
		return append(out, Tell{From: s.phase, To: s.phase, Why: "the fleet that is obeyed wishes again", Report: s.Report()})
	}
	return out
}

func samePin(a, b *schema.StoryPin) bool {
	return a == nil && b == nil || a != nil && b != nil && a.SHA256 == b.SHA256
}

// begin lets go of what was under way and goes for a newer wish.
func (s *State) begin(now Now, c *Config, d schema.DesiredStory, out []Effect) []Effect {
	out = s.abandon(out)
	s.wish, s.foreign, s.why = d, nil, outcome{}
	s.attempts, s.corrupt = 0, 0
	switch pin := d.Story; {
	case pin == nil:
		if s.active != nil {
			s.previous = &s.active.Accepted
		}
		s.active = nil
		s.why.reason = schema.ReasonNoDefaultStory
		return s.takeSaved(OnWithdraw, out)
	case s.active != nil && s.active.Story.SHA256 == pin.SHA256:
		l := *s.active
		l.Rev, l.Apply = d.Rev, d.Apply // the bytes are those that were checked, whatever else the wish says of them
		l.Story.ID, l.Story.Rev, l.Story.Name = pin.ID, pin.Rev, pin.Name
		s.active = &l
		if l.Fit.Reason != "" {
			s.why = outcomeOf(l.Fit)
			return s.takeSaved(OnHopeless, out)
		}
		return s.takeSaved(OnSame, out)
	case pin.Size > c.MaxBytes:
		s.why = outcome{schema.ReasonTooBig, "/story/size", fmt.Sprintf("%d bytes, at most %d are delivered", pin.Size, c.MaxBytes)}
		return s.takeSaved(OnHopeless, out)
	}
	k := s.kept()
	k.Phase = schema.DeployFetching
	out = append(out, Save{Kept: k})
	return s.fetch(now, c, OnFetch, out)
}

// abandon ends what is under way.
func (s *State) abandon(out []Effect) []Effect {
	if s.phase == schema.DeployFetching {
		out = append(out, StopFetch{s.wish.Story.SHA256})
	}
	moving := s.moving()
	s.bytes, s.candidate = nil, nil
	if moving {
		s.why = outcome{reason: schema.ReasonSuperseded}
		out = s.take(OnNewer, out)
	}
	s.staged = nil
	return out
}

// fetch asks for the bytes of the wish.
func (s *State) fetch(now Now, c *Config, on Event, out []Effect) []Effect {
	pin := s.wish.Story
	s.attempts++
	s.why, s.bytes, s.candidate = outcome{}, nil, nil
	s.deadline = now.Mono + c.Fetch
	out = s.take(on, out)
	return append(out, Fetch{SHA256: pin.SHA256, Size: pin.Size})
}

func (s *State) blob(now Now, c *Config, b Blob, out []Effect) []Effect {
	if s.phase != schema.DeployFetching || b.SHA256 != s.wish.Story.SHA256 {
		return out // nobody waits for it any more
	}
	if b.Reason != "" {
		return s.fail(now, c, OnNotFetched, outcome{reason: b.Reason, detail: b.Detail}, out)
	}
	s.bytes = b.Bytes
	out = append(out, StopFetch{b.SHA256})
	return s.take(OnArrived, out)
}

func (s *State) verify(now Now, c *Config, out []Effect) []Effect {
	pin := *s.wish.Story
	if sound(pin, s.bytes) {
		return s.take(OnSound, out)
	}
	got := len(s.bytes)
	s.bytes = nil
	if s.corrupt++; s.corrupt < 2 {
		return s.fetch(now, c, OnCorrupt, out)
	}
	s.why = outcome{schema.ReasonBadDigest, "/story/sha256", fmt.Sprintf("%d bytes came that do not have this digest, where %d were promised", got, pin.Size)}
	return s.takeSaved(OnCorruptAgain, out)
}

// validate asks the judge, and writes what passes.
func (s *State) validate(c *Config, out []Effect) []Effect {
	pin := *s.wish.Story
	b, problems := c.Judge.Read(s.bytes)
	if errs := schema.Errors(problems); len(errs) > 0 {
		s.bytes = nil
		s.why = outcome{schema.ReasonStoryInvalid, errs[0].Pointer, errs[0].String()}
		return s.takeSaved(OnRefused, out)
	}
	fit := c.Judge.Fit(b)
	if fit.Reason != "" {
		s.bytes = nil
		s.why = outcomeOf(fit)
		return s.takeSaved(OnRefused, out)
	}
	s.candidate = &Loaded{Accepted: Accepted{Rev: s.wish.Rev, Story: pin, Apply: s.wish.Apply}, Blob: b, Fit: fit}
	k := s.kept()
	k.Staged = &s.candidate.Accepted
	out = append(out, Save{Kept: k, Rev: s.wish.Rev, SHA256: pin.SHA256, Blob: s.bytes})
	s.bytes = nil
	return out
}

func (s *State) written(now Now, c *Config, w Written, out []Effect) []Effect {
	if w.Rev == 0 && w.Refused != "" {
		s.unsaved = now.Mono + saveAgain
		return out
	}
	if s.candidate == nil || w.Rev != s.candidate.Rev {
		return out
	}
	l := s.candidate
	s.candidate = nil
	if w.Refused != "" {
		return s.fail(now, c, OnDiskRefused, outcome{reason: w.Refused, detail: "the story could not be written to the robot's disk"}, out)
	}
	s.staged = l
	if len(l.Fit.Pruned) > 0 {
		out = append(out, pruned(l))
	}
	return s.take(OnWritten, out)
}

func pruned(l *Loaded) Note {
	if l.Fit.Reason != "" {
		return Note{Reason: l.Fit.Reason, Detail: l.Fit.Detail}
	}
	return Note{Reason: schema.ReasonStoryPruned, Detail: fmt.Sprintf("story %s is performed without %v", l.Story.ID, l.Fit.Pruned)}
}

// settle makes the staged story the active one.
func (s *State) settle(now Now, on Event, out []Effect) []Effect {
	if s.active != nil {
		s.previous = &s.active.Accepted
	}
	s.active, s.staged, s.why = s.staged, nil, outcome{}
	s.active.Since = now.Wall
	return s.takeSaved(on, out)
}

// rollBack drops the staged story; the active one was never let go.
func (s *State) rollBack(on Event, why outcome, out []Effect) []Effect {
	s.staged, s.why = nil, why
	return s.takeSaved(on, out)
}

// fail waits for another attempt: 1, 2, 4 ... seconds.
func (s *State) fail(now Now, c *Config, on Event, why outcome, out []Effect) []Effect {
	if s.phase == schema.DeployFetching {
		out = append(out, StopFetch{s.wish.Story.SHA256})
	}
	wait := time.Second << min(max(s.attempts-1, 0), 20)
	s.why, s.deadline = why, now.Mono+min(wait, c.MaxBackoff)
	return s.take(on, out)
}

// adopt obeys another fleet. What it wished already is looked at now; the
// active story stays until then.
func (s *State) adopt(now Now, c *Config, authority string, out []Effect) []Effect {
	if authority == s.wish.Authority || authority == "" {
		return out
	}
	foreign := s.foreign
	out = s.abandon(out)
	s.wish, s.foreign, s.why = schema.DesiredStory{Authority: authority}, nil, outcome{}
	s.attempts, s.corrupt = 0, 0
	out = s.takeSaved(OnAdopted, out)
	if foreign != nil && foreign.Authority == authority {
		out = s.wished(now, c, *foreign, out)
	}
	return out
}

// refit looks at the stories again after the robot changed.
func (s *State) refit(now Now, c *Config, digest string, out []Effect) []Effect {
	s.actsDigest = digest
	again := s.phase == schema.DeployRejected && aboutRobot(s.why.reason)
	if s.active != nil {
		was := s.active.Fit
		again = again && s.active.Rev != s.wish.Rev
		l := *s.active
		l.Fit = c.Judge.Fit(l.Blob)
		s.active = &l
		switch {
		case l.Fit.Reason != "" && s.phase == schema.DeployActive:
			s.why = outcomeOf(l.Fit)
			out = s.takeSaved(OnEmptied, out)
		case l.Fit.Reason == "" && s.phase == schema.DeployRejected && s.active.Rev == s.wish.Rev:
			s.why = outcome{}
			out = s.takeSaved(OnRefilled, out)
		case fmt.Sprint(was.Pruned) != fmt.Sprint(l.Fit.Pruned) || was.Reason != l.Fit.Reason:
			out = append(out, pruned(&l), Tell{From: s.phase, To: s.phase, Why: "what of the story can be performed changed", Report: s.Report()})
		}
	}
	if s.staged != nil {
		l := *s.staged
		l.Fit = c.Judge.Fit(l.Blob)
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

func orInternal(r schema.Reason) schema.Reason {
	if r == "" {
		return schema.ReasonInternal
	}
	return r
}
