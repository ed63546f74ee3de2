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
)

const (
	// witnessRate bounds the commands of others that are written down in a second,
	// witnessBurst how many may come at once; the rest is counted.
	witnessRate  = 20
	witnessBurst = 200
	// witnessEvery is how often they are written.
	witnessEvery = time.Second
	// witnessDetail bounds what is kept of one command's text, in bytes.
	witnessDetail = 256
)

// Auditor notes what people and machines ask of robots without fleetd, straight
// over MQTT: who, what, of which robot, and when. What a fleetd instance asks is persisted
// already, and frames of manual driving are no commands. Of several fleetd instances the one
// that leads writes; in a moment without a leader nothing is noted.
type Auditor struct {
	deps Deps
	room *rate.Limiter

	mu    sync.Mutex
	notes []store.Noted
	left  int64 // not noted since the last writing
}

func NewAuditor(d Deps) *Auditor {
	return &Auditor{deps: d, room: rate.NewLimiter(witnessRate, witnessBurst)}
}

// Note takes in a command as it passed; it waits for nothing.
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
	said := strings.ToValidUTF8(string(m.Payload[:min(len(m.Payload), witnessDetail)]), "")
	if verb, known := schema.VerbOf(at.Group, at.Verb); known {
		if r, problems := schema.DecodeRequest(verb, m.Payload); len(problems) == 0 && r.By != "" {
			who = r.By + " at " + at.CID
		}
	}
	w.notes = append(w.notes, store.Noted{At: now, Note: library.Note{Who: who, What: "mqtt " + at.Group + "/" + at.Verb, Target: at.RID, Detail: legible(said)}})
}

// legible leaves out what would not be text in a line.
func legible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// Run writes until ctx ends.
func (w *Auditor) Run(ctx context.Context, db Store) {
	every := time.NewTicker(witnessEvery)
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
		notes = append(notes, store.Noted{At: w.deps.Now(), Note: library.Note{Who: w.deps.Name, What: "mqtt", Target: "commands", Detail: fmt.Sprintf("%d more were not noted: there were too many", left)}})
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
	w.deps.Failed("commands of others not noted", err)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.notes)+len(notes) <= witnessBurst*10 {
		w.notes = append(notes, w.notes...) // in the next second
	} else {
		w.left += int64(len(notes))
	}
}
