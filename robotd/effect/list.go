package effect

import (
	"time"

	"troupe/robotd/command"
	"troupe/schema"
	"troupe/schema/verb"
)

// Urgency says how soon the state has to be published.
type Urgency uint8

// The urgencies in rising order.
const (
	Clean Urgency = iota
	// within seconds; only minor things differ: commands, and since when a stop is latched. An answer that nothing changed does not wait
	FlushLater
	FlushSoon   // together with further changes
	FlushAnswer // at once, within a rate: an answer depends on it
	FlushNow    // at once: the permission to move changed
)

// Output is what a part of the robot returns from a call: an Effect, which leaves the robot's
// state, or one of the outputs below, which are for other parts. The set is closed. Brain
// carries each out right after the part's call, in the order of the list, so that effects
// keep their order.
type Output interface{ output() }

// The outputs that other parts of the robot take.
type (
	// Event is an entry of the published history; package event has what happens to the robot.
	Event struct {
		Kind, Source, Cause, Req string
		Data                     any
	}
	// RaiseAlert adds an alert to the state, once for the same texts. ClearAlert removes it.
	RaiseAlert struct {
		Kind           string
		Level          schema.AlertLevel
		Source         string
		Detail, Hint   string
		Params         schema.AlertParams
		LoggedByDriver bool // as of LogTransition
	}
	// ClearAlert removes an alert from the state.
	ClearAlert struct{ Kind, Source string }
	// Reply answers a command.
	Reply struct {
		To command.Key
		schema.Verdict
		Lease *schema.Lease // control that was given, or who else has it
		// StartsMotion: something begins to move, or a reset begins, so ACCEPTED is sent at once.
		StartsMotion bool
	}
	// Revoke reports to the sender of a succeeded command that what it granted was taken
	// away.
	Revoke struct {
		Key    command.Key
		Detail string
		Lease  *schema.Lease // the present lease
		By     []schema.Ref
	}
	// Dispatch is a command that shall be carried out now. The part that decides on it checks If
	// at that moment; stops have no precondition.
	Dispatch struct {
		Key                 command.Key
		Client, ID, By, Why string
		Verb                verb.Verb
		Args                verb.Args
		If                  schema.Precondition
		Arrived             time.Duration // since boot
		Expires             time.Duration // since boot: when its time to live ends; 0 = never
	}
	// Progress says how far a command is that has not ended.
	Progress struct {
		Of        command.Key
		Percent   int
		Remaining time.Duration // estimated time to the end; 0 = unknown
	}
	// CancelWaiting cancels the commands that were admitted and have not begun, because of a stop
	// that is no command, or because of its release.
	CancelWaiting struct{ Detail string }
	// StateChanged: the state has changed.
	StateChanged struct{ Urgency }
	// Document publishes a document, reduced to the size limit of its topic. Param, First
	// and Confirm are those of Publish.
	Document struct {
		Topic   schema.TopicKind
		Param   string
		Value   any
		First   bool
		Confirm command.Key
	}
	// ActCompleted reports that an act was performed to its end.
	ActCompleted struct{ ID, Req string }
	// ActFailed reports that an act could not begin or did not end well.
	ActFailed struct {
		ID     string
		Req    string
		Reason schema.Reason
		Detail string
	}
	// SetMode requests a mode.
	SetMode struct {
		Mode schema.ModeID
		By   command.Key
	}
	// ModeIntended: a request for a mode was granted, and Mode is the intended one from now on.
	ModeIntended struct {
		Mode schema.ModeID
		By   command.Key
	}
	// PerformStory begins to perform the story, or ends it. Asked: somebody asked for the mode that begins it.
	PerformStory struct{ On, Asked bool }
	// AskStop asks the safety core for a stop, for the mode in charge, a unit or robotd itself.
	AskStop struct {
		Verb   string // of group safety; one that is no stop counts as stop
		Source string // mode, unit or robotd
		Key    string // the unit or the mode
		Why    string
	}
	// StoryTried reports how a story began to be performed; it succeeded if Refused is empty.
	StoryTried struct {
		SHA256  string
		Refused schema.Reason
		Detail  string
	}
	// DiskRefused: the disk refused to write.
	DiskRefused struct{ Refused schema.Reason }
	// Look turns the head for the mode in charge. Key is that of the command to the head.
	Look struct {
		Key        uint64
		Yaw, Speed float64
	}
	// FocusActivity begins to perform an activity. Run names this performance; exactly one
	// ActivityEnded answers it.
	FocusActivity struct{ Activity, Run string }
	// EndActivity stops the performance of an activity.
	EndActivity struct {
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
	// Abilities names those that the robot performs from now on.
	Abilities struct{ Names []schema.Ability }
	// PublishAll publishes every retained document of the robot again, except its presence.
	PublishAll struct{}
	// CapsChanged: the robot's capabilities have changed.
	CapsChanged struct{}
	// TaughtChanged: the points or the acts that people taught the robot have changed.
	TaughtChanged struct{}
)

func (Event) output()         {}
func (RaiseAlert) output()    {}
func (ClearAlert) output()    {}
func (Reply) output()         {}
func (Revoke) output()        {}
func (Dispatch) output()      {}
func (Progress) output()      {}
func (CancelWaiting) output() {}
func (StateChanged) output()  {}
func (Document) output()      {}
func (ActCompleted) output()  {}
func (ActFailed) output()     {}
func (SetMode) output()       {}
func (ModeIntended) output()  {}
func (PerformStory) output()  {}
func (AskStop) output()       {}
func (StoryTried) output()    {}
func (DiskRefused) output()   {}
func (FocusActivity) output() {}
func (EndActivity) output()   {}
func (ActivityEnded) output() {}
func (Abilities) output()     {}
func (PublishAll) output()    {}
func (CapsChanged) output()   {}
func (Look) output()          {}
func (TaughtChanged) output() {}

// Outcome is how an activity ended.
type Outcome string

// The outcomes.
const (
	Finished Outcome = "finished" // all its acts are over
	Failed   Outcome = "failed"   // it cannot be performed, or one of its acts failed
	Stopped  Outcome = "stopped"  // by EndActivity, or because ato was left
)

// List collects what the parts of a robot request in one step. The zero value is empty.
type List struct{ items []Output }

// Do adds an output.
func (l *List) Do(o Output) { l.items = append(l.items, o) }

// Len returns the number of entries, and At the i-th one.
func (l *List) Len() int        { return len(l.items) }
func (l *List) At(i int) Output { return l.items[i] }

// Cut keeps the first n entries.
func (l *List) Cut(n int) {
	clear(l.items[n:])
	l.items = l.items[:n]
}

// Event adds an event to the history.
func (l *List) Event(kind, source, cause, req string, data any) {
	l.Do(Event{kind, source, cause, req, data})
}

// LogTransition adds a line to the log: one for each transition of a machine.
func (l *List) LogTransition(machine, from, to, why, cause string) {
	l.Do(LogTransition{Machine: machine, From: from, To: to, Why: why, Cause: cause})
}

// Raise adds an alert.
func (l *List) Raise(kind string, level schema.AlertLevel, source, detail, hint string) {
	l.Do(RaiseAlert{Kind: kind, Level: level, Source: source, Detail: detail, Hint: hint})
}

// Clear removes an alert.
func (l *List) Clear(kind, source string) { l.Do(ClearAlert{kind, source}) }

// Reply answers a command.
func (l *List) Reply(to command.Key, v schema.Verdict) { l.Do(Reply{To: to, Verdict: v}) }

// Refuse answers a command that is not carried out.
func (l *List) Refuse(to command.Key, why schema.Reason, pointer, detail string) {
	l.Reply(to, schema.Verdict{Status: schema.StatusRejected, Reason: why, Pointer: pointer, Detail: detail})
}

// Met reports whether the condition of a command still holds, and otherwise refuses the command.
func (l *List) Met(by command.Key, when, current schema.Precondition) bool {
	unmet, fails := when.Unmet(current)
	if fails {
		l.Refuse(by, schema.ReasonPrecondition, unmet.Pointer, unmet.Detail)
	}
	return !fails
}

// Changed says that the state has changed.
func (l *List) Changed(u Urgency) { l.Do(StateChanged{u}) }

// Data of events on the wire.
type (
	// Transition holds the two states of a transition.
	Transition struct {
		From   string        `json:"from,omitempty"`
		To     string        `json:"to"`
		Reason schema.Reason `json:"reason,omitempty"`
	}
	// Described says what an event is about, and why it happened.
	Described struct {
		ID     string        `json:"id,omitempty"`
		Reason schema.Reason `json:"reason,omitempty"`
		Detail string        `json:"detail,omitempty"`
	}
)

// Encode encodes what the robot publishes. It panics on a value that JSON cannot represent,
// which is a bug.
func Encode(v any) []byte {
	b, err := schema.Encode(v)
	if err != nil {
		panic(err)
	}
	return b
}
