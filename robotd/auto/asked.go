package auto

import (
	"time"

	"troupe/schema"
)

// stillness is what holds the story until a person says otherwise, besides their pauses.
type stillness struct {
	stopped       bool // auto/stop
	needsContinue bool // a HALT or an E_STOP, until auto/continue
}

// Asked is what people asked of ato that ends only by a request of a person. A restart of robotd keeps it.
type Asked struct {
	Stopped       bool            `json:"stopped,omitzero"`
	NeedsContinue bool            `json:"needs_continue,omitzero"`
	Pauses        []OperatorPause `json:"pauses,omitempty"`
}

// OperatorPause is the pause token of an operator.
type OperatorPause struct {
	Client string      `json:"client"`
	Person string      `json:"person,omitempty"`
	Req    string      `json:"req"`
	Why    string      `json:"why,omitempty"`
	Since  schema.Time `json:"since"`
}

// Asked returns it, where at is the wall time of a time since boot.
func (s *State) Asked(at func(time.Duration) schema.Time) Asked {
	held := s.stillness()
	a := Asked{Stopped: held.stopped, NeedsContinue: held.needsContinue}
	for _, t := range s.tokens.held[:s.tokens.n] {
		if t.Kind == ByOperator {
			a.Pauses = append(a.Pauses, OperatorPause{t.Client, t.Person, t.Req, t.Why, t.Began(at)})
		}
	}
	return a
}

// stillness returns what holds the story, or held it when ato was left.
func (s *State) stillness() stillness {
	if s.Status == schema.AutoNotActive {
		return s.left
	}
	return stillness{s.StoppedByRequest(), s.NeedsContinueAfter(BySafety)}
}

// Restore restores after boot what people had asked before.
func (s *State) Restore(a Asked) {
	s.left = stillness{a.Stopped, a.NeedsContinue}
	var d Decision
	for _, p := range a.Pauses {
		s.tokens.acquire(Token{Kind: ByOperator, Client: p.Client, Person: p.Person, Req: p.Req, Why: p.Why, began: p.Since}, &d)
	}
}

// Requested reports whether somebody asked for the mode when ato was entered last. At boot nobody does.
func (s *State) Requested() bool { return s.requested }
