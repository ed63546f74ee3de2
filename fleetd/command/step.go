package command

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"troupe/schema"
	"troupe/schema/verb"
)

// resendAfter is how long to wait for an acknowledgement after each sending.
var resendAfter = []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}

const (
	// MaxSends bounds how often one command is published. A stop that was only published
	// while its robot was offline is published once more.
	MaxSends = 4 // len(resendAfter) + 1
	// Silence is how long a robot may send no answer about an accepted command before it is
	// queried. A robot reports progress every 5 s.
	Silence = 15 * time.Second
	// MaxQueries bounds the queries in a row without an answer.
	MaxQueries = 3
	// AnswerTimeout is how long to wait for the answer to a command that never expires, such as
	// a stop.
	AnswerTimeout = 30 * time.Second
	// AnswerGrace is how long to wait for the answer, which has details, after the robot's
	// state showed how the command ended.
	AnswerGrace = time.Second
)

// EventKind is the kind of an Event.
type EventKind string

const (
	Begin           EventKind = "begin"     // the command was just made, or fleetd just started
	Wake            EventKind = "wake"      // the time that Due returned has come
	RobotOnline     EventKind = "online"    // the robot is connected again
	RobotOffline    EventKind = "offline"   // the robot is disconnected
	Answered        EventKind = "answered"  // an answer with the command's id
	NoRecord        EventKind = "no_record" // the robot's answer to a query: it does not know the id
	CancelRequested EventKind = "cancel"    // a client cancels it; once it was sent only the robot can
	Released        EventKind = "released"  // the latched stop was released; the command must not be sent any more
	NotSent         EventKind = "unsent"    // the database did not confirm that it was persisted, so it is not sent
	SentLive        EventKind = "sent_live" // a stop that goes to many robots was published to them all at once, this one among them
	Shown           EventKind = "shown"     // the robot's state shows it as the newest answered request
	Turn            EventKind = "turn"      // it waited until enough commands before it were answered, and may be sent now
)

// Event is what happened. Present is set with every kind: the robot is reachable now, and no other
// command has to be sent to it before this one.
type Event struct {
	Kind    EventKind
	Present bool
	Answer  schema.Ack         // of Answered
	Last    schema.LastRequest // of Shown
}

// Effect is what the dispatcher must do for a command.
type Effect string

const (
	Save  Effect = "save"  // persist the command
	Send  Effect = "send"  // publish Payload to the robot
	Query Effect = "query" // send sys/query with the command's id
)

// Step applies an event and returns the changed command and what to do. It ignores answers
// to other commands, and every event for a final command.
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
		shown := c.Answer != nil && c.Answer.Status == n.Last.Status // state documents repeat it
		if n.Last.ID == c.ID && !shown && c.Shown == nil {
			changed = c.shown(now, schema.Ack{
				TS: schema.TimeOf(now), Session: "state", ID: &n.Last.ID, Verb: n.Last.Verb,
				Status: n.Last.Status, Result: n.Last.Result, Reason: n.Last.Reason,
			})
		}
	case NoRecord:
		if c.Shown != nil {
			break // the state shows that the robot did execute it
		}
		event := NeverArrived
		if c.Answer != nil {
			event = RecordLost
		}
		if changed = c.transition(now, event); changed {
			c.Queries = MaxQueries // no more queries until the robot connects again
		}
	case CancelRequested:
		changed = c.transition(now, CancelIt)
	case NotSent:
		changed = c.transition(now, NotPersisted)
	case Released:
		changed = c.transition(now, StopReleased)
	case RobotOnline:
		changed = c.Queries > 0
		c.Queries = 0
	case Turn:
		changed = c.countFrom(now)
	case SentLive:
		changed = c.send(now, n.Present)
	case Begin, Wake, RobotOffline:
	}
	if !c.State.Final() && c.Shown != nil && !now.Before(c.ShownAt.Add(AnswerGrace)) {
		changed = c.answered(now, *c.Shown)
	}
	var out []Effect
	if !c.State.Final() && c.Shown == nil {
		do, went := c.dispatchDue(now, n.Present)
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

// countFrom has the time to live of a command that was not sent yet begin now: robots count it from the time in the payload.
func (c *Command) countFrom(now time.Time) (changed bool) {
	if c.State != Queued || c.ExpiresAt.IsZero() {
		return false
	}
	ttl := c.ExpiresAt.Sub(c.CreatedAt)
	c.Payload = bytes.Replace(c.Payload, timestamp(c.CreatedAt), timestamp(now), 1)
	c.ExpiresAt = now.Add(ttl)
	return true
}

// timestamp is the time of a command in its payload.
func timestamp(t time.Time) []byte { return []byte(`"ts":"` + schema.TimeOf(t).String() + `"`) }

// dispatchDue does what is due now: at most one message to the robot.
func (c *Command) dispatchDue(now time.Time, present bool) (do Effect, changed bool) {
	if (c.State == Queued || c.State == Sent) && !now.Before(c.deadline()) {
		changed = c.transition(now, DeadlinePassed)
	}
	switch c.State {
	case Queued, Sent:
		if due, ok := c.sendDue(present); ok && !now.Before(due) {
			return Send, c.send(now, present)
		}
	case Acked, Running, Unknown:
		due, ok := c.queryDue(present)
		switch {
		case !ok || now.Before(due):
		case c.Queries >= MaxQueries || !c.queryable():
			return "", c.transition(now, NoAnswers)
		default:
			c.Queries++
			c.QueriedAt = now
			return Query, true
		}
	}
	return "", changed
}

// send records that the command is published.
func (c *Command) send(now time.Time, present bool) (changed bool) {
	changed = c.transition(now, SendIt)
	c.Sends++
	c.SentAt = now
	c.Reached = c.Reached || present
	return changed
}

// Due returns when Step has something to do without another event; false if never.
// present is that of an Event; a change of it is an event.
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
		return c.queryDue(present)
	}
	return time.Time{}, false
}

