package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"troupe/broker/link"
	"troupe/fleetd/audit"
	"troupe/fleetd/store"
	"troupe/schema"
	"troupe/schema/verb"
)

const (
	// auditRate and auditBurst bound the commands that are audited; the rest is counted.
	auditRate  = 20
	auditBurst = 200
	// maxQueuedEntries bounds the commands that wait to be written.
	maxQueuedEntries = auditBurst * 10
	// auditEvery is how often the audit is written.
	auditEvery = time.Second
	// maxAwaitedAnswers bounds the commands whose answers are awaited.
	maxAwaitedAnswers = 10_000
	// firstAnswerWithin is far more than a robot takes to answer a command, with ACCEPTED if it goes on.
	firstAnswerWithin = time.Minute
	// auditDetail bounds what is audited of one command's payload, in bytes.
	auditDetail = 256
)

// Auditor records commands that clients send to robots over MQTT without fleetd: who, what,
// to which robot, and when. Commands that people send through fleetd are in the database
// already, fleetd's own questions change nothing, and velocity frames are no commands. The leader writes the audit; while no instance
// leads, nothing is recorded.
type Auditor struct {
	deps Deps
	room *rate.Limiter

	came chan audit.Entry
	lost atomic.Int64 // commands and answers that were not recorded since the last write

	mu   sync.Mutex
	open map[commandKey]audit.Entry // recorded commands whose final answer has not come
	// Commands without an id until the first answer, which has the id that the robot made for them; then they are in open.
	unnamed map[verbKey]unnamed
	named   map[commandKey]bool // these ids, because a robot sends an unconfirmed answer again when it connects

	notes []audit.Entry // owned by Run: taken from came, and not written yet
}

// commandKey identifies a command of a client.
type commandKey struct{ robot, client, id string }

// verbKey identifies what a client sends to one topic.
type verbKey struct{ robot, client, verb string }

// unnamed is the commands without an id on one topic that have no answer yet. Only if there is
// one, it is certain to which an answer belongs: a robot can refuse the second of two first.
type unnamed struct {
	count     int
	entry     audit.Entry // of the newest
	at        time.Time   // when that came
	ambiguous bool        // an answer may belong to another command than entry, until all are answered
}

// NewAuditor makes an auditor.
func NewAuditor(d Deps) *Auditor {
	return &Auditor{deps: d, room: rate.NewLimiter(auditRate, auditBurst), came: make(chan audit.Entry, maxQueuedEntries),
		open: map[commandKey]audit.Entry{}, unnamed: map[verbKey]unnamed{}, named: map[commandKey]bool{}}
}

// Note records a command of a client; it does not block.
func (w *Auditor) Note(at schema.TopicParams, m link.Message, now time.Time) {
	if m.Retain || at.CID == w.deps.Name || w.deps.Instances.Has(at.CID) {
		return
	}
	topic := verbKey{at.RID, at.CID, at.Group + "/" + at.Verb}
	if !w.room.AllowN(now, 1) {
		w.lost.Add(1)
		w.awaitUnnamed(topic, nil, now)
		return
	}
	n := audit.Note{
		Source: audit.Source{Principal: at.CID, Via: audit.ViaMQTT}, What: audit.CommandAction(topic.verb), Target: "robot " + at.RID,
		Detail: audit.Text(string(m.Payload[:min(len(m.Payload), auditDetail)]), auditDetail), Outcome: audit.Accepted,
	}
	if topic.verb == "intent/post" {
		n.Detail = "" // what a person said to a robot is not kept
	}
	v, known := verb.Of(at.Group, at.Verb)
	if !known {
		v = verb.Verb{Group: at.Group, Name: at.Verb}
	}
	r, problems := verb.Decode(v, m.Payload)
	if known && len(schema.Errors(problems)) == 0 {
		n.Who, n.Why = audit.Text(r.By, 64), audit.Text(r.Reason(), 256)
	}
	e := audit.Entry{ID: uuid.Must(uuid.NewV7()).String(), At: now, Note: n}
	if !w.add(e) {
		w.awaitUnnamed(topic, nil, now)
		return
	}
	if r.ID == "" {
		w.awaitUnnamed(topic, &e, now)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.await(commandKey{at.RID, at.CID, r.ID}, e)
}

// add records an entry, unless too many wait.
func (w *Auditor) add(e audit.Entry) bool {
	select {
	case w.came <- e:
		return true
	default: // nothing is written, as without a database
		w.lost.Add(1)
		return false
	}
}

// await remembers an entry until the final answer to its command comes. The caller holds the lock.
func (w *Auditor) await(c commandKey, e audit.Entry) {
	if len(w.open) >= maxAwaitedAnswers {
		clear(w.open) // robots answer within seconds; these were not going to
	}
	w.open[c] = e
}

// awaitUnnamed remembers the entry of a command without an id; nil is a command that was not recorded,
// whose answer must not be taken for that of another.
func (w *Auditor) awaitUnnamed(topic verbKey, e *audit.Entry, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.unnamed) >= maxAwaitedAnswers {
		clear(w.unnamed)
	}
	u := w.unnamed[topic]
	if now.Sub(u.at) > firstAnswerWithin {
		u = unnamed{} // they did not reach the robot
	}
	u.at = now
	u.ambiguous = u.ambiguous || u.count > 0 || e == nil
	if e != nil {
		u.count++
		u.entry = *e
	}
	w.unnamed[topic] = u
}

