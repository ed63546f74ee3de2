package change

import (
	"context"

	"troupe/fleetd/audit"
	"troupe/fleetd/store"
)

// History reads what happened: events of robots, and the audit.
type History struct{ Deps }

// Queries of the history.
type (
	EventQuery = store.EventQuery
	AuditQuery = store.AuditQuery
)

// Events lists events of robots, the newest first.
func (h *History) Events(ctx context.Context, q EventQuery) ([]store.Event, error) {
	return read(&h.Deps, func(db *store.Store) ([]store.Event, error) { return db.Events(ctx, q) })
}

// Audit lists entries of the audit, the newest first.
func (h *History) Audit(ctx context.Context, q AuditQuery) ([]audit.Entry, error) {
	return read(&h.Deps, func(db *store.Store) ([]audit.Entry, error) { return db.Audit(ctx, q) })
}

// AuditChain lists the entries after a place in the chain, the oldest first.
func (h *History) AuditChain(ctx context.Context, after int64, limit int) ([]audit.Entry, error) {
	return read(&h.Deps, func(db *store.Store) ([]audit.Entry, error) { return db.AuditChain(ctx, after, limit) })
}

// VerifyAudit checks the whole chain. noted is a head that was noted earlier, or zero.
func (h *History) VerifyAudit(ctx context.Context, noted audit.Head) (audit.Verdict, error) {
	return read(&h.Deps, func(db *store.Store) (audit.Verdict, error) { return db.VerifyAudit(ctx, noted) })
}
