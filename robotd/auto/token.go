package auto

import (
	"strings"
	"time"

	"troupe/schema"
)

// Kind says who may hold a pause and what it stops.
type Kind string

// The kinds, most urgent first. The first four stop everything that ato does and
// refuse new interrupts; the last two stop the story alone, so that the handler
// or the activity that holds them can act.
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

// Token is one reason to be paused. Its owner ends some day, and its end
// releases it once.
type Token struct {
	Kind   Kind
	Key    string // which interrupt or activity; empty for those of which there is one
	Client string // of an operator's token: who asked over which client with which request
	Person string
	Req    string
	Why    string
	Since  time.Duration

	gone   bool // the cause of a safety, safeguard or link token is gone
	sticky bool // nevertheless somebody has to say continue
}

// Name is the token's name on the wire.
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

// MaxTokens bounds the tokens held at once, MaxPauses those of operators among
// them: a robot that sixteen people have paused is paused.
const (
	MaxTokens = 32
	MaxPauses = 16
)

// tokens is the set of held tokens in the order in which they were acquired.
type tokens struct {
	held [MaxTokens]Token
	n    int
}

// Held lists the tokens, most urgent first and the oldest first within a kind.
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

// Count is how many tokens are held: ato is paused while it is not zero.
func (s *State) Count() int { return s.tokens.n }

// Waits is why ato goes on only when an operator says so, also after the cause is
// gone: a halt or a lost link. Empty when nothing asks for that.
func (s *State) Waits() schema.Reason {
	for _, t := range s.Held() {
		if t.sticky {
			return schema.Reason(t.Why)
		}
	}
	return ""
}

// Freeze is how much of ato stands still.
type Freeze uint8

// The degrees.
const (
	FreezeNone  Freeze = iota
	FreezeStory        // the story alone; handlers and activities act
	FreezeAll          // everything; no new interrupt is taken
)

// Freeze answers it for the tokens held now.
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

// acquire adds t unless it is held already or there is no room for it.
func (h *tokens) acquire(t Token, d *Decision) (added bool) {
	pauses := 0
	for i := range h.n {
		if h.held[i].Kind == ByOperator {
			pauses++
		}
	}
	// Three places are kept for the tokens that facts hold.
	room := MaxTokens - 3
	if t.Kind.Global() && t.Kind != ByOperator {
		room = MaxTokens
	}
	if h.find(t) >= 0 || h.n >= room || t.Kind == ByOperator && pauses >= MaxPauses {
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

// sync makes the tokens of safety, safeguard and link follow their facts. A
// sticky one outlives its cause: what it stopped begins again only when an
// operator says so.
func (h *tokens) sync(now time.Duration, k Kind, fact Hold, d *Decision) {
	i := h.find(Token{Kind: k})
	if fact.Held && fact.Reason == "" {
		fact.Reason = schema.ReasonInvalidTransition
	}
	switch {
	case fact.Held && i < 0:
		h.acquire(Token{Kind: k, Why: string(fact.Reason), Since: now, sticky: fact.Sticky}, d)
	case fact.Held:
		h.held[i].gone = false
		h.held[i].sticky = h.held[i].sticky || fact.Sticky
		h.held[i].Why = string(fact.Reason)
	case i >= 0 && h.held[i].sticky:
		h.held[i].gone, h.held[i].Why = true, string(schema.ReasonNeedsContinue)
	case i >= 0:
		h.drop(i, d)
	}
}

// release is what continue does: the named token, or the asker's oldest one, or,
// when the asker holds none, one that only waits for somebody to say so.
func (s *State) release(in Input, d *Decision) Answer {
	h := &s.tokens
	if h.n == 0 {
		return unchanged("nothing is paused")
	}
	if in.Token != "" {
		return s.releaseNamed(in.Token, d)
	}
	for i := range h.n {
		if t := h.held[i]; t.Kind == ByOperator && t.Client == in.Client && t.Person == in.Person {
			h.drop(i, d)
			return succeeded(s.remaining())
		}
	}
	held := s.Held()
	for _, t := range held {
		if t.sticky && t.gone {
			h.drop(h.find(t), d)
			return succeeded(s.remaining())
		}
	}
	if first := held[0]; first.Kind.Global() && first.Kind != ByOperator {
		return refused(schema.Reason(first.Why), s.remaining()+"; that lasts as long as its cause")
	}
	return refused(schema.ReasonInvalidTransition, "none of the pauses is yours; "+s.remaining()+"; name one to release it")
}

func (s *State) releaseNamed(name string, d *Decision) Answer {
	h := &s.tokens
	for i := range h.n {
		t := h.held[i]
		if t.Name() != name {
			continue
		}
		switch {
		case t.Kind == ByOperator, t.sticky && t.gone:
			h.drop(i, d)
			return succeeded(s.remaining())
		case t.Kind.Global():
			return refused(schema.Reason(t.Why), "the pause "+name+" lasts as long as its cause")
		}
		return refused(schema.ReasonInvalidTransition, "the pause "+name+" ends with the one that holds it")
	}
	return refused(schema.ReasonUnknownID, "there is no pause "+name+"; "+s.remaining())
}

// remaining says who still holds ato, for people.
func (s *State) remaining() string {
	if s.tokens.n == 0 {
		return "nothing is paused any more"
	}
	names := make([]string, 0, s.tokens.n)
	for _, t := range s.Held() {
		names = append(names, t.Name())
	}
	return "still paused by " + strings.Join(names, ", ")
}
