package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/desired"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
	"troupe/schema"
	"troupe/schema/score"
)

// DesiredRequest changes desired documents of robots, except the story and the activities:
// exactly one of config, mode, places, points and previous.
type DesiredRequest struct {
	Selector      selector.Selector `json:"selector"`
	Config        *desired.Config   `json:"config,omitempty" doc:"change settings" cli:"-"`
	Mode          *desired.Mode     `json:"mode,omitempty" doc:"the mode after start-up" cli:"-"`
	Places        *desired.Set      `json:"places,omitempty" doc:"map and named points" cli:"-"`
	Points        *DesiredPoints    `json:"points,omitempty" doc:"points to add to the places that the robots have" cli:"-"`
	Previous      string            `json:"previous,omitempty" enum:"config,mode,places" doc:"give each robot back what it had before the newest change of these; a second request undoes that" cli:"kind"`
	DryRun        bool              `json:"dry_run,omitempty" doc:"only show which robots would be updated"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots are selected"`
	audit.Attribution
}

// DesiredPoints adds points to the places that robots have. It is refused for places with
// another map, and if a point of the same name lies elsewhere.
type DesiredPoints struct {
	ID        string           `json:"id,omitempty" doc:"name of the set of robots that have no places; default places"`
	MapSHA256 string           `json:"map_sha256,omitempty" doc:"digest of the map on which the points lie; left out for the body's own map"`
	Points    map[string]Point `json:"points" doc:"by name"`
	Replace   bool             `json:"replace,omitempty" doc:"replace points of the same name that lie elsewhere"`
}

// Point is a point on a map in metres, with a final heading in radians if there is one.
type Point struct {
	XM       float64  `json:"x_m"`
	YM       float64  `json:"y_m"`
	ThetaRad *float64 `json:"theta_rad,omitempty"`
}

// DesiredResult is the result of a DesiredRequest.
type DesiredResult struct {
	DryRun    bool            `json:"dry_run,omitempty"`
	Topic     string          `json:"topic" doc:"kind of the desired document"`
	Total     int             `json:"total"`
	Updated   []string        `json:"updated" doc:"robots that get a new desired document"`
	Unchanged []string        `json:"unchanged" doc:"robots that had this desired state already"`
	Before    []ValueOfRobots `json:"was" doc:"what the updated robots had before"`
	After     []ValueOfRobots `json:"to,omitempty" doc:"what the updated robots get back, if the request reverts them"`

	Skipped []SkippedRobot `json:"skipped,omitempty" doc:"robots that cannot be reverted, and why"`
	Pinned  []string       `json:"pinned,omitempty" doc:"robots for which a policy says otherwise: they are pinned, so no policy changes them until the pin is removed"`
}

// ValueOfRobots is a value that robots have in common, before or after a change.
type ValueOfRobots struct {
	Value  jsontext.Value `json:"value,omitempty" doc:"what their desired document said about what the request sets: values by key (null = default), mode and apply, or places; left out if they had no document"`
	Robots []string       `json:"robots"`
}

// DesiredQuery names a kind of desired document, and robots.
type DesiredQuery struct {
	NameQuery
	Topic schema.TopicKind `query:"topic" required:"true" enum:"desired_story,desired_config,desired_mode,desired_places,desired_activities" cli:"kind"`
}

// RobotProgress is how far one robot is with a desired document.
type RobotProgress struct {
	Robot string `json:"robot"`
	desired.Progress
}

// ProgressList is how far robots are with a desired document.
type ProgressList struct {
	Topic  string          `json:"topic"`
	Robots []RobotProgress `json:"robots" doc:"in the order of their names"`
}

// DesiredState is one desired document of a robot, and the robot's report on it.
type DesiredState struct {
	Topic    string         `json:"topic"`
	Desired  jsontext.Value `json:"desired" doc:"the desired document"`
	Reported jsontext.Value `json:"reported,omitempty" doc:"the robot's reported document; left out if there is none"`
	// Overtaken is set if the robot has accepted a higher revision than fleetd published.
	Overtaken string `json:"overtaken,omitempty" doc:"why the robot ignores this revision; fleetd publishes the document again with a higher one"`
}

// DesiredList is the desired documents of a robot.
type DesiredList struct {
	Desired []DesiredState `json:"desired"`
}

func (s *server) desired(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "desired", Method: http.MethodPost, Path: "/desired", Tag: "desired", Right: auth.Assign,
		Summary: "Set the desired settings, mode or places of robots",
		Description: "Robots that are offline get the document when they connect. Each robot reports the result. A desired mode " +
			"never ends a stop, a lost link or somebody's control of the robot.",
		Audit:   audit.ActionDesired,
		Example: "desired mode ato r1",
	}, s.setDesired)
	operation.Register(t, operation.Row{
		ID: "list-desired", Method: http.MethodGet, Path: "/desired", Tag: "desired", Right: auth.View,
		Summary: "List how far robots are with a desired document",
		Use:     "desired list KIND [ROBOT...]",
		Example: "desired list mode r1\ndesired list config -l site=museum",
		Long: "Show how far robots are with their desired story, config, mode, places or activities; without robots and labels, of\n" +
			"all robots.",
	}, s.listDesired)
	operation.Register(t, operation.Row{
		ID: "get-desired", Method: http.MethodGet, Path: "/robots/{id}/desired", Tag: "desired", Right: auth.View,
		Summary: "Get the desired state of a robot and its reports",
		Use:     "desired get ROBOT",
		Example: "desired get r1",
	}, s.getDesired)
	operation.Register(t, operation.Row{
		ID: "list-points", Method: http.MethodGet, Path: "/robots/{id}/points", Tag: "desired", Right: auth.View,
		Summary:     "List the points that a robot can go to",
		Description: "Those that it was taught hold on the map taught_map_sha256 only.",
		Use:         "robot points ROBOT",
		Example:     "robot points r1",
		Long: "List the points that a robot can go to, and where each is from: the robot's map, the desired\n" +
			"places, or taught on the robot. Only the robot knows the coordinates of points of its map.",
	}, s.listPoints)
}

