package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/decommission"
	"troupe/fleetd/operation"
	"troupe/fleetd/presence"
	"troupe/fleetd/view"
	"troupe/schema"
)

// DecommissionRequest asks to remove a robot from the fleet.
type DecommissionRequest struct {
	Yes bool `json:"yes,omitempty" doc:"also if the robot is or may be online: then it is stopped and disconnected"`
	audit.Attribution
}

// Decommission is the removal of a robot from the fleet, in progress or done.
type Decommission struct {
	Robot   string            `json:"robot"`
	Step    decommission.Step `json:"step" enum:"begun,stop_sent,revoked,deleting_desired,deleting_documents,archived,cancelled"`
	Waiting string            `json:"waiting,omitempty" doc:"what it waits for"`
	Begun   schema.Time       `json:"begun"`
	Ended   schema.Time       `json:"ended,omitzero"`
	By      string            `json:"by,omitempty"`
	Why     string            `json:"why,omitempty"`
}

// Because is what the removal waits for, or else why it was begun.
func (d *Decommission) Because() string { return orElse(d.Waiting, d.Why) }

type decommissionList struct {
	Decommissions []Decommission `json:"decommissions"`
}

// OrphanList is the retained documents of robots that are not of the fleet.
type OrphanList struct {
	Orphans []view.StrayDocuments `json:"orphans"`
}

func (s *server) decommissions(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "decommission", Method: http.MethodPost, Path: "/robots/{id}/decommission", Tag: "identity", Right: auth.Administer,
		Summary: "Remove a robot from the fleet",
		Description: "fleetd stops the robot if it is online and revokes its credentials; when it is offline, fleetd deletes its " +
			"retained documents at the broker and archives its row. Its history stays." +
			" The removal continues in the background, also after a restart of fleetd; GET shows its progress.",
		Audit:   audit.ActionDecommission,
		Use:     "robot decommission ROBOT",
		Example: "robot decommission r1\nrobot decommission r7 --why 'worn out'\nrobot decommission r7 --status\nrobot decommission --status",
		Long: "Remove a robot from the fleet: fleetd revokes its credentials; when the robot is offline,\n" +
			"fleetd deletes its desired documents at the broker, then those that the robot published, the\n" +
			"presence first, and archives its row. Its history stays. fleetd stop --all no longer waits for\n" +
			"its answer. The removal continues in the background, also after a restart of fleetd.\n\n" +
			"A robot that is online, or whose presence is unknown, is refused, unless --yes is given: then\n" +
			"it is stopped and disconnected as soon as fleetd knows whether it is online.\n" +
			"--status shows the progress; if no robot is named, of every removal.",
	}, s.decommission)
	operation.Register(t, operation.Row{
		ID: "get-decommission", Method: http.MethodGet, Path: "/robots/{id}/decommission", Tag: "identity", Right: auth.View,
		Summary: "Get the progress of a robot's removal",
		Example: "robot decommission r1 --status",
	}, func(ctx context.Context, in *PathID) (*answer[Decommission], error) {
		d, err := s.Decommissions.Of(ctx, in.ID)
		if err != nil {
			return nil, s.fail(err, "decommission of "+in.ID)
		}
		return &answer[Decommission]{s.decommissionOf(d)}, nil
	})
	operation.Register(t, operation.Row{
		ID: "list-decommissions", Method: http.MethodGet, Path: "/decommissions", Tag: "identity", Right: auth.View,
		Summary: "List robots that were removed or are being removed",
		Example: "robot decommission --status",
		Columns: "ROBOT robot | STEP step | BEGUN begun | ENDED ended | BY by | WHY Because()",
		None:    "no robot was removed",
	}, func(ctx context.Context, in *noInput) (*answer[decommissionList], error) {
		rows, err := s.Decommissions.List(ctx)
		if err != nil {
			return nil, s.fail(err, "decommissions")
		}
		out := decommissionList{Decommissions: []Decommission{}}
		for _, d := range rows {
			if s.outside(in.principal, d.Robot) == nil {
				out.Decommissions = append(out.Decommissions, s.decommissionOf(d))
			}
		}
		return &answer[decommissionList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "list-orphans", Method: http.MethodGet, Path: "/orphans", Tag: "identity", Right: auth.View,
		Summary:     "List retained documents of unknown robots",
		Description: "They are never deleted automatically. Such a robot belongs to no site.",
		Example:     "robot orphans",
	}, func(_ context.Context, in *noInput) (*answer[OrphanList], error) {
		if !s.View.Loaded() {
			return nil, s.loading("which robots belong to this fleet")
		}
		all := slices.DeleteFunc(s.View.Orphans(), func(o view.StrayDocuments) bool { return s.outside(in.principal, o.Robot) != nil })
		return &answer[OrphanList]{OrphanList{nonNil(all)}}, nil
	})
	operation.Register(t, operation.Row{
		ID: "delete-orphan", Method: http.MethodDelete, Path: "/orphans/{id}", Tag: "identity", Right: auth.Administer,
		Summary: "Delete the retained documents of an unknown robot",
		Audit:   audit.ActionDeleteDocuments,
		Example: "robot orphans r9 --delete",
	}, s.deleteOrphan)
}

