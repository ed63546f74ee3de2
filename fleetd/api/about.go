package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/store"
	"troupe/schema"
)

type eventList struct {
	Events []Event `json:"events"`
}

func (s *server) events(h huma.API) {
	huma.Register(h, op("list-events", http.MethodGet, "/events", "robots", "List events of robots, the newest first"),
		func(ctx context.Context, in *struct {
			Robot string    `query:"robot"`
			Type  string    `query:"type"`
			Since time.Time `query:"since"`
			Until time.Time `query:"until"`
			Limit int       `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*answer[eventList], error) {
			db, err := s.desk.Store()
			if err != nil {
				return nil, s.fail(err, "events")
			}
			rows, err := db.Events(ctx, store.EventQuery{Robot: in.Robot, Type: in.Type, Since: in.Since, Until: in.Until, Limit: in.Limit})
			if err != nil {
				return nil, s.fail(err, "events")
			}
			out := eventList{Events: []Event{}}
			for _, row := range rows {
				if e, problems := schema.Decode[schema.Event](row.Body); len(problems) == 0 {
					out.Events = append(out.Events, Event{Robot: row.Robot, Received: timeOf(row.ReceivedAt), Event: e})
				}
			}
			return &answer[eventList]{out}, nil
		})
}

// about says which desk this is and how it stands.
func (s *server) about(h huma.API) {
	huma.Register(h, op("version", http.MethodGet, "/version", "desk", "Say which desk this is and how it stands"),
		func(context.Context, *struct{}) (*answer[Status], error) {
			return &answer[Status]{s.desk.Status()}, nil
		})
	health := op("health", http.MethodGet, "", "desk", "Say whether the desk can do its work",
		"200 if the database answers; the connection to the broker is told beside it. Robots do not need either.")
	health.Path = "/healthz"
	huma.Register(h, health, func(ctx context.Context, _ *struct{}) (*answer[Status], error) {
		db, err := s.desk.Store()
		if err == nil {
			ping, cancel := context.WithTimeout(ctx, 2*time.Second)
			defer cancel()
			err = db.Ping(ping)
		}
		if err != nil {
			return nil, s.fail(err, "database")
		}
		return &answer[Status]{s.desk.Status()}, nil
	})
}
