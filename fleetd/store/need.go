package store

import (
	"context"
	"fmt"
	"slices"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Library reads everything that a plan may look at, and the revisions in also if they exist.
// Apply the changes of the plan in the same transaction.
func (t *Tx) Library(ctx context.Context, also ...library.Pin) (library.Rows, error) {
	return t.LibraryFor(ctx, library.Need{All: true, Pins: also}, selector.Selector{})
}

// LibraryFor reads only what a plan about these robots needs. If it needs the whole library,
// it gets the defaults of all robots as well. Apply the changes of the plan in the same
// transaction.
func (t *Tx) LibraryFor(ctx context.Context, need library.Need, robots selector.Selector) (library.Rows, error) {
	rows := library.Rows{Reported: func(robot string) schema.ReportedRev { return t.store.reportedOf(robot, schema.TopicDesiredStory) }}
	if err := t.queryRow(ctx, `SELECT fleet_id FROM fleet WHERE only_row = 1`).Scan(&rows.FleetID); err != nil {
		return rows, fmt.Errorf("read the fleet id: %w", err)
	}
	var err error
	if rows.Seal, err = t.seal(ctx); err != nil {
		return rows, err
	}
	if len(robots.IDs) > maxNamedRobots {
		robots = selector.All() // a statement has a limited number of parameters
	}
	if need.All {
		err = t.readLibrary(ctx, &rows)
	} else {
		err = t.readNeeded(ctx, &rows, need, robots)
	}
	if err != nil {
		return rows, err
	}
	for _, pin := range need.Pins {
		if slices.ContainsFunc(rows.Revisions, func(v library.Revision) bool {
			return v.Kind == library.KindStory && v.ID == pin.ID && v.Rev == pin.Rev
		}) {
			continue
		}
		more, err := queryAll(ctx, t.reads, scanRevision, revisionColumns+" WHERE v.kind = 'story' AND v.id = $1 AND v.rev = $2", pin.ID, pin.Rev)
		if err != nil {
			return rows, fmt.Errorf("read revision %d of %s: %w", pin.Rev, pin.ID, err)
		}
		rows.Revisions = append(rows.Revisions, more...)
	}
	if need.Named == nil {
		return rows, nil
	}
	acts := slices.DeleteFunc(need.Named(rows), func(id string) bool { return slices.Contains(need.Acts, id) })
	err = t.readEntries(ctx, &rows, !need.Deleted, library.KindAct, acts...)
	return rows, err
}

// readLibrary reads the whole library and the defaults of all robots.
func (t *Tx) readLibrary(ctx context.Context, rows *library.Rows) (err error) {
	if rows.Entries, err = queryAll(ctx, t.reads, scanEntry, entryColumns+" ORDER BY kind, id"); err != nil {
		return fmt.Errorf("read the library: %w", err)
	}
	rows.Revisions, err = queryAll(ctx, t.reads, scanRevision, revisionColumns+` JOIN entries e ON e.kind = v.kind AND e.id = v.id
		WHERE v.rev = e.rev OR EXISTS (SELECT 1 FROM defaults d WHERE d.kind = v.kind AND d.story = v.id AND d.rev = v.rev)
		ORDER BY v.kind, v.id, v.rev`)
	if err != nil {
		return fmt.Errorf("read published revisions: %w", err)
	}
	if rows.Assets, err = t.Assets(ctx); err != nil {
		return err
	}
	if rows.FileBytes, err = t.filesTotal(ctx); err != nil {
		return err
	}
	rows.Defaults, err = t.Defaults(ctx)
	return err
}

// readNeeded reads what need names, and the defaults of the robots.
func (t *Tx) readNeeded(ctx context.Context, rows *library.Rows, need library.Need, robots selector.Selector) (err error) {
	if rows.Defaults, err = t.defaultsOf(ctx, robots); err != nil {
		return err
	}
	if err := t.readEntries(ctx, rows, true, library.KindAct, need.Acts...); err != nil {
		return err
	}
	if need.AllStories {
		err = t.readEntriesWhere(ctx, rows, true, where{conditions: []string{"e.kind = 'story'"}})
	} else {
		err = t.readEntries(ctx, rows, true, library.KindStory, need.Stories...)
	}
	if err != nil {
		return err
	}
	if need.Performed {
		var w where
		w.addSelector(robots)
		performed, err := queryAll(ctx, t.reads, scanRevision, revisionColumns+` WHERE (v.kind, v.id, v.rev) IN
			(SELECT d.kind, d.story, d.rev FROM defaults d JOIN robots r ON r.id = d.robot`+w.String()+`)
			ORDER BY v.kind, v.id, v.rev`, w.args...)
		if err != nil {
			return fmt.Errorf("read the revisions that robots perform: %w", err)
		}
		rows.Revisions = append(rows.Revisions, performed...)
	}
	if need.Assets {
		rows.Assets, err = t.Assets(ctx)
	}
	return err
}

// readEntries adds these acts or stories to rows, and with revisions the newest revision of
// each.
func (t *Tx) readEntries(ctx context.Context, rows *library.Rows, revisions bool, kind library.Kind, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	var w where
	w.addIf(true, "e.kind = %s", string(kind))
	w.addIn("e.id", ids)
	return t.readEntriesWhere(ctx, rows, revisions, w)
}

func (t *Tx) readEntriesWhere(ctx context.Context, rows *library.Rows, revisions bool, w where) error {
	entries, err := queryAll(ctx, t.reads, scanEntry, entryColumns+" e"+w.String()+" ORDER BY e.kind, e.id", w.args...)
	if err != nil {
		return fmt.Errorf("read the library: %w", err)
	}
	rows.Entries = append(rows.Entries, entries...)
	if !revisions {
		return nil
	}
	newest, err := queryAll(ctx, t.reads, scanRevision, revisionColumns+` JOIN entries e ON e.kind = v.kind AND e.id = v.id AND e.rev = v.rev`+w.String()+" ORDER BY v.kind, v.id", w.args...)
	if err != nil {
		return fmt.Errorf("read published revisions: %w", err)
	}
	rows.Revisions = append(rows.Revisions, newest...)
	return nil
}
