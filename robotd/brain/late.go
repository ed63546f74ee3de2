package brain

import (
	"time"

	"troupe/robotd/event"
)

// received notes, before ev is judged, when the loop ran and when something arrived
// over the connection: what arrives right after a gap in either may be as old as that.
func (t *step) received(ev event.Event) {
	t.gaps.Stepped(t.now.Mono)
	switch ev.(type) {
	case event.Heard:
		t.gaps.Arrived(t.now.Mono, true, t.cfg.Link)
	case event.Command, event.Frame, event.Stopped, event.Called, event.DesiredStory, event.DesiredSet, event.DesiredConfig, event.DesiredMode, event.Seen, event.FleetdSeen, event.NotTaken, event.Delivered:
		t.gaps.Arrived(t.now.Mono, false, t.cfg.Link)
	}
}

// late is how much later than it was sent a command may have come: it was held up on
// its way, or here since it was read.
func (t *step) late(ev event.Command) time.Duration {
	late := t.gaps.Longest(t.now.Mono)
	if ev.Read > 0 {
		late = max(late, t.now.Mono-ev.Read)
	}
	return late
}
