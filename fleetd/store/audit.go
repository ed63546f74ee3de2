package store

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
)

// ActFor sets who makes the request that the transaction carries out. Notes that are added from now
// on without a source get p as their source, and its name unless they name a person.
func (t *Tx) ActFor(p auth.Principal) { t.actor = p }

// Note adds entries to the audit log. They are linked into its chain just before the commit.
func (t *Tx) Note(ctx context.Context, now time.Time, notes ...audit.Note) error {
	for _, n := range notes {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make an id for an audit entry: %w", err)
		}
		t.NoteAs(ctx, id.String(), now, n)
	}
	return nil
}

// NoteAs is Note for one entry with a given id, to which another entry can refer.
func (t *Tx) NoteAs(ctx context.Context, id string, now time.Time, n audit.Note) {
	if n.Source == (audit.Source{}) {
		n.Source = t.actor.Source()
		n.Who = cmp.Or(n.Who, t.actor.Name)
	}
	n.Outcome = cmp.Or(n.Outcome, audit.Done)
	what := string(n.What)
	for _, text := range []*string{&n.Who, &what, &n.Target, &n.Why, &n.Detail, &n.Address} {
		*text = strings.ToValidUTF8(strings.ReplaceAll(*text, "\x00", ""), "") // PostgreSQL refuses others
	}
	n.What = audit.Action(what)
	t.notes = append(t.notes, audit.Entry{ID: id, At: now.Truncate(time.Microsecond), Note: n})
	audit.Written(ctx)
}

// AuditQuery selects entries of the audit log; a zero field does not restrict.
type AuditQuery struct {
	audit.Filter
	Before int64 // seq below this one
	Limit  int   // 0 = 100
}

const selectAudit = `SELECT id, at, who, what, target, detail, principal, address, via, why, changed_from, changed_to, outcome, of_id, seq, prev, hash FROM audit`

func scanEntryOfAudit(scan func(...any) error) (e audit.Entry, err error) {
	var at int64
	err = scan(&e.ID, &at, &e.Who, &e.What, &e.Target, &e.Detail, &e.Principal, &e.Address, &e.Via, &e.Why, &e.Before, &e.After, &e.Outcome,
		&e.Of, &e.Seq, &e.Prev, &e.Hash)
	e.At = timeOf(at)
	return e, err
}

// Audit lists entries of the audit log, the newest first.
func (r reads) Audit(ctx context.Context, q AuditQuery) ([]audit.Entry, error) {
	w := where{conditions: []string{"seq > 0"}}
	if q.Who != "" {
		part := w.arg(containing(q.Who))
		w.conditions = append(w.conditions, fmt.Sprintf(`(lower(who) LIKE %s ESCAPE '\' OR lower(principal) LIKE %[1]s ESCAPE '\')`, part))
	}
	w.addIf(q.What != "", `lower(what) LIKE %s ESCAPE '\'`, containing(q.What))
	w.addIf(q.Without != "", `lower(what) NOT LIKE %s ESCAPE '\'`, containing(q.Without))
	w.addIf(q.Target != "", `lower(target) LIKE %s ESCAPE '\'`, containing(q.Target))
	w.addIf(q.Via != "", "via = %s", string(q.Via))
	w.addIf(q.Outcome != "", "outcome = %s", string(q.Outcome))
	if q.ID != "" {
		id := w.arg(q.ID)
		w.conditions = append(w.conditions, fmt.Sprintf("(id = %s OR of_id = %[1]s)", id))
	}
	w.addIf(!q.Since.IsZero(), "at >= %s", micros(q.Since))
	w.addIf(!q.Until.IsZero(), "at < %s", micros(q.Until))
	w.addIf(q.Before > 0, "seq < %s", q.Before)
	query := selectAudit + w.String() + " ORDER BY seq DESC LIMIT " + w.arg(limitOf(q.Limit))
	all, err := queryAll(ctx, r, scanEntryOfAudit, query, w.args...)
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return all, nil
}

// NewestAudit is the latest time of an entry; zero without any.
func (r reads) NewestAudit(ctx context.Context) (time.Time, error) {
	var at int64
	if err := r.queryRow(ctx, `SELECT COALESCE(MAX(at), 0) FROM audit`).Scan(&at); err != nil {
		return time.Time{}, fmt.Errorf("read the audit log: %w", err)
	}
	return timeOf(at), nil
}

// AuditChain lists the entries after a place in the chain, the oldest first.
func (r reads) AuditChain(ctx context.Context, after int64, limit int) ([]audit.Entry, error) {
	all, err := queryAll(ctx, r, scanEntryOfAudit, selectAudit+" WHERE seq > 0 AND seq > $1 ORDER BY seq LIMIT $2", after, limitOf(limit))
	if err != nil {
		return nil, fmt.Errorf("read the audit log: %w", err)
	}
	return all, nil
}

// containing is the pattern of texts that contain one, in any case.
func containing(part string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(strings.ToLower(part)) + "%"
}
