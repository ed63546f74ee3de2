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
	// auditDetail bounds what is audited of one command's payload, in bytes.
	auditDetail = 256
)

// Auditor records commands that clients send to robots over MQTT without fleetd: who, what,
// to which robot, and when. Commands that people send through fleetd are in the database
// already, fleetd's own questions change nothing, and velocity frames are no commands. The leader writes the audit; while no instance leads,
// nothing is recorded.
type Auditor struct {
	deps Deps
	room *rate.Limiter

	came chan audit.Entry
	lost atomic.Int64 // commands and answers that were not recorded since the last write

	mu   sync.Mutex
	open map[commandKey]audit.Entry // recorded commands whose final answer has not come

	notes []audit.Entry // owned by Run: taken from came, and not written yet
}

// commandKey identifies a command of a client.
type commandKey struct{ robot, client, id string }

// NewAuditor makes an auditor.
func NewAuditor(d Deps) *Auditor {
	return &Auditor{deps: d, room: rate.NewLimiter(auditRate, auditBurst), came: make(chan audit.Entry, maxQueuedEntries), open: map[commandKey]audit.Entry{}}
}

// Note records a command of a client; it does not block.
func (w *Auditor) Note(at schema.TopicParams, m link.Message, now time.Time) {
	if m.Retain || at.CID == w.deps.Name || w.deps.Instances.Has(at.CID) {
		return
	}
	if !w.room.AllowN(now, 1) {
		w.lost.Add(1)
		return
	}
	n := audit.Note{
		Source: audit.Source{Principal: at.CID, Via: audit.ViaMQTT}, What: "command " + at.Group + "/" + at.Verb, Target: "robot " + at.RID,
		Detail: audit.Text(string(m.Payload[:min(len(m.Payload), auditDetail)]), auditDetail), Outcome: audit.Accepted,
	}
	if at.Group+"/"+at.Verb == "intent/post" {
		n.Detail = "" // what a person said to a robot is not kept
	}
	id := ""
	if v, known := verb.Of(at.Group, at.Verb); known {
		if r, problems := verb.Decode(v, m.Payload); len(problems) == 0 {
			n.Who, id = audit.Text(r.By, 64), r.ID
		}
	}
	w.add(commandKey{at.RID, at.CID, id}, audit.Entry{ID: uuid.Must(uuid.NewV7()).String(), At: now, Note: n})
}

// add records an entry. If id names a command, its answer is awaited.
func (w *Auditor) add(c commandKey, e audit.Entry) {
	select {
	case w.came <- e:
	default: // nothing is written, as without a database
		w.lost.Add(1)
		return
	}
	if c.id == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.open) >= maxAwaitedAnswers {
		clear(w.open) // robots answer within seconds; these were not going to
	}
	w.open[c] = e
}

// Answered records how a command of a client ended; it does not block.
func (w *Auditor) Answered(at schema.TopicParams, payload []byte, now time.Time) {
	a, problems := schema.Decode[schema.Ack](payload)
	if len(problems) > 0 || a.ID == nil || !a.Status.Final() {
		return
	}
	key := commandKey{at.RID, at.CID, *a.ID}
	w.mu.Lock()
	e, known := w.open[key]
	delete(w.open, key)
	w.mu.Unlock()
	if !known {
		return
	}
	n := audit.Note{
		Source: audit.Source{Principal: at.RID, Via: audit.ViaRobot}, What: e.What, Target: e.Target, Of: e.ID,
		Detail: audit.Text(strings.TrimSpace(string(a.Status)+" "+string(a.Reason)+" "+a.Detail), auditDetail), Outcome: audit.Failed,
	}
	switch a.Status {
	case schema.StatusSucceeded:
		n.Outcome = audit.Done
	case schema.StatusRejected:
		n.Outcome = audit.Refused
	}
	w.add(commandKey{}, audit.Entry{ID: uuid.Must(uuid.NewV7()).String(), At: now, Note: n})
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
			Source: audit.Source{Via: audit.ViaFleetd}, Who: w.deps.Name, What: "command", Target: "MQTT", Outcome: audit.Accepted, Detail: fmt.Sprintf("%d more were not noted: there were too many", lost),
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
