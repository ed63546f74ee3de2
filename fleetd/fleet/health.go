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

// errNoDatabase is the reason why there is no store.
var errNoDatabase = errors.New("the database is not open")

// health is the state of the database and of the broker. It holds the database.
type health struct {
	log *slog.Logger

	mu       sync.Mutex
	db       *store.Store // nil while it is unavailable
	database api.Health
	broker   api.Health
	// nameConflict says why another client seems to use this instance's name; in JSON it is disputed.
	// Its signs: the broker says that another client has taken over the session (Fleet.provesRival, and
	// then Contested of the link), or another fleetd writes the leader's presence (LeaderConn).
	nameConflict   string
	nameConflictAt time.Time // when that was seen last
}

// store is the database, or the reason why it is unavailable.
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

// closed removes the database and returns it, for the caller to close.
func (h *health) closed() *store.Store {
	h.mu.Lock()
	defer h.mu.Unlock()
	db := h.db
	h.db = nil
	return db
}

// linked records the state of the link to the broker, and reports whether it came up or went
// down.
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
		h.nameConflict, h.nameConflictAt = h.broker.Why, now
	case s.Err != nil:
		h.broker.Why = s.Err.Error()
	}
	return changed
}

// databaseOK reports whether the database is open and no failure was recorded since its last write.
func (h *health) databaseOK() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.db != nil && h.database.OK
}

// nameConflictSeen records a sign that another client uses this instance's name.
func (h *health) nameConflictSeen(why string, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nameConflict, h.nameConflictAt = why, now
}

// fill writes the health of the database and the broker into a status.
func (h *health) fill(s *api.Status, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.Broker, s.Database = h.broker, h.database
	if !h.nameConflictAt.IsZero() && now.Sub(h.nameConflictAt) < presence.DisputeTimeout {
		s.Disputed = h.nameConflict
	}
	if h.db != nil {
		s.FleetID = h.db.FleetID()
	}
}

// databaseFailed records a failure of the database.
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

// databaseWell records that the database took a write.
func (h *health) databaseWell() {
	h.mu.Lock()
	again := h.db != nil && !h.database.OK
	if again {
		h.database.OK, h.database.Why, h.database.Since = true, "", schema.TimeOf(time.Now())
	}
	h.mu.Unlock()
	if again {
		h.log.Info("database works again")
	}
}
