package store_test

import (
	"testing"
	"time"

	"troupe/fleetd/decommission"
	"troupe/fleetd/enrol"
	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

func beginDecommission(t testing.TB, s *store.Store, robot string, now time.Time) decommission.Decommission {
	t.Helper()
	transact(t, s, func(tx *store.Tx) error { return tx.BeginDecommission(t.Context(), robot, "anna", "worn out", now) })
	return must[decommission.Decommission](t)(s.Decommission(t.Context(), robot))
}

// archive takes a robot through every step of a decommission.
func archive(t testing.TB, s *store.Store, robot string, now time.Time) {
	t.Helper()
	d := beginDecommission(t, s, robot, now)
	for _, to := range []decommission.Step{decommission.StopSent, decommission.Revoked, decommission.DeletingDesired,
		decommission.DeletingDocuments, decommission.Archived} {
		transact(t, s, func(tx *store.Tx) error { return tx.StepDecommission(t.Context(), d, to, now) })
		d.Step = to
	}
}

func decommissionRunsStepByStep(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fill(t, s)
	before := len(must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0)))
	d := beginDecommission(t, s, "r1", at(40))
	wantEqual(t, "a decommission", d,
		decommission.Decommission{Robot: "r1", Step: decommission.Begun, StepAt: at(40), BegunAt: at(40), By: "anna", Why: "worn out"})
	wantErr(t, "a second one", s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.BeginDecommission(t.Context(), "r1", "bert", "", at(41))
	}), store.ErrConflict)
	wantErr(t, "one of an unknown robot", s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.BeginDecommission(t.Context(), "r9", "bert", "", at(41))
	}), store.ErrNotFound)

	step := func(to decommission.Step, second int) error {
		err := s.Tx(t.Context(), func(tx *store.Tx) error { return tx.StepDecommission(t.Context(), d, to, at(second)) })
		if err == nil {
			d.Step = to
		}
		return err
	}
	wantPublished := func(want bool) {
		t.Helper()
		if got := must[bool](t)(s.DecommissionPublished(t.Context(), "r1")); got != want {
			t.Errorf("at step %s: published is %v", d.Step, got)
		}
	}
	for i, to := range []decommission.Step{decommission.StopSent, decommission.Revoked, decommission.DeletingDesired} {
		if err := step(to, 42+i); err != nil {
			t.Fatal(err)
		}
	}
	other := d
	other.Step = decommission.Begun // another instance with an older view
	wantErr(t, "an old step", s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.StepDecommission(t.Context(), other, decommission.StopSent, at(45))
	}), store.ErrConflict)
	wantPublished(false)
	sendAll(t, s, at(46))
	wantPublished(true)
	if err := step(decommission.DeletingDocuments, 47); err != nil {
		t.Fatal(err)
	}
	wantPublished(false)
	unsent := must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0))
	for i, kind := range decommission.Documents() {
		if o := unsent[i]; o.Topic != kind || o.Target != "r1" || len(o.Payload) > 0 || o.Seq <= int64(before) {
			t.Errorf("place %d of the outbox is %+v, want an empty %s", i, o, kind)
		}
	}
	sendAll(t, s, at(48))
	if n := len(must[[]decommission.Decommission](t)(s.Decommissions(t.Context(), false))); n != 1 {
		t.Errorf("%d decommissions are under way, want 1", n)
	}
	if err := step(decommission.Archived, 49); err != nil {
		t.Fatal(err)
	}
	if n := len(must[[]decommission.Decommission](t)(s.Decommissions(t.Context(), false))); n != 0 {
		t.Errorf("%d decommissions are under way after the end", n)
	}
	all := must[[]decommission.Decommission](t)(s.Decommissions(t.Context(), true))
	if len(all) != 1 || !all[0].EndedAt.Equal(at(49)) {
		t.Errorf("%+v", all)
	}
	// It is added again and decommissioned again.
	must[bool](t)(s.AddRobot(t.Context(), "r1", at(60)))
	if d = beginDecommission(t, s, "r1", at(70)); d.Step != decommission.Begun || !d.EndedAt.IsZero() {
		t.Errorf("the second time: %+v", d)
	}
}

