package brain

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/latch"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/sign"
)

// The latched stops that people asked for: where they come from, how they are kept and told.
// That the robot stops, and is not enabled, is the safety core's affair.

const memoryLost = "memory_lost" // alert, as long as that stop is held

// called is a live stop that is to be answered.
type called struct {
	client, id string
	unchanged  bool // it was held already, and so
	// ack says where the robot stood when it was stopped; nil = not yet said.
	ack *schema.Ack
	n   int64 // the write that its answer waits for, once ack is set
}

// stopDocumentKind is what the signatures of the documents of stops are about.
var stopDocumentKind = map[latch.Source]sign.Subject{latch.Robot: {Kind: sign.Stop}, latch.Fleet: {Kind: sign.FleetStop}}

// labels are the robot's own, as its fleet told it, and whether it did.
func (t *step) labels() (map[string]string, bool) { return t.cfg.Labels, t.config.rev > 0 }

func (t *step) latchFactsNow() latch.Facts {
	f := latch.Facts{Robot: t.cfg.ID, FleetID: t.fleetID}
	f.Labels, f.Labelled = t.labels()
	return f
}

// stopDocument takes in what the fleet holds.
func (t *step) stopDocument(ev event.Stopped) {
	doc := ev.Document
	doc.Problem, doc.Stops = schema.Legible(doc.Problem), slices.Clone(doc.Stops)
	for i := range doc.Stops {
		l := &doc.Stops[i]
		l.By, l.Client, l.Why = schema.Legible(l.By), schema.Legible(l.Client), schema.Legible(l.Why)
	}
	w, v := stopDocumentKind[doc.From], verified{}
	if doc.Problem == "" {
		if w.FleetID, w.Rev, w.Counter, w.Document = doc.FleetID, doc.Rev, ev.Counter, ev.Digest; doc.From == latch.Robot {
			w.Robot = t.cfg.ID
		}
		v = t.vouch(w, ev.Sig, nil, nil)
	}
	switch v.refused {
	case "":
		if v.verified && (t.fleetID == "" || t.fleetID == doc.FleetID) && t.marks.Note(w) {
			t.do(effect.SaveSetting{Name: countersSetting, Value: string(encode(t.marks))})
		}
	case schema.ReasonStaleRevision:
		doc.Weight = latch.Repeated
	default:
		doc.Weight = latch.Claimed
	}
	d := t.latching(doc, ev.N)
	t.tooOld(d)
	if d.Ignored == "" && doc.Weight == latch.Claimed {
		d.Ignored, d.Detail = v.refused, v.detail
	}
	if d.Ignored != "" {
		t.tell(string(d.Ignored), "safety", string(ev.From)+" stop", "", described{Reason: d.Ignored, Detail: d.Detail})
	}
}

// stopCalled takes in a live stop. What is older than it does not happen after it.
func (t *step) stopCalled(ev event.Called) {
	r, anew := schema.ReadStop(ev.Client, ev.Payload)
	if !latch.Applies(r, t.latchFactsNow()) {
		return
	}
	t.stopped = max(t.stopped, ev.N)
	l := t.latchOf(r.ID, r.Level, t.asker(ev.Client, r.By), r.Why)
	l.All = len(r.Robots) == 0 && len(r.Labels) == 0
	d := t.latching(latch.Asked{StopLatch: l, Anew: anew}, ev.N)
	t.asking(request.Stopped{Detail: "a stop came before it was begun"})
	t.calls = append(t.calls, called{client: ev.Client, id: r.ID, unchanged: len(d.Moves)+len(d.Altered) == 0})
	if ev.Retained {
		t.alarms = append(t.alarms, request.Alarm{Reason: schema.ReasonRetainedCommand, Client: ev.Client, Verb: fleetStop,
			Detail: "a stop was retained on the broker; it was obeyed and holds this robot again at each connection until it is removed"})
	}
}

// tooOld ends the commands that wait for the disk: they were asked for before the
// stop, or before its release. That a latched stop was written down is neither.
func (t *step) tooOld(d latch.Decision) {
	if slices.ContainsFunc(d.Moves, func(m latch.Move) bool { return m.Held() || m.Let() }) {
		t.asking(request.Stopped{Detail: "a stop was held or released before it was begun"})
	}
}

// stopOrdered holds a stop that came as a command with an id to hold it by.
func (t *step) stopOrdered(o request.Perform) {
	if o.Args.Latch == "" {
		return
	}
	level := schema.StopStop
	switch safety.Verb(o.Verb.Name) {
	case safety.SoftStop:
		level = schema.StopSoft
	case safety.Halt, safety.EStop:
		level = schema.StopHalt
	}
	id, anew := o.Args.Latch, false
	if !schema.ValidRequestID(id) {
		id, anew = o.Client, true
	}
	t.latching(latch.Asked{StopLatch: t.latchOf(id, level, t.asker(o.Client, o.By), cmp.Or(o.Args.Why, o.Why)), Anew: anew}, 0)
}

func (t *step) latchOf(id string, level schema.StopLevel, by, why string) schema.StopLatch {
	return schema.StopLatch{ID: id, Level: level, By: schema.Legible(by), Why: schema.Legible(why), Since: t.now.Wall}
}

// resetHere releases what fleetd does not hold: somebody stands at the robot.
func (t *step) resetHere() { t.latching(latch.Reset{}, 0) }

