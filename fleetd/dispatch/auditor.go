package dispatch

import (
	"context"
	"fmt"
	"strings"
	"sync"
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

	mu    sync.Mutex
	notes []store.AuditEntry
	left  int64 // not recorded since the last write
}

// NewAuditor makes an auditor.
func NewAuditor(d Deps) *Auditor {
	return &Auditor{deps: d, room: rate.NewLimiter(auditRate, auditBurst)}
}

// Note records a command of a client; it does not block.
func (w *Auditor) Note(at schema.TopicParams, m link.Message, now time.Time) {
	if m.Retain || at.CID == w.deps.Name || w.deps.Instances.Has(at.CID) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.room.AllowN(now, 1) {
		w.left++
		return
	}
	who := at.CID
	said := strings.ToValidUTF8(string(m.Payload[:min(len(m.Payload), auditDetail)]), "")
	if v, known := verb.Of(at.Group, at.Verb); known {
		if r, problems := verb.Decode(v, m.Payload); len(problems) == 0 && r.By != "" {
			who = r.By + " at " + at.CID
		}
	}
	w.notes = append(w.notes, store.AuditEntry{At: now, Note: library.Note{Who: who, What: "mqtt " + at.Group + "/" + at.Verb, Target: at.RID, Detail: printable(said)}})
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

func (w *Auditor) write(ctx context.Context, db Store) {
	w.mu.Lock()
	notes, left := w.notes, w.left
	w.notes, w.left = nil, 0
	w.mu.Unlock()
	if len(notes) == 0 && left == 0 || !w.deps.Leads() {
		return
	}
	if left > 0 {
		notes = append(notes, store.AuditEntry{At: w.deps.Now(), Note: library.Note{Who: w.deps.Name, What: "mqtt", Target: "commands", Detail: fmt.Sprintf("%d more were not noted: there were too many", left)}})
	}
	err := db.Tx(ctx, func(tx *store.Tx) error {
		for _, n := range notes {
			if err := tx.Note(ctx, n.At, n.Note); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		return
	}
	w.deps.Failed("commands of other clients not audited", err)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.notes)+len(notes) <= auditBurst*10 {
		w.notes = append(notes, w.notes...) // written with the next ones
	} else {
		w.left += int64(len(notes))
	}
}
