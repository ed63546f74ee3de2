package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/auth"
)

// History is what fleetd keeps of the past.
type History interface {
	// Events lists the newest events of robots, the newest first.
	Events(ctx context.Context, q EventQuery) ([]Event, error)
	// Audit lists the newest entries of the audit, the newest first.
	Audit(ctx context.Context, limit int) ([]AuditEntry, error)
}

// EventQuery selects events; zero values select all.
type EventQuery struct {
	Robot string
	Type  string
	Since time.Time // received at or after
	Until time.Time // received before
	Limit int
}

type eventList struct {
	Events []Event `json:"events"`
}

func (s *server) events(h huma.API) {
	register(h, op("list-events", http.MethodGet, "/events", "robots", "List events of robots, the newest first"), auth.View,
		func(ctx context.Context, in *struct {
			caller
			Robot string    `query:"robot"`
			Type  string    `query:"type"`
			Since time.Time `query:"since"`
			Until time.Time `query:"until"`
			Limit int       `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*answer[eventList], error) {
			events, err := s.History.Events(ctx, EventQuery{Robot: in.Robot, Type: in.Type, Since: in.Since, Until: in.Until, Limit: in.Limit})
			if err != nil {
				return nil, s.fail(err, "events")
			}
			return &answer[eventList]{eventList{nonNil(events)}}, nil
		})
}

// about registers the version and health of this instance.
func (s *server) about(h huma.API) {
	register(h, op("version", http.MethodGet, "/version", "fleetd", "Get the version and state of this instance"), auth.View,
		func(context.Context, *noInput) (*answer[Status], error) {
			return &answer[Status]{s.Instance.Status()}, nil
		})
	health := op("health", http.MethodGet, "", "fleetd", "Health check",
		"200 if the database and fleetd's disk accept writes. The answer also shows the connection to the broker. Robots continue without all three.")
	health.Path = "/healthz"
	register(h, health, auth.View, func(ctx context.Context, _ *noInput) (*answer[Status], error) {
		if p := s.health.check(ctx, s.Instance, s.Now); p != nil {
			return nil, p
		}
		status := s.Instance.Status()
		if !status.Database.OK {
			return nil, databaseProblem(status.Database.Why)
		}
		return &answer[Status]{status}, nil
	})
}

// healthInterval is the minimum interval between checks that write.
const healthInterval = time.Second

// health caches the result of the newest check.
type health struct {
	mu      sync.Mutex
	at      time.Time
	problem *Problem
	disk    chan error // receives the result of a check in progress
}

// check tests writing to the database and to the disk, or returns a result that is
// younger than healthInterval.
func (h *health) check(ctx context.Context, fleetd Instance, clock func() time.Time) *Problem {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := clock()
	if !h.at.IsZero() && now.Sub(h.at) < healthInterval {
		return h.problem
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), databasePatience) // the result is also for other requests
	defer cancel()
	h.checkDisk(fleetd)
	h.problem = nil
	if err := fleetd.CheckDatabase(ctx); err != nil {
		h.problem = databaseProblem(err.Error())
	} else if err := h.diskAnswer(ctx); err != nil {
		h.problem = KindDisk.Problem(err.Error(), "free space on the disk, or find out why writes fail; stops work meanwhile")
	}
	h.at = clock()
	return h.problem
}

// checkDisk starts a check of the disk, unless one hangs: a write to a stalled disk cannot
// be cancelled. The caller holds mu.
func (h *health) checkDisk(fleetd Instance) {
	if h.disk != nil {
		select {
		case <-h.disk: // late result of an earlier check
		default:
			return
		}
	}
	answer := make(chan error, 1)
	h.disk = answer
	go func() { answer <- fleetd.CheckDisk() }()
}

// diskAnswer waits for the check of the disk. The caller holds mu.
func (h *health) diskAnswer(ctx context.Context) error {
	select {
	case err := <-h.disk:
		h.disk = nil
		return err
	case <-ctx.Done():
		return fmt.Errorf("write to the spool of stops: no answer within %v", databasePatience)
	}
}

func databaseProblem(why string) *Problem {
	return KindDatabase.Problem("the database accepts no writes: "+why, "robots continue, and stops work; check the database, its server and its disk")
}
