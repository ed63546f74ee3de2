package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/sse"

	"troupe/fleetd/auth"
	"troupe/fleetd/view"
	"troupe/schema"
)

// Watch reports changes of robots.
type Watch interface {
	// Next waits for changes and returns the newest summary of each robot that changed;
	// none if atMost passes without a change.
	Next(ctx context.Context, atMost time.Duration) ([]view.Robot, error)
	Close()
}

// Snapshot lists every robot, at the start of the stream.
type Snapshot struct {
	TS     schema.Time  `json:"ts"`
	Robots []view.Robot `json:"robots"`
}

// Changes lists the robots that changed since the last event of the stream.
type Changes struct {
	TS     schema.Time  `json:"ts"`
	Robots []view.Robot `json:"robots"`
}

// statusInterval is the period of Status in the stream, which is also its keep-alive.
const statusInterval = 2 * time.Second

func (s *server) stream(h huma.API) {
	sse.Register(h, permit(op("stream", http.MethodGet, "/stream", "robots", "Stream changes of robots",
		"First the status of fleetd and every robot, then the robots that changed, collected for a moment, and the status of fleetd every two seconds."), auth.View),
		map[string]any{"fleetd": Status{}, "robots": Snapshot{}, "changes": Changes{}},
		func(ctx context.Context, in *robotQuery, send sse.Sender) {
			sel, err := in.selector()
			if err != nil {
				return // cannot happen: Resolve checked the parameters
			}
			w := s.Robots.Watch()
			defer w.Close()
			if send.Data(s.Instance.Status()) != nil || send.Data(Snapshot{schema.TimeOf(s.Now()), s.selected(s.Robots.Robots(), sel)}) != nil {
				return
			}
			for told := s.Now(); ; {
				changed, err := w.Next(ctx, statusInterval)
				if err != nil {
					return
				}
				if changed = s.selected(changed, sel); len(changed) > 0 {
					if send.Data(Changes{schema.TimeOf(s.Now()), changed}) != nil {
						return
					}
				}
				if now := s.Now(); now.Sub(told) >= statusInterval {
					if send.Data(s.Instance.Status()) != nil {
						return
					}
					told = now
				}
			}
		})
}