func (w DesiredRequest) ask() (desired.Request, []schema.Problem) {
	a := desired.Request{Config: w.Config, Mode: w.Mode, Places: w.Places, Expected: w.ExpectedCount}
	parts := 0
	if w.Config != nil {
		parts++
	}
	if w.Mode != nil {
		parts++
	}
	if p := w.Places; p != nil {
		parts++
		if len(p.Body) > 0 && p.SHA256 != "" {
			return a, []schema.Problem{schema.NewProblem("/places/sha256", "bad_value", "the places have both a body and a digest",
				"send one of them")}
		}
	}
	if p := w.Points; p != nil {
		parts++
		a.Points = &desired.Points{ID: cmp.Or(p.ID, "places"), Map: p.MapSHA256, Points: map[string]score.Point{}, Replace: p.Replace}
		for name, q := range p.Points {
			a.Points.Points[name] = score.Point(q)
		}
	}
	if w.Previous != "" {
		parts++
		a.Revert = schema.TopicKind("desired_" + w.Previous)
	}
	if parts != 1 {
		return a, []schema.Problem{schema.NewProblem("", "bad_value",
			fmt.Sprintf("the request has %d of config, mode, places, points and previous", parts), "send exactly one")}
	}
	if w.DryRun {
		a.Expected = nil
	}
	return a, nil
}

func (s *server) setDesired(ctx context.Context, in *bodyOf[DesiredRequest]) (*answer[DesiredResult], error) {
	a, found := in.Body.ask()
	if len(found) > 0 {
		return nil, refusal(inBody("", found))
	}
	robots, err := s.robotsFor(in.principal, in.Body.Selector)
	if err != nil {
		return nil, err
	}
	c, total, found, err := s.Desired.Set(ctx, in.principal, robots, a, in.Body.DryRun, attribute(in.principal, in.Body.Attribution))
	if err := s.failedSelected(err, "desired", in.Body.Selector, found, total); err != nil {
		return nil, err
	}
	out := DesiredResult{DryRun: in.Body.DryRun, Topic: string(c.Topic), Total: total, Updated: nonNil(c.Updated),
		Unchanged: nonNil(c.Unchanged), Before: valuesOfRobots(c.ValuesBefore), After: valuesOfRobots(c.ValuesAfter), Pinned: c.Pinned}
	for _, k := range c.NotReverted {
		out.Skipped = append(out.Skipped, SkippedRobot{k.Robot, k.Why.Detail, k.Why.Hint})
	}
	return &answer[DesiredResult]{out}, nil
}

func valuesOfRobots(all []desired.ValueOfRobots) []ValueOfRobots {
	out := make([]ValueOfRobots, len(all))
	for i, w := range all {
		out[i] = ValueOfRobots(w)
	}
	return out
}

func (s *server) listDesired(ctx context.Context, in *DesiredQuery) (*answer[ProgressList], error) {
	sel, err := in.selector()
	if err != nil {
		return nil, err
	}
	documents, fleetID, err := s.Desired.Newest(ctx, in.Topic, sel)
	if err != nil {
		return nil, s.fail(err, "desired documents")
	}
	out := ProgressList{Topic: string(in.Topic), Robots: []RobotProgress{}}
	for _, r := range visible(in.principal, selected(s.View.Robots(), sel)) {
		report := s.View.Document(r.ID, desired.ReportOn[in.Topic])
		out.Robots = append(out.Robots, RobotProgress{r.ID, desired.ProgressOf(fleetID, documents[r.ID].Rev, report,
			desired.Ignored(fleetID, documents[r.ID].Rev, report))})
	}
	return &answer[ProgressList]{out}, nil
}

func (s *server) getDesired(ctx context.Context, in *PathID) (*answer[DesiredList], error) {
	documents, fleetID, err := s.Desired.Of(ctx, in.ID)
	if err != nil {
		return nil, s.fail(err, "robot "+in.ID)
	}
	out := DesiredList{Desired: []DesiredState{}}
	for _, row := range schema.Topics { // in the order of the topic table
		payload, ok := documents[row.Kind]
		if !ok || desired.ReportOn[row.Kind] == "" {
			continue
		}
		w := DesiredState{Topic: string(row.Kind), Desired: payload, Reported: s.View.Document(in.ID, desired.ReportOn[row.Kind])}
		document, _ := schema.Decode[struct {
			Rev int64 `json:"rev"`
		}](payload)
		w.Overtaken = desired.Ignored(fleetID, document.Rev, w.Reported)
		out.Desired = append(out.Desired, w)
	}
	return &answer[DesiredList]{out}, nil
}
