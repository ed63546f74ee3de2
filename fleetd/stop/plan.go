package stop

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/schema"
)

// CodeNotLatched is the problem of a release that names no latched stop.
const CodeNotLatched = "not_latched"

type latchKey struct{ id, robot string }

// plan is a plan in progress.
type plan struct {
	rows    Rows
	now     time.Time
	latches map[latchKey]*Latch
	changed map[latchKey]bool
	known   map[string]bool // of rows.Robots
	robots  map[string]bool // robots whose document changes; "" = fleet/stop
	notes   []Note
	looked  int // rows that were compared with a request: a test watches how they grow
}

func newPlan(rows Rows, now time.Time) *plan {
	p := &plan{rows: rows, now: now, latches: map[latchKey]*Latch{}, changed: map[latchKey]bool{}, robots: map[string]bool{},
		known: map[string]bool{}}
	for _, r := range rows.Robots {
		p.known[r.ID] = true
	}
	for _, l := range rows.Latches {
		p.latches[latchKey{l.ID, l.Robot}] = &l
	}
	return p
}

// Persist plans to persist requests. A request that is persisted already changes nothing, released
// or not, but that a higher level raises a latched stop; only one without an id of its own, or that
// a robot reports, latches again if it was requested since.
func Persist(rows Rows, requests []Request, now time.Time) (Changes, error) {
	p := newPlan(rows, now)
	p.persist(requests)
	return p.changes()
}

func (p *plan) persist(requests []Request) {
	everywhere := map[string]schema.StopLevel{} // stops that the plan has latched on all robots, and the least of their levels
	for _, o := range p.limitReportedStops(requests) {
		if least, is := everywhere[o.ID]; o.FromRobot && is && least.Stronger(o.Level) == least {
			continue // as when each robot of the fleet reports the same stop
		}
		latched := 0
		for _, robot := range p.selected(o) {
			if p.latch(o, robot) {
				latched++
			}
		}
		if least := p.leastLevel(o); least != "" {
			everywhere[o.ID] = least
		}
		if latched > 0 {
			p.notes = append(p.notes, o.note())
		}
	}
}

// selected lists the robots that a request selects; the empty name stands for all of them.
func (p *plan) selected(o *Request) (robots []string) {
	if o.All {
		robots = append(robots, "")
	} else if len(o.Labels) == 0 { // without a walk over all robots: each of them may report a stop of its own
		for _, id := range o.Robots {
			if p.known[id] {
				robots = append(robots, id)
			}
		}
		return robots
	}
	for _, r := range p.rows.Robots {
		if o.Includes(r.ID, r.Labels) {
			robots = append(robots, r.ID)
		}
	}
	return robots
}

// leastLevel is the least level with which a stop of all robots is latched; empty if it is not latched on one of them.
func (p *plan) leastLevel(o *Request) (least schema.StopLevel) {
	if !o.All {
		return ""
	}
	for _, robot := range p.selected(o) {
		p.looked++
		l := p.latches[latchKey{o.ID, robot}]
		if l == nil || !l.IsLatched() {
			return ""
		}
		if least == "" || least.Stronger(l.Level) == least {
			least = l.Level
		}
	}
	return least
}

// maxAll bounds the stops of all robots, whoever requested them, up to which one that only a robot
// reports is latched under its own id. Beyond it such stops are latched together as schema.MoreStops.
const maxAll = 16

// limitReportedStops limits which stops that robots report count for all robots: the others are latched on the
// reporting robot only, beyond maxAll with one more for all robots under schema.MoreStops. A robot that
// was offline during a release may still report the stop: then it stays latched on this robot only.
func (p *plan) limitReportedStops(requests []Request) []*Request {
	all := map[string]bool{}
	for at, l := range p.latches {
		if at.robot == "" && l.IsLatched() {
			all[at.id] = true
		}
	}
	releases := ReleasesOf(p.rows)
	var out []*Request
	for i := range requests {
		o := requests[i]
		out = append(out, &o)
		switch {
		case !o.FromRobot || !o.All:
		case releases.Include(o):
			o.All = false
		case all[o.ID] || len(all) < maxAll:
			all[o.ID] = true
		default:
			more := o
			o.All = false
			more.ID = schema.MoreStops
			out = append(out, &more)
		}
	}
	return out
}

