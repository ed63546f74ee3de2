package library

import (
	"fmt"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// setID is the name of every set of activities; its revision is that of the first desired
// document that named it.
const setID = "activities"

// ActivitiesAssignment sets the activities of robots.
type ActivitiesAssignment struct {
	Activities []Pin // the whole set, in the order in which people see it; empty = none; a revision of 0 = the newest
	Robots     []string
	Expected   *int // number of robots that the caller expects; nil = any
	Caps       CapsOf
}

// ActivitiesAssigned is the result of an ActivitiesAssignment.
type ActivitiesAssigned struct {
	Activities []Pin    // the revisions that are assigned
	Updated    []string // robots that get a new desired document
	Unchanged  []string // robots that had this set already
	Misfits    []Misfit // what robots in Updated lack for activities
	Pinned     []string // robots for which a policy says otherwise, of package change
	Changes    Changes
}

// AssignActivities plans to pin robots to published revisions of activities, instead of the
// activities that they have. They keep these revisions when an activity is published again,
// until it is assigned again. All activities of a set have the same revision of an act.
func AssignActivities(rows Rows, a ActivitiesAssignment, by audit.Attribution) (ActivitiesAssigned, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return ActivitiesAssigned{}, problems
	}
	var out ActivitiesAssigned
	var set joined
	if out.Activities, set, problems = s.resolveActivities(a.Activities); problems != nil {
		return ActivitiesAssigned{}, problems
	}
	robots := slices.Compact(slices.Sorted(slices.Values(a.Robots)))
	for _, robot := range robots {
		if s.hasSet(robot, out.Activities, set) {
			out.Unchanged = append(out.Unchanged, robot)
		} else {
			out.Updated = append(out.Updated, robot)
		}
	}
	if problems := checkCount(robots, a.Expected); problems != nil {
		return ActivitiesAssigned{}, problems
	}
	if len(out.Updated) == 0 {
		return out, nil
	}
	var contents []score.PublishedStory
	for _, p := range out.Activities {
		b := s.published[revisionKey{Ref{KindActivity, p.ID}, p.Rev}]
		contents = append(contents, score.PublishedStory{Story: b.sequence().asActivity().Story(), Acts: b.Acts, Assets: b.Assets})
	}
	out.Misfits = s.misfits(out.Updated, a.Caps, contents...)
	before := s.groupForAudit(out.Updated, func(robot string) string { return joinPins(s.sets[robot].Activities) })
	for _, robot := range out.Updated {
		s.setActivities(robot, out.Activities, set, by)
	}
	what, target := audit.ActionAssign, "activities "+joinPins(out.Activities)
	if len(out.Activities) == 0 {
		what, target = audit.ActionWithdraw, "activities"
	}
	n := s.note(by, what, target, RobotsText(out.Updated))
	n.Before, n.After = before, audit.Robots(map[string][]string{joinPins(out.Activities): out.Updated})
	out.Changes = s.changes
	return out, nil
}

// resolveActivities returns activities with their revisions, and the set that robots get with them.
func (s *snapshot) resolveActivities(wanted []Pin) (pins []Pin, set joined, problems []schema.Problem) {
	for i, w := range wanted {
		if slices.ContainsFunc(wanted[:i], func(p Pin) bool { return p.ID == w.ID }) {
			problems = append(problems, schema.NewProblem(fmt.Sprintf("/activities/%d", i), score.CodeDuplicateID, w.ID+" is named twice",
				"name each activity once"))
			continue
		}
		v, found := s.assignable(Ref{KindActivity, w.ID}, w.Rev)
		for _, p := range found {
			p.Pointer = fmt.Sprintf("/activities/%d", i)
			problems = append(problems, p)
		}
		pins = append(pins, Pin{w.ID, v.Rev})
	}
	if problems == nil {
		set, problems = s.joinActivities(pins)
	}
	return pins, set, problems
}

// ResolveActivities returns activities with the revisions that an assignment would give robots now, or why they cannot be
// assigned.
func ResolveActivities(rows Rows, wanted []Pin) ([]Pin, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return nil, problems
	}
	pins, _, problems := s.resolveActivities(wanted)
	return pins, problems
}

// joinPins formats revisions: greet@3, look@1.
func joinPins(pins []Pin) string {
	all := make([]string, len(pins))
	for i, p := range pins {
		all[i] = fmt.Sprintf("%s@%d", p.ID, p.Rev)
	}
	return strings.Join(all, ", ")
}

// joined is a set of activities in its published form; without activities it has no body.
type joined struct {
	body   []byte
	sha256 string
	files  []score.Asset
}

