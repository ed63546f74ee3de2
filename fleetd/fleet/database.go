package fleet

import (
	"context"
	"errors"
	"strings"
	"time"

	"troupe/fleetd/store"
	"troupe/fleetd/trace"
)

// openWithin bounds one attempt to open the database, without the check of an SQLite file.
const openWithin = 10 * time.Second

// Store is the database, or the reason why it is unavailable.
func (f *Fleet) Store() (*store.Store, error) { return f.health.store() }

// CheckDatabase reports whether the database accepts writes.
func (f *Fleet) CheckDatabase(ctx context.Context) error {
	db, err := f.Store()
	if err != nil {
		return err
	}
	return db.CheckWrite(ctx)
}

func (f *Fleet) openDatabase(ctx context.Context) error {
	within := openWithin
	if strings.HasPrefix(f.cfg.Database, "sqlite:") {
		within += store.FileCheckTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	db, err := store.OpenOver(ctx, f.cfg.Database, time.Now(), f.log, f.cfg.DialDatabase)
	if err != nil {
		f.health.databaseFailed("database not opened", err)
		return err
	}
	db.SignWith(f.cfg.SignKey, f.cfg.ReleaseKey)
	f.view.SetFleetID(db.FleetID())
	db.SetReportedRevisions(f.view.ReportedRevision)
	db.MeasureTransactions(func(ctx context.Context) func(error) {
		measured := f.metrics.MeasureTransaction(time.Now)
		_, span := trace.Start(ctx, trace.Client, "transaction", trace.String("db.system.name", db.Dialect()))
		return func(err error) {
			measured(err)
			span.EndWith(err)
		}
	})
	f.health.opened(db)
	f.log.Info("database open", "kind", db.Dialect(), "fleet_id", db.FleetID())
	if err := f.accounts.Begin(ctx); err != nil { // Run reads them again
		f.health.databaseFailed("accounts not read", err)
	}
	return nil
}

// mayComeLater reports whether a database that could not be opened may become available: a
// server may be started after fleetd, a file is there or not. A database of a newer version
// is refused at the start; an instance that finds one later goes on without a database, so
// that it can stop robots.
func (f *Fleet) mayComeLater(err error) bool {
	return !strings.HasPrefix(f.cfg.Database, "sqlite:") && !errors.Is(err, store.ErrInUse) && !errors.Is(err, store.ErrNewer) &&
		!errors.Is(err, store.ErrOlder)
}

func (f *Fleet) closeDatabase() error {
	if db := f.health.closed(); db != nil {
		return db.Close()
	}
	return nil
}
