package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
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
			db, err := s.fleet.Store()
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

// about says which instance this is and how it stands.
func (s *server) about(h huma.API) {
	huma.Register(h, op("version", http.MethodGet, "/version", "fleetd", "Say which instance this is and how it stands"),
		func(context.Context, *struct{}) (*answer[Status], error) {
			return &answer[Status]{s.fleet.Status()}, nil
		})
	health := op("health", http.MethodGet, "", "fleetd", "Say whether fleetd can do its work",
		"200 if the database and fleetd's own disk take changes; the connection to the broker is told beside it. Robots do not need any of them.")
	health.Path = "/healthz"
	huma.Register(h, health, func(ctx context.Context, _ *struct{}) (*answer[Status], error) {
		if p := s.health.check(ctx, s.fleet); p != nil {
			return nil, p
		}
		status := s.fleet.Status()
		if !status.Database.OK {
			return nil, databaseProblem(status.Database.Why)
		}
		return &answer[Status]{status}, nil
	})
}

// healthEvery is how often, at most, fleetd writes because somebody asks how it is.
const healthEvery = time.Second

// health is the newest answer to that question.
type health struct {
	mu      sync.Mutex
	at      time.Time
	problem *Problem
	disk    chan error // the answer of a check of the disk that has begun
}

// check writes to the database and to the disk, unless somebody had it done just now.
func (h *health) check(ctx context.Context, fleetd Fleet) *Problem {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := fleetd.Now()
	if !h.at.IsZero() && now.Sub(h.at) < healthEvery {
		return h.problem
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), databasePatience) // who asked may leave, the answer is for others too
	defer cancel()
	h.checkDisk(fleetd)
	h.problem = nil
	if err := fleetd.CheckDatabase(ctx); err != nil {
		h.problem = databaseProblem(err.Error())
	} else if err := h.diskAnswer(ctx); err != nil {
		h.problem = KindDisk.Problem(err.Error(), "make room on the disk, or look why it takes nothing; stops work meanwhile")
	}
	h.at = fleetd.Now()
	return h.problem
}

// checkDisk begins a check of the disk, unless one hangs: a write to a disk that stalls
// cannot be given up. It is called under the lock.
func (h *health) checkDisk(fleetd Fleet) {
	if h.disk != nil {
		select {
		case <-h.disk: // of an earlier check, that nobody waited for to the end
		default:
			return
		}
	}
	answer := make(chan error, 1)
	h.disk = answer
	go func() { answer <- fleetd.CheckDisk() }()
}

// diskAnswer waits for the check of the disk. It is called under the lock.
func (h *health) diskAnswer(ctx context.Context) error {
	select {
	case err := <-h.disk:
		h.disk = nil
		return err
	case <-ctx.Done():
		return fmt.Errorf("write to the disk of the stops: no answer within %v", databasePatience)
	}
}

func databaseProblem(why string) *Problem {
	return KindDatabase.Problem("the database takes no changes: "+why, "robots go on, and stops work; look at the database, its server and its disk")
}
