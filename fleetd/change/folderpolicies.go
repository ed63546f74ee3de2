package change

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/folder"
	"troupe/fleetd/library"
	"troupe/fleetd/policy"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// checkPolicies checks what the policies of a folder name, if its library is wrong: what the folder has itself is not known then.
func (r *folderRun) checkPolicies(ctx context.Context, objects folder.Objects) error {
	has := r.folder.Paths()
	for _, of := range objects.Policies {
		unknown := of.Is.Topic() == ""
		for kind, ids := range policyEntries([]policy.Policy{of.Is}) {
			for _, id := range ids {
				_, inFolder := has[folder.Ref{Kind: folder.Kind(kind), ID: id}]
				unknown = unknown || inFolder
			}
		}
		if unknown {
			continue
		}
		_, problems, err := r.resolveContent(ctx, r.tx, of.Is.Content, "/content")
		if err != nil {
			return err
		}
		r.refuse(of.Object, problems)
	}
	return nil
}

// policies makes the policies as the folder says, and gives robots what is decided for them then.
func (r *folderRun) policies(ctx context.Context, objects folder.Objects) error {
	had := map[string]policy.Policy{}
	for _, p := range r.before.Policies {
		had[p.ID] = p
	}
	after := maps.Clone(had)
	type planned struct {
		path      string
		was, next *policy.Policy
	}
	var all []planned
	for _, of := range objects.Policies {
		next := of.Is
		was, known := had[of.ID]
		next.Version, next.Owner, next.ChangedAt, next.ChangedBy, next.Why = was.Version+1, r.folder.Name, r.by.At, r.by.Who, r.by.Why
		next.Content.Places = keepRevision(next.Content.Places, r.before.Policies)
		if next.Topic() == "" {
			continue // it is refused already
		}
		resolved, problems, err := r.resolveContent(ctx, r.tx, next.Content, "/content")
		if err != nil {
			return err
		}
		if len(problems) > 0 {
			r.refuse(of.Object, problems)
			continue
		}
		next.Content = resolved
		if sameContent(was.Content, next.Content) { // its rollout may have to prove it yet
			next.Rollout = was.Rollout
		}
		one := planned{path: of.Path, next: &next}
		if known {
			one.was = &was
		}
		after[of.ID], all = next, append(all, one)
	}
	if r.ask.Prune {
		for _, p := range r.before.Policies {
			if _, kept := r.folder.Paths()[folder.Ref{Kind: folder.KindPolicy, ID: p.ID}]; !kept && p.Owner == r.folder.Name {
				was := p
				delete(after, p.ID)
				all = append(all, planned{path: folder.FilePath(folder.Ref{Kind: folder.KindPolicy, ID: p.ID}), was: &was})
			}
		}
	}
	r.refuseNamed(after)
	afterState := r.before
	afterState.Policies = slices.SortedFunc(maps.Values(after), func(a, b policy.Policy) int { return 0 })
	afterState.Library.Entries = r.newestEntries()
	writer := &Policies{Deps: r.Deps, Rollouts: r.Rollouts}
	changed := false
	var replaced []policy.Policy // as they were
	for _, one := range all {
		c := r.made.PolicyChange(r.before, afterState, one.path, one.was, one.next)
		if r.made.Add(c); c.Effect == library.EffectNone && one.was.Owner == r.folder.Name {
			continue
		}
		r.needs(one.path, auth.Assign, "a policy")
		changed = changed || c.Effect != library.EffectNone
		was, next := policy.Policy{}, policy.Policy{}
		if one.was != nil {
			was = *one.was
		}
		if one.next != nil {
			next = *one.next
		}
		if err := writer.save(ctx, r.tx, was, next, r.by); err != nil {
			return err
		}
		if differs(was, next) {
			replaced = append(replaced, was)
		}
	}
	r.placesChanges(objects, placesByID(r.before.Policies), placesByID(afterState.Policies))
	if !changed || len(r.found) > 0 {
		return nil
	}
	if err := r.give(ctx, policy.SetOf(r.before.Policies), policy.SetOf(afterState.Policies)); err != nil {
		return err
	}
	for _, was := range replaced { // after the new rollouts, whose plans counted the robots that they take from these
		ends, err := r.endings(ctx, r.tx, nil, was, true)
		if err != nil {
			return err
		}
		r.ends = append(r.ends, ends...)
	}
	return r.endRollouts(ctx)
}

