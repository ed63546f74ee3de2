// Package auto decides what ato does: which act of the default story is due,
// whether the story is paused and by whom, what follows an act that failed, and
// when another story takes over.
//
// Pauses are named tokens, not a count: ato is paused exactly while at least one
// is held, nobody's continue releases somebody else's pause by accident, and a
// handler that dies takes its pause with it. Some tokens freeze everything that
// ato does, others the story alone.
//
// It performs no act and knows neither units nor messages: it says which act to
// begin or to cancel and is told how it ended. Time is counted from boot and is
// an argument; State is comparable.
package auto

import (
	"time"

	"troupe/schema"
)

// Limits keep a story that does nothing from doing it all the time.
type Limits struct {
	Round  time.Duration // a round of the story lasts at least so long
	Failed time.Duration // the rest after a round in which every act failed
}

// Defaults returns the usual limits.
func Defaults() Limits { return Limits{Round: time.Second, Failed: 5 * time.Second} }

// Story is what has to be known of a story to perform it. The zero value means
// that there is none.
type Story struct {
	ID      string
	Rev     int64
	Digest  string  // of what is performed: it changes when acts are left out
	Acts    int     // that can be performed here
	Times   int     // rounds; 0 = for ever
	OnError OnError // what follows an act that failed
	Retries int     // with Retry: how often an act is tried again
}

// OnError is what follows an act that failed.
type OnError string

// The policies; anything else is read as Skip.
const (
	Skip  OnError = "skip"
	Stop  OnError = "stop"
	Retry OnError = "retry" // so often, then skip
)

// State is what ato remembers between steps.
type State struct {
	Status schema.AutoStatus
	Since  time.Duration // when Status was entered
	Reason schema.Reason // why stopped
	Story  Story         // that runs, or that ran last
	Act    int           // the one that is performed or due
	Loop   int64         // how often the story has begun anew
	Begun  bool          // the act was begun and has not ended

	tries     int           // of the present act after failures
	failures  int           // acts that failed one after another
	round     time.Duration // when the round began
	notBefore time.Duration // the next act does not begin earlier
	startOver bool          // after a halt the act begins anew
	tokens    tokens
}

// Boot returns ato before it was ever in charge.
func Boot() State { return State{Status: schema.AutoHalt} }

// Hold is a fact that holds a pause.
type Hold struct {
	Held   bool
	Reason schema.Reason
	// Sticky: when the fact is over, the pause lasts until an operator says
	// continue.
	Sticky bool
}

// Facts is what ato has to know of the rest of the robot.
type Facts struct {
	Story    Story         // the accepted default story
	NoStory  schema.Reason // why there is none: story_empty, story_invalid; empty = no_default_story
	Apply    schema.Apply  // when a newly accepted story takes over
	Safety   Hold          // Sticky after HALT or E_STOP: the act then starts over
	Guard    Hold
	LinkLost Hold
}

// Ready answers whether ato could start now.
func (f Facts) Ready() (why schema.Reason, detail string, ok bool) {
	if f.Story.Acts > 0 {
		return "", "", true
	}
	if why = f.NoStory; why == "" {
		why = schema.ReasonNoDefaultStory
	}
	return why, why.Describe().Text, false
}

// What is asked of ato or told to it.
type What string

// The inputs. The first four are requests and are answered.
const (
	StartStory What = "start"
	StopStory  What = "stop"
	Pause      What = "pause"
	Continue   What = "continue"

	Tick    What = "tick"
	Enter   What = "enter" // the supervisor starts ato
	Leave   What = "leave" // the supervisor ends it
	ActDone What = "act-done"
	ActFail What = "act-failed"
	Acquire What = "acquire" // by an interrupt or an activity that begins
	Release What = "release" // and that ended
)

// Input is one of them.
type Input struct {
	What   What
	Client string // who asks
	Person string
	Req    string
	Why    string
	Token  string // continue: the name of a pause
	Kind   Kind   // acquire, release
	Key    string
	Reason schema.Reason // act-failed
}

// Answer is what the sender of a request is told.
type Answer struct {
	Status schema.Status // SUCCEEDED or REJECTED; empty: nobody asked
	Reason schema.Reason
	Detail string
}

// Decision is what one step came to. Cancel comes before Begin.
type Decision struct {
	Changed  bool // an edge was taken, if only to the same status
	From, To schema.AutoStatus
	On       Event
	Why      string
	Cancel   bool // end the present act now
	Begin    bool // begin State.Act of State.Story
	Acquired []Token
	Released []Token
	Refused  schema.Reason // Enter: why ato cannot start
	Answer   Answer
}

func succeeded(detail string) Answer {
	return Answer{Status: schema.StatusSucceeded, Detail: detail}
}

func unchanged(detail string) Answer {
	return Answer{Status: schema.StatusSucceeded, Reason: schema.ReasonUnchanged, Detail: detail}
}

func refused(r schema.Reason, detail string) Answer {
	return Answer{Status: schema.StatusRejected, Reason: r, Detail: detail}
}
