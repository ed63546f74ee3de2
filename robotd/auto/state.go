// Package auto decides what mode ato (automatic) does: which act of the default
// story is due, whether the story is paused and by whom, what follows a failed
// act, and when another story replaces the current one.
//
// Pauses are named tokens, not a count: ato is paused exactly while at least one
// is held, an operator's continue does not release another operator's pause by
// accident, and the pause of a handler ends with the handler. Some tokens freeze
// everything that ato does, others the story only.
//
// It does not perform acts and knows neither units nor messages: it returns which
// act to begin or to cancel, and the end of an act is an input. Time is counted
// from boot and is an argument; State is comparable.
package auto

import (
	"cmp"
	"time"

	"troupe/schema"
)

// Limits prevent a story whose acts end at once or fail from looping at full speed.
type Limits struct {
	Round  time.Duration // shortest duration of a round of the story
	Failed time.Duration // wait after a round in which every act failed
}

// Defaults returns the usual limits.
func Defaults() Limits { return Limits{Round: time.Second, Failed: 5 * time.Second} }

// Story is what this package needs to know about a story. The zero value means
// that there is none.
type Story struct {
	ID      string
	Rev     int64
	Digest  string  // of the performed acts; it changes when acts are left out
	Acts    int     // number of acts that this robot can perform
	Times   int     // rounds; 0 = for ever
	OnError OnError // what follows a failed act
	Retries int     // with Retry: how often a failed act is repeated
}

// OnError is what follows a failed act.
type OnError string

// The policies; any other value counts as Skip.
const (
	Skip  OnError = "skip"
	Stop  OnError = "stop"
	Retry OnError = "retry" // up to Story.Retries times, then skip
)

// State is what ato remembers between steps.
type State struct {
	Status schema.AutoStatus
	Since  time.Duration // when Status was entered
	Reason schema.Reason // why stopped
	Story  Story         // the current or last one
	Act    int           // index of the current or next act
	Loop   int64         // how often the story has started again
	Begun  bool          // Act is running

	FailedRounds int64 // rounds in a row in which every act failed, since a person ended a pause

	round      Round         // the present one, without its number
	tries      int           // repetitions of the current act after failures
	roundStart time.Duration // when the round began
	notBefore  time.Duration // when the next act may begin at the earliest
	restartAct bool          // the act restarts after the pause, because of HALT or E_STOP
	tokens     tokens
	left       stillness // while ato is not active: what held the story when it was left, also before a restart of robotd
	requested  bool      // somebody asked for the mode when ato was entered
}

// Boot returns the state of ato after boot, when it is not the active mode.
func Boot() State { return State{Status: schema.AutoNotActive} }

// StoppedByRequest reports whether somebody stopped the story. It is false for a story that
// ended, failed or was withdrawn.
func (s *State) StoppedByRequest() bool {
	return s.Status == schema.AutoStopped && s.Reason == schema.ReasonStopped
}

// PauseCause is a condition of the robot that pauses ato while it lasts.
type PauseCause struct {
	Present bool // the condition is there
	Reason  schema.Reason
	// Sticky: after the condition has ended, the pause lasts until an operator
	// sends auto/continue.
	Sticky bool
}

// Facts is what ato needs to know about the rest of the robot.
type Facts struct {
	Story         Story         // the accepted default story
	NoStoryDetail string        // where it is wrong, for people
	NoStory       schema.Reason // why there is none: story_empty, story_invalid; empty = no_default_story
	Place         Place         // where Story goes on, if it is another revision of the one that is performed
	Apply         schema.Apply  // when Story replaces the current one; now for the default story, because its delivery has waited
	EntryRefused  schema.Reason // why ato must not be entered
	Safety        PauseCause    // Sticky after HALT or E_STOP, when the act also restarts
	Safeguard     PauseCause
	LinkLost      PauseCause
	// Standstill is why the robot is at rest and the way out, for the answer to a request.
	Standstill string
}

// Place maps the current act to another revision of its story.
type Place struct {
	Revision bool // there is another revision
	Act      int  // of it: the current act, or else the one that follows in its place; the number of acts = the round is over
	Kept     bool // Act is the current one
	Same     bool // and is performed as before, so that it goes on if it has begun
}

// revises reports whether the accepted story is another revision, which goes on at its place.
func (f Facts) revises(s *State) bool {
	return f.Place.Revision && f.Story != s.Story && f.Story.Acts > 0 && f.Apply != schema.ApplyNextStart
}

// Ready reports whether ato could start now, and if not, why.
func (f Facts) Ready() (why schema.Reason, detail string, ok bool) {
	if f.Story.Acts > 0 {
		return "", "", true
	}
	if why = f.NoStory; why == "" {
		why = schema.ReasonNoDefaultStory
	}
	return why, cmp.Or(f.NoStoryDetail, why.Describe().Text), false
}

// entryRefusal returns why ato cannot be entered now; empty if it can.
func (f Facts) entryRefusal() schema.Reason {
	if why, _, ok := f.Ready(); !ok {
		return why
	}
	return f.EntryRefused
}

// What is the kind of an input.
type What string

// The kinds of inputs. The first five are requests and get an answer.
const (
	StartStory What = "start"
	StopStory  What = "stop"
	SkipAct    What = "skip"
	Pause      What = "pause"
	Continue   What = "continue"

	Tick      What = "tick"
	Enter     What = "enter" // the mode supervisor starts ato
	Leave     What = "leave" // the mode supervisor ends ato
	ActDone   What = "act-done"
	ActFailed What = "act-failed"
	Acquire   What = "acquire" // an interrupt or activity begins and acquires its pause
	Release   What = "release" // it ended and releases its pause
)

// Input is an event that concerns ato.
type Input struct {
	What   What
	Client string // that sent the request
	Person string
	Req    string
	Why    string // the reason of a stop, safeguard or lost link; a person's words, a handler or an activity of other kinds
	Token  string // continue: the name of a pause
	Kind   Kind   // acquire, release
	Key    string
	Reason schema.Reason // act-failed
	Asked  bool          // enter: somebody asked for the mode, so what held the story before counts no more
}

// Round counts how the acts of one round of a story ended. An act that was repeated counts
// once, by its last end.
type Round struct {
	Number                     int64 // from 1
	Performed, Failed, Skipped int
}

// everyActFailed reports whether no act was performed, though not every one was skipped.
func (r Round) everyActFailed() bool { return r.Performed == 0 && r.Failed > 0 }

// Decision is the result of one step. Cancel comes before Begin.
type Decision struct {
	Changed  bool // there was a transition, perhaps to the same status
	From, To schema.AutoStatus
	On       Event
	Why      string
	Cancel   bool  // end the current act now
	Skipped  bool  // somebody skipped the current act, which may not have begun yet
	Begin    bool  // begin State.Act of State.Story
	Over     Round // the round of Story that is over; its number is 0 if none is
	Story    Story
	Acquired []Token
	Released []Token
	Stuck    bool           // a pause that was held already lasts until auto/continue from now on
	Refused  schema.Reason  // Enter: why ato cannot start
	Answer   schema.Verdict // to a request: SUCCEEDED or REJECTED
}

func succeeded(detail string) schema.Verdict {
	return schema.Verdict{Status: schema.StatusSucceeded, Detail: detail}
}

func unchanged(detail string) schema.Verdict {
	return schema.Verdict{Status: schema.StatusSucceeded, Reason: schema.ReasonUnchanged, Detail: detail}
}

func refused(r schema.Reason, detail string) schema.Verdict {
	return schema.Verdict{Status: schema.StatusRejected, Reason: r, Detail: detail}
}
