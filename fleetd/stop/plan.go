package stop

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"troupe/schema"
	"troupe/schema/sign"
)

// CodeNotLatched is the problem of a release that names no latched stop.
const CodeNotLatched = "not_latched"

// maxLatched bounds the stops that one robot's document lists, the oldest ones. What
// is beyond holds on the robot all the same, and is listed when there is room.
const maxLatched = 56

type place struct{ id, robot string }

// plan is a plan under way.
type plan struct {
	rows    Rows
	now     time.Time
	latches map[place]*Latch
	changed map[place]bool
	robots  map[string]bool // whose document changes
	notes   []Note
}

func newPlan(rows Rows, now time.Time) *plan {
	p := &plan{rows: rows, now: now, latches: map[place]*Latch{}, changed: map[place]bool{}, robots: map[string]bool{}}
	for _, l := range rows.Latches {
		p.latches[place{l.ID, l.Robot}] = &l
	}
	return p
}

// Hold writes orders down. One that is persisted already changes nothing, released
// or not, unless it was asked for again since.
func Hold(rows Rows, orders []Order, now time.Time) (Changes, error) {
	p := newPlan(rows, now)
	for _, o := range p.believed(orders) {
		told := 0
		if o.All && p.hold(o, "") {
			told++
		}
		for _, r := range rows.Robots {
			if o.Means(r.ID, r.Labels) && p.hold(o, r.ID) {
				told++
			}
		}
		if told > 0 {
			p.notes = append(p.notes, Note{Who: legible(schema.Asker(o.Client, o.By)), What: "stop", Target: "stop " + o.ID, Detail: o.detail()})
		}
	}
	return p.changes()
}

// maxAll bounds the stops that hold all robots because a robot says so. What robots
// claim beyond them holds all robots under one id more.
const maxAll = 16

