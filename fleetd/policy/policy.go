// Package policy decides which content robots have by their labels: those that are in the fleet, and those that join it later. At most
// one policy decides each kind of document of a robot, and a person who pins what a robot has decides before every policy.
package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/content"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// MaxPlace bounds the place of a policy.
const MaxPlace = 1_000_000

// Codes of problems.
const (
	CodeNotLabels = "not_labels"    // a selector names robots or their state, which newcomers have not
	CodeSamePlace = "same_place"    // a warning: two policies for some robots have the same place
	CodeOutranked = "outranked"     // a warning: other policies decide for all of its robots
	CodeVersion   = "other_version" // somebody changed the policy meanwhile
)

// Policy says which robots have a content.
type Policy struct {
	ID        string
	Version   int64 // rises with every change
	Place     int   // of several policies that select a robot, the one with the lowest place decides
	Selector  selector.Selector
	Content   content.Content // resolved: revisions are given
	Enabled   bool
	Rollout   string // that brings the content to its robots; empty = they got it at once
	Owner     string // the folder that it was applied from; empty = a person
	Why       string
	ChangedAt time.Time
	ChangedBy string
}

// Topic is the kind of document that the policy is about.
func (p Policy) Topic() schema.TopicKind { return p.Content.Topic() }

// Problems reports everything that is wrong with a policy, but for what its content names: that depends on the library.
func (p Policy) Problems() (found []schema.Problem) {
	if !schema.ValidID(p.ID) {
		found = append(found, schema.NewProblem("/id", "bad_id", fmt.Sprintf("%q cannot name a policy", p.ID),
			"write a to z, 0 to 9 and -, at most 63 characters"))
	}
	if p.Place < 0 || p.Place > MaxPlace {
		found = append(found, schema.NewProblem("/place", "bad_value", fmt.Sprintf("%d is not a place", p.Place),
			fmt.Sprintf("write 0 to %d; the lowest decides", MaxPlace)))
	}
	const hint = "select labels, such as -l site=lobby, or --all"
	if len(p.Selector.IDs) > 0 {
		found = append(found, schema.NewProblem("/selector/ids", CodeNotLabels,
			"a policy cannot name robots: it is for robots that join later, too", hint+"; to keep what one robot has, pin it"))
	}
	if p.Selector.NeedsView() {
		found = append(found, schema.NewProblem("/selector", CodeNotLabels,
			"a policy cannot select robots by what they do now, which changes all the time", hint))
	}
	for _, s := range p.Selector.Problems() {
		if s.Code != "missing" && len(p.Selector.IDs)+len(p.Selector.Labels) > 0 || s.Code == "missing" {
			s.Pointer = "/selector" + s.Pointer
			if s.Code == "missing" {
				s.Hint = hint
			}
			found = append(found, s)
		}
	}
	return append(found, p.Content.Problems("/content")...)
}

// Set is policies in the order in which they decide, by the kind of their documents.
type Set map[schema.TopicKind][]Policy

// SetOf returns the set of policies.
func SetOf(policies []Policy) Set {
	s := Set{}
	for _, p := range policies {
		s[p.Topic()] = append(s[p.Topic()], p)
	}
	for _, all := range s {
		slices.SortFunc(all, func(a, b Policy) int { return cmp.Or(cmp.Compare(a.Place, b.Place), cmp.Compare(a.ID, b.ID)) })
	}
	return s
}

// Decision says which policy decides one kind of document of a robot.
type Decision struct {
	// Policy is the one that decides; nil if none does. With a pin it is nil, and the policy that would decide is the first of Losers.
	Policy *Policy
	Losers []Loser // the policies that select the robot and do not decide
}

// Loser is a policy that does not decide, although it selects the robot.
type Loser struct {
	Policy string `json:"policy"`
	Why    string `json:"why"`
}

// Decide returns what decides one kind of document of a robot with these labels. pinned says that a person pinned it.
func (s Set) Decide(topic schema.TopicKind, labels map[string]string, pinned bool) (d Decision) {
	robot := selector.Robot{Labels: labels}
	all := s[topic]
	var first *Policy
	for i := range all {
		p := &all[i]
		var why string
		switch {
		case !p.Selector.Match(robot):
			continue
		case !p.Enabled:
			why = "it is disabled"
		case first == nil && pinned:
			first, why = p, "a person pinned what the robot has"
		case first == nil:
			first, d.Policy = p, p
			continue
		case p.Place == first.Place:
			why = fmt.Sprintf("%s has the same place %d and comes first by its name", first.ID, first.Place)
		default:
			why = fmt.Sprintf("%s comes first: place %d, and this has %d", first.ID, first.Place, p.Place)
		}
		d.Losers = append(d.Losers, Loser{p.ID, why})
	}
	return d
}

// Overlap is another policy of the same kind that selects some of the robots of a policy.
type Overlap struct {
	Policy string `json:"policy"`
	Place  int    `json:"place"`
	Robots int    `json:"robots" doc:"robots that both select"`
	First  bool   `json:"first" doc:"the other policy comes first"`
	Same   bool   `json:"same_place,omitempty" doc:"both have the same place, and the order of their names decides"`
}

// Overlaps lists the other enabled policies that select some of the robots of p; labels are those of the robots that p selects.
func (s Set) Overlaps(p Policy, labels []map[string]string) (out []Overlap) {
	before := true // in the order of deciding, p was not reached yet
	for _, other := range s[p.Topic()] {
		if other.ID == p.ID {
			before = false
			continue
		}
		o := Overlap{Policy: other.ID, Place: other.Place, First: before, Same: other.Place == p.Place}
		for _, l := range labels {
			if other.Enabled && other.Selector.Match(selector.Robot{Labels: l}) {
				o.Robots++
			}
		}
		if o.Robots > 0 {
			out = append(out, o)
		}
	}
	return out
}

// Warnings says what a person should look at before policy p is in force; total is the number of robots that p selects.
func Warnings(p Policy, overlaps []Overlap, total, decides int) (found []schema.Problem) {
	for _, o := range overlaps {
		if o.Same {
			first := p.ID
			if o.First {
				first = o.Policy
			}
			found = append(found, warning(CodeSamePlace,
				fmt.Sprintf("policy %s has the same place %d and selects %d of these robots; %s decides for them, by the order of names", o.Policy,
					o.Place, o.Robots, first),
				"give one of them a lower place"))
		}
	}
	if p.Enabled && total > 0 && decides == 0 {
		found = append(found, warning(CodeOutranked, fmt.Sprintf("other policies decide for all of the %d robots", total),
			"give it a lower place than theirs"))
	}
	return found
}

// NotApplied warns that a policy cannot give robots what it says, for a reason.
func NotApplied(p Policy, robots int, why schema.Problem) schema.Problem {
	return schema.Problem{Pointer: "", Severity: schema.SeverityWarning, Code: why.Code,
		Detail: fmt.Sprintf("policy %s would decide for %d robots, which keep what they have: %s", p.ID, robots,
			why.Detail), Hint: "change policy " + p.ID}
}

func warning(code, detail, hint string) schema.Problem {
	return schema.Problem{Pointer: "/place", Severity: schema.SeverityWarning, Code: code, Detail: detail, Hint: hint}
}
