package driver

import "slices"

// Queue holds the events of a body until they are read. Signals other than stop inputs, what was
// heard, and readings of battery, speed, position and angles may be dropped: beyond Droppables the
// oldest of them are. All other events are kept.
type Queue struct {
	events     []Event
	droppables int
}

// Droppables is how many droppable events a queue keeps.
const Droppables = 1024

// droppable reports whether an unread event may be dropped because a newer one
// replaces it, or because nobody hears it in time.
func droppable(e Event) bool {
	return e.Kind == Sensed && e.Signal != EStopInput || e.Kind == Heard || e.Kind == Battery || e.Kind == Speed || e.Kind == Position ||
		e.Kind == Angles
}

// Push adds an event.
func (q *Queue) Push(e Event) {
	if droppable(e) {
		if q.droppables >= Droppables {
			i := slices.IndexFunc(q.events, droppable)
			q.events = slices.Delete(q.events, i, i+1)
			q.droppables--
		}
		q.droppables++
	}
	q.events = append(q.events, e)
}

// Next returns the oldest event, and a channel to send it to: nil if there is none.
func (q *Queue) Next(to chan<- Event) (chan<- Event, Event) {
	if len(q.events) == 0 {
		return nil, Event{}
	}
	return to, q.events[0]
}

// Pop removes the oldest event, which has been read.
func (q *Queue) Pop() {
	if droppable(q.events[0]) {
		q.droppables--
	}
	q.events = q.events[1:]
}

// Take removes all events and returns them, the oldest first.
func (q *Queue) Take() []Event {
	events := q.events
	q.events, q.droppables = nil, 0
	return events
}
