package delivery

import (
	"fmt"

	"troupe/schema"
	"troupe/schema/sign"
)

// document compares a desired document with the newest accepted one.
func (s *State[C]) document(now Now, c *Config[C], in Document, out []Effect) []Effect {
	d := in.Desired
	switch {
	case s.fleetID != "" && d.FleetID != s.fleetID:
		known := s.foreign != nil && s.foreign.Desired.FleetID == d.FleetID && s.foreign.Desired.Rev == d.Rev
		s.foreign = &in
		if known {
			return out
		}
		out = append(out, RecordEvent{Reason: schema.ReasonWrongFleet,
			Detail: fmt.Sprintf("a desired state of fleet %s is not obeyed: this robot belongs to %s; sys/adopt changes that", d.FleetID,
				s.fleetID)})
		return append(out, PublishReport{From: s.phase, To: s.phase, Why: "a desired document of another fleet was refused", Report: s.Report()})
	case d.Rev < s.desired.Rev:
		return append(out, RecordEvent{Reason: schema.ReasonStaleRevision, Detail: fmt.Sprintf("revision %d came after revision %d", d.Rev,
			s.desired.Rev)})
	case d.Rev > s.desired.Rev && in.Refused != "":
		return s.refuse(in, out)
	case d.Rev > s.desired.Rev:
		return s.begin(now, c, d, out)
	case !samePin(d.Pin, s.desired.Pin): // for example from a fleet whose database was restored from an old backup
		in.Refused, in.Detail = schema.ReasonStaleRevision, fmt.Sprintf("revision %d came again with another content; a revision never changes",
			d.Rev)
		return s.refuse(in, out)
	}
	if s.phase == schema.DeployFailed {
		s.deadline = now.Mono // the sender may be able to deliver the bytes now
	}
	if s.foreign != nil || s.refused != nil {
		s.foreign, s.refused = nil, nil
		return append(out, PublishReport{From: s.phase, To: s.phase, Why: "the document of the robot's own fleet came again", Report: s.Report()})
	}
	return out
}

// refuse reports a desired document that must not be accepted. Its revision does
// not count as the newest; otherwise a forged document with a high revision would
// lock out the genuine ones after it.
func (s *State[C]) refuse(in Document, out []Effect) []Effect {
	r := refusal{in.Desired.Rev, cause{reason: in.Refused, detail: in.Detail}}
	if s.refused != nil && *s.refused == r {
		return out
	}
	s.refused, s.foreign = &r, nil
	out = append(out, RecordEvent{Reason: in.Refused, Detail: in.Detail})
	return append(out, PublishReport{From: s.phase, To: s.phase, Why: "a desired document was refused", Report: s.Report()})
}

// samePin compares what reports contain of a content.
func samePin(a, b *schema.ContentPin) bool {
	return a == nil && b == nil || a != nil && b != nil && a.SHA256 == b.SHA256 && a.ID == b.ID && a.Rev == b.Rev
}

// begin abandons what is in progress and starts on a newer desired document.
func (s *State[C]) begin(now Now, c *Config[C], d Desired, out []Effect) []Effect {
	out = s.abandon(out)
	s.desired, s.fleetID, s.why = d, d.FleetID, cause{}
	s.foreign, s.refused, s.attempts, s.fruitless = nil, nil, 0, 0
	switch pin := d.Pin; {
	case pin == nil:
		if s.active != nil {
			s.previous = &s.active.Accepted
		}
		s.active = nil
		s.why = s.withdrawn()
		return s.takeSaved(OnWithdraw, out)
	case s.active != nil && s.active.Pin.SHA256 == pin.SHA256:
		l := *s.active
		if s.why = c.Judge.mismatch(l.Content, pin); s.why != (cause{}) {
			return s.takeSaved(OnUnusable, out)
		}
		l.Rev, l.Apply = d.Rev, d.Apply // its bytes passed the checks already
		l.Pin.ID, l.Pin.Rev, l.Pin.Name = pin.ID, pin.Rev, pin.Name
		s.active = &l
		if l.Fit.Reason != "" {
			s.why = causeOf(l.Fit)
			return s.takeSaved(OnUnusable, out)
		}
		return s.takeSaved(OnSame, out)
	case pin.Size > c.MaxBytes:
		s.why = cause{schema.ReasonTooBig, c.pointer("size"), fmt.Sprintf("%d bytes, at most %d are delivered", pin.Size, c.MaxBytes)}
		return s.takeSaved(OnUnusable, out)
	}
	save := s.save()
	save.Persisted.Phase = schema.DeployFetching
	out = append(out, save)
	return s.fetch(now, c, OnFetch, out)
}

// withdrawn explains why no content is active after the fleet withdrew it.
func (s *State[C]) withdrawn() cause {
	if s.kind != sign.Story {
		return cause{}
	}
	return cause{reason: schema.ReasonNoDefaultStory}
}

// abandon ends what is in progress.
func (s *State[C]) abandon(out []Effect) []Effect {
	if s.phase == schema.DeployFetching {
		out = append(out, StopFetch{s.load.current.SHA256})
	}
	inProgress := s.inProgress()
	s.load, s.candidate = load[C]{}, nil
	if inProgress {
		s.why = cause{reason: schema.ReasonSuperseded}
		out = s.take(OnNewer, out)
	}
	s.staged = nil
	return out
}

// learnFleet sets the fleet, which another delivery of this robot has learned.
func (s *State[C]) learnFleet(fleetID string) {
	if s.fleetID == "" {
		s.fleetID = fleetID
	}
}

// adopt makes the robot belong to another fleet. A document of that fleet that
// was ignored before is processed now. The active content stays until it is
// replaced.
func (s *State[C]) adopt(now Now, c *Config[C], fleetID string, out []Effect) []Effect {
	if fleetID == s.fleetID || fleetID == "" {
		return out
	}
	foreign := s.foreign
	out = s.abandon(out)
	s.desired, s.fleetID, s.why = Desired{FleetID: fleetID}, fleetID, cause{}
	s.foreign, s.refused, s.attempts, s.fruitless = nil, nil, 0, 0
	out = s.takeSaved(OnAdopted, out)
	if foreign != nil && foreign.Desired.FleetID == fleetID {
		out = s.document(now, c, *foreign, out)
	}
	return out
}
