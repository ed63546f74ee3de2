package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/desired"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// DesiredRequest changes desired documents of robots, except the story: exactly one of
// config, mode, places and activities.
type DesiredRequest struct {
	Selector      selector.Selector `json:"selector"`
	Config        *DesiredConfig    `json:"config,omitempty" doc:"change settings"`
	Mode          *DesiredMode      `json:"mode,omitempty" doc:"the mode after start-up"`
	Places        *DesiredSet       `json:"places,omitempty" doc:"map and named points"`
	Activities    *DesiredSet       `json:"activities,omitempty" doc:"activities of autonomous life"`
	DryRun        bool              `json:"dry_run,omitempty"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots are selected"`
	Signed
}

// DesiredConfig changes settings; those that it does not name stay.
type DesiredConfig struct {
	Set   map[string]jsontext.Value `json:"set,omitempty" doc:"values by key, as JSON"`
	Unset []string                  `json:"unset,omitempty" doc:"keys to reset to their default"`
}

// DesiredMode is a mode, and when robots change to it.
type DesiredMode struct {
	Mode  schema.ModeID    `json:"mode"`
	Apply schema.ApplyMode `json:"apply,omitempty" enum:"boot,now" doc:"boot: after start-up; now: also once when the robot receives it; default boot"`
}

// DesiredSet is a published set; without a body the desired set is cleared.
type DesiredSet struct {
	ID   string         `json:"id,omitempty"`
	Rev  int64          `json:"rev,omitempty" minimum:"0"`
	Body jsontext.Value `json:"body,omitempty" doc:"the set, as JSON"`
}

// DesiredResult is the result of a DesiredRequest.
type DesiredResult struct {
	DryRun    bool     `json:"dry_run,omitempty"`
	Topic     string   `json:"topic" doc:"kind of the desired document"`
	Total     int      `json:"total"`
	Updated   []string `json:"told" doc:"robots that get a new desired document"`
	Unchanged []string `json:"unchanged" doc:"robots that had this desired state already"`
}

// DesiredState is one desired document of a robot, and the robot's report on it.
type DesiredState struct {
	Topic    string         `json:"topic"`
	Desired  jsontext.Value `json:"desired" doc:"the desired document"`
	Reported jsontext.Value `json:"reported,omitempty" doc:"the robot's reported document; left out if there is none"`
	// Overtaken is set if the robot has accepted a higher revision than fleetd published.
	Overtaken string `json:"overtaken,omitempty" doc:"why the robot ignores this revision; fleetd publishes the document again with a higher one"`
}

type desiredList struct {
	Desired []DesiredState `json:"desired"`
}

func (s *server) desired(h huma.API) {
	huma.Register(h, op("desired", http.MethodPost, "/desired", "desired", "Set the desired settings, mode, places or activities of robots",
		"Robots that are offline get the document when they connect. Each robot reports the result. A desired mode never ends a stop, a lost link or somebody's control of the robot."),
		func(ctx context.Context, in *struct{ Body DesiredRequest }) (*answer[DesiredResult], error) {
			return s.setDesired(ctx, in.Body)
		})
	huma.Register(h, op("get-desired", http.MethodGet, "/robots/{id}/desired", "desired", "Get the desired state of a robot and its reports"),
		func(ctx context.Context, in *One) (*answer[desiredList], error) { return s.getDesired(ctx, in.ID) })
}

func (w DesiredRequest) ask() (desired.Ask, []schema.Problem) {
	a := desired.Ask{Expected: w.ExpectedCount}
	parts := 0
	if c := w.Config; c != nil {
		parts++
		a.Config = &desired.Config{Set: c.Set, Unset: c.Unset}
	}
	if m := w.Mode; m != nil {
		parts++
		a.Mode = &desired.Mode{Mode: m.Mode, Apply: m.Apply}
	}
	if p := w.Places; p != nil {
		parts++
		a.Places = &desired.Set{ID: p.ID, Rev: p.Rev, Body: p.Body}
	}
	if p := w.Activities; p != nil {
		parts++
		a.Activities = &desired.Set{ID: p.ID, Rev: p.Rev, Body: p.Body}
	}
	if parts != 1 {
		return a, []schema.Problem{schema.Fault("", "bad_value", fmt.Sprintf("the request has %d of config, mode, places and activities", parts), "send exactly one")}
	}
	if w.DryRun {
		a.Expected = nil
	}
	return a, nil
}

