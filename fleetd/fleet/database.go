package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/store"
	"troupe/schema"
)

// openWithin bounds one attempt to open the database, besides the check of a file.
const openWithin = 10 * time.Second

// errNoDatabase is why there is no store to use.
var errNoDatabase = errors.New("the database is not open")

// Store is the database, or why there is none.
func (f *Fleet) Store() (*store.Store, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db == nil {
		return nil, fmt.Errorf("%w: %s", errNoDatabase, f.database.Why)
	}
	return f.db, nil
}

// CheckDatabase reports whether the database takes changes.
func (f *Fleet) CheckDatabase(ctx context.Context) error {
	db, err := f.Store()
	if err != nil {
		return err
	}
	return db.CheckWrite(ctx)
}

// CheckDisk reports whether fleetd's own disk would take a stop.
func (f *Fleet) CheckDisk() error { return f.stops.CheckDisk() }

func (f *Fleet) openDatabase(ctx context.Context) error {
	within := openWithin
	if strings.HasPrefix(f.cfg.Database, "sqlite:") {
		within += store.CheckWithin
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	db, err := store.Open(ctx, f.cfg.Database, time.Now(), f.log)
	if err != nil {
		f.databaseFailed("database not opened", err)
		return err
	}
	db.SignWith(f.cfg.SignKey, f.cfg.ReleaseKey)
	f.view.SetFleetID(db.FleetID())
	db.Listen(f.view.Heard)
	f.mu.Lock()
	f.db = db
	f.database = api.Health{OK: true, Since: schema.TimeOf(time.Now()), Kind: db.Dialect()}
	f.mu.Unlock()
	f.log.Info("database open", "kind", db.Dialect(), "fleet_id", db.FleetID())
	return nil
}

// mayComeLater tells a database that is away from one that can never be: a file
// is there or it is not, a server may be started after us. A newer one is refused
// at the start; an instance that meets it later goes on without, so that it can stop
// robots.
func (f *Fleet) mayComeLater(err error) bool {
	return !strings.HasPrefix(f.cfg.Database, "sqlite:") && !errors.Is(err, store.ErrInUse) && !errors.Is(err, store.ErrNewer) && !errors.Is(err, store.ErrOlder)
}

func (f *Fleet) closeDatabase() error {
	f.mu.Lock()
	db := f.db
	f.db = nil
	f.mu.Unlock()
	if db == nil {
		return nil
	}
	return db.Close()
}

// databaseFailed notes that the database did not do what we needed.
func (f *Fleet) databaseFailed(what string, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	f.mu.Lock()
	was := f.database.OK
	f.database.OK, f.database.Why = false, what+": "+err.Error()
	if was {
		f.database.Since = schema.TimeOf(time.Now())
	}
	f.mu.Unlock()
	f.log.Error(what, "error", err)
}

// databaseWell notes that it works again.
func (f *Fleet) databaseWell() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db != nil && !f.database.OK {
		f.database.OK, f.database.Why, f.database.Since = true, "", schema.TimeOf(time.Now())
		f.log.Info("database works again")
	}
}
