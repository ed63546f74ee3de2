package api

import (
	"context"
	"log/slog"
	"time"

	"troupe/fleetd/certificate"
)

// Deps is what the handlers need of the running fleetd. Each interface is declared beside
// the handlers that use it.
type Deps struct {
	Log *slog.Logger
	Now func() time.Time

	Instance           Instance
	History            History
	Audit              AuditLog
	Alerts             Alerts
	Robots             Robots
	Targets            Targets
	Commands           Commands
	Questions          Questions
	Records            Records
	Stops              Stops
	Library            Library
	Entries            Entries
	Drafts             Drafts
	Imports            Imports
	Assets             Assets
	Desired            Desired
	Labels             Labels
	Adopter            Adopter
	Issuers            Issuers
	Enrolment          Enrolment
	Identities         Identities
	Decommissions      Decommissions
	DecommissionStatus DecommissionStatus
	Teleop             Teleop
	Sessions           Sessions
	ActiveSessions     ActiveSessions
	Provider           ProviderSessions
	Base               string // path below which a proxy shows the console; empty if it is at the top
	Users              Users
	AccessTokens       AccessTokens
	Logins             Logins
}

// Instance is the running fleetd instance.
type Instance interface {
	Status() Status
	// CheckDatabase and CheckDisk report whether the database, and the disk with the spool
	// of stops, accept writes. They write without changing data.
	CheckDatabase(ctx context.Context) error
	CheckDisk() error
}

// Issuers makes certificates.
type Issuers interface {
	// Issuer returns what is needed to issue certificates, or why this instance cannot.
	Issuer() (certificate.Issuer, error)
	// Own lists the certificates that this instance needs to run.
	Own() ([]certificate.Own, error)
}
