package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
)

// LibraryFor reads what a plan about these robots needs. Apply the changes of the plan in the same
// transaction. Reading locks no row, so its order is free; Apply writes, and locks, in an order of its own.
func (t *Tx) LibraryFor(ctx context.Context, read library.Reading, robots selector.Selector) (library.Rows, error) {
	r := libraryReader{
		ctx: ctx, tx: t, robots: robots, rows: library.Rows{Reported: t.store.reportedOf},
		entries: map[library.Ref]bool{}, newest: map[library.Ref]bool{}, revisions: map[revisionKey]bool{}, defaults: map[string]bool{},
		sets: map[string]bool{},
	}
	if err := t.queryRow(ctx, `SELECT fleet_id FROM fleet WHERE only_row = 1`).Scan(&r.rows.FleetID); err != nil {
		return r.rows, fmt.Errorf("read the fleet id: %w", err)
	}
	if r.rows.Signer, r.err = t.signer(ctx); r.err == nil {
		read(&r)
	}
	return r.rows, r.err
}

// libraryReader is the library.Reader of a transaction.
type libraryReader struct {
	ctx       context.Context // of LibraryFor, which the reader does not outlive
	tx        *Tx
	robots    selector.Selector // of the plan
	rows      library.Rows
	err       error                // the first one
	entries   map[library.Ref]bool // that were asked for, also if they do not exist
	newest    map[library.Ref]bool // that were asked for with their newest revision
	revisions map[revisionKey]bool
	defaults  map[string]bool // by robot
	sets      map[string]bool // by robot
}

type revisionKey struct {
	library.Ref
	rev int64
}

func (r *libraryReader) Rows() *library.Rows { return &r.rows }

func (r *libraryReader) Newest(kind library.Kind, ids ...string) { r.readNamed(kind, ids, true) }

func (r *libraryReader) Entries(kind library.Kind, ids ...string) { r.readNamed(kind, ids, false) }

func (r *libraryReader) readNamed(kind library.Kind, ids []string, newest bool) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		at := library.Ref{Kind: kind, ID: id}
		return r.newest[at] || !newest && r.entries[at]
	})
	if len(ids) == 0 {
		return
	}
	var w where
	w.addIf(true, "e.kind = %s", string(kind))
	w.addNamed("e.id", ids)
	r.readEntries(w, newest)
	for _, id := range ids {
		r.mark(library.Ref{Kind: kind, ID: id}, newest)
	}
}

func (r *libraryReader) mark(at library.Ref, newest bool) {
	r.entries[at], r.newest[at] = true, newest || r.newest[at]
}

func (r *libraryReader) Uses(kinds []library.Kind, refs ...library.Ref) {
	for _, kind := range kinds {
		if len(refs) == 0 {
			return
		}
		var w where
		w.addIf(true, "e.kind = %s", string(kind))
		w.conditions = append(w.conditions, "e.deleted_at = 0", `e.id IN (SELECT f.id FROM refs f JOIN entries c ON c.kind = f.kind AND c.id = f.id
			WHERE f.kind = $1 AND f.rev IN (0, c.rev) AND `+w.refs(refs)+")")
		r.readEntries(w, true)
	}
}

// readEntries reads the entries that w selects.
func (r *libraryReader) readEntries(w where, newest bool) {
	for _, e := range readRows(r, "read the library", scanEntry, selectEntries+" e"+w.String()+" ORDER BY e.id", w.args) {
		at := library.Ref{Kind: e.Kind, ID: e.ID}
		if !r.entries[at] {
			r.rows.Entries = append(r.rows.Entries, e)
		}
		r.mark(at, newest)
	}
	if newest {
		r.readRevisions(" JOIN entries e ON e.kind = v.kind AND e.id = v.id AND e.rev = v.rev"+w.String()+" ORDER BY v.id", w.args)
	}
}

func (r *libraryReader) Revisions(kind library.Kind, pins ...library.Pin) {
	object := map[string][2]any{}
	for i, pin := range pins {
		if !r.revisions[revisionKey{library.Ref{Kind: kind, ID: pin.ID}, pin.Rev}] {
			object[strconv.Itoa(i)] = [2]any{pin.ID, pin.Rev}
		}
	}
	if len(object) > 0 {
		r.readRevisions(" WHERE v.kind = $1 AND (v.id, v.rev) IN (SELECT value ->> 0, CAST(value ->> 1 AS BIGINT) FROM json_each($2))",
			[]any{string(kind), jsonText(object)})
	}
}

func (r *libraryReader) RobotStories(withRevisions bool) {
	if robots, w, some := r.robotIDs(); some {
		r.readAssignedStories(robots, w, withRevisions)
	}
}

func (r *libraryReader) RobotSets() {
	if robots, w, some := r.robotIDs(); some {
		r.readSets(robots, w, false)
	}
}

// robotIDs returns a query that lists the robots of the plan, if it is about any.
func (r *libraryReader) robotIDs() (query string, w where, some bool) {
	w.addSelector(r.robots)
	return "SELECT r.id FROM robots r" + w.String(), w, r.robots.All || len(r.robots.IDs) > 0 || len(r.robots.Labels) > 0
}