func (s *server) decommissionOf(d decommission.Decommission) Decommission {
	out := Decommission{Robot: d.Robot, Step: d.Step, Begun: timeOf(d.BegunAt), Ended: timeOf(d.EndedAt), By: d.By, Why: d.Why}
	if !d.Step.Over() {
		out.Waiting = s.Decommissioner.Waiting(d.Robot)
	}
	return out
}

// connected reports whether fleetd sees the robot as connected.
func connected(r view.Robot) bool {
	return r.Presence.Status == "online" || r.Presence.Status == "degraded"
}

func (s *server) decommission(ctx context.Context, in *idAndBody[DecommissionRequest]) (*accepted[Decommission], error) {
	loaded := s.View.Loaded() // before the look-up: a robot that is read in between must not count as another fleet's
	seen, known := s.View.Robot(in.ID)
	if !loaded {
		return nil, s.loading("whether robot " + in.ID + " belongs to this fleet")
	}
	if known && !seen.Adopted {
		return nil, KindNotFound.Problem("robot "+in.ID+" does not belong to this fleet",
			"fleetd robot orphans lists the retained documents of such robots")
	}
	if known && seen.Presence.Status == string(presence.Unknown) && !in.Body.Yes {
		return nil, KindOnline.Problem("robot "+in.ID+" may be online: "+seen.Presence.Why,
			"try again when fleetd knows its presence; or confirm with yes (--yes) that it is stopped and disconnected if it is online")
	}
	if known && connected(seen.Robot) && !in.Body.Yes {
		return nil, KindOnline.Problem("robot "+in.ID+" is online", "switch it off first; or confirm with yes (--yes) to stop and disconnect it")
	}
	d, err := s.Decommissions.Begin(ctx, in.principal, in.ID, attribute(in.principal, in.Body.Attribution))
	if errors.Is(err, change.ErrConflict) {
		return nil, KindConflict.Problem("robot "+in.ID+" is being removed already", "fleetd robot decommission "+in.ID+
			" --status shows the progress")
	}
	if err != nil {
		return nil, s.fail(err, "robot "+in.ID)
	}
	return &accepted[Decommission]{http.StatusAccepted, s.decommissionOf(d)}, nil
}

func (s *server) deleteOrphan(ctx context.Context, in *idAndReason) (*answer[view.StrayDocuments], error) {
	if !s.View.Loaded() {
		return nil, s.loading("whether robot " + in.ID + " belongs to this fleet")
	}
	for _, o := range s.View.Orphans() {
		if o.Robot != in.ID {
			continue
		}
		if seen, _ := s.View.Robot(in.ID); connected(seen.Robot) {
			return nil, KindOnline.Problem("robot "+in.ID+" is online and would publish its documents again",
				"adopt it, or revoke it and switch it off")
		}
		if err := s.Decommissions.DeleteDocuments(ctx, in.principal, in.ID, in.attribution(in.principal)); err != nil {
			return nil, s.fail(err, "orphan "+in.ID)
		}
		return &answer[view.StrayDocuments]{o}, nil
	}
	return nil, KindNotFound.Problem("there are no documents of an unknown robot "+in.ID, "fleetd robot orphans lists them")
}