// releaseDelay is how long after a release a stop that a robot reports still counts as the
// released one, because messages take time.
const releaseDelay = 2 * time.Second

// Releases are the releases of stops, by id. They answer for one robot without a walk over the rows of all.
type Releases map[string]*releasesOf

// releasesOf are the releases of one stop.
type releasesOf struct {
	last      time.Time            // when it was released last on some robot
	requested map[schema.Time]bool // when those were requested that are released now
}

// ReleasesOf takes the releases out of rows.
func ReleasesOf(rows Rows) Releases {
	all := Releases{}
	for _, l := range rows.Latches {
		if l.IsLatched() {
			continue
		}
		if all[l.ID] == nil {
			all[l.ID] = &releasesOf{requested: map[schema.Time]bool{}}
		}
		one := all[l.ID]
		one.requested[schema.TimeOf(l.RequestedAt)] = true
		if l.ReleasedAt.After(one.last) {
			one.last = l.ReleasedAt
		}
	}
	return all
}

// Include reports whether a stop that a robot reports may have been released since it was
// requested, so that the robot may not have received the release yet. A robot that knows the stop
// from a document reports the document's time, RequestedAt: that is by fleetd's clock already, and
// SinceFleetClock is wrong.
func (r Releases) Include(o Request) bool {
	of := r[o.ID]
	return of != nil && (o.SinceFleetClock.Before(of.last.Add(releaseDelay)) || of.requested[schema.TimeOf(o.SinceRobotClock)])
}

// IDReused reports whether a request has an id of its own that was released before on all robots that
// it selects. It latches nothing, because a robot or a broker may repeat the request that was released
// at any time.
func IDReused(rows Rows, o Request) bool {
	same := func(l Latch) bool { return l.ID == o.ID }
	if !slices.ContainsFunc(rows.Latches, same) || slices.ContainsFunc(rows.Latches, func(l Latch) bool { return same(l) && l.IsLatched() }) {
		return false
	}
	c, err := Persist(rows, []Request{o}, o.At)
	return err == nil && c.Empty()
}

// maxClockDifference is how much the clocks of two fleetd instances may differ.
const maxClockDifference = 10 * time.Second

// AlreadyPersisted reports whether another instance has persisted a request that this one observed,
// released or not since. A request without an id of its own, such as that of a stop button,
// is matched by time. Of two such requests within maxClockDifference the later one may be taken for
// the earlier one, which is harmless while that is latched. A request after a release is always a
// new stop; if the clocks of the instances differ by more than the time between request and
// release, the request before the release may also be taken for a new one, and has to be released
// again.
func AlreadyPersisted(rows Rows, o Request) bool {
	if slices.ContainsFunc(rows.Latches, func(l Latch) bool {
		switch {
		case l.ID != o.ID:
			return false
		case !o.NoOwnID && !o.FromRobot:
			return !o.raises(&l)
		case l.RequestedAt.Before(o.At.Add(-maxClockDifference)):
			return false
		}
		return o.FromRobot || l.IsLatched() || !l.ReleasedAt.Before(o.At)
	}) {
		return true
	}
	c, err := Persist(rows, []Request{o}, o.At)
	return err == nil && c.Empty() // it selects no robot
}

// latch latches a request on a robot (empty = all), and reports whether a row changed.
func (p *plan) latch(o *Request, robot string) bool {
	p.looked++
	at := latchKey{o.ID, robot}
	l, known := p.latches[at]
	switch {
	case !known:
		l = &Latch{ID: o.ID, Robot: robot, Level: o.Level}
		p.latches[at] = l
	case !o.NoOwnID && !o.FromRobot, o.FromRobot && l.IsLatched(), !o.At.After(l.RequestedAt):
		if !o.raises(l) {
			return false
		}
		l.Level = o.Level // of stops that share an id, the strongest counts in whatever order they are persisted
		p.changed[at], p.robots[robot] = true, true
		return true
	case l.IsLatched():
		l.Level = l.Level.Stronger(o.Level)
	default:
		l.Level = o.Level
	}
	l.By, l.Client, l.Why, l.RequestedAt = validText(o.By), validText(o.Client), validText(o.Why), o.At
	l.ReleasedAt, l.ReleasedBy, l.ReleasedWhy = time.Time{}, "", ""
	p.changed[at], p.robots[robot] = true, true
	return true
}