// believed are orders with what is believed of those that robots claim to be of all.
// A robot that was away while a stop was released may show it still: that holds this
// robot, and no other.
func (p *plan) believed(orders []Order) []*Order {
	all := map[string]bool{}
	for at, l := range p.latches {
		if at.robot == "" && l.FromRobot() {
			all[at.id] = true
		}
	}
	var out []*Order
	for i := range orders {
		o := orders[i]
		out = append(out, &o)
		switch {
		case !o.FromRobot || !o.All:
		case Released(p.rows, o):
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

// settles is how long after a release a stop that a robot shows is still taken for the
// one that was released: documents name their own time, and messages take a moment.
const settles = 2 * time.Second

// Released reports whether a stop that a robot shows may be one that was released
// since it was asked for. Then the robot may not have heard of the release yet.
func Released(rows Rows, o Order) bool {
	return slices.ContainsFunc(rows.Latches, func(l Latch) bool {
		return l.ID == o.ID && !l.FromRobot() && (o.Pressed.Before(l.ReleasedAt.Add(settles)) || schema.TimeOf(l.AskedAt) == schema.TimeOf(o.Shown))
	})
}

// clocksApart is how much the clocks of two fleetd instances may differ that heard the same
// order.
const clocksApart = 10 * time.Second

// Recorded reports whether another instance has written an order down that this one
// overheard, released or not since. The press of a button that has no name of its
// own is the one that was written down at about the same time. Of two presses within
// that time the later one may be taken for the earlier one, which loses nothing while
// that is held. A press that came after a release is a stop of its own however soon;
// if the clocks of the fleetd instances differ by more than lay between press and release, the
// press before it may pass for one, and has to be released again.
func Recorded(rows Rows, o Order) bool {
	if slices.ContainsFunc(rows.Latches, func(l Latch) bool {
		switch {
		case l.ID != o.ID:
			return false
		case !o.Anew && !o.FromRobot:
			return true
		case l.AskedAt.Before(o.At.Add(-clocksApart)):
			return false
		}
		return o.FromRobot || l.FromRobot() || !l.ReleasedAt.Before(o.At)
	}) {
		return true
	}
	c, err := Hold(rows, []Order{o}, o.At)
	return err == nil && c.Empty() // it means no robot
}

func (p *plan) hold(o *Order, robot string) bool {
	at := place{o.ID, robot}
	l, known := p.latches[at]
	switch {
	case !known:
		l = &Latch{ID: o.ID, Robot: robot, Level: o.Level}
		p.latches[at] = l
	case !o.Anew && !o.FromRobot, !o.At.After(l.AskedAt), o.FromRobot && l.FromRobot():
		return false
	}
	if !l.FromRobot() || o.Level == schema.StopHalt {
		l.Level = o.Level
	}
	l.By, l.Client, l.Why, l.AskedAt = legible(o.By), legible(o.Client), legible(o.Why), o.At
	l.ReleasedAt, l.ReleasedBy, l.ReleasedWhy = time.Time{}, "", ""
	p.changed[at], p.robots[robot] = true, true
	return true
}

func (o *Order) detail() string {
	var parts []string
	switch {
	case o.FromRobot:
		parts = append(parts, "learned from "+strings.Join(o.Robots, " "))
		if o.All {
			parts = append(parts, "which says that it means all robots")
		}
	case o.Selects != "":
		parts = append(parts, o.Selects)
	case o.All:
		parts = append(parts, "all robots")
	default:
		parts = append(parts, strings.Join(o.Robots, " "))
	}
	if o.Client != "" {
		parts = append(parts, "sent live by "+o.Client)
	}
	if o.Why != "" {
		parts = append(parts, o.Why)
	}
	return bounded(string(o.Level)+": "+strings.Join(parts, "; "), 1024)
}

// Elsewhere are robots that show a stop and that no release reaches, by its id.
type Elsewhere struct {
	Unknown map[string][]string // not the fleet's
	Away    map[string][]string // not connected
}

// notHeld says why a stop cannot be released, and what can be done.
func (w Elsewhere) notHeld(rows Rows, id string) (detail, hint string) {
	if robots := strings.Join(w.Unknown[id], " "); robots != "" {
		return id + " is held by " + robots + " alone, outside the fleet", "fleetd adopt " + robots + " makes it the fleet's, which may release it; so may somebody at the robot"
	}
	detail, hint = "no stop "+id+" is held", "fleetd stop list shows those that are"
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
		detail += "; " + robots + " showed it last and is not connected"
		hint = "if it still holds it when it is back, the stop is persisted and can be released then"
	}
	return detail, hint
}

// Release release the stops of these ids, wherever they are held. An id that
// nobody holds is a problem, and then nothing is released.
func Release(rows Rows, ids []string, elsewhere Elsewhere, by, why string, now time.Time) (Changes, []schema.Problem, error) {
	p := newPlan(rows, now)
	by, why = legible(by), legible(why)
	var problems []schema.Problem
	for i, id := range ids {
		robots, all := 0, false
		for at, l := range p.latches {
			if at.id != id || !l.FromRobot() && !p.changed[at] {
				continue
			}
			l.ReleasedAt, l.ReleasedBy, l.ReleasedWhy = now, by, why
			p.changed[at], p.robots[at.robot] = true, true
			if at.robot == "" {
				all = true
			} else {
				robots++
			}
		}
		if robots == 0 && !all {
			detail, hint := elsewhere.notHeld(rows, id)
			problems = append(problems, schema.Fault(fmt.Sprintf("/ids/%d", i), CodeNotLatched, detail, hint))
			continue
		}
		where := fmt.Sprintf("on %d robots", robots)
		if all {
			where = "on all robots"
		}
		p.notes = append(p.notes, Note{Who: by, What: "release", Target: "stop " + id, Detail: bounded(where+": "+why, 1024)})
	}
	if len(problems) > 0 {
		return Changes{}, problems, nil
	}
	c, err := p.changes()
	return c, nil, err
}

// changes are the rows and the documents that follow.
func (p *plan) changes() (Changes, error) {
	c := Changes{Notes: p.notes}
	for at := range p.changed {
		c.Latches = append(c.Latches, *p.latches[at])
	}
	slices.SortFunc(c.Latches, func(a, b Latch) int {
		return strings.Compare(a.Robot+" "+a.ID, b.Robot+" "+b.ID)
	})
	held := map[string][]*Latch{}
	for _, l := range p.latches {
		if l.FromRobot() && p.robots[l.Robot] {
			held[l.Robot] = append(held[l.Robot], l)
		}
	}
	for _, robot := range slices.Sorted(maps.Keys(p.robots)) {
		d, err := p.document(robot, held[robot])
		if err != nil {
			return Changes{}, err
		}
		c.Documents = append(c.Documents, d)
	}
	c.Counter = p.rows.Seal.Counter
	return c, nil
}

// Renew plans to tell again what is held where it was told without the signature
// that it would have today: a robot that asks for one is released only from what it
// was told with one. told are the newest documents, by robot.
func Renew(rows Rows, told map[string][]byte, now time.Time) (Changes, error) {
	p := newPlan(rows, now)
	for at, l := range p.latches {
		if !l.FromRobot() || len(told[at.robot]) == 0 {
			continue
		}
		was, _ := schema.Decode[struct {
			Sig *schema.Signature `json:"sig"`
		}](told[at.robot])
		if rows.Seal.Outdated(was.Sig) {
			p.robots[at.robot] = true
		}
	}
	return p.changes()
}

// document says what is held on one robot, or on all. Its revision is the fleet's
// time in milliseconds, and higher than the last: robots go on obeying a database
// that was set back to an older copy.
func (p *plan) document(robot string, held []*Latch) (Document, error) {
	slices.SortFunc(held, func(a, b *Latch) int {
		if c := a.AskedAt.Compare(b.AskedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	d := Document{Robot: robot, Rev: max(p.rows.Revs[robot]+1, p.now.UnixMilli())}
	ts := schema.TimeOf(p.now)
	var err error
	if robot == "" {
		doc := schema.FleetStop{Rev: d.Rev, FleetID: p.rows.FleetID, TS: ts, Counter: p.rows.Seal.Next(p.now)}
		if n := len(held); n > 0 {
			l := held[n-1] // one at a time; the others are in each robot's own document
			doc.Active, doc.ID, doc.Level, doc.By, doc.Client, doc.Why = true, l.ID, l.Level, l.By, l.Client, l.Why
		}
		d.Payload, err = fitting(schema.TopicFleetStop, &doc, func() (err error) {
			doc.Sig = nil
			doc.Sig, err = p.rows.Seal.Sign(sign.FleetStop, "", doc)
			return err
		}, func() { doc.Why, doc.By = "", bounded(doc.By, 63) })
		return d, err
	}
	doc := schema.DesiredStop{Rev: d.Rev, FleetID: p.rows.FleetID, Stops: []schema.StopLatch{}, TS: ts, Counter: p.rows.Seal.Next(p.now)}
	for _, l := range held[:min(len(held), maxLatched)] {
		doc.Stops = append(doc.Stops, schema.StopLatch{ID: l.ID, Level: l.Level, By: l.By, Client: l.Client, Why: l.Why, Since: schema.TimeOf(l.AskedAt)})
	}
	d.Payload, err = fitting(schema.TopicDesiredStop, &doc, func() (err error) {
		doc.Sig = nil
		doc.Sig, err = p.rows.Seal.Sign(sign.Stop, robot, doc)
		return err
	}, func() {
		for i := range doc.Stops {
			doc.Stops[i].Why, doc.Stops[i].By, doc.Stops[i].Client = "", "", ""
		}
	})
	return d, err
}

// fitting signs and encodes a document, without what is only for people if it is
// too big.
func fitting(topic schema.TopicKind, doc any, seal func() error, shorten func()) ([]byte, error) {
	for short := false; ; short = true {
		err := seal()
		if err != nil {
			return nil, fmt.Errorf("sign %s: %w", topic, err)
		}
		payload, err := schema.Encode(doc)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", topic, err)
		}
		if short || len(payload) <= schema.TopicOf(topic).MaxBytes {
			return payload, nil
		}
		shorten()
	}
}

// legible is what of a text every database and every document takes: no stop is
// kept off the record, nor those that wait behind it, by what is written beside it.
func legible(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "?"), "?")
}

// bounded cuts a legible text at a character.
func bounded(s string, most int) string {
	s = legible(s)
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for len(s) > 0 && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}
