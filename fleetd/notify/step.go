package notify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"troupe/schema"
)

// State is what is known of one route from one step to the next. It is saved with the notifications of the step.
type State struct {
	Series string    `json:"series"` // of the ids of its notifications; another one for each time a route is made
	Num    int64     `json:"num"`    // notifications so far
	Alerts []Tracked `json:"alerts,omitempty"`
	Events []Event   `json:"events,omitempty"` // not sent yet, in the order in which they were received
	More   int       `json:"more,omitempty"`   // events beyond maxPending, and alerts beyond maxTracked, which are only counted

	FirstAt   schema.Time `json:"first_at,omitempty"`   // the oldest change that was not sent; 0 = there is none
	ChangedAt schema.Time `json:"changed_at,omitempty"` // the newest
	SentAt    schema.Time `json:"sent_at,omitempty"`

	EventsTo schema.Time            `json:"events_to,omitempty"` // events received before that minus eventOverlap are done
	Seen     map[string]schema.Time `json:"seen,omitempty"`      // events that are done and were received after it
}

// Tracked is an alert that a route has to do with.
type Tracked struct {
	Alert
	SentAt      schema.Time `json:"sent_at,omitempty"`       // when it was sent last; 0 = never
	FirstSentAt schema.Time `json:"first_sent_at,omitempty"` // when it was sent first
	EndedAt     schema.Time `json:"ended_at,omitempty"`      // when it was over; 0 = it is not
	EscalatedAt schema.Time `json:"escalated_at,omitempty"`
}

// isNews reports whether there is something of the alert that was not sent.
func (t *Tracked) isNews() bool { return t.SentAt == 0 || t.EndedAt != 0 }

// eventOverlap is how much later than another one an event may be saved that was received before it.
const eventOverlap = 2 * time.Minute

// eventsLag is how far EventsTo may be behind while no events come: each time that it is moved, the state is saved.
const eventsLag = time.Minute

const (
	// maxPending bounds the events that wait; maxEntries the alerts of one notification: the others follow in the next.
	maxPending = 1000
	maxEntries = 2000
	// maxTracked bounds the alerts of a route. Beyond, alerts that were never sent and are over are only counted, as after a
	// night of quiet hours in which something began and ended every second.
	maxTracked = 5000
)

// Input is what is the case.
type Input struct {
	Alerts []Alert // every present alert of the fleet
	Events []Event // received since EventsSince, in the order in which they were received; long lists come in several steps
	// EventsEnd says that with Events every event is there that was received until now.
	EventsEnd bool
	// Unsure are the robots of which nothing is known at this moment, as after a start of fleetd: what they had before is not over.
	Unsure map[string]bool
}

// EventsSince is from when on the next step needs events.
func (s *State) EventsSince() time.Time { return s.EventsTo.Time().Add(-eventOverlap) }

// Step decides what a route sends now. The state is not changed; the new one has to be saved together with the
// notifications, or neither of them.
func Step(c *Compiled, was State, in Input, now time.Time) (State, []Notification) {
	s := stepper{c: c, State: was, at: schema.TimeOf(now), quiet: c.IsQuiet(now)}
	s.Alerts = slices.Clone(was.Alerts)
	if slices.Contains([]bool{s.takeAlerts(in), s.takeEvents(in.Events, in.EventsEnd)}, true) {
		s.changed()
	}
	s.flush()
	s.repeat()
	s.escalate()
	return s.State, s.out
}

type stepper struct {
	State
	c     *Compiled
	at    schema.Time
	quiet bool
	out   []Notification
}

func (s *stepper) changed() {
	if s.FirstAt == 0 {
		s.FirstAt = s.at
	}
	s.ChangedAt = s.at
}

// takeAlerts compares what is the case with what was, and reports whether there are news.
func (s *stepper) takeAlerts(in Input) (news bool) {
	now := make(map[string]Alert, len(in.Alerts))
	for _, a := range in.Alerts {
		now[a.Key()] = a
	}
	s.Alerts = slices.DeleteFunc(s.Alerts, func(t Tracked) bool {
		a, is := now[t.Key()]
		return is && !s.c.Takes(a) // the route or the robot's site was changed
	})
	known := make(map[string]bool, len(s.Alerts))
	for i := range s.Alerts {
		t := &s.Alerts[i]
		a, is := now[t.Key()]
		known[t.Key()] = true
		switch {
		case is:
			t.Alert, t.EndedAt = a, 0
		case t.EndedAt == 0 && !(t.Robot != "" && in.Unsure[t.Robot]):
			t.EndedAt = s.at
			news = true
		}
	}
	for _, a := range in.Alerts {
		if s.c.Takes(a) && !known[a.Key()] {
			known[a.Key()] = true
			s.Alerts = append(s.Alerts, Tracked{Alert: a})
			news = true
		}
	}
	if !s.c.sendsResolved() {
		s.Alerts = slices.DeleteFunc(s.Alerts, func(t Tracked) bool { return t.EndedAt != 0 && t.SentAt != 0 && t.EscalatedAt == 0 })
	}
	if excess := len(s.Alerts) - maxTracked; excess > 0 {
		s.Alerts = slices.DeleteFunc(s.Alerts, func(t Tracked) bool {
			if excess == 0 || t.EndedAt == 0 || t.SentAt != 0 {
				return false
			}
			excess--
			s.More++
			return true
		})
	}
	return news
}