// raises reports whether the request raises the level of a latched stop.
func (r *Request) raises(l *Latch) bool {
	return l.IsLatched() && l.Level.Stronger(r.Level) != l.Level
}

// note is the entry of the audit for a stop. It is written when the stop is persisted, which
// may be long after it was requested.
func (r *Request) note() Note {
	n := Note{
		Source: r.Source, Who: validText(schema.Asker(r.Client, r.By)), What: audit.ActionStop, Target: "stop " + r.ID, Why: r.Why,
		Detail: r.detail(),
		After:  audit.JSON(map[string]any{"level": r.Level, "requested_at": schema.TimeOf(r.At)}),
	}
	switch {
	case r.FromRobot:
		n.Source = audit.Source{Principal: strings.Join(r.Robots, " "), Via: audit.ViaRobot}
	case r.Client != "":
		n.Source = audit.Source{Principal: r.Client, Via: audit.ViaMQTT}
	}
	return n
}

func (r *Request) detail() string {
	var parts []string
	switch {
	case r.FromRobot:
		parts = append(parts, "learned from "+strings.Join(r.Robots, " "))
		if r.All {
			parts = append(parts, "which reports it as a stop of all robots")
		}
	case r.Selects != "":
		parts = append(parts, r.Selects)
	case r.All:
		parts = append(parts, "all robots")
	default:
		parts = append(parts, strings.Join(r.Robots, " "))
	}
	if r.Client != "" {
		parts = append(parts, "sent live by "+r.Client)
	}
	return truncated(string(r.Level)+": "+strings.Join(parts, "; "), 1024)
}

// Elsewhere lists robots that report a stop and that a release does not reach, by the id of the stop.
type Elsewhere struct {
	Unknown map[string][]string // not of this fleet
	Away    map[string][]string // offline
}

// notLatched says why a stop cannot be released, and what to do.
func (w Elsewhere) notLatched(rows Rows, id string) (detail, hint string) {
	if robots := strings.Join(w.Unknown[id], " "); robots != "" {
		return id + " is latched only on " + robots + ", which is not in this fleet", "add it with fleetd adopt " + robots +
			" and release the stop then, or, if another fleet has the robot now, release it there"
	}
	detail, hint = "no stop "+id+" is latched", "fleetd stop list shows the latched stops"
	var last Latch
	for _, l := range rows.Latches {
		if l.ID == id && l.ReleasedAt.After(last.ReleasedAt) {
			last = l
		}
	}
	if !last.ReleasedAt.IsZero() {
		detail += " any more: " + cmp.Or(last.ReleasedBy, "somebody") + " released it at " + schema.TimeOf(last.ReleasedAt).String()
	}
	if robots := strings.Join(w.Away[id], " "); robots != "" {
		detail += "; " + robots + " reported it last and is not connected"
		hint = "if the robot still holds the stop when it is back, it can be released then"
	}
	return detail, hint
}

// NotRecorded lists the robots that report a latched stop otherwise than their document has it: they have not
// received the document, or obeyed another fleet when it came. Such a robot releases the stop only after it
// has received a document with it.
func NotRecorded(rows Rows, reported []Request) (robots []string) {
	latched := map[latchKey]time.Time{}
	for _, l := range rows.Latches {
		if l.IsLatched() {
			latched[latchKey{l.ID, l.Robot}] = l.RequestedAt
		}
	}
	for _, o := range reported {
		for _, robot := range o.Robots {
			if at, is := latched[latchKey{o.ID, robot}]; is && schema.TimeOf(at) != schema.TimeOf(o.SinceRobotClock) {
				robots = append(robots, robot)
			}
		}
	}
	return robots
}