// endRollouts makes the open rollouts end that give robots something else than what policies say now.
func (r *folderRun) endRollouts(ctx context.Context) error {
	whole := map[string]bool{}
	for _, ends := range r.ends {
		whole[ends.Rollout.ID] = whole[ends.Rollout.ID] || ends.Whole
	}
	for _, ends := range r.ends {
		if ends.Whole || !whole[ends.Rollout.ID] {
			if err := r.Rollouts.end(ctx, r.tx, ends, r.by); err != nil {
				return err
			}
		}
	}
	return nil
}

// refuseNamed refuses to delete stories and activities that policies name.
func (r *folderRun) refuseNamed(after map[string]policy.Policy) {
	for _, id := range slices.Sorted(maps.Keys(after)) {
		r.refuseGone(after[id].Content, "policy "+id+" names it")
	}
}

// refuseGone refuses to delete stories and activities that a content names.
func (r *folderRun) refuseGone(named content.Content, why string) {
	entries := policyEntries([]policy.Policy{{Content: named}})
	for _, c := range r.made.Changes {
		if c.Effect != library.EffectDelete || c.Kind != folder.KindStory && c.Kind != folder.KindActivity {
			continue
		}
		if slices.Contains(entries[library.Kind(c.Kind)], c.ID) {
			r.found = append(r.found, library.FileProblem{Problem: schema.NewProblem("", library.CodeInUse,
				fmt.Sprintf("%s is not in the folder any more, and %s", c.Ref, why), "change that first, or put its file back")})
		}
	}
}

// newestEntries are the entries of the library with their revisions after the apply.
func (r *folderRun) newestEntries() []library.Entry {
	revs := map[library.Ref]int64{}
	for _, e := range r.made.Library.Entries {
		revs[library.Ref{Kind: e.Kind, ID: e.ID}] = e.Rev
	}
	var out []library.Entry
	for _, e := range r.before.Library.Entries {
		at := library.Ref{Kind: e.Kind, ID: e.ID}
		if rev, changed := revs[at]; changed {
			e.Rev = rev
			delete(revs, at)
		}
		out = append(out, e)
	}
	for _, e := range r.made.Library.Entries {
		if _, isNew := revs[library.Ref{Kind: e.Kind, ID: e.ID}]; isNew {
			out = append(out, e)
		}
	}
	return out
}

// keepRevision gives places the revision of those that policies have with the same name: the next one if the points differ.
func keepRevision(s *desired.Set, all []policy.Policy) *desired.Set {
	if s == nil || s.Rev > 0 || len(s.Body) == 0 {
		return s
	}
	set := *s
	set.Rev = 1
	for _, p := range all {
		old := p.Content.Places
		switch {
		case old == nil || old.ID != set.ID:
		case folder.SamePlaces(old.Body, set.Body):
			set.Rev, set.Body = old.Rev, old.Body
			return &set
		default:
			set.Rev = max(set.Rev, old.Rev+1)
		}
	}
	return &set
}

// placesByID returns the places that policies name, by their id.
func placesByID(all []policy.Policy) map[string]jsontext.Value {
	out := map[string]jsontext.Value{}
	for _, p := range all {
		if s := p.Content.Places; s != nil && s.ID != "" {
			out[s.ID] = s.Body
		}
	}
	return out
}

// placesChanges says how the places of policies change.
func (r *folderRun) placesChanges(objects folder.Objects, before, after map[string]jsontext.Value) {
	for _, id := range slices.Sorted(maps.Keys(objects.Places)) {
		of := objects.Places[id]
		if _, named := after[id]; named {
			r.made.Add(r.made.PlacesChange(id, of.Path, before[id], of.Is))
		}
	}
}

