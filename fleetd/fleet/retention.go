package fleet

import (
	"context"
	"log/slog"
	"time"

	"troupe/fleetd/store"
)

const (
	// pruneEvery is how often old history is pruned, and pruneLook how often the pruner checks
	// whether it is due.
	pruneEvery = time.Hour
	pruneLook  = 10 * time.Second
	// pruneAtOnce bounds the rows of one transaction, to some 10 ms in which other writes
	// wait.
	pruneAtOnce = 500
	// keepRoutineEvents is how long events are kept that come with every act: a robot that
	// performs all day has ten thousand of them.
	keepRoutineEvents = 3 * 24 * time.Hour
)

// pruner removes history that is older than the configuration allows. The leader prunes.
type pruner struct {
	log    *slog.Logger
	keep   Retention
	leads  func() bool
	failed func(what string, err error)
	last   time.Time // when everything was pruned
}

// newPruner makes the pruner.
func (f *Fleet) newPruner() *pruner {
	return &pruner{
		log: f.log, keep: f.cfg.Keep, leads: f.leadership.Leads, failed: f.health.databaseFailed,
	}
}

func (p *pruner) run(ctx context.Context, db *store.Store) {
	look := time.NewTicker(pruneLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-look.C:
			if now.Sub(p.last) >= pruneEvery {
				p.prune(ctx, db, now)
			}
		}
	}
}

// prune deletes in small steps and pauses after each for as long as it took, so that at least
// half of the database's time is left to others.
func (p *pruner) prune(ctx context.Context, db *store.Store, now time.Time) {
	if !p.leads() {
		return
	}
	p.linkAudit(ctx, db)
	newest, err := db.NewestAudit(ctx)
	if err != nil {
		p.failed("old history not pruned", err)
		return
	}
	// Age depends on this machine's clock. If the whole audit is too old, either the clock
	// jumped ahead or nothing happened for so long; in both cases pruning can wait.
	if keep := p.keep.Audit; keep >= 0 && !newest.IsZero() && newest.Before(now.Add(-keep)) {
		p.log.Warn("old history not pruned: the whole audit would be; look whether this machine's clock is right", "newest", newest, "clock", now,
			"older_than", keep)
		p.last = now
		return
	}
	for _, history := range []struct {
		name string
		keep time.Duration
		step func(ctx context.Context, then time.Time, limit int) (int64, error)
	}{
		{"audit", p.keep.Audit, func(ctx context.Context, then time.Time, limit int) (int64, error) {
			return db.PruneAudit(ctx, now, then, limit)
		}},
		{"commands", p.keep.Commands, db.PruneBatches},
		{"rollouts", p.keep.Commands, db.PruneRollouts},
		{"runs of schedules", p.keep.Commands, db.PruneScheduleRuns},
		{"backups", p.keep.Audit, db.PruneBackups},
		{"notifications", p.keep.Commands, db.PruneNotifications},
		{"events", p.keep.Events, db.PruneEvents},
		{"measurements by minute", p.keep.Minutes, db.PruneMinuteMeasurements},
		{"measurements by quarter hour", p.keep.Measurements, db.PruneQuarterMeasurements},
		{"events of acts", min(p.keep.Events, keepRoutineEvents), db.PruneRoutineEvents},
	} {
		if history.keep < 0 {
			continue
		}
		var rows int64
		for {
			if !p.leads() {
				return
			}
			began := time.Now()
			n, err := history.step(ctx, now.Add(-history.keep), pruneAtOnce)
			if err != nil {
				p.failed("old history not pruned", err)
				return
			}
			if rows += n; n == 0 {
				break
			}
			pause := time.NewTimer(time.Since(began))
			select {
			case <-ctx.Done():
				pause.Stop()
				return
			case <-pause.C:
			}
		}
		if rows > 0 {
			p.log.Info("old history pruned", "of", history.name, "rows", rows, "older_than", history.keep)
		}
	}
	p.last = now
	if newest, err := db.Audit(ctx, store.AuditQuery{Limit: 1}); err == nil && len(newest) > 0 {
		// logged, because nobody who can change only the database can change the log
		p.log.Info("head of the audit", "seq", newest[0].Seq, "hash", newest[0].Hash)
	}
}

// linkAudit links entries into the audit's chain that an instance of an older version wrote.
func (p *pruner) linkAudit(ctx context.Context, db *store.Store) {
	for {
		n, err := db.LinkAudit(ctx, pruneAtOnce)
		if err != nil {
			p.failed("audit entries of an older instance not linked", err)
		}
		if n == 0 || err != nil {
			return
		}
		p.log.Warn("audit entries of an older instance linked into the chain", "entries", n)
	}
}
