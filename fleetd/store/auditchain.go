package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pressly/goose/v3"

	"troupe/fleetd/audit"
)

// chainLock is the number of the advisory lock of the chain's head, see pgSchema.lockNumber.
const chainLock = 0x617564697400 // "audit"

// chain lets one transaction at a time link its entries into the chain, from just before its
// commit until just after.
//
// A row that all transactions update would make every two of them conflict, because a
// serializable transaction sees the database as it was when it began: a long one would never
// commit while short ones run. So nothing is updated. The lock is held for the three round
// trips at the end, and the head is read over another connection, which sees what was
// committed since the transaction began. Rows are only inserted.
type chain struct {
	turn chan struct{} // capacity 1; so that at most one transaction uses the connection
	head *sql.DB       // nil with SQLite, which has one writer at a time
}

const readHead = `SELECT seq, hash FROM audit WHERE seq > 0 ORDER BY seq DESC LIMIT 1`

// link writes the notes of the transaction as the next rows of the chain. The caller calls
// free after the commit.
func (t *Tx) link(ctx context.Context) (free func(), err error) {
	free = func() {}
	if len(t.notes) == 0 {
		return free, nil
	}
	c := &t.store.chain
	head := t.reads
	if c.head != nil {
		ctx, done := withTimeout(ctx)
		defer done()
		select {
		case c.turn <- struct{}{}:
			free = func() { <-c.turn }
		case <-ctx.Done():
			return free, fmt.Errorf("wait for the head of the audit log: %w", context.Cause(ctx))
		}
		if err := t.boundLocks(ctx); err != nil {
			return free, err
		}
		if _, err := t.tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, t.store.pools.schema.lockNumber(chainLock)); err != nil {
			return free, fmt.Errorf("lock the head of the audit log: %w", err)
		}
		head = reads{c.head}
	}
	var last audit.Head
	if err := head.queryRow(ctx, readHead).Scan(&last.Seq, &last.Hash); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return free, fmt.Errorf("read the head of the audit log: %w", err)
	}
	for i := range t.notes {
		last = t.notes[i].Link(last)
	}
	return free, t.insertNotes(ctx)
}

func (t *Tx) insertNotes(ctx context.Context) error {
	if _, err := writeRows(ctx, t, t.notes, entryColumnsOfAudit, `INSERT INTO audit (id, at, who, what, target, detail, principal, address, via, why, changed_from, changed_to, outcome, of_id, seq, prev, hash)
		SELECT id, at, who, what, target, detail, principal, address, via, why, changed_from, changed_to, outcome, of_id, seq, prev, hash FROM given`); err != nil {
		return fmt.Errorf("write %d audit entries: %w", len(t.notes), err)
	}
	return nil
}

var entryColumnsOfAudit = []column[audit.Entry]{
	text("id", func(e audit.Entry) string { return e.ID }),
	number("at", func(e audit.Entry) int64 { return micros(e.At) }),
	text("who", func(e audit.Entry) string { return e.Who }),
	text("what", func(e audit.Entry) string { return string(e.What) }),
	text("target", func(e audit.Entry) string { return e.Target }),
	text("detail", func(e audit.Entry) string { return e.Detail }),
	text("principal", func(e audit.Entry) string { return e.Principal }),
	text("address", func(e audit.Entry) string { return e.Address }),
	text("via", func(e audit.Entry) string { return string(e.Via) }),
	text("why", func(e audit.Entry) string { return e.Why }),
	text("changed_from", func(e audit.Entry) string { return e.Before }),
	text("changed_to", func(e audit.Entry) string { return e.After }),
	text("outcome", func(e audit.Entry) string { return string(e.Outcome) }),
	text("of_id", func(e audit.Entry) string { return e.Of }),
	number("seq", func(e audit.Entry) int64 { return e.Seq }),
	text("prev", func(e audit.Entry) string { return e.Prev }),
	text("hash", func(e audit.Entry) string { return e.Hash }),
}

// VerifyAudit checks the whole chain. It reads it in pages, each as it is at that moment, so that
// no transaction stays open meanwhile.
func (s *Store) VerifyAudit(ctx context.Context, noted audit.Head) (audit.Verdict, error) {
	return verifyPages(noted, func(after int64, limit int) ([]audit.Entry, error) { return s.AuditChain(ctx, after, limit) })
}

