package brain

import "time"

// received notes, before ev is judged, when the loop ran and when something arrived
// over the connection: what arrives right after a gap in either may be as old as that.
func (t *step) received(ev Event) {
	t.gaps.Stepped(t.now.Mono)
	switch ev.(type) {
	case Heard:
		t.gaps.Arrived(t.now.Mono, true, t.cfg.Link)
	case Command, Frame, Stopped, Called, DesiredStory, DesiredSet, DesiredConfig, DesiredMode, Seen, FleetdSeen, NotTaken, Delivered:
		t.gaps.Arrived(t.now.Mono, false, t.cfg.Link)
	}
}

// late is how much later than it was sent a command may have come: it was held up on
// its way, or here since it was read.
func (t *step) late(ev Command) time.Duration {
	late := t.gaps.Longest(t.now.Mono)
	if ev.Read > 0 {
		late = max(late, t.now.Mono-ev.Read)
	}
	return late
}
