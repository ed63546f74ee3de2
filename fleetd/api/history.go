package api

import (
	"context"
	"net/http"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/operation"
	"troupe/schema"
)

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
		Use:     "event list [ROBOT...]",
		Short:   "list what happened to robots, the newest first",
		Example: "event list\nevent list --level warn,error,safety --since 1h\nevent list r1 --type act_ended\n" +
			"event list --follow --level safety",
		Long: "List what happened to robots, the newest first; with --follow the oldest of them first, and then each\n" +
			"as it happens. Levels: info is what a robot does, warn what is not as it should be, error what was not\n" +
			"done, safety what concerns the permission to move. topics.md lists the types of events.",
	}, func(ctx context.Context, in *struct {
		caller
		Robot string    `query:"robot"`
		Site  string    `query:"site" maxLength:"63" doc:"only of robots whose label site is this"`
		Type  string    `query:"type" doc:"only of this type"`
		Level []string  `query:"level" enum:"info,warn,error,safety" doc:"one of these; several with commas"`
		Since time.Time `query:"since" doc:"only those that fleetd received at or after" cli:",when"`
		Until time.Time `query:"until" doc:"only those that fleetd received before" cli:"-"`
		Limit int       `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"at most this many" cli:",,50"`
	}) (*answer[eventList], error) {
		sites, err := sitesOf(in.principal, in.Site)
		if err != nil {
			return nil, err
		}
		rows, err := s.History.Events(ctx, change.EventQuery{
			Robot: in.Robot, Type: in.Type, Level: in.Level, Since: in.Since, Until: in.Until, Limit: in.Limit, Sites: sites,
		})
		if err != nil {
			return nil, s.fail(err, "events")
		}
		out := eventList{Events: []Event{}}
		for _, row := range rows {
			if e, problems := schema.Decode[schema.Event](row.Body); len(problems) == 0 {
				e.Level = schema.EventLevel(row.Level)
				out.Events = append(out.Events, Event{Robot: row.Robot, Received: schema.TimeOf(row.ReceivedAt), Event: e})
			}
		}
		return &answer[eventList]{out}, nil
	})
}
