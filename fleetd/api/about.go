package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/latch"
	"troupe/fleetd/operation"
	"troupe/fleetd/retained"
	"troupe/schema"
)

// Status is the state of this fleetd instance.
type Status struct {
	TS       schema.Time `json:"ts"`
	Version  string      `json:"version"`
	Name     string      `json:"name"`
	Dev      bool        `json:"dev,omitempty" doc:"development mode: a person who is not signed in has every right"`
	Broker   Health      `json:"broker"`
	Database Health      `json:"database"`
	Disputed string      `json:"disputed,omitempty" doc:"set if another client seems to use this instance's name"`

	Leadership Leadership `json:"leadership"`

	Latched         []latch.LatchedStop `json:"latched" doc:"latched stops, without the names of their robots"`
	LatchedComplete bool                `json:"latched_complete" doc:"false: more stops may be latched, because the database was not read yet, or a robot reports one that is not persisted yet"`

	RetainedCommands []retained.Command `json:"retained_commands,omitempty" doc:"commands and live stops that the broker retained although they must not be, the newest first: those present, and those removed in the last hour. Only the leader lists them"`
	FleetID          string             `json:"fleet_id,omitempty" doc:"identifies the fleet's database to robots"`
	Others           []string           `json:"others,omitempty" doc:"other instances whose heartbeats arrive"`
	Instances        []InstanceHealth   `json:"instances" doc:"this instance, and every other one that it has heard since it started"`
	StopButtons      []StopButton       `json:"stop_buttons,omitempty" doc:"those of the setting stop-buttons, and those that this instance has heard since it started"`
	Messages         int64              `json:"messages" doc:"messages that this instance has received since it started"`
	Dropped          int64              `json:"dropped,omitempty" doc:"events of robots that were lost because they could not be stored"`
}

// InstanceHealth is what an instance of fleetd says of itself in its heartbeats.
type InstanceHealth struct {
	Name      string      `json:"name"`
	This      bool        `json:"this,omitempty" doc:"the instance that answers"`
	Version   string      `json:"version,omitempty" doc:"left out by earlier releases, which say nothing of themselves"`
	StartedAt schema.Time `json:"started_at,omitzero"`
	Leads     bool        `json:"leads,omitempty" doc:"it says that it is the leader"`
	Database  bool        `json:"database,omitempty" doc:"it says that its database answers"`
	Broker    bool        `json:"broker,omitempty" doc:"its heartbeats arrive; of this instance: it is connected"`
	HeardAt   schema.Time `json:"heard_at,omitzero" doc:"its last heartbeat, which it sends each second"`
}

// StopButton is whether the heartbeats of a stop button arrive, a client of role stop.
type StopButton struct {
	Name        string      `json:"name"`
	Listed      bool        `json:"listed,omitempty" doc:"the setting stop-buttons has it"`
	HeardAt     schema.Time `json:"heard_at,omitzero" doc:"its last heartbeat, which it sends every 2 s; absent = none since fleetd started"`
	SilentSince schema.Time `json:"silent_since,omitzero" doc:"since when it does not answer; absent = it does"`
}

// Leadership says which of several fleetd instances on one database is the leader, which
// publishes desired documents, latched stops and fleetd's presence. Every instance sends
// commands and stops.
type Leadership struct {
	Leads  bool        `json:"leads" doc:"this instance is the leader"`
	Leader string      `json:"leader,omitempty" doc:"name of the leader; empty = none known"`
	Why    string      `json:"why,omitempty" doc:"why this instance is the leader, or is not"`
	Since  schema.Time `json:"since,omitzero" doc:"since when it is the leader, or is not"`
}

// Health is the state of the broker connection or the database.
type Health struct {
	OK    bool        `json:"ok"`
	Why   string      `json:"why,omitempty"`
	Since schema.Time `json:"since,omitzero"`
	Kind  string      `json:"kind,omitempty" doc:"of the database: sqlite or postgres"`
}

// about registers the version and health of this instance.
func (s *server) about(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "version", Method: http.MethodGet, Path: "/version", Tag: "fleetd", Right: auth.View,
		Summary: "Get the version and state of this instance",
		Example: "version",
	}, func(_ context.Context, in *noInput) (*answer[Status], error) {
		return &answer[Status]{s.statusFor(in.principal)}, nil
	})
	operation.Register(t, operation.Row{
		ID: "health", Method: http.MethodGet, Path: "/healthz", AtRoot: true, Tag: "fleetd", Right: auth.Public,
		Summary: "Health check",
		Description: "200 if the database and fleetd's disk accept writes. The answer also shows the connection to the broker. " +
			"Robots continue without all three. A person who is not signed in gets no more than that.",
		Use:   "health",
		Short: "check fleetd: exit code 0 if its database and disk accept writes",
		Long: "Check fleetd: exit code 0 if its database and its disk accept writes, 1 if not. The connection to\n" +
			"the broker is shown, too; robots and stops go on without the database.",
	}, func(ctx context.Context, in *noInput) (*answer[Status], error) {
		if p := s.health.check(ctx, s.Deps); p != nil {
			return nil, p
		}
		status := s.Status()
		if !status.Database.OK {
			return nil, databaseProblem(status.Database.Why)
		}
		if in.principal.May(auth.View) {
			status = s.statusFor(in.principal)
		} else {
			status = Status{TS: status.TS, Broker: Health{OK: status.Broker.OK}, Database: Health{OK: true}, Latched: []latch.LatchedStop{},
				Instances: []InstanceHealth{}}
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
func (h *health) check(ctx context.Context, d Deps) *Problem {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := d.Now()
	if !h.at.IsZero() && now.Sub(h.at) < healthInterval {
		return h.problem
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), databaseTimeout) // the result is also for other requests
	defer cancel()
	h.checkDisk(d.Stops)
	h.problem = nil
	if err := d.CheckDatabase(ctx); err != nil {
		h.problem = databaseProblem(err.Error())
	} else if err := h.diskAnswer(ctx); err != nil {
		h.problem = KindDisk.Problem(err.Error(), "free space on the disk, or find out why writes fail; you can still stop robots meanwhile")
	}
	h.at = d.Now()
	return h.problem
}

// checkDisk starts a check of the disk, unless one hangs: a write to a stalled disk cannot
// be cancelled. The caller holds mu.
func (h *health) checkDisk(stops *latch.Stops) {
	if h.disk != nil {
		select {
		case <-h.disk: // late result of an earlier check
		default:
			return
		}
	}
	answer := make(chan error, 1)
	h.disk = answer
	go func() { answer <- stops.CheckDisk() }()
}

// diskAnswer waits for the check of the disk. The caller holds mu.
func (h *health) diskAnswer(ctx context.Context) error {
	select {
	case err := <-h.disk:
		h.disk = nil
		return err
	case <-ctx.Done():
		return fmt.Errorf("write to the spool of stops: no answer within %v", databaseTimeout)
	}
}

func databaseProblem(why string) *Problem {
	return KindDatabase.Problem("the database accepts no writes: "+why,
		"robots continue, and you can still stop them; check the database, its server and its disk")
}
