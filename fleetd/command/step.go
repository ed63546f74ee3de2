package command

import (
	"slices"
	"strings"
	"time"

	"troupe/schema"
)

// resendAfter is how long each sending may stay unacknowledged before the next.
var resendAfter = []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}

const (
	// MaxSends bounds how often one command is handed to the broker; a stop that
	// only went out while its robot was away gets one more.
	MaxSends = 4
	// Silence is how long a robot that took a command may say nothing about it
	// before it is asked. It speaks every 5 s while it is at something.
	Silence = 15 * time.Second
	// MaxAsks bounds the questions in a row that bring no answer.
	MaxAsks = 3
	// Patience is how long we wait for the answer to a command that never gets
	// too old, such as a stop.
	Patience = 30 * time.Second
	// AnswerGrace is how long the robot's own answer, with its details, may come
	// after its state showed how the command ended.
	AnswerGrace = time.Second
)

// EventKind is what kind of news the driver of a command has.
type EventKind string

const (
	Begin           EventKind = "begin"    // it was just made, or fleetd just started
	Wake            EventKind = "wake"     // the time that Due gave has come
	RobotOnline     EventKind = "came"     // the robot is there again
	RobotOffline    EventKind = "left"     // the robot is gone
	Answered        EventKind = "answered" // an answer under the command's id
	Recalled        EventKind = "recalled" // the robot's answer to our question: it does not know the id
	CancelRequested EventKind = "unwanted" // somebody calls it off; once it was sent only its robot can
	Released        EventKind = "released" // of a stop: somebody release what it holds; it must not go out any more
	Unsent          EventKind = "unsent"   // the database did not say whether it was recorded, so it is not sent
	Shown           EventKind = "shown"    // the robot's state shows it as its newest answered request
)

// Event is what happened. Present is the fact now, with every kind: a message
// sent to the robot may be expected to arrive.
type Event struct {
	Kind    EventKind
	Present bool
	Answer  schema.Ack         // of Answered
	Last    schema.LastRequest // of Shown
}

// Effect is what the driver does for a command.
type Effect string

const (
	Save Effect = "save" // write the command to the database
	Send Effect = "send" // publish Payload to the robot
	Ask  Effect = "ask"  // send sys/query with the command's id
)

// Step takes in news and returns the command as it now is, and what to do. News
// about another command tells nothing about this one, and nothing changes one
// that is final.
func Step(c Command, now time.Time, n Event) (Command, []Effect) {
	if c.State.Final() {
		return c, nil
	}
	var changed bool
	switch n.Kind {
	case Answered:
		if n.Answer.ID != nil && *n.Answer.ID == c.ID {
			changed = c.answered(now, n.Answer)
		}
	case Shown:
		shown := c.Answer != nil && c.Answer.Status == n.Last.Status // states repeat what they show
		if n.Last.ID == c.ID && !shown && c.Shown == nil {
			changed = c.shown(now, schema.Ack{
				TS: schema.TimeOf(now), Session: "state", ID: &n.Last.ID, Verb: n.Last.Verb,
				Status: n.Last.Status, Result: n.Last.Result, Reason: n.Last.Reason,
			})
		}
	case Recalled:
		if c.Shown != nil {
			break // its state knew better
		}
		event := NeverArrived
		if c.Answer != nil {
			event = RecordGone
		}
		if changed = c.goes(now, event); changed {
			c.Asks = MaxAsks // it has said all it knows, until it comes again
		}
	case CancelRequested:
		changed = c.goes(now, CallItOff)
	case Unsent:
		changed = c.goes(now, NotRecorded)
	case Released:
		changed = c.goes(now, LetGo)
	case RobotOnline:
		changed = c.Asks > 0
		c.Asks = 0
	case Begin, Wake, RobotOffline:
	}
	if !c.State.Final() && c.Shown != nil && !now.Before(c.ShownAt.Add(AnswerGrace)) {
		changed = c.answered(now, *c.Shown)
	}
	var out []Effect
	if !c.State.Final() && c.Shown == nil {
		do, went := c.pursue(now, n.Present)
		changed = changed || went
		if do != "" {
			out = append(out, do)
		}
	}
	if changed {
		out = append([]Effect{Save}, out...)
	}
	return c, out
}

// pursue does what is due now: at most one thing towards the robot.
func (c *Command) pursue(now time.Time, present bool) (do Effect, changed bool) {
	if (c.State == Queued || c.State == Sent) && !now.Before(c.deadline()) {
		changed = c.goes(now, TimeOver)
	}
	switch c.State {
	case Queued, Sent:
		if due, ok := c.sendDue(present); ok && !now.Before(due) {
			c.goes(now, SendIt)
			c.Sends++
			c.SentAt = now
			c.Reached = c.Reached || present
			return Send, true
		}
	case Acked, Running, Unknown:
		due, ok := c.askDue(present)
		switch {
		case !ok || now.Before(due):
		case c.Asks >= MaxAsks || !c.askable():
			return "", c.goes(now, NoAnswers)
		default:
			c.Asks++
			c.AskedAt = now
			return Ask, true
		}
	}
	return "", changed
}

