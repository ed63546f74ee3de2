package notify

import (
	"time"

	"troupe/schema"
)

// Notification is what one receiver gets at once.
type Notification struct {
	ID       string           `json:"id" doc:"the same each time it is delivered, so a receiver can tell a second delivery"`
	Kind     NotificationKind `json:"kind" enum:"alerts,repeat,escalation,test"`
	Route    string           `json:"route,omitempty" doc:"left out for a test"`
	Receiver string           `json:"receiver"`
	At       schema.Time      `json:"at" doc:"when fleetd decided to send it"`
	Alerts   []Entry          `json:"alerts,omitempty"`
	Events   []Event          `json:"events,omitempty"`
	More     int              `json:"more,omitempty" doc:"how many alerts and events are left out, because there were too many"`
}

// NotificationKind is why something is sent.
type NotificationKind string

// The kinds of notifications.
const (
	KindAlerts     NotificationKind = "alerts"     // alerts that began or ended, and events
	KindRepeat     NotificationKind = "repeat"     // alerts that nobody acknowledged
	KindEscalation NotificationKind = "escalation" // the same, to somebody else; and their end
	KindTest       NotificationKind = "test"
)

// Entry is an alert in a notification.
type Entry struct {
	Alert
	State   EntryState  `json:"state" enum:"firing,resolved"`
	EndedAt schema.Time `json:"ended_at,omitzero"`
}

// EntryState is whether an alert is the case.
type EntryState string

// The states, by the words of Alertmanager.
const (
	Firing EntryState = "firing"
	Over   EntryState = "resolved"
)

// DeliveryState is what became of a notification.
type DeliveryState string

// The states of deliveries.
const (
	Waiting DeliveryState = "waiting" // for its first or next try
	Sent    DeliveryState = "sent"
	Dead    DeliveryState = "dead" // given up; a person may send it again
)

// Result is what became of one try.
type Result struct {
	OK     bool
	Final  bool   // another try would fail, too: the receiver refuses what it got
	Detail string // for people
}

const (
	firstWait = time.Second
	maxWait   = time.Minute
	// giveUpAfter is for how long a receiver may be down without losing anything.
	giveUpAfter = 24 * time.Hour
)

// AfterTry decides what follows a try. tries counts this one; since is when the first of them could have been.
func AfterTry(r Result, tries int, since, now time.Time) (state DeliveryState, next time.Time) {
	switch {
	case r.OK:
		return Sent, time.Time{}
	case r.Final || now.Sub(since).Abs() >= giveUpAfter:
		return Dead, time.Time{}
	}
	return Waiting, now.Add(Pause(tries))
}

// Pause is how long to wait after so many tries that failed.
func Pause(tries int) time.Duration {
	if tries >= 7 {
		return maxWait
	}
	return min(maxWait, firstWait<<(tries-1))
}
