package delivery

import (
	"fmt"

	"troupe/schema"
	"troupe/schema/sign"
)

// document compares a desired state with the newest one that was obeyed.
func (s *State[C]) document(now Now, c *Config[C], in Document, out []Effect) []Effect {
	d := in.Desired
	switch {
	case s.fleetID != "" && d.FleetID != s.fleetID:
		known := s.foreign != nil && s.foreign.Desired.FleetID == d.FleetID && s.foreign.Desired.Rev == d.Rev
		s.foreign = &in
		if known {
			return out
		}
		out = append(out, Note{Reason: schema.ReasonWrongFleet, Detail: fmt.Sprintf("a desired state of fleet %s is not obeyed: this robot belongs to %s; sys/adopt changes that", d.FleetID, s.fleetID)})
		return append(out, Tell{From: s.phase, To: s.phase, Why: "a fleet that is not obeyed desired something", Report: s.Report()})
	case d.Rev < s.desired.Rev:
		return append(out, Note{Reason: schema.ReasonStaleRevision, Detail: fmt.Sprintf("revision %d came after revision %d", d.Rev, s.desired.Rev)})
	case d.Rev > s.desired.Rev && in.Refused != "":
		return s.refuse(in, out)
	case d.Rev > s.desired.Rev:
		return s.begin(now, c, d, out)
	case !samePin(d.Pin, s.desired.Pin): // such as by a fleet whose database was set back
		in.Refused, in.Detail = schema.ReasonStaleRevision, fmt.Sprintf("revision %d came again with another content; a revision never changes", d.Rev)
		return s.refuse(in, out)
	}
	if s.phase == schema.DeployFailed {
		s.deadline = now.Mono // whoever says it again may have what was missing
	}
	if s.foreign != nil || s.refused != nil {
		s.foreign, s.refused = nil, nil
		return append(out, Tell{From: s.phase, To: s.phase, Why: "the fleet that is obeyed desired documents again", Report: s.Report()})
	}
	return out
}

// refuse tells of a desired state that must not be obeyed. It is not taken for the newest:
// else whoever made it up would shut out the true ones after it.
func (s *State[C]) refuse(in Document, out []Effect) []Effect {
	no := refusal{in.Desired.Rev, outcome{reason: in.Refused, detail: in.Detail}}
	if s.refused != nil && *s.refused == no {
		return out
	}
	s.refused, s.foreign = &no, nil
	out = append(out, Note{Reason: in.Refused, Detail: in.Detail})
	return append(out, Tell{From: s.phase, To: s.phase, Why: "a desired state that must not be obeyed was refused", Report: s.Report()})
}

// samePin compares all that a report tells of a content.
func samePin(a, b *schema.StoryPin) bool {
	return a == nil && b == nil || a != nil && b != nil && a.SHA256 == b.SHA256 && a.ID == b.ID && a.Rev == b.Rev
}

// begin releases what was under way and goes for a newer desired state.
func (s *State[C]) begin(now Now, c *Config[C], d Desired, out []Effect) []Effect {
	out = s.abandon(out)
	s.desired, s.fleetID, s.why = d, d.FleetID, outcome{}
	s.foreign, s.refused, s.attempts, s.fruitless = nil, nil, 0, 0
	switch pin := d.Pin; {
	case pin == nil:
		if s.active != nil {
			s.previous = &s.active.Accepted
		}
		s.active = nil
		s.why = s.withdrawn()
		return s.takeSaved(OnWithdraw, out)
	case s.active != nil && s.active.Story.SHA256 == pin.SHA256:
		l := *s.active
		if s.why = c.Judge.other(l.Content, pin); s.why != (outcome{}) {
			return s.takeSaved(OnHopeless, out)
		}
		l.Rev, l.Apply = d.Rev, d.Apply // the bytes are those that were checked
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
	save := s.save()
	save.Kept.Phase = schema.DeployFetching
	out = append(out, save)
	return s.fetch(now, c, OnFetch, out)
}

// withdrawn is why nothing is active, where the fleet desires it so.
func (s *State[C]) withdrawn() outcome {
	if s.kind != sign.Story {
		return outcome{}
	}
	return outcome{reason: schema.ReasonNoDefaultStory}
}

// abandon ends what is under way.
func (s *State[C]) abandon(out []Effect) []Effect {
	if s.phase == schema.DeployFetching {
		out = append(out, StopFetch{s.load.now.SHA256})
	}
	moving := s.moving()
	s.load, s.candidate = load[C]{}, nil
	if moving {
		s.why = outcome{reason: schema.ReasonSuperseded}
		out = s.take(OnNewer, out)
	}
	s.staged = nil
	return out
}

// belong takes the fleet that another of the robot's desired documents made known.
func (s *State[C]) belong(fleetID string) {
	if s.fleetID == "" {
		s.fleetID = fleetID
	}
}

// adopt obeys another fleet. What it desired already is looked at now; what is
// active stays until then.
func (s *State[C]) adopt(now Now, c *Config[C], fleetID string, out []Effect) []Effect {
	if fleetID == s.fleetID || fleetID == "" {
		return out
	}
	foreign := s.foreign
	out = s.abandon(out)
	s.desired, s.fleetID, s.why = Desired{FleetID: fleetID}, fleetID, outcome{}
	s.foreign, s.refused, s.attempts, s.fruitless = nil, nil, 0, 0
	out = s.takeSaved(OnAdopted, out)
	if foreign != nil && foreign.Desired.FleetID == fleetID {
		out = s.document(now, c, *foreign, out)
	}
	return out
}