// joinActivities makes one set of published activities. It is refused if two of them contain
// different revisions of an act or different files of one name.
func (s *snapshot) joinActivities(pins []Pin) (joined, []schema.Problem) {
	if len(pins) == 0 {
		return joined{}, nil
	}
	var list []score.Activity
	var files []score.Asset
	var found []schema.Problem
	acts, from := map[string]score.Act{}, map[string]string{}
	differs := func(i int, what, id, other string) {
		found = append(found, schema.NewProblem(fmt.Sprintf("/activities/%d", i), CodeActDiffers,
			fmt.Sprintf("%s and %s were published with different revisions of the %s %s", other, pins[i].ID, what, id),
			"publish both again: fleetd activity publish "+other+" "+pins[i].ID))
	}
	for i, p := range pins {
		b := s.published[revisionKey{Ref{KindActivity, p.ID}, p.Rev}]
		list = append(list, b.sequence().asActivity())
		for id, a := range b.Acts {
			if other, known := acts[id]; known && string(encode(other)) != string(encode(a)) {
				differs(i, "act", id, from[id])
			} else if !known {
				acts[id], from[id] = a, p.ID
			}
		}
		for _, f := range b.Assets {
			k := slices.IndexFunc(files, func(g score.Asset) bool { return g.Kind == f.Kind && g.Name == f.Name })
			if k < 0 {
				files = append(files, f)
				from[string(f.Kind)+"/"+f.Name] = p.ID
			} else if files[k] != f {
				differs(i, string(f.Kind), f.Name, from[string(f.Kind)+"/"+f.Name])
			}
		}
	}
	if found != nil {
		slices.SortFunc(found, func(a, b schema.Problem) int { return strings.Compare(a.Pointer+a.Detail, b.Pointer+b.Detail) })
		return joined{}, found
	}
	slices.SortFunc(files, func(a, b score.Asset) int {
		return strings.Compare(string(a.Kind)+" "+a.Name, string(b.Kind)+" "+b.Name)
	})
	body, sha256, err := score.EncodeActivities(list, acts, files...)
	if err != nil {
		panic(err) // impossible: they were parsed before
	}
	if limit := schema.TopicOf(schema.TopicBlob).MaxBytes; len(body) > limit {
		return joined{}, []schema.Problem{schema.NewProblem("/activities", score.CodeTooBig,
			fmt.Sprintf("together with their acts the activities have %d bytes, robots accept at most %d", len(body), limit),
			"assign fewer, or shorten their acts")}
	}
	set, problems := score.ParseActivities(body)
	if errs := schema.Errors(append(problems, score.ValidateActivities(set)...)); len(errs) > 0 {
		return joined{}, errs
	}
	return joined{body, sha256, files}, nil
}

// hasSet reports whether a robot has this set already, in a document that need not be
// published again.
func (s *snapshot) hasSet(robot string, pins []Pin, set joined) bool {
	old := s.sets[robot]
	was, _ := schema.Decode[schema.DesiredSet](old.Document)
	same := was.Set == nil && set.body == nil || was.Set != nil && was.Set.SHA256 == set.sha256
	return same && slices.Equal(old.Activities, pins) &&
		!(old.DesiredRev > 0 && s.signer.MustSignAgain(was.Sig, was.Set, was.Released)) && s.reported(robot, schema.TopicDesiredActivities).
		HasSettled(old.DesiredRev)
}

// setActivities sets the activities of a robot, and adds its new desired document to the
// outbox.
func (s *snapshot) setActivities(robot string, pins []Pin, set joined, by audit.Attribution) {
	row := s.sets[robot]
	if !slices.Equal(row.Activities, pins) {
		row.Previous = encode(append([]Pin{}, row.Activities...))
	}
	row.Robot, row.Activities, row.SHA256, row.ChangedAt, row.ChangedBy = robot, pins, set.sha256, by.At, by.Who
	row.DesiredRev = s.reported(robot, schema.TopicDesiredActivities).NextRev(row.DesiredRev)
	desired := schema.DesiredSet{Rev: row.DesiredRev, FleetID: s.fleetID, By: by.Who, TS: schema.TimeOf(by.At)}
	if set.body != nil {
		desired.Set = &schema.ContentPin{ID: setID, Rev: row.DesiredRev, SHA256: set.sha256, Size: int64(len(set.body))}
		s.sendFiles(set.files)
		s.sendBlob(set.sha256)
		if !slices.ContainsFunc(s.changes.Blobs, func(b SetBlob) bool { return b.SHA256 == set.sha256 }) {
			s.changes.Blobs = append(s.changes.Blobs, SetBlob{set.sha256, set.body, digestsOf(set.files)})
		}
	}
	desired.Released, desired.Counter = s.signContent(sign.Activities, desired.Set, by.At)
	desired.Sig = s.sign(sign.Activities, robot, desired)
	row.Document = encode(desired)
	s.sets[robot] = row
	s.changes.Sets = append(s.changes.Sets, row)
	s.changes.Outbox = append(s.changes.Outbox, Message{Topic: schema.TopicDesiredActivities, Target: robot, Payload: row.Document})
}

// republishSets gives the robots whose activities have been shortened or deleted the set with
// what is left.
func (s *snapshot) republishSets(by audit.Attribution) []schema.Problem {
	var robots []string
	for robot, set := range s.sets {
		if slices.ContainsFunc(set.Activities, s.isReplaced) {
			robots = append(robots, robot)
		}
	}
	slices.Sort(robots)
	sets := map[string]joined{}
	for _, robot := range robots {
		var left []Pin
		for _, p := range s.sets[robot].Activities {
			if s.isReplaced(p) {
				p.Rev = s.replacedBy[revisionKey{Ref{KindActivity, p.ID}, p.Rev}]
			}
			if p.Rev > 0 {
				left = append(left, p)
			}
		}
		set, known := sets[joinPins(left)]
		if !known {
			var problems []schema.Problem
			if set, problems = s.joinActivities(left); problems != nil {
				return problems
			}
			sets[joinPins(left)] = set
		}
		s.setActivities(robot, left, set, by)
	}
	return nil
}

func (s *snapshot) isReplaced(p Pin) bool {
	_, moved := s.replacedBy[revisionKey{Ref{KindActivity, p.ID}, p.Rev}]
	return moved
}
