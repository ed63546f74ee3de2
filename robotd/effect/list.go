package effect

import (
	"troupe/robotd/request"
	"troupe/schema"
)

// Urgency says when the state has to be published.
type Urgency uint8

// The urgencies, the least first.
const (
	Clean         Urgency = iota
	FlushRequests         // gathered; only which commands run and were answered differs
	FlushSoon             // gathered with what else changes
	FlushAnswer           // at once within a rate: it shows what an answer says
	FlushNow              // at once: the robot may or may not move
)

// Intent is what a part of the robot leaves to the others: an Effect, or one of the
// intents below. The set is closed; brain carries each out in its place, right after
// the part's call, so that effects keep the order in which parts came to them.
type Intent interface{ intent() }

// The intents that are no effects.
type (
	// Event is an event of history.
	Event struct {
		Kind, Source, Cause, Req string
		Data                     any
	}
	// Raise puts an alert on the state, once for the same words. Clear takes it off.
	Raise struct {
		Kind         string
		Level        schema.AlertLevel
		Source       string
		Detail, Hint string
	}
	Clear struct{ Kind, Source string }
	// Reply answers an order.
	Reply struct {
		To request.Key
		request.Verdict
	}
	// Revoke tells the sender of an order that what it had given was taken away again.
	Revoke struct {
		Key    request.Key
		Detail string
		Lease  *schema.Lease // who has it now
		By     []schema.Ref
	}
	// Ask gives the journal of requests one input.
	Ask struct{ request.Input }
	// Changed: the state is another one.
	Changed struct{ Urgency }
	// Document publishes a document in a form that its topic has room for. Param, First
	// and Confirm are as of Publish.
	Document struct {
		Topic   schema.TopicKind
		Param   string
		Value   any
		First   bool
		Confirm request.Key
	}
	// ActCompleted and ActFailed say how an act ended.
	ActCompleted struct{ ID string }
	ActFailed    struct {
		ID     string
		Reason schema.Reason
		Detail string
	}
	// SetMode asks for a mode.
	SetMode struct {
		Mode schema.ModeID
		By   request.Key
	}
	// Tried says how a story began to be performed; without Refused it did.
	Tried struct {
		SHA256  string
		Refused schema.Reason
		Detail  string
	}
	// Disk: the disk refused to write.
	Disk struct{ Refused schema.Reason }
	// Caps: what the robot is and can do is another one.
	Caps struct{}
)

func (Event) intent()        {}
func (Raise) intent()        {}
func (Clear) intent()        {}
func (Reply) intent()        {}
func (Revoke) intent()       {}
func (Ask) intent()          {}
func (Changed) intent()      {}
func (Document) intent()     {}
func (ActCompleted) intent() {}
func (ActFailed) intent()    {}
func (SetMode) intent()      {}
func (Tried) intent()        {}
func (Disk) intent()         {}
func (Caps) intent()         {}

// List is where a part of the robot leaves what is to be done. The zero value is
// empty.
type List struct{ items []Intent }

// Do adds an effect or an intent.
func (l *List) Do(i Intent) { l.items = append(l.items, i) }

// Len returns how many there are, and At the i-th.
func (l *List) Len() int        { return len(l.items) }
func (l *List) At(i int) Intent { return l.items[i] }

// Cut leaves the first n.
func (l *List) Cut(n int) {
	clear(l.items[n:])
	l.items = l.items[:n]
}

// Event adds an event of history.
func (l *List) Event(kind, source, cause, req string, data any) {
	l.Do(Event{kind, source, cause, req, data})
}

// Note adds a line for the log: one for each edge that a machine takes.
func (l *List) Note(machine, from, to, why, cause string) {
	l.Do(Note{Machine: machine, From: from, To: to, Why: why, Cause: cause})
}

// Raise adds an alert.
func (l *List) Raise(kind string, level schema.AlertLevel, source, detail, hint string) {
	l.Do(Raise{kind, level, source, detail, hint})
}

// Clear takes an alert off.
func (l *List) Clear(kind, source string) { l.Do(Clear{kind, source}) }

// Reply answers an order.
func (l *List) Reply(to request.Key, v request.Verdict) { l.Do(Reply{to, v}) }

// Refuse answers an order that is not carried out.
func (l *List) Refuse(to request.Key, why schema.Reason, pointer, detail string) {
	l.Reply(to, request.Verdict{Status: schema.StatusRejected, Reason: why, Pointer: pointer, Detail: detail})
}

// Ask gives the journal of requests one input.
func (l *List) Ask(in request.Input) { l.Do(Ask{in}) }

// Changed says that the state is another one.
func (l *List) Changed(u Urgency) { l.Do(Changed{u}) }

// Data of events, in the words of the wire.
type (
	// Transition is what a machine went from and to.
	Transition struct {
		From   string        `json:"from,omitempty"`
		To     string        `json:"to"`
		Reason schema.Reason `json:"reason,omitempty"`
	}
	// Described is what became of something.
	Described struct {
		ID     string        `json:"id,omitempty"`
		Reason schema.Reason `json:"reason,omitempty"`
		Detail string        `json:"detail,omitempty"`
	}
)

// Encode writes what goes out. That it fails is a fault of ours, like an event that no
// part knows.
func Encode(v any) []byte {
	b, err := schema.Encode(v)
	if err != nil {
		panic(err)
	}
	return b
}