// takeEvents adds events that were not seen yet, and reports whether there are any.
func (s *stepper) takeEvents(events []Event, end bool) (news bool) {
	if !s.c.WantsEvents() {
		s.EventsTo, s.Seen = 0, nil // once it wants some, then those from then on
		return false
	}
	if s.EventsTo == 0 {
		s.EventsTo = s.at
	}
	since := schema.TimeOf(s.EventsSince())
	if end && s.at.Sub(s.EventsTo) > eventsLag {
		s.EventsTo = s.at
	}
	if len(events) == 0 {
		return false
	}
	seen := maps.Clone(s.Seen)
	if seen == nil {
		seen = map[string]schema.Time{}
	}
	s.Events = slices.Clone(s.Events)
	for _, e := range events {
		if _, done := seen[e.ID]; done || e.At < since || !s.c.TakesEvent(e) {
			continue
		}
		seen[e.ID], s.EventsTo, news = e.At, max(s.EventsTo, e.At), true
		if len(s.Events) < maxPending {
			s.Events = append(s.Events, e)
		} else {
			s.More++
		}
	}
	since = schema.TimeOf(s.EventsSince())
	maps.DeleteFunc(seen, func(_ string, at schema.Time) bool { return at < since })
	s.Seen = seen
	return news
}

// passed reports whether so long has passed since then. A clock that was set back counts as passed: nothing waits for it.
func (s *stepper) passed(since schema.Time, d time.Duration) bool {
	return s.at < since || s.at.Sub(since) >= d
}

// flush sends what was not sent yet, if it is time.
func (s *stepper) flush() {
	var due []*Tracked
	waiting := 0
	for i := range s.Alerts {
		t := &s.Alerts[i]
		switch {
		case !t.isNews():
		case s.quiet && !s.c.goesThrough(t.Alert):
			waiting++
		default:
			due = append(due, t)
		}
	}
	events := len(s.Events)+s.More > 0 && !s.quiet
	if len(due) == 0 && !events {
		if waiting == 0 && len(s.Events)+s.More == 0 {
			s.FirstAt, s.ChangedAt = 0, 0
		}
		return
	}
	if s.FirstAt == 0 { // the quiet hours are over
		s.FirstAt, s.ChangedAt = s.at, s.at
	}
	settled := s.passed(s.ChangedAt, min(settle, s.c.group)) || s.passed(s.FirstAt, s.c.group)
	if !settled || s.SentAt != 0 && !s.passed(s.SentAt, s.c.group) {
		return
	}
	more := due[min(len(due), maxEntries):]
	due = due[:min(len(due), maxEntries)]
	n := s.notification(KindAlerts, s.c.Receiver)
	var escalated []Entry
	for _, t := range due {
		e := entryOf(t)
		if t.EndedAt == 0 || t.SentAt == 0 || s.c.sendsResolved() {
			n.Alerts = append(n.Alerts, e)
		}
		if t.EndedAt != 0 && t.EscalatedAt != 0 {
			escalated = append(escalated, e)
		}
		t.SentAt, t.FirstSentAt = s.at, cmp.Or(t.FirstSentAt, s.at)
	}
	if events {
		n.Events, n.More = s.Events, s.More
		s.Events, s.More = nil, 0
	}
	if len(n.Alerts)+len(n.Events) > 0 {
		s.send(n)
	}
	if len(escalated) > 0 && s.c.Escalate != nil {
		n := s.notification(KindEscalation, s.c.Escalate.Receiver)
		n.Alerts = escalated
		s.send(n)
	}
	s.Alerts = slices.DeleteFunc(s.Alerts, func(t Tracked) bool { return t.EndedAt != 0 && t.SentAt == s.at })
	s.SentAt = s.at
	if s.FirstAt, s.ChangedAt = 0, 0; len(more) > 0 {
		s.FirstAt, s.ChangedAt = s.at, s.at
	}
}

// repeat sends alerts again that nobody acknowledged.
func (s *stepper) repeat() {
	s.again(s.c.repeat > 0, KindRepeat, s.c.Receiver, func(t *Tracked) bool { return s.passed(t.SentAt, s.c.repeat) },
		func(t *Tracked) { t.SentAt = s.at })
}

// escalate sends alerts to somebody else that nobody acknowledged.
func (s *stepper) escalate() {
	e := s.c.Escalate
	if e == nil {
		return
	}
	after := time.Duration(e.AfterS) * time.Second
	s.again(true, KindEscalation, e.Receiver, func(t *Tracked) bool { return t.EscalatedAt == 0 && s.passed(t.FirstSentAt, after) },
		func(t *Tracked) { t.EscalatedAt = s.at })
}

// again sends alerts that were sent and are not over, and that nobody acknowledged.
func (s *stepper) again(wanted bool, kind NotificationKind, receiver string, due func(*Tracked) bool, done func(*Tracked)) {
	if !wanted {
		return
	}
	n := s.notification(kind, receiver)
	for i := range s.Alerts {
		t := &s.Alerts[i]
		if t.isNews() || t.Acked || s.quiet && !s.c.goesThrough(t.Alert) || !due(t) || len(n.Alerts) == maxEntries {
			continue
		}
		n.Alerts = append(n.Alerts, entryOf(t))
		done(t)
	}
	if len(n.Alerts) > 0 {
		s.send(n)
	}
}

func entryOf(t *Tracked) Entry {
	e := Entry{Alert: t.Alert, State: Firing}
	if t.EndedAt != 0 {
		e.State, e.EndedAt = Over, t.EndedAt
	}
	return e
}

func (s *stepper) notification(kind NotificationKind, receiver string) Notification {
	return Notification{Kind: kind, Receiver: receiver, At: s.at}
}

// send numbers a notification. Its id follows from the number, so a step that is repeated sends the same.
func (s *stepper) send(n Notification) {
	s.Num++
	n.ID = uuid.NewSHA1(namespace, fmt.Appendf(nil, "%s %d", s.Series, s.Num)).String()
	s.out = append(s.out, n)
}

// namespace is that of the ids of notifications.
var namespace = uuid.MustParse("0d1f3c68-9a44-5b1e-8d0a-5c8d3f9b7a21")
