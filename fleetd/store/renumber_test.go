package store_test

import (
	"slices"
	"testing"

	"troupe/fleetd/audit"
	plan "troupe/fleetd/desired"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// A desired document whose revision a robot has overtaken is published again with a higher
// one, and still needs its bytes.
func overtakenDesiredDocumentsAreRenumbered(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	reported := schema.ReportedRev{}
	s.SetReportedRevisions(func(robot string, topic schema.TopicKind) schema.ReportedRev {
		if robot == "r1" && topic == schema.TopicDesiredPlaces {
			return reported
		}
		return schema.ReportedRev{}
	})
	apply := func(decide func(plan.Rows) (plan.Changes, []schema.Problem)) (c plan.Changes) {
		err := s.Tx(t.Context(), func(tx *store.Tx) error {
			rows, err := tx.DesiredRows(t.Context(), schema.TopicDesiredPlaces, selector.All())
			if err != nil {
				return err
			}
			var problems []schema.Problem
			if c, problems = decide(rows); len(problems) > 0 {
				t.Fatal(problems)
			}
			return tx.ApplyDesired(t.Context(), c, audit.Attribution{Who: "anna", At: at(5)})
		})
		wantErr(t, "the desired state", err, nil)
		return c
	}
	apply(func(rows plan.Rows) (plan.Changes, []schema.Problem) {
		return plan.Plan(rows, plan.Request{Places: &plan.Set{ID: "hall", Body: []byte(`{"schema":1,"points":{}}`)}},
			audit.Attribution{Who: "anna", At: at(5)})
	})
	again := func(rows plan.Rows) (plan.Changes, []schema.Problem) {
		return plan.Renumber(schema.TopicDesiredPlaces, rows, audit.Attribution{Who: "fleetd", At: at(6)})
	}
	if c := apply(again); len(c.Updated) != 0 {
		t.Errorf("it was not overtaken, and was published again: %+v", c)
	}
	reported = schema.ReportedRev{Rev: 7}
	if c := apply(again); len(c.Updated) != 1 || c.Documents[0].Current.Rev != 8 {
		t.Errorf("published again as %+v", c.Documents)
	}
	all := must[[]store.Outgoing](t)(s.RetainedDocuments(t.Context()))
	if !slices.ContainsFunc(all, func(o store.Outgoing) bool { return o.Topic == schema.TopicBlob }) {
		t.Error("its bytes are no longer needed")
	}
	if rev := must[map[string]map[schema.TopicKind]int64](t)(s.DesiredRevs(t.Context()))["r1"][schema.TopicDesiredPlaces]; rev != 8 {
		t.Errorf("the revision is %d", rev)
	}
}
