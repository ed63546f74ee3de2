package api

import (
	"context"
	"net/http"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// History is what fleetd keeps of the past.
type History interface {
	// Events lists the newest events of robots, the newest first.
	Events(ctx context.Context, q EventQuery) ([]Event, error)
}

// EventQuery selects events; zero values select all.
type EventQuery struct {
	Robot string
	Type  string
	Level []schema.EventLevel // one of these
	Since time.Time           // received at or after
	Until time.Time           // received before
	Limit int
	Sites []string // of robots with one of these sites; none = of all
}

// Event is one event of one robot.
type Event struct {
	Robot    string      `json:"robot"`
	Received schema.Time `json:"received"`
	schema.Event
}

type eventList struct {
	Events []Event `json:"events"`
}

func (s *server) events(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-events", Method: http.MethodGet, Path: "/events", Tag: "robots", Right: auth.View,
		Summary: "List events of robots, the newest first",
		Example: "event list",
	}, func(ctx context.Context, in *struct {
		caller
		Robot string              `query:"robot"`
		Site  string              `query:"site" maxLength:"63" doc:"only of robots whose label site is this"`
		Type  string              `query:"type"`
		Level []schema.EventLevel `query:"level" enum:"info,warn,error,safety" doc:"one of these; several with commas"`
		Since time.Time           `query:"since"`
		Until time.Time           `query:"until"`
		Limit int                 `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	}) (*answer[eventList], error) {
		sites, err := sitesOf(in.principal, in.Site)
		if err != nil {
			return nil, err
		}
		events, err := s.History.Events(ctx, EventQuery{Robot: in.Robot, Type: in.Type, Level: in.Level, Since: in.Since, Until: in.Until, Limit: in.Limit, Sites: sites})
		if err != nil {
			return nil, s.fail(err, "events")
		}
		return &answer[eventList]{eventList{nonNil(events)}}, nil
	})
}