// give brings what policies decide now to the robots for which they decided something else before: in a rollout, or at once.
func (r *folderRun) give(ctx context.Context, before, after policy.Set) error {
	robots, err := r.tx.Robots(ctx, selector.All())
	if err != nil {
		return err
	}
	pins, err := pinsOf(ctx, r.tx, nil)
	if err != nil {
		return err
	}
	topics := map[schema.TopicKind]bool{}
	for _, set := range []policy.Set{before, after} {
		for topic := range set {
			topics[topic] = true
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		groups, reaches := map[string]*group{}, map[string]*folder.Reach{}
		reach := func(id string) *folder.Reach {
			if reaches[id] == nil {
				reaches[id] = &folder.Reach{Policy: id, Robots: []string{}}
			}
			return reaches[id]
		}
		for _, robot := range robots {
			was, is := before.Decide(topic, robot.Labels, false).Policy, after.Decide(topic, robot.Labels, false).Policy
			switch {
			case was == nil && is == nil, was != nil && is != nil && was.ID == is.ID && sameContent(was.Content, is.Content):
			case pins[robot.ID][topic]:
				if is != nil {
					reach(is.ID).Pinned++
				}
			case is == nil:
				reach(was.ID).Left = append(reach(was.ID).Left, robot.ID)
			default:
				if groups[is.ID] == nil {
					groups[is.ID] = &group{policy: *is}
					if old, known := named(r.before.Policies, is.ID); known && sameContent(old.Content, is.Content) {
						groups[is.ID] = atNextStart(*is) // another policy changed
					}
				}
				groups[is.ID].robots = append(groups[is.ID].robots, robot.ID)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(groups)) {
			if err := r.giveGroup(ctx, *groups[id], reach(id)); err != nil {
				return err
			}
		}
		for _, id := range slices.Sorted(maps.Keys(reaches)) {
			if one := reaches[id]; len(one.Robots)+len(one.Left)+one.Pinned > 0 {
				r.made.Reaches = append(r.made.Reaches, *one)
			}
		}
	}
	return nil
}

// sameContent reports whether two resolved contents are equal.
func sameContent(a, b content.Content) bool {
	one, err := a.Digest()
	other, err2 := b.Digest()
	return err == nil && err2 == nil && one == other
}

func (r *folderRun) giveGroup(ctx context.Context, g group, reach *folder.Reach) error {
	reach.Content = g.policy.Content.String()
	by := r.by.Because("policy " + g.policy.ID + " of folder " + r.folder.Name)
	planned, problems, err := r.planPolicy(ctx, r.tx, g, by)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		path := r.folder.Paths()[folder.Ref{Kind: folder.KindPolicy, ID: g.policy.ID}]
		for _, p := range problems {
			r.found = append(r.found, library.FileProblem{Path: path, Problem: p})
		}
		return nil
	}
	g.unchanged = planned.Unchanged
	ends, err := r.endings(ctx, r.tx, []group{g}, policy.Policy{}, false)
	if err != nil {
		return err
	}
	r.ends = append(r.ends, ends...)
	reach.Robots = slices.Sorted(slices.Values(planned.Updated))
	if len(reach.Robots) == 0 {
		return nil
	}
	if r.ask.Now {
		r.touched = append(r.touched, reach.Robots...)
		if err := planned.apply(ctx); err != nil {
			return err
		}
		return r.addAssignments(ctx, r.tx, []assignment{{content: g.policy.Content, given: planned.given, policy: g.policy.ID}},
			g.policy.Selector, by)
	}
	return r.roll(ctx, g, reach)
}

// roll creates and starts the rollout of what a policy says.
func (r *folderRun) roll(ctx context.Context, g group, reach *folder.Reach) error {
	ask := RolloutRequest{Name: "policy " + g.policy.ID, Content: g.policy.Content, Robots: selector.IDs(reach.Robots...),
		Selected: g.policy.Selector.String(),
		Spec:     r.ask.Rollout, Cause: rollout.ByFolder, CauseID: r.folder.Name}
	plan, _, problems, err := r.Rollouts.plan(ctx, r.tx, ask)
	if err != nil {
		return err
	}
	for _, p := range problems {
		r.found = append(r.found, library.FileProblem{Problem: p})
	}
	if len(problems) > 0 {
		return nil
	}
	for _, w := range plan.Waves {
		reach.Waves = append(reach.Waves, folder.ReachWave{Name: w.Name, Robots: len(w.Robots)})
	}
	for _, no := range plan.Refused {
		reach.Refused = append(reach.Refused, no.Robot+": "+no.Detail)
	}
	for _, s := range plan.Superseding {
		reach.Taken += len(s.Robots)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make an id for a rollout: %w", err)
	}
	created, members := plan.Rollout(rollout.New{ID: id.String(), Name: ask.Name, Selector: ask.Selected, Cause: ask.Cause,
		CauseID: ask.CauseID, By: r.by.Who, Why: r.by.Why, At: r.by.At, Start: true})
	if err := r.tx.AddRollouts(ctx, store.NewRollout{Rollout: created, Members: members}); err != nil {
		return err
	}
	if g.policy.Owner == r.folder.Name { // those who join later wait until this rollout has proven the content
		if err := r.tx.SetPolicyRollout(ctx, g.policy.ID, created.ID); err != nil {
			return err
		}
	}
	if reach.State = string(created.State); !r.dryRun {
		reach.Rollout = created.ID
	}
	n := rolloutNote(created, audit.ActionRollout, r.by.Who, r.by.Why)
	n.Detail = fmt.Sprintf("%s to %d robots in %d waves", created.Content, len(members), len(created.Waves))
	return r.tx.Note(ctx, r.by.At, n)
}
