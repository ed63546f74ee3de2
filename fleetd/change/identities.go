package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/enrol"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Identities issues and revokes the credentials of robots.
type Identities struct{ Deps }

// NameRefused says that a robot cannot have a name.
type NameRefused struct {
	Name    string
	TakenBy string // who has it; empty = it cannot name any robot
}

func (e *NameRefused) Error() string { return fmt.Sprintf("%q cannot name a robot", e.Name) }

// ErrNeverSeen says that a robot is unknown and has no credentials.
var ErrNeverSeen = errors.New("no such robot was ever seen")

// Refused says why a robot gets no certificate.
type Refused struct {
	What    Credential // what is refused
	Problem schema.Problem
}

func (e *Refused) Error() string { return string(e.What) + " refused: " + e.Problem.Detail }

// Credential is something that a robot presents to get a certificate.
type Credential string

const (
	TokenCredential       Credential = "token"
	RequestCredential     Credential = "certificate request"
	CertificateCredential Credential = "certificate"
	NameCredential        Credential = "name" // a revoked one
)

// checkName refuses to give a robot a name that is in use. Brokers identify clients by name:
// a robot with the name of a fleetd instance or client would get its session and topics.
func (i *Identities) checkName(ctx context.Context, tx *store.Tx, robot string) error {
	if !schema.ValidID(robot) {
		return &NameRefused{Name: robot}
	}
	who := i.TakenBy(robot)
	if who == "" {
		ranked, err := tx.RankedClients(ctx)
		if err != nil {
			return err
		}
		if !ranked[robot] {
			return nil
		}
		who = "a client that the setting clients of some robot names"
	}
	return &NameRefused{robot, who}
}

// NewToken stores the digest of an enrolment token.
func (i *Identities) NewToken(ctx context.Context, p auth.Principal, row enrol.Token, why string) error {
	return i.transact(ctx, p, func(tx *store.Tx) error {
		if err := i.checkName(ctx, tx, row.Robot); err != nil {
			return err
		}
		if err := tx.AddToken(ctx, row); err != nil {
			return err
		}
		return tx.Note(ctx, row.CreatedAt, audit.Note{Who: row.CreatedBy, What: audit.ActionMakeEnrolmentToken,
			Target: "robot " + row.Robot, Why: why, After: audit.JSON(map[string]any{"expires_at": row.ExpiresAt, "serial": row.Serial,
				"labels": row.Labels})})
	})
}

// Credentials is what is stored of a robot's credentials.
type Credentials struct {
	Certificates []enrol.Certificate
	Tokens       []enrol.Token
	RevokedAt    time.Time // of the name; zero = it is not revoked
}

// Of returns the credentials of a robot.
func (i *Identities) Of(ctx context.Context, robot string) (out Credentials, err error) {
	err = i.query(ctx, func(tx *store.Tx) (err error) {
		out = Credentials{}
		if out.Certificates, err = tx.Certificates(ctx, robot); err != nil {
			return err
		}
		if out.Tokens, err = tx.Tokens(ctx, robot); err != nil {
			return err
		}
		names, err := tx.RevokedNames(ctx)
		for _, b := range names {
			if b.Robot == robot {
				out.RevokedAt = b.At
			}
		}
		return err
	})
	return out, err
}

// InstanceCertificates lists the certificates that do not belong to robots.
func (i *Identities) InstanceCertificates(ctx context.Context) ([]enrol.Certificate, error) {
	return read(&i.Deps, func(db *store.Store) ([]enrol.Certificate, error) { return db.Certificates(ctx, "") })
}

// Revoke revokes a robot's name and its valid certificates, whose serial numbers it returns.
// With dryRun it only returns them. seen says that fleetd has seen the robot.
func (i *Identities) Revoke(ctx context.Context, p auth.Principal, robot string, seen, dryRun bool,
	by audit.Attribution) (serials []string, err error) {
	now := i.Now()
	err = i.revoking(ctx, p, func(tx *store.Tx, publish func() error) error {
		held, err := tx.Certificates(ctx, robot)
		if err != nil {
			return err
		}
		if !seen && len(held) == 0 {
			return ErrNeverSeen
		}
		r := enrol.Revoke(held, robot, by.Who, by.Why, now)
		serials = nil
		for _, c := range r.Certificates {
			serials = append(serials, c.Serial)
		}
		if dryRun {
			return nil
		}
		if err := tx.Revoke(ctx, r); err != nil {
			return err
		}
		if err := publish(); err != nil {
			return err
		}
		return tx.Note(ctx, now, audit.Note{Who: by.Who, What: audit.ActionRevoke, Target: "robot " + robot, Why: by.Why})
	})
	if err == nil && !dryRun {
		i.Changed(ctx, []string{robot})
	}
	return serials, err
}

// RevokeSerial revokes one certificate, which may be unknown.
func (i *Identities) RevokeSerial(ctx context.Context, p auth.Principal, serial string,
	by audit.Attribution) (c enrol.Certificate, err error) {
	now := i.Now()
	err = i.revoking(ctx, p, func(tx *store.Tx, publish func() error) error {
		if err := tx.RevokeSerial(ctx, serial, by.Who, by.Why, now); err != nil {
			return err
		}
		if c, err = tx.Certificate(ctx, serial); err != nil {
			return err
		}
		if err := publish(); err != nil {
			return err
		}
		return tx.Note(ctx, now, audit.Note{Who: by.Who, What: audit.ActionRevoke, Target: "certificate " + serial, Why: by.Why})
	})
	if err == nil {
		i.Changed(ctx, nil)
	}
	return c, err
}

// RestoreName ends the revocation of a robot's name, because a person adopts the robot. Its
// certificates stay revoked.
func (i *Identities) RestoreName(ctx context.Context, p auth.Principal, robot string, by audit.Attribution) error {
	restored, now := false, i.Now()
	err := i.revoking(ctx, p, func(tx *store.Tx, publish func() error) (err error) {
		if err := i.checkName(ctx, tx, robot); err != nil {
			return err
		}
		if restored, err = tx.RestoreName(ctx, robot); err != nil || !restored {
			return err
		}
		if err := publish(); err != nil {
			return err
		}
		return tx.Note(ctx, now, audit.Note{Who: by.Who, What: audit.ActionRestoreName, Target: "robot " + robot, Why: by.Why})
	})
	if err == nil && restored {
		i.Changed(ctx, []string{robot})
	}
	return err
}

// revoking is transact for changes of the list of revoked credentials: publish puts the new
// list into the outbox.
func (i *Identities) revoking(ctx context.Context, p auth.Principal, do func(tx *store.Tx, publish func() error) error) error {
	db, err := i.Store()
	if err != nil {
		return err
	}
	now := i.Now()
	return i.transact(ctx, p, func(tx *store.Tx) error {
		return do(tx, func() error { return tx.EnqueueRevocation(ctx, db.FleetID(), now) })
	})
}
