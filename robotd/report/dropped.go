package report

import (
	"fmt"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

const (
	// republishAfter is how long the robot waits before it publishes again what the broker
	// dropped because there was too much of it; twice as long each time that follows upon
	// another, up to republishAtMost.
	republishAfter  = 2 * time.Second
	republishAtMost = time.Minute

	droppedAlert = "messages_dropped"
)

// republish is when to publish again what the broker dropped.
type republish struct {
	due  time.Duration // when all documents are published again; 0 = nothing is missing
	wait time.Duration // the newest such wait
	last time.Duration // when the broker dropped something last
}

// MessageDropped notes that the broker dropped a message. It does not name each document that it
// drops because there are too many, so all of them are published again. A message that it refuses for
// another reason, such as its size, would be refused again and is not repeated.
func (t Step) MessageDropped(ev event.MessageDropped) {
	if t.session.id == "" {
		return
	}
	if ev.Reason != schema.ReasonOverloaded {
		source, what := string(ev.Kind), string(ev.Kind)
		if source == "" {
			source, what = "mqtt", "a topic that is not in the contract"
		}
		t.RaiseAlert(effect.RaiseAlert{Kind: droppedAlert, Level: schema.AlertError, Source: source,
			Detail: fmt.Sprintf("the broker refuses the robot's messages on %s: %s", what, ev.Reason.Describe().Text),
			Hint:   "what is shown of " + what + " is old; see the robot's log", Params: schema.AlertParams{Reason: ev.Reason}}, false)
		return
	}
	t.Raise(droppedAlert, schema.AlertWarn, "mqtt", "the broker drops some messages of this robot: there are too many",
		"dropped documents are published again; find the client that sends too many commands or desired documents")
	l := &t.republish
	l.last = t.Now.Mono
	if l.due == 0 {
		l.wait = min(max(republishAfter, 2*l.wait), republishAtMost)
		l.due = t.Now.Mono + l.wait
	}
}

// RepublishDropped publishes all documents again when the broker dropped some, and it is time for that.
func (t Step) RepublishDropped() {
	switch l := &t.republish; {
	case l.due > 0 && t.Now.Mono >= l.due:
		l.due = 0
		t.Out.LogTransition("mqtt", "up", "up", "documents that the broker dropped are published again", "")
		t.Out.Do(effect.PublishAll{})
	case l.wait > 0 && l.due == 0 && t.Now.Mono >= l.last+republishAtMost:
		*l = republish{}
		t.Clear(droppedAlert, "mqtt")
	}
}
