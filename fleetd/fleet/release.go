package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
)

// release is a release of stops under way. Robots hear of it by a document, and a
// command that came after that document would hold them again. So from before the
// release is persisted until the commands that hold its stops have been called off,
// none of those is sent: they wait, and are sent after all if nothing was released.
type release struct {
	ids []string
	at  time.Time // what was asked for since is another stop, even under the same id

	putOff []command.Command // guarded by stops.mu
}

// means reports whether a command would hold what is released.
func (l *release) means(c command.Command) bool {
	if c.CreatedAt.After(l.at) {
		return false
	}
	id := command.Holds(c)
	return id != "" && slices.Contains(l.ids, id)
}

// toBeTold reports whether robots that show a stop have to be told of it before it is
// released. They need not if it is held on all: the document of all releases it
// wherever it holds it. And what was released a moment ago they show for a moment.
func toBeTold(latches []stop.Latch, id string, now time.Time) bool {
	some, let := false, false
	for _, l := range latches {
		switch {
		case l.ID != id:
		case l.FromRobot() && l.Robot == "":
			return false
		case l.FromRobot():
			some = true
		case now.Sub(l.ReleasedAt) < shownFor:
			let = true
		}
	}
	return some || !let
}

// release begins to release stops.
func (s *stops) letting(ids []string, now time.Time) *release {
	l := &release{ids: ids, at: now}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lettings = append(s.lettings, l)
	return l
}

// PutsOff reports whether a command waits for the outcome of a release.
func (s *stops) PutsOff(c command.Command) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lettings {
		if l.means(c) {
			l.putOff = append(l.putOff, c)
			return true
		}
	}
	return false
}

// alone waits for the turn of a release, or of the removal of a live stop.
func (s *stops) alone(ctx context.Context) (over func(), err error) {
	select {
	case s.turn <- struct{}{}:
		return s.over, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// aloneWithin is alone for so long at most.
func (s *stops) aloneWithin(ctx context.Context, wait time.Duration) (over func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("wait for other changes of stops: %w", store.ErrBusy))
	defer cancel()
	return s.alone(ctx)
}

// aloneNow does not wait: what is being heard meanwhile has to be kept.
func (s *stops) aloneNow() bool {
	select {
	case s.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

// over ends a turn.
func (s *stops) over() {
	<-s.turn
	signal(s.wake)
}

// awaits tells when an empty message has come from a client's button; none is
// awaited under no name.
func (s *stops) awaits(client string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.awaiting: // of one that was awaited before
	default:
	}
	s.awaited = client
	return s.awaiting
}

// released ends a release: what waited for it is not sent.
func (s *stops) released(l *release) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lettings = slices.DeleteFunc(s.lettings, func(other *release) bool { return other == l })
}

// stand ends what released nothing: what waited for it is sent.
func (s *stops) stand(ctx context.Context, l *release) {
	s.released(l) // from here on nothing is added to it
	for _, c := range l.putOff {
		s.deps.Dispatcher.Send(ctx, c)
	}
}