// deadline is when to stop sending the command and waiting for its first answer.
func (c *Command) deadline() time.Time {
	if c.ExpiresAt.IsZero() {
		return c.CreatedAt.Add(AnswerTimeout)
	}
	return c.ExpiresAt
}

// sendDue returns when to send the command next. A stop is sent even if the robot seems
// offline, since fleetd may be wrong and a stop does no harm. It is sent once more when
// the robot connects, if it was sent only while the robot was offline.
func (c *Command) sendDue(present bool) (time.Time, bool) {
	switch {
	case c.Sends == 0 && (present || c.stop()), present && !c.Reached && c.stop():
		return c.CreatedAt, true
	case !present && !c.stop() || c.Sends >= MaxSends:
		return time.Time{}, false
	}
	return c.SentAt.Add(resendAfter[c.Sends-1]), true
}

// queryDue returns when to query the robot about the command next. A robot that is offline
// is not queried: it cannot answer.
func (c *Command) queryDue(present bool) (time.Time, bool) {
	switch {
	case !present:
		return time.Time{}, false
	case c.State != Unknown:
		last := c.AnsweredAt
		if c.QueriedAt.After(last) {
			last = c.QueriedAt
		}
		return last.Add(Silence), true
	case c.Queries >= MaxQueries || !c.queryable():
		return time.Time{}, false
	case c.QueriedAt.IsZero():
		return c.CreatedAt, true
	}
	return c.QueriedAt.Add(Silence), true
}

// shown applies the status in the robot's state document: a final one only if the answer
// does not arrive within AnswerGrace, any other at once.
func (c *Command) shown(now time.Time, a schema.Ack) (changed bool) {
	event, ok := triggers[a.Status]
	if row, found := Table.Next(c.State, event); !ok || !found || !row.To.Final() {
		return c.answered(now, a)
	}
	c.Shown, c.ShownAt = &a, now
	return false
}

// answered applies an answer of the robot.
func (c *Command) answered(now time.Time, a schema.Ack) (changed bool) {
	c.AnsweredAt, c.Queries = now, 0
	event, ok := triggers[a.Status]
	if !ok || event == SaysAccepted && c.State == Running {
		return true // only a sign of life: the robot says something new, or an earlier answer arrived late
	}
	c.transition(now, event)
	c.Answer = &a
	if reason := reasonText(c.verb(), a); reason != "" {
		c.Because = reason
	}
	return true
}

// triggers maps the status of an answer to a trigger. An unknown status is only a sign of
// life.
var triggers = map[schema.Status]Trigger{
	schema.StatusAccepted:   SaysAccepted,
	schema.StatusInProgress: SaysProgress,
	schema.StatusSucceeded:  SaysDone,
	schema.StatusFailed:     SaysFailed,
	schema.StatusRejected:   SaysRejected,
	schema.StatusCancelled:  SaysCancel,
	schema.StatusExpired:    SaysTooOld,
	schema.StatusSuperseded: SaysNewer,
}

// reasonText returns the robot's reason, for people.
func reasonText(v verb.Verb, a schema.Ack) string {
	var parts []string
	if a.Reason != "" {
		text := a.Reason.Describe().Text
		if v.Class == verb.ClassStop && a.Reason == schema.ReasonUnchanged { // as of a stop of all, which robots also receive live
			text = "it was stopped already"
		}
		pointsToDetail := strings.Contains(text, "detail")
		if head, _, hint := strings.Cut(text, "; "); hint && strings.Contains(a.Detail, "; ") {
			text = head // the detail has a way out of its own, for this case
		}
		// A text that points to the detail, or begins it, would only repeat it.
		if a.Detail == "" || !pointsToDetail && !strings.HasPrefix(a.Detail, text) {
			parts = append(parts, text)
		}
	}
	if a.Detail != "" {
		parts = append(parts, a.Detail)
	}
	return strings.Join(parts, ": ")
}

// transition takes the transition of a trigger, if there is one.
func (c *Command) transition(now time.Time, e Trigger) bool {
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

func (c *Command) verb() verb.Verb {
	group, name, _ := strings.Cut(c.Verb, "/")
	v, _ := verb.Of(group, name)
	return v
}

func (c *Command) stop() bool { return c.verb().Class == verb.ClassStop }

// queryable reports whether robots keep a record of the command, so that a query makes sense.
func (c *Command) queryable() bool {
	return slices.Contains([]verb.Journaled{verb.JournalBefore, verb.JournalAfter}, c.verb().Journal)
}
