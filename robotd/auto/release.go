package auto

import (
	"strings"

	"troupe/schema"
)

// release handles auto/continue. It releases the named token. Without a name it releases the
// sender's oldest token, or, if the sender holds none, every sticky token whose cause has ended,
// so that a person need not name each of them.
func (s *State) release(f Facts, in Input, d *Decision) schema.Verdict {
	h := &s.tokens
	if h.n == 0 {
		return unchanged("nothing is paused")
	}
	if in.Token != "" {
		return s.releaseNamed(f, in, d)
	}
	for i := range h.n {
		if t := h.held[i]; t.Kind == ByOperator && t.Client == in.Client && t.Person == in.Person {
			h.drop(i, d)
			return succeeded(s.stillPaused(in, f))
		}
	}
	held := s.Held()
	before := h.n
	for _, t := range held {
		if t.sticky && t.causeEnded {
			h.drop(h.find(t), d)
		}
	}
	if h.n < before {
		return succeeded(s.stillPaused(in, f))
	}
	reason := schema.ReasonPrecondition
	if first := held[0]; first.Kind.Global() && first.Kind != ByOperator {
		reason = schema.Reason(first.Why)
	}
	return refused(reason, s.PausedBy(in.Client, in.Person, f.Standstill))
}

func (s *State) releaseNamed(f Facts, in Input, d *Decision) schema.Verdict {
	h := &s.tokens
	for i := range h.n {
		t := h.held[i]
		if t.Name() != in.Token {
			continue
		}
		switch {
		case t.Kind == ByOperator, t.sticky && t.causeEnded:
			h.drop(i, d)
			return succeeded(s.stillPaused(in, f))
		case t.Kind.Global():
			return refused(schema.Reason(t.Why), t.explain(in.Client, in.Person, f.Standstill))
		}
		return refused(schema.ReasonPrecondition, t.explain(in.Client, in.Person, f.Standstill))
	}
	return refused(schema.ReasonUnknownID, "there is no pause "+in.Token+"; "+s.stillPaused(in, f))
}

// stillPaused lists the held tokens and says what ends the most urgent one, for people.
func (s *State) stillPaused(in Input, f Facts) string {
	held := s.Held()
	if len(held) == 0 {
		return "no pause is left"
	}
	text := "still " + strings.TrimPrefix(held[0].explain(in.Client, in.Person, f.Standstill), "the story is ")
	if len(held) == 1 {
		return text
	}
	names := make([]string, 0, len(held)-1)
	for _, t := range held[1:] {
		names = append(names, t.Name())
	}
	return text + "; also paused by " + strings.Join(names, ", ")
}

// PausedBy says for the person at the client which pause is the most urgent one, and what ends
// it. standstill is why the robot is at rest and the way out.
func (s *State) PausedBy(client, person, standstill string) string {
	if held := s.Held(); len(held) > 0 {
		return held[0].explain(client, person, standstill)
	}
	return ""
}

// explain names auto/continue only where it releases t.
func (t Token) explain(client, person, standstill string) string {
	reason := schema.Reason(t.Why).Describe().Text
	switch t.Kind {
	case BySafety, ByLink, BySafeguard:
		switch {
		case t.causeEnded:
			return "the story is paused by " + string(t.Kind) + ", whose cause is gone; auto/continue resumes it"
		case t.Kind == BySafety:
			return "the story is paused by safety: " + standstill
		case t.Kind == ByLink && t.sticky:
			return "the story is paused by link: no heartbeat of fleetd or of a panel arrives; when the link is back, auto/continue resumes it"
		case t.Kind == ByLink:
			return "the story is paused by link: no heartbeat of fleetd or of a panel arrives; it resumes when the link is back"
		}
		return "the story is paused by safeguard: " + reason + "; it resumes when that is over"
	case ByInterrupt:
		return "the story is paused by the interrupt " + t.Key + "; interrupt/cancel ends it"
	case ByActivity:
		return "the story is paused by the activity " + t.Key + "; life/stop-focus ends it"
	}
	if t.Client == client && t.Person == person {
		return "the story is paused by you; auto/continue releases it"
	}
	return "the story is paused by " + schema.Asker(t.Client, t.Person) + "; auto/continue with token " + t.Name() + " releases it"
}
