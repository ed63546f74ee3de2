package store_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/policy"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

func policyOf(id string, place int, c content.Content) policy.Policy {
	return policy.Policy{ID: id, Version: 1, Place: place, Selector: selector.Labelled(selector.Label{Key: "site", Value: "lobby"}),
		Content: c, Enabled: true,
		Rollout: "o1", Owner: "museum", Why: "the show", ChangedAt: at(1), ChangedBy: "anna"}
}

func policiesAreReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	story := content.Content{Story: &content.Story{ID: "museum", Rev: 3, Apply: schema.ApplyNextAct}}
	mode := content.Content{Mode: &desired.Mode{Mode: schema.ModeAto, Apply: schema.ApplyModeBoot}}
	late, first, other := policyOf("a", 20, story), policyOf("b", 10, story), policyOf("m", 5, mode)
	other.Selector, other.Enabled, other.Owner = selector.All(), false, ""
	transact(t, s, func(tx *store.Tx) error {
		for _, p := range []policy.Policy{late, other, first} {
			if err := tx.SavePolicy(t.Context(), p); err != nil {
				return err
			}
		}
		return nil
	})
	wantEqual(t, "all policies, in their order", must[[]policy.Policy](t)(s.Policies(t.Context(), "")), []policy.Policy{other, first, late})
	wantEqual(t, "those about stories", must[[]policy.Policy](t)(s.Policies(t.Context(), schema.TopicDesiredStory)), []policy.Policy{first,
		late})
	wantEqual(t, "one", must[policy.Policy](t)(s.Policy(t.Context(), "m")), other)
	_, err := s.Policy(t.Context(), "x")
	wantErr(t, "an unknown policy", err, store.ErrNotFound)
}

// A policy that somebody else changed meanwhile is neither written nor deleted.
func policyOfAnotherVersionIsAConflict(t *testing.T, address string) {
	s := storetest.Open(t, address)
	p := policyOf("lobby", 10, content.Content{Story: &content.Story{ID: "museum", Rev: 3}})
	save := func(p policy.Policy) error {
		return s.Tx(t.Context(), func(tx *store.Tx) error { return tx.SavePolicy(t.Context(), p) })
	}
	remove := func(p policy.Policy) error {
		return s.Tx(t.Context(), func(tx *store.Tx) error { return tx.DeletePolicy(t.Context(), p) })
	}
	wantErr(t, "a new policy", save(p), nil)
	wantErr(t, "a new one of the same name", save(p), store.ErrConflict)
	p.Version, p.Place = 2, 7
	wantErr(t, "its next version", save(p), nil)
	wantErr(t, "the same version again", save(p), store.ErrConflict)
	wantEqual(t, "the policy", must[policy.Policy](t)(s.Policy(t.Context(), "lobby")), p)
	older := p
	older.Version = 1
	wantErr(t, "deleting an older version", remove(older), store.ErrConflict)
	wantErr(t, "deleting it", remove(p), nil)
	wantErr(t, "deleting it again", remove(p), store.ErrConflict)
}

func labelsOfManyRobotsAreReplaced(t *testing.T, address string) {
	s := storetest.Open(t, address)
	all := map[string]map[string]string{}
	for i := range 7 {
		id := fmt.Sprintf("r%d", i)
		robots(t, s, id)
		all[id] = map[string]string{"site": "lobby", "floor": fmt.Sprint(i)}
	}
	set := func(labels map[string]map[string]string) {
		transact(t, s, func(tx *store.Tx) error { return tx.SetLabelsOf(t.Context(), labels) })
	}
	set(all)
	before := must[store.PollResult](t)(s.Poll(t.Context(), store.PollResult{}))
	all["r1"] = map[string]string{"floor": "9"}
	all["r2"] = map[string]string{}
	set(map[string]map[string]string{"r1": all["r1"], "r2": all["r2"]})
	for _, r := range must[[]store.Robot](t)(s.Robots(t.Context(), selector.All())) {
		if !maps.Equal(r.Labels, all[r.ID]) {
			t.Errorf("%s has %v, want %v", r.ID, r.Labels, all[r.ID])
		}
	}
	after := must[store.PollResult](t)(s.Poll(t.Context(), before))
	slices.Sort(after.Robots)
	if after.All || !slices.Equal(after.Robots, []string{"r1", "r2"}) {
		t.Errorf("other instances read again %v %q", after.All, after.Robots)
	}
}
