package delivery

import (
	"slices"
	"time"

	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// Loaded is an accepted content that can be used from memory.
type Loaded[C any] struct {
	Accepted
	Content *C
	Fit     Fit[C]
}

// outcome says why a phase is what it is.
type outcome struct {
	reason  schema.Reason
	pointer string
	detail  string
}

// refusal is a desired state that must not be obeyed.
type refusal struct {
	rev int64
	why outcome
}

// State is everything that is remembered of a delivery. It belongs to one
// goroutine.
type State[C any] struct {
	kind      sign.Kind
	fleetID   string // the fleet that is obeyed; empty until the first desired state
	desired   Desired
	phase     schema.DeployPhase
	why       outcome
	attempts  int           // of fetching for this desired state
	fruitless int           // of them, since one brought anything
	deadline  time.Duration // of the phase, where it has one

	active   *Loaded[C]
	previous *Accepted
	staged   *Loaded[C] // written, not active yet

	unsaved time.Duration // when what the disk refused is tried again; 0 = it refused nothing

	load       load[C]    // between the first byte and being written
	candidate  *Loaded[C] // checked, being written
	actsDigest string
	foreign    *Document // the newest desired state of a fleet that is not obeyed
	refused    *refusal  // the newest desired state that must not be obeyed, if it is newer than desired state
}

// Restore makes the state of a robot that has just started from what its disk
// kept. It needs no link: a content that was staged goes on from there.
func Restore[C any](now Now, c *Config[C], k Kept, h Held, actsDigest string, out []Effect) (*State[C], []Effect) {
	s := &State[C]{kind: c.Kind, fleetID: k.Desired.FleetID, desired: k.Desired, phase: schema.DeployIdle, previous: k.Previous, actsDigest: actsDigest}
	s.active = restored(c, k.Active, h)
	s.staged = restored(c, k.Staged, h)
	if k.Active != nil && s.active == nil {
		out = append(out, Note{Reason: schema.ReasonBadDigest, Detail: "the disk does not hold the bytes of " + k.Active.Story.ID + " any more; it is fetched again"})
	}
	refused := k.Phase == schema.DeployRejected || k.Phase == schema.DeployRolledBack
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
			s.phase, s.why = schema.DeployRejected, outcomeOf(s.active.Fit)
		}
	case refused && !(aboutRobot(k.Reason) && k.ActsDigest != actsDigest):
		s.phase, s.why = k.Phase, outcome{k.Reason, k.Pointer, k.Detail}
	default: // a fetch was under way, or the bytes are gone
		out = s.fetch(now, c, OnFetch, out)
	}
	return s, out
}

// restored reads a content from the disk's bytes; nil when they, or those of its
// files, are not what they were.
func restored[C any](c *Config[C], a *Accepted, h Held) *Loaded[C] {
	own := func(p piece) bool {
		if p.Size > c.MaxBytes {
			return h.Files[p.SHA256] == p.Size
		}
		return p.sound(h.Blobs[p.SHA256])
	}
	if a == nil || !own(pieceOf(a.Story)) || slices.ContainsFunc(a.Files, func(f score.Asset) bool { return !own(piece{f.SHA256, f.Size}) }) {
		return nil
	}
	content, problems := c.Judge.Read(h.Blobs[a.Story.SHA256])
	if len(schema.Errors(problems)) > 0 {
		return nil
	}
	return &Loaded[C]{Accepted: *a, Content: content, Fit: c.Judge.Fit(content)}
}

// Playing is the content that shall be used now, or why there is none. Its
// moment is decided here: whoever uses it takes it over at once.
func (s *State[C]) Playing() (*Loaded[C], schema.Reason) {
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

// Trial is the digest of the story whose beginning is awaited as Started or
// StartFailed, or empty.
func (s *State[C]) Trial() string {
	if s.phase == schema.DeployActivating {
		return s.staged.Story.SHA256
	}
	return ""
}

func (s *State[C]) onTrial(digest string) bool { return digest != "" && digest == s.Trial() }

// FleetID is the fleet that is obeyed; empty until the first desired state.
func (s *State[C]) FleetID() string { return s.fleetID }

// Obeys reports whether that revision of that fleet is the newest that was obeyed.
func (s *State[C]) Obeys(fleetID string, rev int64) bool {
	return s.desired.FleetID == fleetID && s.desired.Rev == rev
}

// Took reports whether w is the newest desired state that was obeyed.
func (s *State[C]) Took(w Desired) bool {
	return s.Obeys(w.FleetID, w.Rev) && samePin(w.Pin, s.desired.Pin)
}

// Phase is where the newest desired state stands.
func (s *State[C]) Phase() schema.DeployPhase { return s.phase }

// Deadline is when time alone changes something, or false.
func (s *State[C]) Deadline() (time.Duration, bool) {
	at := s.unsaved
	switch s.phase {
	case schema.DeployFetching, schema.DeployFailed, schema.DeployActivating:
		if at == 0 || s.deadline < at {
			return s.deadline, true
		}
	}
	return at, at > 0
}

func (s *State[C]) save() Save { return Save{Kind: s.kind, Kept: s.kept()} }

// kept is what the disk shall keep now.
func (s *State[C]) kept() Kept {
	k := Kept{Desired: s.desired, Phase: s.phase, Reason: s.why.reason, Pointer: s.why.pointer, Detail: s.why.detail, ActsDigest: s.actsDigest, Previous: s.previous}
	if s.active != nil {
		k.Active = &s.active.Accepted
	}
	if s.staged != nil {
		k.Staged = &s.staged.Accepted
	}
	return k
}

func outcomeOf[C any](f Fit[C]) outcome { return outcome{f.Reason, f.Pointer, f.Detail} }

// aboutRobot tells refusals that another set of acts and units could lift.
func aboutRobot(r schema.Reason) bool {
	return r == schema.ReasonStoryEmpty || r == schema.ReasonStoryInvalid
}
