package api

import (
	"context"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/schema"
)

// A robot that left the fleet, or moved to another site, must not keep the people of a site from holding back a rollout.
func TestPeopleOfASiteHoldBackRolloutsToTheirRobots(t *testing.T) {
	db := storetest.Open(t, storetest.SQLite(t))
	deps := change.Deps{Now: time.Now, Store: storetest.Opened(db), Changed: func(context.Context, []string) {}}
	robots := view.New(view.Deps{Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now})
	rollouts := &change.Rollouts{Deps: deps, Name: "fleetd", Candidate: func(id string) (rollout.Candidate, bool) {
		return rollout.Candidate{Robot: selector.Robot{ID: id}, Online: true}, true
	}}
	adopt := func(ids ...string) {
		for _, id := range ids {
			if _, err := (&change.Adoptions{Deps: deps}).Adopt(t.Context(), auth.Principal{}, id, audit.Attribution{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	site := func(robot, site string) {
		if err := (&change.Labels{Deps: deps}).Set(t.Context(), auth.Principal{}, robot, map[string]string{auth.SiteLabel: site},
			audit.Attribution{}); err != nil {
			t.Fatal(err)
		}
		if err := robots.Reload(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	adopt("r1", "r2")
	site("r1", "lobby")
	site("r2", "lobby")
	adopt("r3") // which the view does not know, as if it had left
	o, _, found, err := rollouts.Create(t.Context(), auth.Principal{}, change.RolloutRequest{
		Content: content.Content{Mode: &desired.Mode{Mode: schema.ModeMnl}}, Robots: selector.All(), Start: true,
	}, audit.Attribution{Who: "anna"})
	if err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	s := &server{Deps: Deps{Now: time.Now, View: robots, Rollouts: rollouts}}
	decide := func(site string, on rollout.Event) error {
		p := auth.Principal{ID: "anna", Kind: auth.KindSession, Sites: []string{site}}
		_, err := s.decideRollout(t.Context(), p, o.ID, rollout.Decision{On: on}, Decision{})
		return err
	}
	p := auth.Principal{ID: "anna", Kind: auth.KindSession, Sites: []string{"lobby"}}
	if _, _, err := s.rolloutFor(t.Context(), p, o.ID); err != nil {
		t.Errorf("a robot that is not in the fleet keeps the others' people from the rollout: %v", err)
	}
	site("r2", "hall")
	health, err := s.rolloutHealth(t.Context(), p, o)
	if all, allErr := s.rolloutHealth(t.Context(), auth.Principal{Kind: auth.KindSession}, o); err != nil || allErr != nil ||
		health.Rest.Robots != 1 || all.Rest.Robots != 3 {
		t.Errorf("the health for people of the lobby is %+v, for people of every site %+v; %v %v", health, all, err, allErr)
	}
	if err := decide("lobby", rollout.OnPause); err != nil {
		t.Errorf("a person who sees r1 cannot pause the rollout: %v", err)
	}
	if err := decide("lobby", rollout.OnResume); err == nil {
		t.Error("a person who sees one of its robots only resumes the rollout")
	}
	if err := decide("yard", rollout.OnAbort); err == nil {
		t.Error("a person who sees none of its robots aborts the rollout")
	}
	if err := decide("hall", rollout.OnAbort); err != nil {
		t.Errorf("a person who sees r2 cannot abort the rollout: %v", err)
	}
}