// Release plans to release the stops with these ids on all robots. If an id is not latched
// anywhere, that is a problem and nothing is released.
func Release(rows Rows, ids []string, elsewhere Elsewhere, by, why string, now time.Time) (Changes, []schema.Problem, error) {
	p := newPlan(rows, now)
	by, why = validText(by), validText(why)
	var problems []schema.Problem
	for i, id := range ids {
		var robots []string
		all := false
		for at, l := range p.latches {
			if at.id != id || !l.IsLatched() && !p.changed[at] {
				continue
			}
			l.ReleasedAt, l.ReleasedBy, l.ReleasedWhy = now, by, why
			p.changed[at], p.robots[at.robot] = true, true
			if at.robot == "" {
				all = true
			} else {
				robots = append(robots, at.robot)
			}
		}
		if len(robots) == 0 && !all {
			detail, hint := elsewhere.notLatched(rows, id)
			problems = append(problems, schema.NewProblem(fmt.Sprintf("/ids/%d", i), CodeNotLatched, detail, hint))
			continue
		}
		slices.Sort(robots)
		where := truncated("on "+strings.Join(robots, " "), 1024)
		if all {
			where = "on all robots"
		}
		p.notes = append(p.notes, Note{Who: by, What: audit.ActionRelease, Target: "stop " + id, Why: why, Detail: where})
	}
	if len(problems) > 0 {
		return Changes{}, problems, nil
	}
	c, err := p.changes()
	return c, nil, err
}

// changes returns the changed rows and the resulting documents.
func (p *plan) changes() (Changes, error) {
	c := Changes{Notes: p.notes}
	for at := range p.changed {
		c.Latches = append(c.Latches, *p.latches[at])
	}
	slices.SortFunc(c.Latches, func(a, b Latch) int {
		return strings.Compare(a.Robot+" "+a.ID, b.Robot+" "+b.ID)
	})
	held, released := map[string][]*Latch{}, map[string][]schema.StopRelease{}
	for at, l := range p.latches {
		switch {
		case l.IsLatched() && p.robots[at.robot]:
			held[at.robot] = append(held[at.robot], l)
		case !l.IsLatched() && p.changed[at] && l.ReleasedBy != "":
			released[at.robot] = append(released[at.robot], schema.StopRelease{ID: l.ID, By: l.ReleasedBy})
		}
	}
	for _, robot := range slices.Sorted(maps.Keys(p.robots)) {
		d, err := p.document(robot, held[robot], released[robot])
		if err != nil {
			return Changes{}, err
		}
		c.Documents = append(c.Documents, d)
	}
	c.Counter = p.rows.Signer.Counter
	return c, nil
}

// PublishAgain plans to publish the latched stops of these robots again ("" = of all robots), under a
// higher revision, so that they latch them whatever they have received before.
func PublishAgain(rows Rows, robots []string, now time.Time) (Changes, error) {
	p := newPlan(rows, now)
	again := map[string]bool{}
	for _, robot := range robots {
		again[robot] = true
	}
	for at, l := range p.latches {
		if l.IsLatched() && again[at.robot] {
			p.robots[at.robot] = true
		}
	}
	return p.changes()
}

// SignAgain plans to publish documents again that lack the signature they would have today: a
// robot that requires signatures accepts only signed releases. documents are the newest ones
// by robot.
func SignAgain(rows Rows, documents map[string][]byte, now time.Time) (Changes, error) {
	p := newPlan(rows, now)
	for at, l := range p.latches {
		if !l.IsLatched() || len(documents[at.robot]) == 0 {
			continue
		}
		was, _ := schema.Decode[struct {
			Sig *schema.Signature `json:"sig"`
		}](documents[at.robot])
		if rows.Signer.MustSignAgain(was.Sig, nil, nil) {
			p.robots[at.robot] = true
		}
	}
	return p.changes()
}
