package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/auth"
	"troupe/fleetd/desired"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// LastAssignment is one request that gave robots something, as long as it is the newest one of
// its kind for some of them.
type LastAssignment struct {
	ID      string           `json:"id" doc:"of the kind and the time"`
	Kind    string           `json:"kind" enum:"story,activities,config,mode,places"`
	At      time.Time        `json:"at" doc:"that of its entry in the audit"`
	By      string           `json:"by,omitempty" doc:"the person, by the name that they gave; left out for what fleetd did itself"`
	Why     string           `json:"why,omitempty" doc:"the reason that the person gave"`
	Reverts bool             `json:"reverts,omitempty" doc:"it gave robots the stories again that they had before"`
	Total   int              `json:"total" doc:"robots that were given nothing else of this kind since"`
	Groups  []AssignedRobots `json:"groups" doc:"robots that were given the same and had the same before"`

	Accepted  int `json:"accepted" doc:"robots that report that they have it"`
	Refused   int `json:"refused" doc:"robots that refused it, also in part"`
	Undecided int `json:"undecided" doc:"robots that have not reported about it yet"`
}

// AssignedRobots is robots that were given the same and had the same before.
type AssignedRobots struct {
	Now       jsontext.Value `json:"now,omitempty" doc:"what they were given: id and rev of a story, a list of these of activities, the settings that changed (null = default), mode and apply, or places"`
	Before    jsontext.Value `json:"before,omitempty" doc:"what they had before, in the same form; an empty story or list is none"`
	NoWayBack string         `json:"no_way_back,omitempty" doc:"why they cannot have it back"`
	Robots    []string       `json:"robots"`
	Replaced  *Replaced      `json:"replaced,omitempty" doc:"the newest assignment of what they had before; left out if it is not known"`
}

// Replaced is an assignment in whose place another one came.
type Replaced struct {
	At  time.Time `json:"at" doc:"that of its entry in the audit"`
	By  string    `json:"by,omitempty" doc:"the person, by the name that they gave"`
	Why string    `json:"why,omitempty" doc:"the reason that the person gave"`
}

// LastAssignments are the last assignments, the newest first.
type LastAssignments struct {
	Assignments []LastAssignment `json:"assignments"`
}

func (s *server) lastAssignments(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-assignments", Method: http.MethodGet, Path: "/assignments", Tag: "desired", Right: auth.View,
		Summary: "List the last assignments: who gave which robots what, and what they had before",
		Description: "The newest first. An assignment is listed as long as some robots were given nothing else of its kind since; " +
			"only these are named. To revert them: revert-assignment, desired with previous, and assign-activities.",
		Use:     "desired assignments [ROBOT]",
		Example: "desired assignments r1\ndesired assignments r1 --limit 5",
		Long: "List the last assignments of stories, activities, settings, modes and places, the newest first, with\n" +
			"what the robots had before. An assignment is listed as long as some robots were given nothing else of\n" +
			"its kind since; only these are named.\n" +
			"To revert robots: fleetd story revert, fleetd desired revert, fleetd activity assign.",
	}, func(ctx context.Context, in *struct {
		caller
		Robot string    `query:"robot" maxLength:"64" doc:"only those that gave this robot something"`
		At    time.Time `query:"at" doc:"only those of this time, such as that of an entry of the audit"`
		Limit int       `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"at most this many"`
	}) (*answer[LastAssignments], error) {
		robots, err := s.narrow(in.principal, selector.Selector{All: true}, false)
		if err != nil {
			return nil, err
		}
		found, fleetID, err := s.Desired.Last(ctx, robots, desired.LastQuery{Robot: in.Robot, At: in.At, Limit: in.Limit})
		if err != nil {
			return nil, s.fail(err, "last assignments")
		}
		out := LastAssignments{Assignments: []LastAssignment{}}
		for _, a := range found {
			out.Assignments = append(out.Assignments, s.lastAssignment(a, fleetID))
		}
		return &answer[LastAssignments]{out}, nil
	})
}

func (s *server) lastAssignment(a desired.LastAssignment, fleetID string) LastAssignment {
	kind := strings.TrimPrefix(string(a.Topic), "desired_")
	out := LastAssignment{ID: fmt.Sprintf("%s-%d", kind, a.At.UnixMicro()), Kind: kind, At: a.At, By: a.By, Why: a.Why, Reverts: a.Reverts}
	for _, g := range a.Groups {
		robots := make([]string, len(g.Robots))
		for i, r := range g.Robots {
			robots[i] = r.Robot
			switch s.outcome(a.Topic, r, fleetID) {
			case desired.Accepted:
				out.Accepted++
			case desired.Refused:
				out.Refused++
			default:
				out.Undecided++
			}
		}
		out.Total += len(robots)
		group := AssignedRobots{Now: g.Now, Before: g.Before, NoWayBack: g.Why, Robots: robots}
		if r := g.Replaced; !r.At.IsZero() {
			group.Replaced = &Replaced{At: r.At, By: r.By, Why: r.Why}
		}
		out.Groups = append(out.Groups, group)
	}
	return out
}

// outcome is what a robot reports about what it was given.
func (s *server) outcome(topic schema.TopicKind, r desired.NewestChange, fleetID string) desired.Outcome {
	report := s.View.Document(r.Robot, desired.ReportOn[topic])
	return desired.ProgressOf(fleetID, r.Rev, report, desired.Ignored(fleetID, r.Rev, report)).Outcome
}
