package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/library"
)

// AuditEntry is an entry of the audit log with its time.
type AuditEntry struct {
	ID string
	At time.Time
	library.Note
}

// ActFor sets the principal of the notes that the transaction adds from now on, unless they
// name one.
func (t *Tx) ActFor(principal string) { t.principal = principal }

// Note adds entries to the audit log.
func (t *Tx) Note(ctx context.Context, now time.Time, notes ...library.Note) error {
	for _, n := range notes {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make an id for an audit entry: %w", err)
		}
		if _, err := t.exec(ctx, `INSERT INTO audit (id, at, who, what, target, detail, principal) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			id.String(), micros(now), n.Who, n.What, n.Target, n.Detail, cmp.Or(n.Principal, t.principal)); err != nil {
			return fmt.Errorf("write the audit entry %s of %s: %w", n.What, n.Target, err)
		}
	}
	return nil
}

// Audit lists the newest entries of the audit log, the newest first; limit 0 = 100.
func (r reads) Audit(ctx context.Context, limit int) ([]AuditEntry, error) {
	all, err := queryAll(ctx, r, func(scan func(...any) error) (n AuditEntry, err error) {
		var at int64
		err = scan(&n.ID, &at, &n.Who, &n.What, &n.Target, &n.Detail, &n.Principal)
		n.At = timeOf(at)
		return n, err
	}, `SELECT id, at, who, what, target, detail, principal FROM audit ORDER BY at DESC, id DESC LIMIT $1`, limitOf(limit))
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return all, nil
}
