package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"troupe/broker/link"
	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/schema"
	"troupe/schema/verb"
)

const (
	// auditRate and auditBurst bound the commands that are audited; the rest is counted.
	auditRate  = 20
	auditBurst = 200
	// auditMost bounds the commands that wait to be written.
	auditMost = auditBurst * 10
	// auditEvery is how often the audit is written.
	auditEvery = time.Second
	// auditDetail bounds what is audited of one command's payload, in bytes.
	auditDetail = 256
)

// Auditor records commands that clients send to robots over MQTT without fleetd: who, what,
// to which robot, and when. Commands of fleetd instances are in the database already, and
// velocity frames are no commands. The leader writes the audit; while no instance leads,
// nothing is recorded.
type Auditor struct {
	deps Deps
	room *rate.Limiter

	came chan store.AuditEntry
	left atomic.Int64 // not recorded since the last write

	notes []store.AuditEntry // owned by Run: taken from came, and not written yet
}

// NewAuditor makes an auditor.
func NewAuditor(d Deps) *Auditor {
	return &Auditor{deps: d, room: rate.NewLimiter(auditRate, auditBurst), came: make(chan store.AuditEntry, auditMost)}
}

// Note records a command of a client; it does not block.
func (w *Auditor) Note(at schema.TopicParams, m link.Message, now time.Time) {
	if m.Retain || at.CID == w.deps.Name || w.deps.Instances.Has(at.CID) {
		return
	}
	if !w.room.AllowN(now, 1) {
		w.left.Add(1)
		return
	}
	who := at.CID
	said := strings.ToValidUTF8(string(m.Payload[:min(len(m.Payload), auditDetail)]), "")
	if v, known := verb.Of(at.Group, at.Verb); known {
		if r, problems := verb.Decode(v, m.Payload); len(problems) == 0 && r.By != "" {
			who = r.By + " at " + at.CID
		}
	}
	select {
	case w.came <- store.AuditEntry{At: now, Note: library.Note{Who: who, What: "mqtt " + at.Group + "/" + at.Verb, Target: at.RID, Detail: printable(said)}}:
	default: // nothing is written, as without a database
		w.left.Add(1)
	}
}

// printable removes control characters from untrusted text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
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
	for len(w.notes) < auditMost {
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
		w.left.Store(0)
		return
	}
	notes, left := w.notes, w.left.Load()
	if left > 0 {
		notes = append(slices.Clip(notes), store.AuditEntry{At: w.deps.Now(), Note: library.Note{Who: w.deps.Name, What: "mqtt", Target: "commands", Detail: fmt.Sprintf("%d more were not noted: there were too many", left)}})
	}
	if len(notes) == 0 {
		return
	}
	if err := db.Tx(ctx, func(tx *store.Tx) error {
		for _, n := range notes {
			if err := tx.Note(ctx, n.At, n.Note); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		w.deps.Failed("commands of other clients not audited", err) // they are written with the next ones
		return
	}
	w.notes = nil
	w.left.Add(-left)
}