func (r *libraryReader) Assigned(refs ...library.Ref) {
	var stories, activities []string
	var others []library.Ref
	for _, ref := range refs {
		switch ref.Kind {
		case library.KindStory:
			stories = append(stories, ref.ID)
		case library.KindActivity:
			activities = append(activities, ref.ID)
		default:
			others = append(others, ref)
		}
	}
	if len(activities) > 0 {
		var w where
		w.addNamed("a.activity", activities)
		r.readSets("SELECT a.robot FROM assigned_activities a"+w.String(), w, true)
	}
	if len(stories) > 0 {
		var w where
		w.addNamed("d.story", stories)
		r.readAssignedStories("SELECT d.robot FROM defaults d"+w.String(), w, true)
	}
	if len(others) > 0 {
		var w where
		r.readAssignedStories(`SELECT d.robot FROM refs f JOIN entries e ON e.kind = f.kind AND e.id = f.id
			JOIN defaults d ON d.story = f.id AND f.rev IN (d.rev, e.rev) WHERE f.kind = 'story' AND `+w.refs(others), w, true)
		w = where{}
		r.readSets(`SELECT a.robot FROM refs f JOIN entries e ON e.kind = f.kind AND e.id = f.id
			JOIN assigned_activities a ON a.activity = f.id AND f.rev IN (a.rev, e.rev) WHERE f.kind = 'activity' AND `+w.refs(others), w, true)
	}
}

// readSets reads the activities of the robots that a query lists, and, with withRevisions,
// the revisions that are assigned. w has the arguments of the query.
func (r *libraryReader) readSets(robots string, w where, withRevisions bool) {
	for _, set := range query(r, func() ([]library.ActivitySet, error) { return r.tx.activitySets(r.ctx, robots, w) }) {
		if !r.sets[set.Robot] {
			r.sets[set.Robot] = true
			r.rows.Sets = append(r.rows.Sets, set)
		}
	}
	if withRevisions {
		r.readRevisions(" WHERE (v.kind, v.id, v.rev) IN (SELECT p.kind, p.activity, p.rev FROM assigned_activities p WHERE p.robot IN ("+robots+
			")) ORDER BY v.id, v.rev", w.args)
	}
}

// readAssignedStories reads the assigned stories of the robots that a query lists, and, with withRevisions,
// the revisions that are assigned. w has the arguments of the query.
func (r *libraryReader) readAssignedStories(robots string, w where, withRevisions bool) {
	for _, d := range readRows(r, "list default stories", scanAssignedStory,
		selectAssignedStories+" WHERE w.kind = 'desired_story' AND w.robot IN ("+robots+") ORDER BY w.robot", w.args) {
		if !r.defaults[d.Robot] {
			r.defaults[d.Robot] = true
			r.rows.Defaults = append(r.rows.Defaults, d)
		}
	}
	if withRevisions {
		r.readRevisions(" WHERE (v.kind, v.id, v.rev) IN (SELECT p.kind, p.story, p.rev FROM defaults p WHERE p.robot IN ("+robots+
			")) ORDER BY v.id, v.rev", w.args)
	}
}

func (r *libraryReader) readRevisions(which string, args []any) {
	for _, v := range readRows(r, "read published revisions", scanRevision, selectRevisions+which, args) {
		if at := (revisionKey{library.Ref{Kind: v.Kind, ID: v.ID}, v.Rev}); !r.revisions[at] {
			r.revisions[at] = true
			r.rows.Revisions = append(r.rows.Revisions, v)
		}
	}
}

func (r *libraryReader) Assets() {
	r.rows.Assets = query(r, func() ([]library.Asset, error) { return r.tx.Assets(r.ctx) })
}

func (r *libraryReader) ActIDs() {
	r.rows.ActIDs = readRows(r, "read the ids of acts", func(scan func(...any) error) (id string, err error) { return id, scan(&id) },
		"SELECT id FROM entries WHERE kind = 'act' AND deleted_at = 0 AND rev > 0 ORDER BY id", nil)
}

func (r *libraryReader) FileBytes() {
	r.rows.FileBytes = query(r, func() (int64, error) { return r.tx.filesTotal(r.ctx) })
}

// query runs a query unless one has failed before.
func query[T any](r *libraryReader, run func() (T, error)) (found T) {
	if r.err == nil {
		found, r.err = run()
	}
	return found
}

func readRows[T any](r *libraryReader, what string, scan func(scan func(...any) error) (T, error), text string, args []any) []T {
	return query(r, func() ([]T, error) {
		all, err := queryAll(r.ctx, r.tx.reads, scan, text, args...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		return all, nil
	})
}

// refs is the condition that a row f of the table refs refers to one of refs. They are one
// argument, as in addNamed.
func (w *where) refs(refs []library.Ref) string {
	object := make(map[string][2]string, len(refs))
	for i, ref := range refs {
		object[strconv.Itoa(i)] = [2]string{string(ref.Kind), ref.ID}
	}
	return "(f.ref_kind, f.ref_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(" + w.arg(jsonText(object)) + "))"
}
