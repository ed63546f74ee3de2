package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/decommission"
	"troupe/fleetd/library"
	"troupe/fleetd/store"
	"troupe/schema"
)

// DecommissionRequest asks to remove a robot from the fleet.
type DecommissionRequest struct {
	Yes bool `json:"yes,omitempty" doc:"also if the robot is online: it is stopped and disconnected"`
	Signed
}

// Decommission is the removal of a robot from the fleet, in progress or done.
type Decommission struct {
	Robot   string            `json:"robot"`
	Step    decommission.Step `json:"step" enum:"begun,stopped,revoked,desired_emptied,emptied,archived,cancelled"`
	Waiting string            `json:"waiting,omitempty" doc:"what it waits for"`
	Begun   schema.Time       `json:"begun"`
	Ended   schema.Time       `json:"ended,omitzero"`
	By      string            `json:"by,omitempty"`
	Why     string            `json:"why,omitempty"`
}

type decommissionList struct {
	Decommissions []Decommission `json:"decommissions"`
}

// Orphan lists the retained documents of a robot that is unknown to the fleet.
type Orphan struct {
	Robot  string      `json:"robot"`
	Topics []string    `json:"topics" doc:"retained documents"`
	View   string      `json:"view" doc:"presence; if the robot is online, adopt or revoke it instead"`
	Seen   schema.Time `json:"seen" doc:"when fleetd first saw one of them"`
}

type orphanList struct {
	Orphans []Orphan `json:"orphans"`
}

type accepted[T any] struct {
	Status int
	Body   T
}

func (s *server) decommissions(h huma.API) {
	huma.Register(h, op("decommission", http.MethodPost, "/robots/{id}/decommission", "identity", "Remove a robot from the fleet",
		"fleetd stops the robot if it is online and revokes its credentials; when it is offline, fleetd deletes its retained documents at the broker and archives its row. Its history stays.",
		"The removal continues in the background, also after a restart of fleetd; GET shows its progress."),
		func(ctx context.Context, in *struct {
			One
			Body DecommissionRequest
		}) (*accepted[Decommission], error) {
			return s.decommission(ctx, in.ID, in.Body)
		})
	huma.Register(h, op("get-decommission", http.MethodGet, "/robots/{id}/decommission", "identity", "Get the progress of a robot's removal"),
		func(ctx context.Context, in *One) (*answer[Decommission], error) {
			var d decommission.Decommission
			err := s.inTx(ctx, "decommission of "+in.ID, func(tx *store.Tx) (err error) {
				d, err = tx.Decommission(ctx, in.ID)
				return err
			})
			if err != nil {
				return nil, err
			}
			return &answer[Decommission]{s.decommissionOf(d)}, nil
		})
	huma.Register(h, op("list-decommissions", http.MethodGet, "/decommissions", "identity", "List robots that were removed or are being removed"),
		func(ctx context.Context, _ *struct{}) (*answer[decommissionList], error) {
			out := decommissionList{Decommissions: []Decommission{}}
			err := s.inTx(ctx, "decommissions", func(tx *store.Tx) error {
				rows, err := tx.Decommissions(ctx, true)
				out.Decommissions = out.Decommissions[:0]
				for _, d := range rows {
					out.Decommissions = append(out.Decommissions, s.decommissionOf(d))
				}
				return err
			})
			if err != nil {
				return nil, err
			}
			return &answer[decommissionList]{out}, nil
		})
	huma.Register(h, op("list-orphans", http.MethodGet, "/orphans", "identity", "List retained documents of unknown robots",
		"They are never deleted automatically."),
		func(context.Context, *struct{}) (*answer[orphanList], error) {
			return &answer[orphanList]{orphanList{nonNil(s.fleet.Orphans())}}, nil
		})
	huma.Register(h, op("delete-orphan", http.MethodDelete, "/orphans/{id}", "identity", "Delete the retained documents of an unknown robot"),
		func(ctx context.Context, in *struct {
			One
			By string `query:"by" maxLength:"63"`
		}) (*answer[Orphan], error) {
			return s.deleteOrphan(ctx, in.ID, in.By)
		})
}

func (s *server) decommissionOf(d decommission.Decommission) Decommission {
	out := Decommission{Robot: d.Robot, Step: d.Step, Begun: timeOf(d.BegunAt), Ended: timeOf(d.EndedAt), By: d.By, Why: d.Why}
	if !d.Step.Over() {
		out.Waiting = s.fleet.Leaving(d.Robot)
	}
	return out
}

// connected reports whether fleetd sees the robot as connected.
func connected(r Robot) bool { return r.Presence.View == "online" || r.Presence.View == "degraded" }

func (s *server) decommission(ctx context.Context, robot string, in DecommissionRequest) (*accepted[Decommission], error) {
	seen, known := s.fleet.Robot(robot)
	if known && !seen.Adopted {
		return nil, KindNotFound.Problem("robot "+robot+" does not belong to this fleet", "fleetd robot orphans lists the retained documents of such robots")
	}
	if known && connected(seen.Robot) && !in.Yes {
		return nil, KindOnline.Problem("robot "+robot+" is online", "switch it off first; or confirm with yes (--yes) to stop and disconnect it")
	}
	var d decommission.Decommission
	now := s.fleet.Now()
	err := s.inTx(ctx, "robot "+robot, func(tx *store.Tx) error {
		err := tx.BeginDecommission(ctx, robot, in.By, in.Why, now)
		if errors.Is(err, store.ErrConflict) {
			return KindConflict.Problem("robot "+robot+" is being removed already", "fleetd robot decommission "+robot+" --status shows the progress")
		} else if err != nil {
			return err
		}
		if d, err = tx.Decommission(ctx, robot); err != nil {
			return err
		}
		return tx.Note(ctx, now, library.Note{Who: in.By, What: "decommission", Target: "robot " + robot, Detail: in.Why})
	})
	if err != nil {
		return nil, err
	}
	s.fleet.Changed(ctx)
	return &accepted[Decommission]{http.StatusAccepted, s.decommissionOf(d)}, nil
}

func (s *server) deleteOrphan(ctx context.Context, robot, by string) (*answer[Orphan], error) {
	for _, o := range s.fleet.Orphans() {
		if o.Robot != robot {
			continue
		}
		if seen, _ := s.fleet.Robot(robot); connected(seen.Robot) {
			return nil, KindOnline.Problem("robot "+robot+" is online and would publish its documents again", "adopt it, or revoke it and switch it off")
		}
		now := s.fleet.Now()
		err := s.inTx(ctx, "orphan "+robot, func(tx *store.Tx) error {
			if err := tx.Empty(ctx, robot, now); err != nil {
				return err
			}
			return tx.Note(ctx, now, library.Note{Who: by, What: "empty", Target: "documents of robot " + robot})
		})
		if err != nil {
			return nil, err
		}
		s.fleet.Changed(ctx)
		return &answer[Orphan]{o}, nil
	}
	return nil, KindNotFound.Problem("there are no documents of an unknown robot "+robot, "fleetd robot orphans lists them")
}
