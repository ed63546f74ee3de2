package policy

import (
	"troupe/fleetd/content"
	"troupe/schema"
)

// Decider says who decided what a robot has of one kind of document.
type Decider string

// The deciders.
const (
	ByPolicy Decider = "policy"
	ByPin    Decider = "pin"    // a person pinned it, although a policy may say otherwise
	ByPerson Decider = "person" // a person or a program assigned it, and no policy selects the robot
	ByNobody Decider = "nobody" // it has nothing of this kind
)

// Explanation says why a robot has what it has of one kind of document.
type Explanation struct {
	Topic  schema.TopicKind
	Has    content.Content // empty = it has no document
	By     Decider
	Policy *Policy // that decides; with a pin, that would decide without it; nil = none
	Differ bool    // the robot does not have what Policy says
	Losers []Loser // policies that select the robot and do not decide
}

// Explain says why a robot with these labels has what it has of one kind of document. pinned says that a person pinned it.
func (s Set) Explain(topic schema.TopicKind, labels map[string]string, pinned bool, has content.Content) Explanation {
	d := s.Decide(topic, labels, pinned)
	e := Explanation{Topic: topic, Has: has, Policy: d.Policy, Losers: d.Losers}
	switch {
	case pinned:
		e.By, e.Policy = ByPin, s.Decide(topic, labels, false).Policy
	case d.Policy != nil:
		e.By = ByPolicy
	case has.Topic() != "":
		e.By = ByPerson
	default:
		e.By = ByNobody
	}
	e.Differ = e.Policy != nil && !e.Policy.Content.Within(has)
	return e
}
