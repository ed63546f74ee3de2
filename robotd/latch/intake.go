package latch

import (
	"cmp"
	"slices"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/sign"
	"troupe/schema/verb"
)

// Where stops come from: documents of fleetd, live stops, and commands. Each ends the commands
// that are older.

// signedAs is the kind in signatures of documents that latch stops.
var signedAs = map[event.StopSource]sign.Kind{event.RobotStops: sign.Stop, event.FleetStops: sign.FleetStop}

// Subject is what the signature of a document that latches stops has to sign. A document that
// could not be read has none.
func (t Step) Subject(ev event.StopDocument) (w sign.Subject, ok bool) {
	w = sign.Subject{Kind: signedAs[ev.From], FleetID: ev.FleetID, Rev: ev.Rev, Counter: ev.Counter, Document: ev.Digest}
	if ev.From == event.RobotStops {
		w.Robot = t.Facts.Robot
	}
	return w, ev.Problem == ""
}

// Document takes a document that latches stops. refused is why its signature is not accepted.
func (t Step) Document(ev event.StopDocument, refused schema.Reason, detail string) {
	doc := Document{StopDocument: ev}
	switch refused {
	case "":
	case schema.ReasonStaleRevision:
		doc.Verification = Replayed
	default:
		doc.Verification = Unverified
	}
	d := t.latch(doc, ev.N)
	if endsOlder(d) {
		t.Out.Do(effect.CancelWaiting{Detail: "a stop was latched or released before it was begun"})
	}
	if d.PartlyIgnored == "" && doc.Verification == Unverified {
		d.PartlyIgnored, d.Detail = refused, detail
	}
	if d.PartlyIgnored != "" {
		t.Out.Event(string(d.PartlyIgnored), "safety", string(ev.From)+" stop", "", effect.Described{Reason: d.PartlyIgnored, Detail: d.Detail})
	}
}

// endsOlder reports whether the commands that wait for the disk are cancelled, because they were
// sent before the stop or before its release. A document that only records a latched stop
// cancels none.
func endsOlder(d Decision) bool {
	return slices.ContainsFunc(d.Transitions, func(t Transition) bool { return t.Latched() || t.Released() })
}

// LiveStop takes a live stop, and reports whether it applies to this robot. Commands that are
// older do not happen after it.
func (t Step) LiveStop(ev event.LiveStop) bool {
	r, anew := schema.ReadStop(ev.Client, ev.Payload)
	if !Applies(r, t.Facts) {
		return false
	}
	t.NoteNewest(ev.N)
	if ev.Copy { // it shows only which commands are older
		t.Out.Do(effect.CancelWaiting{Detail: "a stop came before it was begun"})
		return true
	}
	l := asked(t.Now, r.ID, r.Level, t.People.Asker(ev.Client, r.By), r.Why, anew)
	l.All = len(r.Robots) == 0 && len(r.Labels) == 0 // for fleetd, which reads it in the robot's state
	d := t.latch(l, ev.N)
	t.Out.Do(effect.CancelWaiting{Detail: "a stop came before it was begun"})
	t.unanswered = append(t.unanswered, liveStop{client: ev.Client, id: r.ID, unchanged: len(d.Transitions)+len(d.Altered) == 0})
	return true
}

// Command latches a stop that arrived as a command with an id.
func (t Step) Command(o effect.Dispatch) {
	a, _ := o.Args.(verb.Stop)
	if a.Latch == "" {
		return
	}
	id, anew := a.Latch, false
	if !schema.ValidRequestID(id) {
		id, anew = o.Client, true
	}
	level := safety.Verb(o.Verb.Name).Level()
	t.latch(asked(t.Now, id, level, t.People.Asker(o.Client, o.By), cmp.Or(a.Why, o.Why), anew), 0)
}

// ReleaseAtRobot releases the stops that fleetd has not recorded, because a person at the robot
// released them; by is that person's client, or the input.
func (t Step) ReleaseAtRobot(by string) { t.latchBy(LocalRelease{}, 0, by) }

// releaserOf returns who released a stop, or otherwise.
func releaserOf(released []schema.StopRelease, id, otherwise string) string {
	for _, r := range released {
		if r.ID == id && r.By != "" {
			return r.By
		}
	}
	return otherwise
}

// asked is a stop that was requested now.
func asked(now clock.Now, id string, level schema.StopLevel, by, why string, anew bool) Asked {
	return Asked{StopLatch: schema.StopLatch{ID: id, Level: level, By: schema.SanitizeText(by), Why: schema.SanitizeText(why),
		Since: now.Wall}, Anew: anew}
}

// NoteNewest notes the number of a stop among the received messages.
func (s *State) NoteNewest(n uint64) { s.newest = max(s.newest, n) }

// Overtook reports whether the newest stop arrived after the message with this number; 0 = it has
// none.
func (s *State) Overtook(n uint64) bool { return n != 0 && n < s.newest }

// latch gives the latches one input. n is its number among the received messages: messages with
// a lower number are older than a stop or its release.
func (t Step) latch(in Input, n uint64) Decision {
	return t.latchBy(in, n, string(schema.RoleFleetd))
}

// latchBy is latch for an input that may release stops; by is who released them if the input
// names nobody.
func (t Step) latchBy(in Input, n uint64, by string) Decision {
	var released []schema.StopRelease
	if doc, ok := in.(Document); ok {
		doc = printable(doc)
		in, released = doc, doc.Released
	}
	d := t.latches.step(t.Now.Wall, t.Facts, in)
	if !d.Changed {
		return d
	}
	t.persist.dirty = true
	t.setFacts()
	switch { // often only the newest revisions of documents have changed
	case d.Shown:
		t.Out.Changed(effect.FlushSoon)
	case d.Dated: // the live stop and each document of one stop have a time of their own
		t.Out.Changed(effect.FlushLater)
	}
	for _, a := range d.Altered {
		t.Out.Changed(effect.FlushNow)
		t.Out.Event("stop_altered", "safety", string(a.To.Level), "", stopData{ID: a.To.ID, By: a.To.Asker(), Why: a.To.Why})
	}
	for _, change := range d.Transitions {
		if change.Latched() || change.Released() { // otherwise fleetd has recorded a stop that the robot already reports
			t.Out.Changed(effect.FlushNow)
		}
		t.Out.LogTransition("latch", string(change.From), string(change.To), change.Why, change.Latch.ID)
		switch l := change.Latch; {
		case change.Latched():
			t.Out.Event("stop_latched", "safety", string(l.Level), "", stopData{ID: l.ID, By: l.Asker(), Why: l.Why})
		case change.Released():
			if l.ID == LostLatch {
				t.Out.Clear(memoryLost, "disk")
			}
			t.Out.Event("stop_released", "safety", change.Why, "", stopData{ID: l.ID, By: l.Asker(), Why: l.Why, ReleasedBy: releaserOf(released,
				l.ID, by)})
		}
	}
	if endsOlder(d) {
		t.newest = max(t.newest, n)
	}
	return d
}