func sendAll(t testing.TB, s *store.Store, now time.Time) {
	t.Helper()
	var seqs []int64
	for _, o := range must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0)) {
		seqs = append(seqs, o.Seq)
	}
	if err := s.MarkSent(t.Context(), seqs, now); err != nil {
		t.Fatal(err)
	}
}

// A desired document that is written just before the end of a decommission must not stay with
// the broker.
func lateDesiredDocumentsAreDeleted(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fill(t, s)
	d := beginDecommission(t, s, "r1", at(40))
	step := func(to decommission.Step) decommission.Decommission {
		t.Helper()
		transact(t, s, func(tx *store.Tx) error { return tx.StepDecommission(t.Context(), d, to, at(41)) })
		d = must[decommission.Decommission](t)(s.Decommission(t.Context(), "r1"))
		return d
	}
	for _, to := range []decommission.Step{decommission.StopSent, decommission.Revoked, decommission.DeletingDesired,
		decommission.DeletingDocuments} {
		step(to)
	}
	apply(t, s, library.Changes{
		Defaults: []library.Default{desiredStory("r1", 2, "s1", 2)},
		Outbox:   []library.Message{{Topic: schema.TopicDesiredStory, Target: "r1", Payload: []byte(`{"rev":2}`)}},
	})
	sendAll(t, s, at(42))
	apply(t, s, library.Changes{Outbox: []library.Message{{Topic: schema.TopicDesiredConfig, Target: "r2", Payload: []byte(`{"rev":2}`)}}})
	other := must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0))[0].Seq
	if got := step(decommission.Archived); got.Step != decommission.DeletingDocuments || !got.EndedAt.IsZero() {
		t.Errorf("with a late desired state it is %+v", got)
	}
	if published := must[bool](t)(s.DecommissionPublished(t.Context(), "r1")); published {
		t.Error("the late desired document is not deleted")
	}
	var deletions []int64
	for _, o := range must[[]store.Outgoing](t)(s.Unsent(t.Context(), other, 0)) {
		deletions = append(deletions, o.Seq)
	}
	if err := s.MarkSent(t.Context(), deletions, at(43)); err != nil {
		t.Fatal(err)
	}
	if published := must[bool](t)(s.DecommissionPublished(t.Context(), "r1")); !published {
		t.Error("the decommission waits for a document of another robot")
	}
	if got := step(decommission.Archived); got.Step != decommission.Archived {
		t.Errorf("then it is %+v", got)
	}
}

// A robot that is enrolled again before the end of its decommission gets its desired documents
// again.
func cancelledDecommissionRepublishes(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fill(t, s)
	d := beginDecommission(t, s, "r1", at(40))
	for _, to := range []decommission.Step{decommission.StopSent, decommission.Revoked, decommission.DeletingDesired, decommission.Cancelled} {
		transact(t, s, func(tx *store.Tx) error { return tx.StepDecommission(t.Context(), d, to, at(41)) })
		d.Step = to
	}
	unsent := must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0))
	if last := unsent[len(unsent)-1]; last.Topic != schema.TopicDesiredStory || last.Target != "r1" || len(last.Payload) == 0 {
		t.Errorf("the last message of the outbox is %+v", last)
	}
}

func leavingRobotHasNoDesiredDocuments(t *testing.T, address string) {
	s := storetest.Open(t, address)
	fill(t, s)
	beginDecommission(t, s, "r1", at(40))
	for _, o := range must[[]store.Outgoing](t)(s.RetainedDocuments(t.Context())) {
		if o.Target == "r1" {
			t.Errorf("a robot under decommission has the desired document %s", o.Topic)
		}
	}
}

