package delivery

import (
	"slices"
	"time"

	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// Loaded is an accepted content in memory.
type Loaded[C any] struct {
	Accepted
	Content *C
	Fit     Fit[C]
}

// cause explains why the delivery is in its phase.
type cause struct {
	reason  schema.Reason
	pointer string
	detail  string
}

// refusal is a desired document that was refused.
type refusal struct {
	rev int64
	why cause
}

// State is everything that is remembered of a delivery. One goroutine owns it.
type State[C any] struct {
	kind      sign.Kind
	fleetID   string // the robot's fleet: that of its enrolment, or else of the first desired document; empty = neither
	desired   Desired
	phase     schema.DeployPhase
	why       cause
	attempts  int           // to fetch for this desired document
	fruitless int           // attempts since the last progress
	deadline  time.Duration // of the phases fetching, failed and activating

	active   *Loaded[C]
	previous *Accepted
	staged   *Loaded[C] // written, not active yet

	resaveAt time.Duration // when a Save that the disk refused is repeated; 0 = none was

	load       load[C]    // what is being fetched
	candidate  *Loaded[C] // passed the checks, is being written
	actsDigest string
	foreign    *Document // the newest desired document of another fleet
	refused    *refusal  // the newest refused desired document, if it is newer than desired
}

// Restore returns the state of a robot that has just started, from its disk. It
// needs no connection: the delivery of a staged content continues.
func Restore[C any](now Now, c *Config[C], k Persisted, h DiskContents, actsDigest string, out []Effect) (*State[C], []Effect) {
	s := &State[C]{kind: c.Kind, fleetID: k.Desired.FleetID, desired: k.Desired, phase: schema.DeployIdle, previous: k.Previous,
		actsDigest: actsDigest}
	s.active = restored(c, k.Active, h)
	s.staged = restored(c, k.Staged, h)
	lost, first := k.Active != nil && s.active == nil, len(out)
	// Earlier releases rejected a content that arrived damaged twice.
	refused := (k.Phase == schema.DeployRejected || k.Phase == schema.DeployRolledBack) && k.Reason != schema.ReasonBadDigest
	pin := s.desired.Pin
	switch {
	case s.desired.Rev == 0:
	case pin == nil:
		s.phase = schema.DeployWithdrawn
		s.why = s.withdrawn()
	case s.staged != nil && s.staged.Rev == s.desired.Rev:
		s.phase = schema.DeployWaiting
	case s.active != nil && s.active.Rev == s.desired.Rev:
		s.phase = schema.DeployActive
		if s.active.Fit.Reason != "" {
			s.phase, s.why = schema.DeployRejected, causeOf(s.active.Fit)
		}
	case refused && !(aboutRobot(k.Reason) && k.ActsDigest != actsDigest):
		s.phase, s.why = k.Phase, cause{k.Reason, k.Pointer, k.Detail}
	default: // a fetch was in progress, or the bytes are lost
		out = s.fetch(now, c, OnFetch, out)
	}
	if lost {
		id := k.Active.Pin.ID
		then := "the fleet desires another content: assign " + id + " again to have it"
		if s.phase == schema.DeployFetching && samePin(&k.Active.Pin, pin) {
			then = "it is fetched again"
		}
		out = slices.Insert(out, first, Effect(RecordEvent{Reason: schema.ReasonBadDigest, Detail: "the disk does not hold the bytes of " + id +
			" any more; " + then}))
	}
	return s, out
}

// restored parses a content from disk. It returns nil if the bytes of the content
// or of its files are missing or damaged.
func restored[C any](c *Config[C], a *Accepted, h DiskContents) *Loaded[C] {
	onDisk := func(p piece) bool {
		if p.Size > c.MaxBytes {
			return h.Files[p.SHA256] == p.Size
		}
		return p.matches(h.Blobs[p.SHA256])
	}
	if a == nil || !onDisk(pieceOf(a.Pin)) || slices.ContainsFunc(a.Files, func(f score.Asset) bool {
		return !onDisk(piece{f.SHA256, f.Size})
	}) {
		return nil
	}
	content, problems := c.Judge.Read(h.Blobs[a.Pin.SHA256])
	if len(schema.Errors(problems)) > 0 {
		return nil
	}
	return &Loaded[C]{Accepted: *a, Content: content, Fit: c.Judge.Fit(content)}
}

// InUse returns the content to use now, or the reason why there is none. This
// package decides when to change it: the user of the content follows at once.
func (s *State[C]) InUse() (*Loaded[C], schema.Reason) {
	l := s.active
	if s.phase == schema.DeployActivating {
		l = s.staged
	}
	switch {
	case l == nil:
		return nil, schema.ReasonNoDefaultStory
	case l.Fit.Reason != "":
		return nil, l.Fit.Reason
	}
	return l, ""
}

// WhyUnusable returns where the content is wrong that would be in use, and why, for people; empty if it is in use.
func (s *State[C]) WhyUnusable() string {
	l := s.active
	if s.phase == schema.DeployActivating {
		l = s.staged
	}
	if l == nil {
		return ""
	}
	return l.Fit.Detail
}

// ProbationDigest returns the digest of the story on probation, for which Started or
// StartFailed must follow, or an empty string.
func (s *State[C]) ProbationDigest() string {
	if s.phase == schema.DeployActivating {
		return s.staged.Pin.SHA256
	}
	return ""
}

func (s *State[C]) onProbation(digest string) bool {
	return digest != "" && digest == s.ProbationDigest()
}

// FleetID returns the robot's fleet: that of its enrolment, or else of the first desired document; empty = neither.
func (s *State[C]) FleetID() string { return s.fleetID }

// HasAccepted reports whether that revision of that fleet is the newest accepted one.
func (s *State[C]) HasAccepted(fleetID string, rev int64) bool {
	return s.desired.FleetID == fleetID && s.desired.Rev == rev
}

// IsCurrent reports whether d is the newest accepted desired document.
func (s *State[C]) IsCurrent(d Desired) bool {
	return s.HasAccepted(d.FleetID, d.Rev) && samePin(d.Pin, s.desired.Pin)
}

// Phase returns the phase of the newest accepted desired document.
func (s *State[C]) Phase() schema.DeployPhase { return s.phase }

// Deadline returns when the next Tick is due, or false.
func (s *State[C]) Deadline() (time.Duration, bool) {
	at := s.resaveAt
	switch s.phase {
	case schema.DeployFetching, schema.DeployFailed, schema.DeployActivating:
		if at == 0 || s.deadline < at {
			return s.deadline, true
		}
	}
	return at, at > 0
}

func (s *State[C]) save() Save { return Save{Kind: s.kind, Persisted: s.persisted()} }

// persisted returns the state to persist.
func (s *State[C]) persisted() Persisted {
	k := Persisted{Desired: s.desired, Phase: s.phase, Reason: s.why.reason, Pointer: s.why.pointer, Detail: s.why.detail,
		ActsDigest: s.actsDigest, Previous: s.previous}
	if s.active != nil {
		k.Active = &s.active.Accepted
	}
	if s.staged != nil {
		k.Staged = &s.staged.Accepted
	}
	return k
}

func causeOf[C any](f Fit[C]) cause { return cause{f.Reason, f.Pointer, f.Detail} }

// aboutRobot reports whether a change of the robot's acts or units could make a
// content acceptable that was refused for r.
func aboutRobot(r schema.Reason) bool {
	return r == schema.ReasonStoryEmpty || r == schema.ReasonStoryInvalid
}