// verifyPages checks a chain that read returns in pages. It begins again if the entries that it
// has checked, and some after them, were pruned before the next page: that leaves no gap in the chain.
func verifyPages(noted audit.Head, read func(after int64, limit int) ([]audit.Entry, error)) (audit.Verdict, error) {
	v := audit.Verifier{Noted: noted}
	for after := int64(0); ; {
		rows, err := read(after, rowsAtOnce)
		if err != nil {
			return audit.Verdict{}, err
		}
		if after > 0 && len(rows) > 0 && rows[0].Seq > after+1 {
			oldest, err := read(0, 1)
			if err != nil {
				return audit.Verdict{}, err
			}
			if len(oldest) > 0 && oldest[0].Seq > after {
				v, after = audit.Verifier{Noted: noted}, 0
				continue
			}
		}
		for _, e := range rows {
			if !v.Add(e) {
				return v.Verdict(), nil
			}
			after = e.Seq
		}
		if len(rows) < rowsAtOnce {
			return v.Verdict(), nil
		}
	}
}

// PruneAudit deletes up to limit of the oldest audit entries from before then, and adds an
// entry of that, which is the chain's new beginning when it is verified. It keeps the
// newest entry. The entries are deleted in the order of the chain, up to the first one that
// is not old, so that the rest has no gaps.
func (s *Store) PruneAudit(ctx context.Context, now, then time.Time, limit int) (n int64, err error) {
	err = s.plainTx(ctx, func(tx *Tx) error {
		n = 0
		oldest, err := tx.AuditChain(ctx, 0, limit+1)
		if err != nil {
			return err
		}
		for int(n) < len(oldest)-1 && oldest[n].At.Before(then) {
			n++
		}
		// One entry that only says that entries were pruned is not pruned alone: the one that
		// took its place would be next, for ever.
		if n == 0 || n == 1 && oldest[0].What == audit.ActionPrune {
			n = 0
			return nil
		}
		last := oldest[n-1]
		if n, err = tx.exec(ctx, `DELETE FROM audit WHERE seq > 0 AND seq <= $1`, last.Seq); err != nil {
			return err
		}
		return tx.Note(ctx, now, audit.Note{
			Source: audit.Source{Via: audit.ViaFleetd}, What: audit.ActionPrune, Target: "audit", Why: "older than the audit is kept",
			Detail: fmt.Sprintf("%d entries up to %d", n, last.Seq),
			After:  audit.JSON(audit.Checkpoint{Through: last.Seq, Hash: last.Hash, Rows: n}),
		})
	})
	if err != nil {
		return 0, fmt.Errorf("prune audit: %w", err)
	}
	return n, nil
}

const unlinked = selectAudit + ` WHERE seq = 0 ORDER BY at, id LIMIT $1`

// LinkAudit links entries into the chain that are not in it: those from before the chain, and those
// that an instance of an earlier release has written since. It links at most limit and returns how
// many; the caller repeats it until that is 0.
func (s *Store) LinkAudit(ctx context.Context, limit int) (n int, err error) {
	err = s.plainTx(ctx, func(tx *Tx) error {
		n, err = tx.linkOld(ctx, limit)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("link the audit log: %w", err)
	}
	return n, nil
}

// linkOld moves rows into the chain: they become notes of the transaction.
func (t *Tx) linkOld(ctx context.Context, limit int) (int, error) {
	old, err := queryAll(ctx, t.reads, scanEntryOfAudit, unlinked, limit)
	if err != nil {
		return 0, err
	}
	if _, err := writeRows(ctx, t, old, entryColumnsOfAudit[:1],
		`DELETE FROM audit WHERE seq = 0 AND id IN (SELECT id FROM given)`); err != nil {
		return 0, err
	}
	t.notes = append(t.notes, old...)
	return len(old), nil
}

// linkAll is the migration that links all entries from before the chain.
func (s *Store) linkAll() *goose.Migration {
	return goose.NewGoMigration(20, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		var head audit.Head
		for {
			t := &Tx{reads: reads{tx}, tx: tx, store: s, bound: true} // a migration may take its time
			n, err := t.linkOld(ctx, rowsAtOnce)
			if n == 0 || err != nil {
				return err
			}
			for i := range t.notes {
				head = t.notes[i].Link(head)
			}
			if err := t.insertNotes(ctx); err != nil {
				return err
			}
		}
	}}, nil)
}