func documentsOfUnknownRobotsAreDeleted(t *testing.T, address string) {
	s := storetest.Open(t, address)
	transact(t, s, func(tx *store.Tx) error { return tx.EnqueueDeletions(t.Context(), "r9", at(1)) })
	unsent := must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0))
	if len(unsent) != len(decommission.DesiredTopics())+len(decommission.Documents()) {
		t.Fatalf("%d documents are deleted", len(unsent))
	}
	first := map[bool]schema.TopicKind{}
	for _, o := range unsent {
		_, params, ok := schema.DefaultNamespace.Match(schema.DefaultNamespace.Topic(o.Topic, o.Target))
		if !ok || params.RID != "r9" || len(o.Payload) > 0 {
			t.Errorf("%+v", o)
		}
		if own := schema.TopicOf(o.Topic).Publish[0].Role == schema.RoleRobot; first[own] == "" {
			first[own] = o.Topic
		}
	}
	if first[true] != schema.TopicPresence {
		t.Errorf("%s is deleted first", first[true])
	}
}

func revokedNamesAreListed(t *testing.T, address string) {
	s := storetest.Open(t, address)
	transact(t, s, func(tx *store.Tx) error {
		return tx.Revoke(t.Context(), enrol.Revoke(nil, "r7", "anna", "", at(1)))
	})
	fill(t, s)
	transact(t, s, func(tx *store.Tx) error {
		return tx.Revoke(t.Context(), enrol.Revoke(nil, "r1", "anna", "", at(1)))
	})
	archive(t, s, "r1", at(5))
	names := must[[]enrol.RevokedName](t)(s.RevokedNames(t.Context()))
	wantEqual(t, "the revoked names", names, []enrol.RevokedName{{Robot: "r1", At: at(1), By: "anna"}, {Robot: "r7", At: at(1), By: "anna"}})
	for robot, want := range map[string]bool{"r7": true, "r1": true, "r8": false} {
		if got := must[bool](t)(s.IsNameRevoked(t.Context(), robot)); got != want {
			t.Errorf("%s has its name revoked: %v", robot, got)
		}
	}
}

// The steps of removals in progress have the names of this release after an update.
func TestStepsOfAnEarlierReleaseAreRenamed(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		s := storetest.Open(t, address)
		fill(t, s)
		beginDecommission(t, s, "r1", at(40))
		for was, is := range map[string]decommission.Step{
			"stopped": decommission.StopSent, "desired_emptied": decommission.DeletingDesired, "emptied": decommission.DeletingDocuments,
			"revoked": decommission.Revoked,
		} {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			db := raw(t, address)
			execute(t, db, `UPDATE decommissions SET step = $1`, was)
			for _, undo := range []string{`DROP TABLE backups`, `DROP TABLE measurement_days`, `DROP TABLE measurement_hours`, `DROP TABLE measurement_minutes`,
				`DROP TABLE fleet_alert_acks`, `DROP TABLE notifications`, `DROP TABLE routes`, `DROP TABLE receivers`,
				`DROP TABLE folder_objects`, `DROP TABLE schedule_runs`, `DROP TABLE schedules`, `DROP TABLE site_maps`, `DROP TABLE sites`,
				`DROP TABLE policies`, `ALTER TABLE tokens DROP COLUMN labels`, `DROP TABLE pins`, `DROP TABLE rollout_robots`,
				`DROP TABLE rollout_waves`, `DROP TABLE rollouts`} {
				execute(t, db, undo)
			}
			execute(t, db, `ALTER TABLE desired DROP COLUMN replaced_at`)
			execute(t, db, `ALTER TABLE files DROP COLUMN details`)
			execute(t, db, `DELETE FROM goose_db_version WHERE version_id > 26`)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			s = storetest.Open(t, address)
			wantEqual(t, "the step "+was, must[decommission.Decommission](t)(s.Decommission(t.Context(), "r1")).Step, is)
		}
	})
}
