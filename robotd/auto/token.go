package auto

import (
	"time"

	"troupe/schema"
)

// Kind is the kind of a pause: its cause, and how much it freezes.
type Kind string

// The kinds, most urgent first. The first four freeze everything that ato does and
// prevent new interrupts, except those of the interrupter power that do not move at once; the last two freeze the story only, so that the
// handler or activity that holds them can act.
const (
	BySafety    Kind = "safety"
	BySafeguard Kind = "safeguard"
	ByLink      Kind = "link"
	ByOperator  Kind = "operator"
	ByInterrupt Kind = "interrupt"
	ByActivity  Kind = "activity"
)

var kinds = [...]Kind{BySafety, BySafeguard, ByLink, ByOperator, ByInterrupt, ByActivity}

// Global reports whether k freezes all lanes.
func (k Kind) Global() bool { return k != ByInterrupt && k != ByActivity }

// Token is one reason for a pause. It is released once, when its owner ends.
type Token struct {
	Kind   Kind
	Key    string // which interrupt or activity; empty for kinds with one token
	Client string // of an operator's token: the client, person and request
	Person string
	Req    string
	Why    string // the reason of a stop, safeguard or lost link; a person's words, a handler or an activity of other kinds
	Since  time.Duration

	causeEnded bool // the cause of a safety, safeguard or link token has ended
	sticky     bool // it lasts until auto/continue even then

	began schema.Time // if it was acquired before the last restart of robotd; Since is 0 then
}

// Began returns when the token was acquired, where at is the wall time of a time since boot.
func (t Token) Began(at func(time.Duration) schema.Time) schema.Time {
	if t.began != 0 {
		return t.began
	}
	return at(t.Since)
}

// NeedsContinue reports whether the pause outlasts its cause until auto/continue.
func (t Token) NeedsContinue() bool { return t.sticky }

// Name returns the token's name in documents and commands.
func (t Token) Name() string {
	key := t.Key
	if t.Kind == ByOperator {
		if key = t.Client; t.Person != "" {
			key += "/" + t.Person
		}
		key += "/" + t.Req
	}
	if key == "" {
		return string(t.Kind)
	}
	return string(t.Kind) + ":" + key
}

func (t Token) same(o Token) bool {
	return t.Kind == o.Kind && t.Key == o.Key && t.Client == o.Client && t.Person == o.Person && t.Req == o.Req
}

// MaxTokens bounds the tokens held at once, MaxOperatorPauses those of operators among them.
const (
	MaxTokens         = 32
	MaxOperatorPauses = 16
)

// tokens is the set of held tokens in the order in which they were acquired.
type tokens struct {
	held [MaxTokens]Token
	n    int
}

// Held lists the tokens, most urgent kind first, oldest first within a kind.
func (s *State) Held() []Token {
	out := make([]Token, 0, s.tokens.n)
	for _, k := range kinds {
		for _, t := range s.tokens.held[:s.tokens.n] {
			if t.Kind == k {
				out = append(out, t)
			}
		}
	}
	return out
}

// Count returns the number of tokens; ato is paused while it is not zero.
func (s *State) Count() int { return s.tokens.n }

// NeedsContinue returns why ato resumes only on auto/continue, also after the cause has
// ended: a HALT or a lost link. It is empty if no pause requires that.
func (s *State) NeedsContinue() schema.Reason {
	for _, t := range s.Held() {
		if t.sticky {
			return schema.Reason(t.Why)
		}
	}
	return ""
}

// NeedsContinueAfter reports whether a token of this kind lasts until auto/continue.
func (s *State) NeedsContinueAfter(k Kind) bool {
	i := s.tokens.find(Token{Kind: k})
	return i >= 0 && s.tokens.held[i].sticky
}

// FrozenBut reports whether a token of another kind than k freezes everything.
func (s *State) FrozenBut(k Kind) bool {
	for i := range s.tokens.n {
		if kind := s.tokens.held[i].Kind; kind != k && kind.Global() {
			return true
		}
	}
	return false
}

// Freeze is how much of ato is paused.
type Freeze uint8

// The degrees.
const (
	FreezeNone  Freeze = iota
	FreezeStory        // the story only; handlers and activities act
	FreezeAll          // everything; new interrupts are refused
)

// Freeze returns how much the held tokens freeze.
func (s *State) Freeze() Freeze {
	f := FreezeNone
	for i := range s.tokens.n {
		if s.tokens.held[i].Kind.Global() {
			return FreezeAll
		}
		f = FreezeStory
	}
	return f
}

func (h *tokens) find(t Token) int {
	for i := range h.n {
		if h.held[i].same(t) {
			return i
		}
	}
	return -1
}

// acquire adds t unless it is held already or there is no room.
func (h *tokens) acquire(t Token, d *Decision) (added bool) {
	pauses := 0
	for i := range h.n {
		if h.held[i].Kind == ByOperator {
			pauses++
		}
	}
	// Three slots are reserved for safety, safeguard and link.
	room := MaxTokens - 3
	if t.Kind.Global() && t.Kind != ByOperator {
		room = MaxTokens
	}
	if h.find(t) >= 0 || h.n >= room || t.Kind == ByOperator && pauses >= MaxOperatorPauses {
		return false
	}
	h.held[h.n] = t
	h.n++
	d.Acquired = append(d.Acquired, t)
	return true
}

// drop releases the token at i.
func (h *tokens) drop(i int, d *Decision) {
	d.Released = append(d.Released, h.held[i])
	copy(h.held[i:], h.held[i+1:h.n])
	h.n--
	h.held[h.n] = Token{}
}

// refresh updates the token of safety, safeguard or link from its fact. A sticky one
// outlasts its cause: it is released only by an operator's auto/continue.
func (h *tokens) refresh(now time.Duration, k Kind, fact PauseCause, d *Decision) {
	i := h.find(Token{Kind: k})
	if fact.Present && fact.Reason == "" {
		fact.Reason = schema.ReasonInvalidTransition
	}
	switch {
	case fact.Present && i < 0:
		h.acquire(Token{Kind: k, Why: string(fact.Reason), Since: now, sticky: fact.Sticky}, d)
	case fact.Present:
		h.held[i].causeEnded = false
		d.Stuck = d.Stuck || fact.Sticky && !h.held[i].sticky
		h.held[i].sticky = h.held[i].sticky || fact.Sticky
		h.held[i].Why = string(fact.Reason)
	case i >= 0 && h.held[i].sticky:
		h.held[i].causeEnded, h.held[i].Why = true, string(schema.ReasonNeedsContinue)
	case i >= 0:
		h.drop(i, d)
	}
}