// Due is when Step has something to do even without news; false if never.
// Present is whether the robot is there, which is news if it changes.
func Due(c Command, present bool) (time.Time, bool) {
	if c.Shown != nil && !c.State.Final() {
		return c.ShownAt.Add(AnswerGrace), true
	}
	switch c.State {
	case Queued, Sent:
		due := c.deadline()
		if send, ok := c.sendDue(present); ok && send.Before(due) {
			due = send
		}
		return due, true
	case Acked, Running, Unknown:
		return c.askDue(present)
	}
	return time.Time{}, false
}

// deadline is when we stop sending it and waiting for its first answer.
func (c *Command) deadline() time.Time {
	if c.ExpiresAt.IsZero() {
		return c.CreatedAt.Add(Patience)
	}
	return c.ExpiresAt
}

// sendDue is when the command goes out next. A stop goes out whether or not we
// believe that the robot is there; we may be wrong, and a stop harms nobody. It
// goes out once more when the robot comes, if all copies went out before.
func (c *Command) sendDue(present bool) (time.Time, bool) {
	switch {
	case c.Sends == 0 && (present || c.stop()), present && !c.Reached && c.stop():
		return c.CreatedAt, true
	case !present && !c.stop() || c.Sends >= MaxSends:
		return time.Time{}, false
	}
	return c.SentAt.Add(resendAfter[c.Sends-1]), true
}

// askDue is when the robot is asked about the command next. A robot that is not
// there is not asked: its silence says nothing.
func (c *Command) askDue(present bool) (time.Time, bool) {
	switch {
	case !present:
		return time.Time{}, false
	case c.State != Unknown:
		last := c.HeardAt
		if c.AskedAt.After(last) {
			last = c.AskedAt
		}
		return last.Add(Silence), true
	case c.Asks >= MaxAsks || !c.askable():
		return time.Time{}, false
	case c.AskedAt.IsZero():
		return c.CreatedAt, true
	}
	return c.AskedAt.Add(Silence), true
}

// shown takes in what the robot's state shows about the command: at once while it
// goes on, and else if the answer itself does not come soon.
func (c *Command) shown(now time.Time, a schema.Ack) (changed bool) {
	event, ok := saying[a.Status]
	if row, leads := Table.Next(c.State, event); !ok || !leads || !row.To.Final() {
		return c.answered(now, a)
	}
	c.Shown, c.ShownAt = &a, now
	return false
}

// answered takes in what the robot says about the command.
func (c *Command) answered(now time.Time, a schema.Ack) (changed bool) {
	c.HeardAt, c.Asks = now, 0
	event, ok := saying[a.Status]
	if !ok || event == SaysAccepted && c.State == Running {
		return true // alive, and nothing new
	}
	c.goes(now, event)
	c.Answer = &a
	if told := told(a); told != "" {
		c.Because = told
	}
	return true
}

// saying is what each status of the robot's means here; one that we do not know
// only proves that the robot is at it.
var saying = map[schema.Status]Trigger{
	schema.StatusAccepted:   SaysAccepted,
	schema.StatusInProgress: SaysProgress,
	schema.StatusSucceeded:  SaysDone,
	schema.StatusFailed:     SaysFailed,
	schema.StatusRejected:   SaysRejected,
	schema.StatusCancelled:  SaysCancel,
	schema.StatusExpired:    SaysTooOld,
	schema.StatusSuperseded: SaysNewer,
}

// told is the robot's own reason, for people.
func told(a schema.Ack) string {
	var parts []string
	if a.Reason != "" {
		parts = append(parts, a.Reason.Describe().Text)
	}
	if a.Detail != "" && !slices.Contains(parts, a.Detail) { // robots may say it in the same words
		parts = append(parts, a.Detail)
	}
	return strings.Join(parts, ": ")
}

// goes takes the edge that an event leads along, if there is one.
func (c *Command) goes(now time.Time, e Trigger) bool {
	row, ok := Table.Next(c.State, e)
	if !ok {
		return false
	}
	c.State, c.Because = row.To, row.Why
	if c.State.Final() {
		c.EndedAt = now
	}
	return true
}

func (c *Command) verb() schema.Verb {
	group, name, _ := strings.Cut(c.Verb, "/")
	v, _ := schema.VerbOf(group, name)
	return v
}

func (c *Command) stop() bool { return c.verb().Class == schema.ClassStop }

// askable reports whether the robot keeps a record that it can be asked for.
func (c *Command) askable() bool {
	return slices.Contains([]schema.Journaled{schema.JournalBefore, schema.JournalAfter}, c.verb().Journal)
}
