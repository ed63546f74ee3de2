package effect

import (
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
)

// Urgency says how soon the state has to be published.
type Urgency uint8

// The urgencies in rising order.
const (
	Clean         Urgency = iota
	FlushRequests         // together with further changes: only running and answered commands differ
	FlushSoon             // together with further changes
	FlushAnswer           // at once, within a rate: an answer depends on it
	FlushNow              // at once: the permission to move changed
)

// Intent is what a part of the robot requests: an Effect, or one of the intents below. The
// set is closed. Brain carries each out right after the part's call, in the order of the
// list, so that effects keep their order.
type Intent interface{ intent() }

// The intents that are no effects.
type (
	// Event is an event in the robot's history.
	Event struct {
		Kind, Source, Cause, Req string
		Data                     any
	}
	// Raise adds an alert to the state, once for the same texts. Clear removes it.
	Raise struct {
		Kind         string
		Level        schema.AlertLevel
		Source       string
		Detail, Hint string
	}
	Clear struct{ Kind, Source string }
	// Reply answers a command.
	Reply struct {
		To request.Key
		schema.Verdict
		Lease *schema.Lease // control that was given, or who else has it
		Moves bool          // something begins to move: its ACCEPTED does not wait for the end
	}
	// Revoke reports to the sender of a succeeded command that what it granted was taken
	// away.
	Revoke struct {
		Key    request.Key
		Detail string
		Lease  *schema.Lease // the present lease
		By     []schema.Ref
	}
	// Perform is a command that shall be carried out now.
	Perform struct{ request.Perform }
	// Ask gives the journal of requests one input.
	Ask struct{ request.Input }
	// Changed: the state has changed.
	Changed struct{ Urgency }
	// Document publishes a document, reduced to the size limit of its topic. Param, First
	// and Confirm are those of Publish.
	Document struct {
		Topic   schema.TopicKind
		Param   string
		Value   any
		First   bool
		Confirm request.Key
	}
	// ActCompleted and ActFailed report how an act ended.
	ActCompleted struct{ ID, Req string }
	ActFailed    struct {
		ID     string
		Req    string
		Reason schema.Reason
		Detail string
	}
	// SetMode requests a mode.
	SetMode struct {
		Mode schema.ModeID
		By   request.Key
	}
	// Intended: a request for a mode was granted, and Mode is the intended one from now on.
	Intended struct {
		Mode schema.ModeID
		By   request.Key
	}
	// PerformStory begins to perform the story, or ends it.
	PerformStory struct{ On bool }
	// AskStop asks the safety core for a stop, that of a mode or of robotd itself.
	AskStop struct{ safety.Request }
	// Tried reports how a story began to be performed; it succeeded if Refused is empty.
	Tried struct {
		SHA256  string
		Refused schema.Reason
		Detail  string
	}
	// Disk: the disk refused to write.
	Disk struct{ Refused schema.Reason }
	// Look turns the head for the mode in charge. Key is that of the command to the head.
	Look struct {
		Key        uint64
		Yaw, Speed float64
	}
	// FocusActivity begins to perform an activity. Run names this performance; exactly one
	// ActivityEnded answers it. EndActivity stops it.
	FocusActivity struct{ Activity, Run string }
	EndActivity   struct {
		Run    string
		Reason schema.Reason
	}
	// ActivityEnded: a performance has ended.
	ActivityEnded struct {
		Run     string
		Outcome Outcome
		Reason  schema.Reason // why it failed
		Detail  string
	}
	// Abilities are those that shall be performed from now on.
	Abilities struct{ Names []schema.Ability }
	// Caps: the robot's capabilities have changed.
	Caps struct{}
	// Taught: the points or the acts that people taught the robot have changed.
	Taught struct{}
)

func (Event) intent()         {}
func (Raise) intent()         {}
func (Clear) intent()         {}
func (Reply) intent()         {}
func (Revoke) intent()        {}
func (Perform) intent()       {}
func (Ask) intent()           {}
func (Changed) intent()       {}
func (Document) intent()      {}
func (ActCompleted) intent()  {}
func (ActFailed) intent()     {}
func (SetMode) intent()       {}
func (Intended) intent()      {}
func (PerformStory) intent()  {}
func (AskStop) intent()       {}
func (Tried) intent()         {}
func (Disk) intent()          {}
func (FocusActivity) intent() {}
func (EndActivity) intent()   {}
func (ActivityEnded) intent() {}
func (Abilities) intent()     {}
func (Caps) intent()          {}
func (Look) intent()          {}
func (Taught) intent()        {}

// Outcome is how an activity ended.
type Outcome string

// The outcomes.
const (
	Finished Outcome = "finished" // all its acts are over
	Failed   Outcome = "failed"   // it cannot be performed, or one of its acts failed
	Stopped  Outcome = "stopped"  // by EndActivity, or because ato was left
)

// List collects what the parts of a robot request in one step. The zero value is empty.
type List struct{ items []Intent }

// Do adds an effect or an intent.
func (l *List) Do(i Intent) { l.items = append(l.items, i) }

// Len returns the number of entries, and At the i-th one.
func (l *List) Len() int        { return len(l.items) }
func (l *List) At(i int) Intent { return l.items[i] }

// Cut keeps the first n entries.
func (l *List) Cut(n int) {
	clear(l.items[n:])
	l.items = l.items[:n]
}

// Event adds an event to the history.
func (l *List) Event(kind, source, cause, req string, data any) {
	l.Do(Event{kind, source, cause, req, data})
}

// Note adds a line to the log: one for each transition of a machine.
func (l *List) Note(machine, from, to, why, cause string) {
	l.Do(Note{Machine: machine, From: from, To: to, Why: why, Cause: cause})
}

// Raise adds an alert.
func (l *List) Raise(kind string, level schema.AlertLevel, source, detail, hint string) {
	l.Do(Raise{kind, level, source, detail, hint})
}

// Clear removes an alert.
func (l *List) Clear(kind, source string) { l.Do(Clear{kind, source}) }

// Reply answers a command.
func (l *List) Reply(to request.Key, v schema.Verdict) { l.Do(Reply{To: to, Verdict: v}) }

// Refuse answers a command that is not carried out.
func (l *List) Refuse(to request.Key, why schema.Reason, pointer, detail string) {
	l.Reply(to, schema.Verdict{Status: schema.StatusRejected, Reason: why, Pointer: pointer, Detail: detail})
}

// Ask gives the journal of requests one input.
func (l *List) Ask(in request.Input) { l.Do(Ask{in}) }

// Changed says that the state has changed.
func (l *List) Changed(u Urgency) { l.Do(Changed{u}) }

// Data of events on the wire.
type (
	// Transition holds the two states of a transition.
	Transition struct {
		From   string        `json:"from,omitempty"`
		To     string        `json:"to"`
		Reason schema.Reason `json:"reason,omitempty"`
	}
	// Described describes a result.
	Described struct {
		ID     string        `json:"id,omitempty"`
		Reason schema.Reason `json:"reason,omitempty"`
		Detail string        `json:"detail,omitempty"`
	}
)

// Encode encodes what the robot publishes. An error would be a bug, like an event that no
// part knows.
func Encode(v any) []byte {
	b, err := schema.Encode(v)
	if err != nil {
		panic(err)
	}
	return b
}
