package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"troupe/fleetd/library"
	"troupe/fleetd/selector"
)

// LibraryFor reads what a plan about these robots needs, and their defaults or activities. Apply the
// changes of the plan in the same transaction.
func (t *Tx) LibraryFor(ctx context.Context, need library.Need, robots selector.Selector) (library.Rows, error) {
	rows := library.Rows{Reported: t.store.reportedOf}
	if err := t.queryRow(ctx, `SELECT fleet_id FROM fleet WHERE only_row = 1`).Scan(&rows.FleetID); err != nil {
		return rows, fmt.Errorf("read the fleet id: %w", err)
	}
	var err error
	if rows.Signer, err = t.signer(ctx); err != nil {
		return rows, err
	}
	r := libraryReader{
		tx: t, rows: &rows, entries: map[library.Ref]bool{}, whole: map[library.Ref]bool{}, revisions: map[revisionKey]bool{}, defaults: map[string]bool{}, sets: map[string]bool{},
	}
	if err := r.readRobots(ctx, robots, need); err != nil {
		return rows, err
	}
	for {
		if err := r.read(ctx, need); err != nil {
			return rows, err
		}
		if need.Then == nil {
			return rows, nil
		}
		need = need.Then(rows)
	}
}

// libraryReader adds rows of the library to rows, each once.
type libraryReader struct {
	tx        *Tx
	rows      *library.Rows
	entries   map[library.Ref]bool
	whole     map[library.Ref]bool // entries that were read with the newest revision
	revisions map[revisionKey]bool
	defaults  map[string]bool // by robot
	sets      map[string]bool // by robot
}

type revisionKey struct {
	library.Ref
	rev int64
}

// readRobots reads what the plan needs of its robots.
func (r *libraryReader) readRobots(ctx context.Context, robots selector.Selector, need library.Need) error {
	if !robots.All && len(robots.IDs) == 0 && len(robots.Labels) == 0 {
		return nil
	}
	var w where
	w.addSelector(robots)
	if need.Sets {
		return r.readSets(ctx, "SELECT r.id FROM robots r"+w.String(), w, need.AssignedRevisions)
	}
	return r.readAssignedStories(ctx, "SELECT r.id FROM robots r"+w.String(), w, need.AssignedRevisions)
}

func (r *libraryReader) read(ctx context.Context, need library.Need) error {
	for _, one := range []struct {
		kind library.Kind
		ids  []string
		with []library.Ref
	}{{library.KindAct, need.Acts, need.ActsWith}, {library.KindStory, need.Stories, need.SequencesWith}, {library.KindActivity, need.Activities, need.SequencesWith}} {
		if err := r.readEntries(ctx, one.kind, r.missing(one.kind, one.ids, need.EntriesOnly), one.with, need.EntriesOnly); err != nil {
			return err
		}
	}
	if err := r.readAssignedRefs(ctx, need.AssignedRefs); err != nil {
		return err
	}
	for _, pin := range need.Pins {
		if err := r.readRevisions(ctx, " WHERE v.kind = 'story' AND v.id = $1 AND v.rev = $2", pin.ID, pin.Rev); err != nil {
			return err
		}
	}
	var err error
	if need.Assets {
		if r.rows.Assets, err = r.tx.Assets(ctx); err != nil {
			return err
		}
	}
	if need.ActIDs {
		r.rows.ActIDs, err = queryAll(ctx, r.tx.reads, func(scan func(...any) error) (id string, err error) { return id, scan(&id) },
			"SELECT id FROM entries WHERE kind = 'act' AND deleted_at = 0 AND rev > 0 ORDER BY id")
		if err != nil {
			return fmt.Errorf("read the ids of acts: %w", err)
		}
	}
	if need.FileBytes {
		r.rows.FileBytes, err = r.tx.filesTotal(ctx)
	}
	return err
}

// missing returns the ids of entries that were not read yet, or only without a revision.
func (r *libraryReader) missing(kind library.Kind, ids []string, entriesOnly bool) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		at := library.Ref{Kind: kind, ID: id}
		return r.whole[at] || entriesOnly && r.entries[at]
	})
}

