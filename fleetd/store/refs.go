package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pressly/goose/v3"

	"troupe/fleetd/library"
)

// refRow is a reference of a draft, which has rev 0, or of a published revision.
type refRow struct {
	of  library.Ref
	rev int64
	to  library.Ref
}

var refColumns = []column[refRow]{
	text("kind", func(r refRow) string { return string(r.of.Kind) }),
	text("id", func(r refRow) string { return r.of.ID }),
	number("rev", func(r refRow) int64 { return r.rev }),
	text("ref_kind", func(r refRow) string { return string(r.to.Kind) }),
	text("ref_id", func(r refRow) string { return r.to.ID }),
}

// saveRefs saves to what a draft or a revision refers. The references of an earlier draft are
// replaced.
func (t *Tx) saveRefs(ctx context.Context, of library.Ref, rev int64, refs []library.Ref) error {
	if rev == 0 {
		if _, err := t.exec(ctx, `DELETE FROM refs WHERE kind = $1 AND id = $2 AND rev = 0`, string(of.Kind), of.ID); err != nil {
			return fmt.Errorf("delete references of %s %s: %w", of.Kind, of.ID, err)
		}
	}
	rows := make([]refRow, len(refs))
	for i, to := range refs {
		rows[i] = refRow{of, rev, to}
	}
	if _, err := writeRows(ctx, t, rows, refColumns,
		`INSERT INTO refs (kind, id, rev, ref_kind, ref_id) SELECT kind, id, rev, ref_kind, ref_id FROM given`); err != nil {
		return fmt.Errorf("save references of %s %s: %w", of.Kind, of.ID, err)
	}
	return nil
}

// fillRefs is the migration that saves the references of all drafts and revisions.
func (s *Store) fillRefs() *goose.Migration {
	return goose.NewGoMigration(13, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		t := &Tx{reads: reads{tx}, tx: tx, store: s, bound: true} // a migration may take its time
		entries, err := queryAll(ctx, t.reads, scanEntry, selectEntries+" ORDER BY kind, id")
		if err != nil {
			return fmt.Errorf("read the library: %w", err)
		}
		for _, e := range entries {
			of := library.Ref{Kind: e.Kind, ID: e.ID}
			if err := t.saveRefs(ctx, of, 0, library.RefsOfDraft(e.Kind, e.Draft)); err != nil {
				return err
			}
			revisions, err := t.Revisions(ctx, e.Kind, e.ID)
			if err != nil {
				return err
			}
			for _, v := range revisions { // one by one, since all bodies together may be large
				body, err := t.Blob(ctx, v.SHA256)
				if err != nil {
					return err
				}
				if err := t.saveRefs(ctx, of, v.Rev, library.RefsOfRevision(e.Kind, body)); err != nil {
					return err
				}
			}
		}
		return nil
	}}, nil)
}
