package change

import (
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
)

// before is what a robot had of one kind, and the revision of the document that said so; 0 = there was none.
type before struct {
	rev int64
	had *content.Content
}

// givenTo joins what robots had, with none for those that are not in it, with the revisions of their new documents.
func givenTo(had map[string]before, none content.Content, revs map[string]int64, updated, unchanged []string) map[string]rollout.Given {
	given := make(map[string]rollout.Given, len(updated)+len(unchanged))
	of := func(robot string) before {
		b, ok := had[robot]
		if !ok {
			b.had = &none
		}
		return b
	}
	for _, robot := range updated {
		given[robot] = rollout.Given{Rev: revs[robot], Had: of(robot).had}
	}
	for _, robot := range unchanged {
		b := of(robot)
		given[robot] = rollout.Given{Rev: b.rev, Had: b.had, Unchanged: true}
	}
	return given
}

// givenStories is what an assignment of stories gives robots.
func givenStories(rows library.Rows, c library.Changes, updated, unchanged []string) map[string]rollout.Given {
	had, shared := map[string]before{}, map[content.Story]*content.Content{}
	for _, d := range rows.Defaults {
		story := content.Story{ID: d.Story, Rev: d.Rev, Apply: d.Apply}
		if shared[story] == nil {
			shared[story] = &content.Content{Story: &story}
		}
		had[d.Robot] = before{d.DesiredRev, shared[story]}
	}
	revs := map[string]int64{}
	for _, d := range c.Defaults {
		revs[d.Robot] = d.DesiredRev
	}
	return givenTo(had, content.Content{Story: &content.Story{}}, revs, updated, unchanged)
}

// givenActivities is what an assignment of activities gives robots.
func givenActivities(rows library.Rows, done library.ActivitiesAssigned) map[string]rollout.Given {
	had := map[string]before{}
	for _, set := range rows.Sets {
		had[set.Robot] = before{set.DesiredRev, &content.Content{Activities: &content.Activities{Pins: set.Activities}}}
	}
	revs := map[string]int64{}
	for _, set := range done.Changes.Sets {
		revs[set.Robot] = set.DesiredRev
	}
	return givenTo(had, content.Content{Activities: &content.Activities{}}, revs, done.Updated, done.Unchanged)
}

// givenDocuments is what a request for settings, a mode or places gives robots.
func givenDocuments(rows desired.Rows, ask desired.Request, done desired.Changes) map[string]rollout.Given {
	had, shared := map[string]before{}, map[string]*content.Content{}
	for _, r := range rows.Robots {
		value := desired.ValueOf(ask, r.Current.Payload)
		if shared[value] == nil {
			was := desired.Before(ask, r.Current.Payload)
			shared[value] = &content.Content{Config: was.Config, Mode: was.Mode, Places: was.Places}
		}
		had[r.ID] = before{r.Current.Rev, shared[value]}
	}
	revs := map[string]int64{}
	for _, d := range done.Documents {
		revs[d.ID] = d.Current.Rev
	}
	return givenTo(had, content.Content{}, revs, done.Updated, done.Unchanged)
}
