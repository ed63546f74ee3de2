package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/api"
	"troupe/fleetd/presence"
	"troupe/fleetd/store"
	"troupe/schema"
)

// errNoDatabase is why there is no store to use.
var errNoDatabase = errors.New("the database is not open")

// health is how what fleetd needs stands: the database, which it hands out, and the
// broker.
type health struct {
	log *slog.Logger

	mu       sync.Mutex
	db       *store.Store // nil while there is none
	database api.Health
	broker   api.Health
	rival    string    // why somebody else seems to use fleetd's name
	rivalAt  time.Time // when that was seen last
}

// store is the database, or why there is none.
func (h *health) store() (*store.Store, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.db == nil {
		return nil, fmt.Errorf("%w: %s", errNoDatabase, h.database.Why)
	}
	return h.db, nil
}

func (h *health) opened(db *store.Store) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.db = db
	h.database = api.Health{OK: true, Since: schema.TimeOf(time.Now()), Kind: db.Dialect()}
}

// closed takes the database away, and returns it to be closed.
func (h *health) closed() *store.Store {
	h.mu.Lock()
	defer h.mu.Unlock()
	db := h.db
	h.db = nil
	return db
}

// linked notes how the link to the broker stands, and reports whether it came or went.
func (h *health) linked(s link.State, name string, now time.Time) (changed bool) {
	up := s.Phase == link.Up
	h.mu.Lock()
	defer h.mu.Unlock()
	changed = h.broker.OK != up
	h.broker.OK = up
	if changed {
		h.broker.Since = schema.TimeOf(now)
	}
	switch {
	case up:
		h.broker.Why = ""
	case s.Contested:
		h.broker.Why = "another client connects under the name " + name
		h.rival, h.rivalAt = h.broker.Why, now
	case s.Err != nil:
		h.broker.Why = s.Err.Error()
	}
	return changed
}

// disputed notes a sign that somebody else uses fleetd's name.
func (h *health) disputed(why string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rival, h.rivalAt = why, now
}

// tell adds it to a status.
func (h *health) tell(s *api.Status, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Broker, s.Database = h.broker, h.database
	if !h.rivalAt.IsZero() && now.Sub(h.rivalAt) < presence.Disputed {
		s.Disputed = h.rival
	}
	if h.db != nil {
		s.FleetID = h.db.FleetID()
	}
}

// databaseFailed notes that the database did not do what we needed.
func (h *health) databaseFailed(what string, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	h.mu.Lock()
	was := h.database.OK
	h.database.OK, h.database.Why = false, what+": "+err.Error()
	if was {
		h.database.Since = schema.TimeOf(time.Now())
	}
	h.mu.Unlock()
	h.log.Error(what, "error", err)
}

// databaseWell notes that it works again.
func (h *health) databaseWell() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.db != nil && !h.database.OK {
		h.database.OK, h.database.Why, h.database.Since = true, "", schema.TimeOf(time.Now())
		h.log.Info("database works again")
	}
}