// takeUnnamed returns the entry of the command without an id to which this is the first answer; its ID is
// empty if it may be another's. The caller holds the lock.
func (w *Auditor) takeUnnamed(topic verbKey, answer commandKey) (audit.Entry, bool) {
	u := w.unnamed[topic]
	if u.count == 0 || w.named[answer] {
		return audit.Entry{}, false
	}
	if u.ambiguous {
		u.entry.ID = ""
	}
	if u.count--; u.count == 0 {
		delete(w.unnamed, topic)
	} else {
		w.unnamed[topic] = u
	}
	if answer.id != "" {
		if len(w.named) >= maxAwaitedAnswers {
			clear(w.named)
		}
		w.named[answer] = true
	}
	return u.entry, true
}

// Answered records how a command of a client ended; it does not block.
func (w *Auditor) Answered(at schema.TopicParams, payload []byte, now time.Time) {
	a, problems := schema.Decode[schema.Ack](payload)
	if len(problems) > 0 || a.Reason == schema.ReasonRetainedCommand { // Note leaves those out
		return
	}
	key := commandKey{at.RID, at.CID, ""} // of a command that could not be decoded
	if a.ID != nil {
		key.id = *a.ID
	}
	w.mu.Lock()
	e, known := w.open[key]
	if !known && !a.Dup && (key.id == "" || strings.HasPrefix(key.id, schema.MadeIDPrefix)) {
		e, known = w.takeUnnamed(verbKey{at.RID, at.CID, a.Verb}, key)
	}
	if known && !a.Status.Final() {
		w.await(key, e)
	} else {
		delete(w.open, key)
	}
	w.mu.Unlock()
	if !known || !a.Status.Final() {
		return
	}
	detail := strings.TrimSpace(string(a.Status) + " " + string(a.Reason) + " " + a.Detail)
	if e.ID == "" {
		detail += " (one of several commands without an id)"
	}
	n := audit.Note{
		Source: audit.Source{Principal: at.RID, Via: audit.ViaRobot}, What: e.What, Target: e.Target, Of: e.ID,
		Detail: audit.Text(detail, auditDetail), Outcome: audit.Failed,
	}
	switch a.Status {
	case schema.StatusSucceeded:
		n.Outcome = audit.Done
	case schema.StatusRejected:
		n.Outcome = audit.Refused
	}
	w.add(audit.Entry{ID: uuid.Must(uuid.NewV7()).String(), At: now, Note: n})
}

// Run writes until ctx ends.
func (w *Auditor) Run(ctx context.Context, db Store) {
	every := time.NewTicker(auditEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSave)
			w.write(last, db)
			cancel()
			return
		case <-every.C:
			w.write(ctx, db)
		}
	}
}

// take takes what came, as far as there is room; the rest waits.
func (w *Auditor) take() {
	for len(w.notes) < maxQueuedEntries {
		select {
		case n := <-w.came:
			w.notes = append(w.notes, n)
		default:
			return
		}
	}
}

func (w *Auditor) write(ctx context.Context, db Store) {
	w.take()
	if !w.deps.Leads() {
		w.notes = nil // the leader hears the same commands, and writes them
		w.lost.Store(0)
		return
	}
	notes, lost := w.notes, w.lost.Load()
	if lost > 0 {
		notes = append(slices.Clip(notes), audit.Entry{ID: uuid.Must(uuid.NewV7()).String(), At: w.deps.Now(), Note: audit.Note{
			Source: audit.Source{Via: audit.ViaFleetd}, Who: w.deps.Name, What: audit.ActionCommand, Target: "MQTT", Outcome: audit.Accepted,
			Detail: fmt.Sprintf("%d more were not noted: there were too many", lost),
		}})
	}
	if len(notes) == 0 {
		return
	}
	if err := db.Tx(ctx, func(tx *store.Tx) error {
		for _, n := range notes {
			tx.NoteAs(ctx, n.ID, n.At, n.Note)
		}
		return nil
	}); err != nil {
		w.deps.Failed("commands of other clients not audited", err) // they are written with the next ones
		return
	}
	w.notes = nil
	w.lost.Add(-lost)
}