// readEntries reads entries of a kind: those with these ids, and those that are not deleted
// and refer to one of refs in their draft or newest revision.
func (r *libraryReader) readEntries(ctx context.Context, kind library.Kind, ids []string, with []library.Ref, entriesOnly bool) error {
	var wanted []where
	if len(ids) > 0 {
		var w where
		w.addIf(true, "e.kind = %s", string(kind))
		w.addNamed("e.id", ids)
		wanted = append(wanted, w)
	}
	if len(with) > 0 {
		var w where
		w.addIf(true, "e.kind = %s", string(kind))
		w.conditions = append(w.conditions, "e.deleted_at = 0", `e.id IN (SELECT f.id FROM refs f JOIN entries c ON c.kind = f.kind AND c.id = f.id
			WHERE f.kind = $1 AND f.rev IN (0, c.rev) AND `+w.refs(with)+")")
		wanted = append(wanted, w)
	}
	for _, w := range wanted {
		entries, err := queryAll(ctx, r.tx.reads, scanEntry, selectEntries+" e"+w.String()+" ORDER BY e.id", w.args...)
		if err != nil {
			return fmt.Errorf("read the library: %w", err)
		}
		for _, e := range entries {
			at := library.Ref{Kind: e.Kind, ID: e.ID}
			if !r.entries[at] {
				r.rows.Entries = append(r.rows.Entries, e)
			}
			r.entries[at], r.whole[at] = true, r.whole[at] || !entriesOnly
		}
		if entriesOnly {
			continue
		}
		if err := r.readRevisions(ctx, " JOIN entries e ON e.kind = v.kind AND e.id = v.id AND e.rev = v.rev"+w.String()+" ORDER BY v.id", w.args...); err != nil {
			return err
		}
	}
	return nil
}

// readAssignedRefs reads the assigned stories and activities of the robots to which refs are
// assigned, and the revisions that they perform.
func (r *libraryReader) readAssignedRefs(ctx context.Context, refs []library.Ref) error {
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
		if err := r.readSets(ctx, "SELECT a.robot FROM assigned_activities a"+w.String(), w, true); err != nil {
			return err
		}
	}
	if len(stories) > 0 {
		var w where
		w.addNamed("d.story", stories)
		if err := r.readAssignedStories(ctx, "SELECT d.robot FROM defaults d"+w.String(), w, true); err != nil {
			return err
		}
	}
	if len(others) > 0 {
		var w where
		if err := r.readAssignedStories(ctx, `SELECT d.robot FROM refs f JOIN entries e ON e.kind = f.kind AND e.id = f.id
			JOIN defaults d ON d.story = f.id AND f.rev IN (d.rev, e.rev) WHERE f.kind = 'story' AND `+w.refs(others), w, true); err != nil {
			return err
		}
		w = where{}
		if err := r.readSets(ctx, `SELECT a.robot FROM refs f JOIN entries e ON e.kind = f.kind AND e.id = f.id
			JOIN assigned_activities a ON a.activity = f.id AND f.rev IN (a.rev, e.rev) WHERE f.kind = 'activity' AND `+w.refs(others), w, true); err != nil {
			return err
		}
	}
	return nil
}

// readSets reads the activities of the robots that a query lists, and, with withRevisions,
// the revisions that are assigned. w has the arguments of the query.
func (r *libraryReader) readSets(ctx context.Context, robots string, w where, withRevisions bool) error {
	sets, err := r.tx.activitySets(ctx, robots, w)
	if err != nil {
		return err
	}
	for _, set := range sets {
		if !r.sets[set.Robot] {
			r.sets[set.Robot] = true
			r.rows.Sets = append(r.rows.Sets, set)
		}
	}
	if !withRevisions {
		return nil
	}
	return r.readRevisions(ctx, " WHERE (v.kind, v.id, v.rev) IN (SELECT p.kind, p.activity, p.rev FROM assigned_activities p WHERE p.robot IN ("+robots+")) ORDER BY v.id, v.rev", w.args...)
}

// readAssignedStories reads the assigned stories of the robots that a query lists, and, with withRevisions,
// the revisions that are assigned. w has the arguments of the query.
func (r *libraryReader) readAssignedStories(ctx context.Context, robots string, w where, withRevisions bool) error {
	defaults, err := queryAll(ctx, r.tx.reads, scanAssignedStory, selectAssignedStories+" WHERE w.kind = 'desired_story' AND w.robot IN ("+robots+") ORDER BY w.robot", w.args...)
	if err != nil {
		return fmt.Errorf("list default stories: %w", err)
	}
	for _, d := range defaults {
		if !r.defaults[d.Robot] {
			r.defaults[d.Robot] = true
			r.rows.Defaults = append(r.rows.Defaults, d)
		}
	}
	if !withRevisions {
		return nil
	}
	return r.readRevisions(ctx, " WHERE (v.kind, v.id, v.rev) IN (SELECT p.kind, p.story, p.rev FROM defaults p WHERE p.robot IN ("+robots+")) ORDER BY v.id, v.rev", w.args...)
}

func (r *libraryReader) readRevisions(ctx context.Context, which string, args ...any) error {
	revisions, err := queryAll(ctx, r.tx.reads, scanRevision, selectRevisions+which, args...)
	if err != nil {
		return fmt.Errorf("read published revisions: %w", err)
	}
	for _, v := range revisions {
		if at := (revisionKey{library.Ref{Kind: v.Kind, ID: v.ID}, v.Rev}); !r.revisions[at] {
			r.revisions[at] = true
			r.rows.Revisions = append(r.rows.Revisions, v)
		}
	}
	return nil
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
