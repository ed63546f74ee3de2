package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Loaded is an accepted story that can be performed from memory.
type Loaded struct {
	Accepted
	Blob *score.Blob
	Fit  Fit
}

// outcome says why a phase is what it is.
type outcome struct {
	reason  schema.Reason
	pointer string
	detail  string
}

// State is everything that is remembered of a delivery. It belongs to one
// goroutine.
type State struct {
	wish     schema.DesiredStory
	phase    schema.DeployPhase
	why      outcome
	attempts int           // of fetching for this wish
	corrupt  int           // how many of them brought wrong bytes
	deadline time.Duration // of the phase, where it has one

	active   *Loaded
	previous *Accepted
	staged   *Loaded // written, not active yet

	unsaved time.Duration // when what the disk refused is tried again; 0 = it refused nothing

	bytes      []byte  // between arriving and being written
	candidate  *Loaded // checked, being written
	actsDigest string
	foreign    *schema.DesiredStory // the newest wish of a fleet that is not obeyed
}

// Restore makes the state of a robot that has just started from what its disk
// kept. It needs no link: a story that was staged goes on from there.
func Restore(now Now, c *Config, k Kept, blobs map[string][]byte, actsDigest string, out []Effect) (*State, []Effect) {
	s := &State{wish: k.Wish, phase: schema.DeployIdle, previous: k.Previous, actsDigest: actsDigest}
	s.active = load(c, k.Active, blobs)
	s.staged = load(c, k.Staged, blobs)
	if k.Active != nil && s.active == nil {
		out = append(out, Note{Reason: schema.ReasonBadDigest, Detail: "the disk does not hold the bytes of story " + k.Active.Story.ID + " any more; it is fetched again"})
	}
	refused := k.Phase == schema.DeployRejected || k.Phase == schema.DeployRolledBack
	pin := s.wish.Story
	switch {
	case s.wish.Rev == 0:
	case pin == nil:
		s.phase = schema.DeployWithdrawn
		s.why.reason = schema.ReasonNoDefaultStory
	case s.staged != nil && s.staged.Rev == s.wish.Rev:
		s.phase = schema.DeployWaiting
	case s.active != nil && s.active.Rev == s.wish.Rev:
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

// load reads a story from the disk's bytes; nil when they are not what they
// were.
func load(c *Config, a *Accepted, blobs map[string][]byte) *Loaded {
	if a == nil || !sound(a.Story, blobs[a.Story.SHA256]) {
		return nil
	}
	b, problems := c.Judge.Read(blobs[a.Story.SHA256])
	if len(schema.Errors(problems)) > 0 {
		return nil
	}
	return &Loaded{Accepted: *a, Blob: b, Fit: c.Judge.Fit(b)}
}

func sound(pin schema.StoryPin, data []byte) bool {
	sum := sha256.Sum256(data)
	return int64(len(data)) == pin.Size && hex.EncodeToString(sum[:]) == pin.SHA256
}

// Playing is the story that ato shall perform now, or why there is none. Its
// moment is decided here: whoever performs takes it over at once.
func (s *State) Playing() (*Loaded, schema.Reason) {
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
func (s *State) Trial() string {
	if s.phase == schema.DeployActivating {
		return s.staged.Story.SHA256
	}
	return ""
}

func (s *State) onTrial(digest string) bool { return digest != "" && digest == s.Trial() }

// Authority is the fleet that is obeyed; empty until the first wish.
func (s *State) Authority() string { return s.wish.Authority }

// Phase is where the newest wish stands.
func (s *State) Phase() schema.DeployPhase { return s.phase }

// Deadline is when time alone changes something, or false.
func (s *State) Deadline() (time.Duration, bool) {
	at := s.unsaved
	switch s.phase {
	case schema.DeployFetching, schema.DeployFailed, schema.DeployActivating:
		if at == 0 || s.deadline < at {
			return s.deadline, true
		}
	}
	return at, at > 0
}

// Report is the document that tells where the delivery stands. Time, session
// and whether ato performs are the sender's to fill in.
func (s *State) Report() schema.ReportedStory {
	r := schema.ReportedStory{
		Authority: s.wish.Authority, DesiredRev: s.wish.Rev, Phase: s.phase, Attempts: s.attempts,
		Reason: s.why.reason, Pointer: s.why.pointer, Detail: s.why.detail, ActsDigest: s.actsDigest,
	}
	if s.phase == schema.DeployFetching && s.wish.Story != nil {
		r.Fetching = s.wish.Story.SHA256
	}
	if s.foreign != nil && r.Reason == "" {
		r.Reason = schema.ReasonWrongAuthority
		r.Detail = fmt.Sprintf("revision %d of authority %s is not obeyed", s.foreign.Rev, s.foreign.Authority)
	}
	if r.Reason != "" {
		r.Retry = r.Reason.Describe().Retry
	}
	if a := s.active; a != nil && a.Fit.Reason == "" {
		r.Active = &schema.ActiveStory{ID: a.Story.ID, Rev: a.Story.Rev, SHA256: a.Story.SHA256, Since: a.Since, EffectiveActs: []string{}, Pruned: append([]string{}, a.Fit.Pruned...)}
		for _, step := range a.Fit.Story.Acts {
			r.Active.EffectiveActs = append(r.Active.EffectiveActs, step.Act)
		}
	}
	if p := s.previous; p != nil {
		r.Previous = &schema.StoryRef{ID: p.Story.ID, Rev: p.Story.Rev, SHA256: p.Story.SHA256}
	}
	return r
}

// kept is what the disk shall keep now.
func (s *State) kept() Kept {
	k := Kept{Wish: s.wish, Phase: s.phase, Reason: s.why.reason, Pointer: s.why.pointer, Detail: s.why.detail, ActsDigest: s.actsDigest, Previous: s.previous}
	if s.active != nil {
		k.Active = &s.active.Accepted
	}
	if s.staged != nil {
		k.Staged = &s.staged.Accepted
	}
	return k
}

func outcomeOf(f Fit) outcome { return outcome{f.Reason, f.Pointer, f.Detail} }

// aboutRobot tells refusals that another set of acts and units could lift.
func aboutRobot(r schema.Reason) bool {
	return r == schema.ReasonStoryEmpty || r == schema.ReasonStoryInvalid
}
