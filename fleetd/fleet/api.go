package fleet

import (
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/change"
	"troupe/fleetd/latch"
	"troupe/fleetd/view"
	"troupe/schema"
)

// changes is what the changes of the database need of the fleet.
func (f *Fleet) changes() change.Deps {
	return change.Deps{Now: f.Now, Store: f.Store, Changed: f.changed, Catalogue: f.view.Catalogue, Caps: f.view.Caps, TakenBy: f.TakenBy}
}

// rolloutChanges plans and saves rollouts.
func (f *Fleet) rolloutChanges() *change.Rollouts {
	return &change.Rollouts{Deps: f.changes(), Name: f.cfg.Name, ApproveAbove: f.cfg.ApproveAbove, Candidate: f.view.Candidate}
}

// notificationChanges changes receivers and routes.
func (f *Fleet) notificationChanges() *change.Notifications {
	return &change.Notifications{Deps: f.changes(), Sealer: f.notify.sealer}
}

// deps is what the API needs of the fleet.
func (f *Fleet) deps() api.Deps {
	changes := f.changes()
	return api.Deps{
		Log: f.log, Now: f.Now, Base: f.cfg.base, Fleets: f.cfg.Fleets, Status: f.Status, CheckDatabase: f.CheckDatabase,

		View: f.view, Stops: f.stops, Dispatcher: f.dispatcher, Questions: f.questions, Records: f.records, Teleop: f.teleop,
		Accounts: f.accounts, Identity: f.identity, Decommissioner: f.decommissions,

		Adoptions: &change.Adoptions{Deps: changes}, Alerts: &change.Alerts{Deps: changes}, Commands: &change.Commands{Deps: changes},
		Decommissions: &change.Decommissions{Deps: changes}, Desired: &change.Desired{Deps: changes}, History: &change.History{Deps: changes},
		Policies: &change.Policies{Deps: changes, Rollouts: f.rolloutChanges()},
		Rollouts: f.rolloutChanges(), RolloutRunner: f.rollouts,
		Identities: &change.Identities{Deps: changes}, Folders: &change.Folders{Deps: changes, Rollouts: f.rolloutChanges()},
		Labels: &change.Labels{Deps: changes}, Library: &change.Library{Deps: changes},
		Schedules: &change.Schedules{Deps: changes}, Measurements: &change.Measurements{Deps: changes, KeepMinutes: f.cfg.Keep.Minutes},
		Backups:     &change.Backups{Deps: changes},
		AlertSource: f.notify.alerts, Notifications: f.notificationChanges(), Sender: f.notify.sender,
	}
}

// Now is fleetd's clock.
func (f *Fleet) Now() time.Time { return time.Now() }

// Robot is everything about one robot.
func (f *Fleet) Robot(id string) (view.Detail, bool) { return f.view.Robot(id) }

// Document is the newest document of that kind that a robot published.
func (f *Fleet) Document(robot string, kind schema.TopicKind) []byte {
	return f.view.Document(robot, kind)
}

// Latched lists the latched stops.
func (f *Fleet) Latched() []latch.LatchedStop { return f.stops.Latched() }

// TakenBy says to whom a name belongs that no robot may have; empty if it is free, as far as is
// known without the database.
func (f *Fleet) TakenBy(name string) string {
	switch {
	case name == f.cfg.Name:
		return "this instance"
	case schema.ReservedName(name):
		return "fleetd instances or people's tools"
	case f.view.IsClient(name):
		return "a client of the broker"
	}
	return ""
}
