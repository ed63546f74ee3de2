package view

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/presence"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Fields is a set of groups of fields, such as those in which two versions of a robot's row differ.
type Fields uint16

const (
	PresenceFields Fields = 1 << iota
	SafetyFields
	ModeFields
	AutoFields
	ControlFields
	LatchFields
	AlertFields
	InterruptFields
	DesiredFields
	LabelFields   // and whether the fleet has adopted the robot
	VersionFields // the difference of its protocol version from fleetd's
	BodyFields    // the kinds of its units, from its caps, and where it is
	EventFields
	DoingFields
	// FreshFields is when the last message of the robot arrived, and the round-trip time. It changes with each
	// heartbeat.
	FreshFields
	// Gone is a robot that the view has forgotten.
	Gone

	// Listed is what the stream of a page reports: all that CompactJSON has, but for FreshFields.
	Listed = AllButFresh &^ EventFields
	// AllButFresh is all groups but FreshFields.
	AllButFresh = PresenceFields | SafetyFields | ModeFields | AutoFields | ControlFields | LatchFields | AlertFields | InterruptFields |
		DesiredFields | LabelFields | VersionFields | BodyFields | EventFields | DoingFields | Gone
)

// difference is the groups in which b differs from a.
func difference(a, b *Robot) (what Fields) {
	group := func(c Fields, same bool) {
		if !same {
			what |= c
		}
	}
	p, q := a.Presence, b.Presence
	group(FreshFields, p.LastSeen == q.LastSeen && p.RoundTripMS == q.RoundTripMS && a.StateAt == b.StateAt)
	p.RoundTripMS = q.RoundTripMS
	if q.Status == string(presence.Online) { // of other robots, pages show when they were last seen
		p.LastSeen = q.LastSeen
	}
	group(PresenceFields, p == q && a.ID == b.ID && a.Gone == b.Gone)
	group(SafetyFields, a.Safety == b.Safety && a.StoppedBy == b.StoppedBy && a.Cause == b.Cause && a.CauseDetail == b.CauseDetail &&
		a.EStopInput == b.EStopInput)
	group(ModeFields, a.Mode == b.Mode && a.Intended == b.Intended && a.ModePhase == b.ModePhase && a.Calibrated == b.Calibrated &&
		a.StateOutdated == b.StateOutdated && (!b.StateOutdated || a.StateAt == b.StateAt))
	group(AutoFields, a.Auto == b.Auto && a.AutoReason == b.AutoReason && reflect.DeepEqual(a.Story, b.Story) && a.Act == b.Act &&
		a.ActIndex == b.ActIndex && a.FailedRounds == b.FailedRounds && a.ActMS == b.ActMS && sameBeginning(a.ActBegan, b.ActBegan) &&
		reflect.DeepEqual(a.PauseHolders, b.PauseHolders) && reflect.DeepEqual(a.Life, b.Life))
	group(ControlFields, reflect.DeepEqual(a.Control, b.Control))
	group(LatchFields, reflect.DeepEqual(a.Latches, b.Latches))
	group(AlertFields, reflect.DeepEqual(a.Alerts, b.Alerts))
	group(InterruptFields, reflect.DeepEqual(a.Interrupts, b.Interrupts))
	group(DesiredFields, reflect.DeepEqual(a.Desired, b.Desired) && reflect.DeepEqual(a.Activities, b.Activities))
	group(LabelFields, a.Adopted == b.Adopted && maps.Equal(a.Labels, b.Labels))
	group(BodyFields, slices.Equal(a.Body.Units, b.Body.Units) && a.Body.Charging == b.Body.Charging && a.Body.Muted == b.Body.Muted &&
		reflect.DeepEqual(a.Body.At, b.Body.At))
	group(VersionFields, a.VersionSkew == b.VersionSkew)
	group(EventFields, a.LastEvent == b.LastEvent || reflect.DeepEqual(a.LastEvent, b.LastEvent))
	group(DoingFields, a.Doing == b.Doing)
	return what
}

// sameBeginning reports whether two times are of one beginning of an act: each state gives it anew, and messages are
// not always equally fast.
func sameBeginning(a, b schema.Time) bool {
	return a == b || a != 0 && b != 0 && a.Sub(b).Abs() < time.Second/2
}

// sameRobot reports whether two rows of a robot differ only in when it was seen.
func sameRobot(a, b store.Robot) bool {
	a.FirstSeen, a.LastSeen = b.FirstSeen, b.LastSeen
	return reflect.DeepEqual(a, b)
}

// Delta is what changed of one robot.
type Delta struct {
	ID   string
	What Fields
	Row  *Row // the newest
}

// Feed reports changes to one reader. It merges the changes of a robot and hands out its
// newest row, so a slow reader costs at most one entry per robot.
type Feed struct {
	view    *View
	what    Fields
	gather  time.Duration
	pending map[string]Delta // without a row, unless the view has forgotten the robot
	wake    chan struct{}
}

// Subscribe makes a feed of changes in those groups, until it is closed. After the first
// change it gathers more for that long.
func (v *View) Subscribe(what Fields, gather time.Duration) *Feed {
	f := &Feed{view: v, what: what, gather: gather, pending: map[string]Delta{}, wake: make(chan struct{}, 1)}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.feeds[f] = struct{}{}
	return f
}

// updateSummary computes the robot's summary again and adds what changed to the feeds. It is called under
// the lock after each change of an entry.
func (v *View) updateSummary(id string, e *entry) {
	e.changedAt = v.deps.Now()
	summary := e.makeSummary(id, v.fleetID)
	what := difference(&e.summary, &summary)
	e.summary, e.shared = summary, nil
	v.addToFeeds(Delta{ID: id, What: what})
}

// addToFeeds adds a change to the feeds that report one of its groups. Every feed reports that a
// robot is gone.
func (v *View) addToFeeds(d Delta) {
	for f := range v.feeds {
		if d.What&(f.what|Gone) == 0 {
			continue
		}
		f.pending[d.ID] = Delta{d.ID, f.pending[d.ID].What | d.What, d.Row}
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

// Next waits for changes and returns what changed of each robot, in the order of their ids;
// nothing if atMost passes without a change.
func (f *Feed) Next(ctx context.Context, atMost time.Duration) ([]Delta, error) {
	idle := time.NewTimer(atMost)
	defer idle.Stop()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-idle.C:
		return nil, nil
	case <-f.wake:
	}
	gather := time.NewTimer(f.gather)
	defer gather.Stop()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-gather.C:
	}
	f.view.mu.Lock()
	defer f.view.mu.Unlock()
	out := make([]Delta, 0, len(f.pending))
	for id, d := range f.pending {
		if e := f.view.robots[id]; e != nil {
			d.Row = e.row()
		}
		out = append(out, d)
	}
	f.pending = map[string]Delta{} // a new one: a map that was cleared is as long to walk as it ever was
	slices.SortFunc(out, func(a, b Delta) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// Feeds is how many feeds are open.
func (v *View) Feeds() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.feeds)
}

// Close ends the feed.
func (f *Feed) Close() {
	f.view.mu.Lock()
	defer f.view.mu.Unlock()
	delete(f.view.feeds, f)
}