func (s *server) setDesired(ctx context.Context, w DesiredRequest) (*answer[DesiredResult], error) {
	a, found := w.ask()
	if len(found) > 0 {
		return nil, refusal(inBody("", found))
	}
	if found := w.Selector.Problems(); len(found) > 0 {
		return nil, refusal(inBody("/selector", found))
	}
	db, err := s.fleet.Store()
	if err != nil {
		return nil, s.fail(err, "desired")
	}
	var out DesiredResult
	err = db.Tx(ctx, func(tx *store.Tx) error {
		if _, unknown, err := matching(ctx, tx, w.Selector); err != nil {
			return err
		} else if len(unknown) > 0 {
			return refusal(inBody("/selector", unknownRobotProblems(w.Selector, unknown)))
		}
		rows, err := tx.DesiredRows(ctx, a.Topic(), w.Selector)
		if err != nil {
			return err
		}
		by := desired.By{Who: w.By, Why: w.Why, At: s.fleet.Now()}
		c, found := desired.Plan(rows, a, by)
		if len(found) > 0 {
			return refusal(inBody("", found)).withCount(len(rows.Robots))
		}
		out = DesiredResult{DryRun: w.DryRun, Topic: string(c.Topic), Total: len(rows.Robots), Updated: nonNil(c.Updated), Unchanged: nonNil(c.Unchanged)}
		if w.DryRun {
			return nil
		}
		return tx.ApplyDesired(ctx, c, by)
	})
	if err != nil {
		return nil, s.fail(err, "desired")
	}
	if !w.DryRun && len(out.Updated) > 0 {
		s.fleet.Changed(ctx)
	}
	return &answer[DesiredResult]{out}, nil
}

// publishLabels writes a robot's labels into its desired configuration; the robot needs
// them to decide whether a stop selects it.
func publishLabels(ctx context.Context, tx *store.Tx, robot string, by desired.By) error {
	rows, err := tx.DesiredRows(ctx, schema.TopicDesiredConfig, selector.IDs(robot))
	if err != nil {
		return err
	}
	c, found := desired.Labels(rows, by)
	if len(found) > 0 {
		return fmt.Errorf("publish labels to %s: %v", robot, found[0])
	}
	return tx.ApplyDesired(ctx, c, by)
}

// ReportOn maps the kind of a desired document to that of the robot's report.
var ReportOn = map[schema.TopicKind]schema.TopicKind{
	schema.TopicDesiredStory:      schema.TopicReportedStory,
	schema.TopicDesiredConfig:     schema.TopicReportedConfig,
	schema.TopicDesiredMode:       schema.TopicReportedMode,
	schema.TopicDesiredPlaces:     schema.TopicReportedPlaces,
	schema.TopicDesiredActivities: schema.TopicReportedActivities,
}

func (s *server) getDesired(ctx context.Context, robot string) (*answer[desiredList], error) {
	db, err := s.fleet.Store()
	if err != nil {
		return nil, s.fail(err, "robot "+robot)
	}
	if _, err := db.Robot(ctx, robot); err != nil {
		return nil, s.fail(err, "robot "+robot)
	}
	desired, err := db.DesiredOf(ctx, robot)
	if err != nil {
		return nil, s.fail(err, "robot "+robot)
	}
	out := desiredList{Desired: []DesiredState{}}
	for _, row := range schema.Topics { // in the order of the topic table
		payload, ok := desired[row.Kind]
		if !ok || ReportOn[row.Kind] == "" {
			continue
		}
		w := DesiredState{Topic: string(row.Kind), Desired: payload, Reported: s.fleet.Document(robot, ReportOn[row.Kind])}
		told, _ := schema.Decode[struct {
			Rev int64 `json:"rev"`
		}](payload)
		if h := schema.ReportedRevIn(db.FleetID(), w.Reported); h.MustRenumber(told.Rev) {
			w.Overtaken = h.Why(told.Rev)
		}
		out.Desired = append(out.Desired, w)
	}
	return &answer[desiredList]{out}, nil
}
