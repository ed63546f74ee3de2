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

// DesiredRequest is what somebody wants of robots beside a story: exactly one of
// config, mode, places and activities.
type DesiredRequest struct {
	Selector      selector.Selector `json:"selector"`
	Config        *DesiredConfig    `json:"config,omitempty" doc:"change settings"`
	Mode          *DesiredMode      `json:"mode,omitempty" doc:"the mode to be in"`
	Places        *DesiredSet       `json:"places,omitempty" doc:"the map and the named points"`
	Activities    *DesiredSet       `json:"activities,omitempty" doc:"what autonomous life may do"`
	DryRun        bool              `json:"dry_run,omitempty"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless so many robots are selected"`
	Signed
}

// DesiredConfig changes settings; what it does not name stays.
type DesiredConfig struct {
	Set   map[string]jsontext.Value `json:"set,omitempty" doc:"values by key, as JSON"`
	Unset []string                  `json:"unset,omitempty" doc:"keys that are to have their default again"`
}

// DesiredMode is a mode, and when it is taken.
type DesiredMode struct {
	Mode  schema.ModeID    `json:"mode"`
	Apply schema.ApplyMode `json:"apply,omitempty" enum:"boot,now" doc:"after start-up, or also once now; boot if left out"`
}

// DesiredSet is a published set; without a body it is taken back.
type DesiredSet struct {
	ID   string         `json:"id,omitempty"`
	Rev  int64          `json:"rev,omitempty" minimum:"0"`
	Body jsontext.Value `json:"body,omitempty" doc:"the set, as JSON"`
}

// DesiredResult is what a desired state comes to.
type DesiredResult struct {
	DryRun    bool     `json:"dry_run,omitempty"`
	Topic     string   `json:"topic" doc:"of the document that says so"`
	Total     int      `json:"total"`
	Told      []string `json:"told"`
	Unchanged []string `json:"unchanged" doc:"they had this desired state already"`
}

// DesiredState is one desired state of a robot, and what the robot says of it.
type DesiredState struct {
	Topic    string         `json:"topic"`
	Desired  jsontext.Value `json:"desired" doc:"the document as it was told"`
	Reported jsontext.Value `json:"reported,omitempty" doc:"the robot's document; left out before it said anything"`
	// Overtaken says so of a desired state whose number the robot does not heed.
	Overtaken string `json:"overtaken,omitempty" doc:"why the robot does not heed this number; the desired state is told again under a higher one"`
}

type desiredList struct {
	Desired []DesiredState `json:"desired"`
}

func (s *server) desired(h huma.API) {
	huma.Register(h, op("desired", http.MethodPost, "/desired", "desired", "Set the desired settings, mode, places or activities of robots",
		"A desired state waits for robots that are away. Each robot reports what became of it; a mode overrules no stop, no lost link and nobody who has a robot in hand."),
		func(ctx context.Context, in *struct{ Body DesiredRequest }) (*answer[DesiredResult], error) {
			return s.setDesired(ctx, in.Body)
		})
	huma.Register(h, op("get-desired", http.MethodGet, "/robots/{id}/desired", "desired", "Get the desired state of a robot, and what it says of it"),
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
		return a, []schema.Problem{schema.Fault("", "bad_value", fmt.Sprintf("%d of config, mode, places and activities are there", parts), "send exactly one")}
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
		if _, unknown, err := named(ctx, tx, w.Selector); err != nil {
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
		out = DesiredResult{DryRun: w.DryRun, Topic: string(c.Topic), Total: len(rows.Robots), Told: listed(c.Told), Unchanged: listed(c.Unchanged)}
		if w.DryRun {
			return nil
		}
		return tx.ApplyDesired(ctx, c, by)
	})
	if err != nil {
		return nil, s.fail(err, "desired")
	}
	if !w.DryRun && len(out.Told) > 0 {
		s.fleet.Changed(ctx)
	}
	return &answer[DesiredResult]{out}, nil
}

// tellLabels brings a robot's labels to the robot, which knows by them whether a
// stop means it.
func tellLabels(ctx context.Context, tx *store.Tx, robot string, by desired.By) error {
	rows, err := tx.DesiredRows(ctx, schema.TopicDesiredConfig, selector.IDs(robot))
	if err != nil {
		return err
	}
	c, found := desired.Labels(rows, by)
	if len(found) > 0 {
		return fmt.Errorf("tell %s its labels: %v", robot, found[0])
	}
	return tx.ApplyDesired(ctx, c, by)
}

// ReportOn is where a robot answers to a desired state.
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
	for _, row := range schema.Topics { // in the order of the contract
		payload, ok := desired[row.Kind]
		if !ok || ReportOn[row.Kind] == "" {
			continue
		}
		w := DesiredState{Topic: string(row.Kind), Desired: payload, Reported: s.fleet.Document(robot, ReportOn[row.Kind])}
		told, _ := schema.Decode[struct {
			Rev int64 `json:"rev"`
		}](payload)
		if h := schema.HeardIn(db.FleetID(), w.Reported); h.Overtakes(told.Rev) {
			w.Overtaken = h.Why(told.Rev)
		}
		out.Desired = append(out.Desired, w)
	}
	return &answer[desiredList]{out}, nil
}