// latching gives the latches one input. n is its place among what arrived: what
// came before a stop, or before its release, is older than it.
func (t *step) latching(in latch.Input, n uint64) latch.Decision {
	d := latch.Step(&t.latches, t.now.Wall, t.latchFactsNow(), in)
	if !d.Changed {
		return d
	}
	t.persist.dirty = true
	t.latchFacts = t.latchFacts[:0]
	for _, l := range t.latches.Latches {
		t.latchFacts = append(t.latchFacts, safety.Latch{ID: l.ID, By: l.Asker(), Why: l.Why, Level: verbOf(l.Level)})
	}
	t.dirty(effect.FlushSoon) // since when, or up to which revision
	for _, a := range d.Altered {
		t.dirty(effect.FlushNow)
		t.tell("stop_altered", "safety", string(a.To.Level), "", held{ID: a.To.ID, By: a.To.Asker(), Why: a.To.Why})
	}
	for _, m := range d.Moves {
		t.dirty(effect.FlushNow)
		t.note("latch", string(m.From), string(m.To), m.Why, m.Latch.ID)
		if m.Held() || m.Let() {
			t.stopped = max(t.stopped, n)
		}
		switch l := m.Latch; {
		case m.Held():
			t.tell("stop_latched", "safety", string(l.Level), "", held{ID: l.ID, By: l.Asker(), Why: l.Why})
		case m.Let():
			if l.ID == lostLatch {
				t.clear(memoryLost, "disk")
			}
			t.tell("stop_released", "safety", m.Why, "", held{ID: l.ID, By: l.Asker(), Why: l.Why})
		}
	}
	return d
}

type held struct {
	ID  string `json:"id"`
	By  string `json:"by,omitempty"`
	Why string `json:"why,omitempty"`
}

func verbOf(l schema.StopLevel) safety.Verb {
	switch l {
	case schema.StopSoft:
		return safety.SoftStop
	case schema.StopHalt:
		return safety.Halt
	}
	return safety.Stop
}

// restoreLatches holds again what was held. Nobody knows who stopped a robot that
// cannot read it; it is held all the same.
func (t *step) restoreLatches(kept string) {
	if kept == "" {
		return
	}
	if err := json.Unmarshal([]byte(kept), &t.latches); err != nil || t.latches.Latches == nil {
		t.latches = latch.State{Latches: []latch.Latch{{Phase: latch.Loose, StopLatch: schema.StopLatch{
			ID: diskLatch, Level: schema.StopStop, By: "disk", Why: "which stops were held could not be read", Since: t.now.Wall}}}}
	}
	for i := range t.latches.Latches {
		l := &t.latches.Latches[i]
		l.By, l.Why = schema.Legible(l.By), schema.Legible(l.Why) // an older release kept them as they came
		t.latchFacts = append(t.latchFacts, safety.Latch{ID: l.ID, By: l.Asker(), Why: l.Why, Level: verbOf(l.Level)})
	}
}

// restoreLost holds a robot whose memory is gone: somebody may have stopped it, and
// only a person can know.
func (t *step) restoreLost(lost bool) {
	if lost {
		t.holdBecauseOf(lostLatch, "the robot ran before and its disk knows nothing of it: which stops were held is lost")
	}
	if slices.ContainsFunc(t.latches.Latches, func(l latch.Latch) bool { return l.ID == lostLatch }) {
		t.raise(memoryLost, schema.AlertCritical, "disk", "the robot's memory was lost: its story, its journal of commands and the stops that were held",
			"find out who stopped it and why, then release "+lostLatch+"; fleetd sends it its story again")
	}
}

// latchDocument is what the state shows of the latches.
func (t *step) latchDocument() []schema.StopLatch {
	if len(t.latches.Latches) == 0 {
		return nil
	}
	out := make([]schema.StopLatch, 0, len(t.latches.Latches))
	for _, l := range t.latches.Latches {
		out = append(out, l.StopLatch)
	}
	return out
}

// tellCalls answers live stops, with where the robot stood when they took effect and
// a state that shows it, once they are on the disk.
func (t *step) tellCalls() {
	if len(t.calls) == 0 || t.Pending() {
		return
	}
	if t.session == "" { // nobody hears it; the state of the next session shows what holds
		t.calls = t.calls[:0]
		return
	}
	for i := range t.calls {
		c := &t.calls[i]
		if c.ack != nil {
			continue
		}
		id := c.id
		c.n = t.persist.wanted
		c.ack = &schema.Ack{TS: t.now.Wall, Session: t.session, ID: &id, Verb: fleetStop,
			Status: schema.StatusSucceeded, Result: schema.ResultOK, StateSeq: t.stateSeq, Current: t.current()}
		if c.unchanged {
			c.ack.Reason = schema.ReasonUnchanged
		}
	}
	keep := t.calls[:0]
	for _, c := range t.calls {
		if !t.persist.answers(c.n) {
			keep = append(keep, c)
			continue
		}
		t.notKept(c.ack, c.n)
		t.do(effect.Publish{Topic: schema.TopicAck, Param: c.client, Payload: t.ackPayload(c.ack), First: true})
	}
	t.calls = keep
}

// keepPause is how long a disk that refused a setting is left alone.
const keepPause = time.Second

// keepAgain notes that the disk did not take a setting: what was desired is offered until
// the disk takes it. That the disk took another one meanwhile says nothing of this one.
func (t *step) keepAgain(refused schema.Reason) {
	if refused != "" {
		t.unsavedUntil = t.now.Mono + keepPause
	}
}

// keepLate offers the disk again what was desired.
func (t *step) keepLate() {
	if t.unsavedUntil == 0 || t.now.Mono < t.unsavedUntil {
		return
	}
	t.unsavedUntil = 0
	t.keepDesired()
}
