package api

import (
	"context"
	"log/slog"
	"time"

	"troupe/fleetd/accounts"
	"troupe/fleetd/alerts"
	"troupe/fleetd/certificate"
	"troupe/fleetd/change"
	"troupe/fleetd/decommissioner"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/latch"
	"troupe/fleetd/notifier"
	"troupe/fleetd/records"
	"troupe/fleetd/rolloutrunner"
	"troupe/fleetd/teleop"
	"troupe/fleetd/view"
)

// Deps is what the handlers need of the running fleetd: its parts, and the changes of the database.
type Deps struct {
	Log    *slog.Logger
	Now    func() time.Time
	Base   string        // path below which a proxy shows the console; empty if it is at the top
	Fleets []FleetLink   // between which the console switches
	Status func() Status // the state of this instance
	// CheckDatabase reports whether the database accepts writes. It writes without changing data.
	CheckDatabase func(ctx context.Context) error

	View           *view.View
	Stops          *latch.Stops
	Dispatcher     *dispatch.Dispatcher
	Questions      *dispatch.Questions
	Records        *records.Keeper
	Teleop         *teleop.Hub
	Accounts       *accounts.Keeper
	Identity       *certificate.Identity
	Decommissioner *decommissioner.Decommissioner
	RolloutRunner  *rolloutrunner.Runner
	AlertSource    *alerts.Source
	Notifications  *change.Notifications
	Sender         *notifier.Sender

	Adoptions     *change.Adoptions
	Alerts        *change.Alerts
	Backups       *change.Backups
	Commands      *change.Commands
	Decommissions *change.Decommissions
	Desired       *change.Desired
	Folders       *change.Folders
	History       *change.History
	Identities    *change.Identities
	Labels        *change.Labels
	Library       *change.Library
	Measurements  *change.Measurements
	Policies      *change.Policies
	Rollouts      *change.Rollouts
	Schedules     *change.Schedules
}
