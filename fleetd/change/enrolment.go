package change

import (
	"context"
	"errors"
	"maps"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/ca"
	"troupe/fleetd/enrol"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// KnowsToken reports whether the fleet has issued a token. It only reads, so guesses do not
// queue for the database's single writer.
func (i *Identities) KnowsToken(ctx context.Context, token schema.EnrolmentToken) (bool, error) {
	db, err := i.Store()
	if err != nil {
		return false, err
	}
	_, err = db.Token(ctx, enrol.DigestOf(token))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Grant issues the certificate that a token is for, adds the robot's row and ends its
// revocation. The same key gets the same certificate again until the token expires or the
// certificate is revoked, in case the answer was lost. The error is a Refused or NameRefused if the robot is to blame.
func (i *Identities) Grant(ctx context.Context, p auth.Principal, authority *ca.Authority, token schema.EnrolmentToken, serial string,
	csr string) (c enrol.Certificate, err error) {
	now := i.Now()
	request, badRequest := ca.ReadRequest(csr, token.Robot)
	err = i.revoking(ctx, p, func(tx *store.Tx, publish func() error) error {
		row, err := tx.Token(ctx, enrol.DigestOf(token))
		known := !errors.Is(err, store.ErrNotFound)
		if known && err != nil {
			return err
		}
		ask := enrol.Request{Robot: token.Robot, Serial: serial}
		if badRequest == nil {
			if ask.Key, err = request.KeyDigest(); err != nil {
				return err
			}
		}
		grant, no := enrol.Redeem(row, known, ask, now)
		switch {
		case no != nil:
			return &Refused{TokenCredential, *no}
		case badRequest != nil:
			return &Refused{RequestCredential, *badRequest}
		}
		if err := i.checkName(ctx, tx, token.Robot); err != nil {
			return err
		}
		if grant == enrol.Again {
			c, err = granted(ctx, tx, row)
			return err
		}
		c, err = i.issueFirst(ctx, tx, authority, request, row, ask.Key, publish, now)
		return err
	})
	if err == nil {
		i.Changed(ctx, []string{c.Robot})
	}
	return c, err
}

// granted returns the certificate that was issued for a token before. One that was revoked since
// is not given again: only a new token ends the revocation.
func granted(ctx context.Context, tx *store.Tx, row enrol.Token) (enrol.Certificate, error) {
	held, err := tx.Certificates(ctx, row.Robot)
	if err != nil {
		return enrol.Certificate{}, err
	}
	for _, c := range held {
		if c.Serial != row.Certificate {
			continue
		}
		if no := enrol.CheckCertificate(held, c.Serial); no != nil {
			return c, &Refused{CertificateCredential, *no}
		}
		return c, nil
	}
	return enrol.Certificate{}, store.ErrNotFound
}

// issueFirst issues the certificate for an unused token, and adds the robot to the fleet.
func (i *Identities) issueFirst(ctx context.Context, tx *store.Tx, authority *ca.Authority, r ca.Request, row enrol.Token, key string,
	publish func() error, now time.Time) (enrol.Certificate, error) {
	c, err := issue(ctx, tx, authority, r, enrol.ByToken, now)
	if err != nil {
		return c, err
	}
	if err := tx.UseToken(ctx, row.Digest, key, c.Serial, now); err != nil {
		return c, err
	}
	added, err := tx.AddRobot(ctx, r.Name, now)
	if err != nil {
		return c, err
	}
	was, err := tx.RestoreName(ctx, r.Name)
	if err != nil {
		return c, err
	}
	if was {
		if err := publish(); err != nil {
			return c, err
		}
	}
	err = tx.Note(ctx, now, audit.Note{Who: row.CreatedBy, What: audit.ActionEnrol, Target: "robot " + r.Name,
		Detail: "certificate " + c.Serial})
	if err != nil {
		return c, err
	}
	return c, i.labelNewcomer(ctx, tx, row, added, audit.Attribution{Who: row.CreatedBy, At: now})
}

// labelNewcomer gives a robot the labels of the token with which it enrolled, and what policies say then. added says whether it
// was not in the fleet.
func (i *Identities) labelNewcomer(ctx context.Context, tx *store.Tx, row enrol.Token, added bool, by audit.Attribution) error {
	if len(row.Labels) == 0 {
		if !added {
			return nil
		}
		return i.welcome(ctx, tx, []string{row.Robot}, "enrolled", by)
	}
	was, err := tx.Robot(ctx, row.Robot)
	if err != nil {
		return err
	}
	labels := maps.Clone(was.Labels)
	maps.Copy(labels, row.Labels)
	if !maps.Equal(labels, was.Labels) {
		if err := tx.SetLabels(ctx, row.Robot, labels); err != nil {
			return err
		}
		if err := publishLabels(ctx, tx, selector.IDs(row.Robot), by); err != nil {
			return err
		}
		note := audit.Note{Who: by.Who, What: audit.ActionLabel, Target: "robot " + row.Robot, Why: "labels of its enrolment token",
			Before: audit.JSON(was.Labels), After: audit.JSON(labels)}
		if err := tx.Note(ctx, by.At, note); err != nil {
			return err
		}
	}
	return i.applyPolicies(ctx, tx, row.Robot+" was enrolled", by, func() ([]relabelled, error) {
		return []relabelled{{id: row.Robot, before: was.Labels, after: labels, joined: added}}, nil
	})
}

func issue(ctx context.Context, tx *store.Tx, authority *ca.Authority, r ca.Request, how enrol.How,
	now time.Time) (enrol.Certificate, error) {
	leaf, err := authority.Robot(r, now)
	if err != nil {
		return enrol.Certificate{}, err
	}
	c := enrol.Certificate{
		Serial: ca.Serial(leaf), Robot: r.Name, How: how, IssuedAt: now, NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter,
		PEM: string(ca.EncodeCertificates(authority.Chain(leaf)...)),
	}
	return c, tx.AddCertificate(ctx, c)
}

// Renew issues the next certificate of the robot that holds a valid one. The error is a
// Refused or NameRefused if the robot is to blame.
func (i *Identities) Renew(ctx context.Context, p auth.Principal, authority *ca.Authority, holder ca.Holder,
	csr string) (c enrol.Certificate, err error) {
	now := i.Now()
	request, no := ca.ReadRequest(csr, holder.Name)
	if no != nil {
		return c, &Refused{RequestCredential, *no}
	}
	err = i.transact(ctx, p, func(tx *store.Tx) error {
		held, err := validCertificates(ctx, tx, holder)
		if err != nil {
			return err
		}
		if err := i.checkName(ctx, tx, holder.Name); err != nil {
			return err
		}
		if no := enrol.Renew(held, holder.Serial, now); no != nil {
			return &Refused{CertificateCredential, *no}
		}
		if c, err = issue(ctx, tx, authority, request, enrol.ByRenewal, now); err != nil {
			return err
		}
		return tx.Note(ctx, now, audit.Note{What: audit.ActionRenew, Target: "robot " + holder.Name, Detail: "certificate " + c.Serial +
			" after " + holder.Serial})
	})
	return c, err
}

// CheckCertificate returns a Refused if the certificate of a robot is not valid.
func (i *Identities) CheckCertificate(ctx context.Context, holder ca.Holder) error {
	db, err := i.Store()
	if err != nil {
		return err
	}
	_, err = validCertificates(ctx, db, holder)
	return err
}

// credentials reads the credentials of robots from the database.
type credentials interface {
	Certificates(ctx context.Context, robot string) ([]enrol.Certificate, error)
	IsNameRevoked(ctx context.Context, robot string) (bool, error)
}

// validCertificates returns the certificates that were issued to a robot, or why the one that
// it presents is refused although the fleet issued it.
func validCertificates(ctx context.Context, db credentials, holder ca.Holder) ([]enrol.Certificate, error) {
	held, err := db.Certificates(ctx, holder.Name)
	if err != nil {
		return nil, err
	}
	revoked, err := db.IsNameRevoked(ctx, holder.Name)
	if err != nil {
		return nil, err
	}
	if revoked {
		return nil, &Refused{NameCredential, schema.Problem{Detail: "robot " + holder.Name + " was revoked",
			Hint: "enrol the robot again with a new token"}}
	}
	if no := enrol.CheckCertificate(held, holder.Serial); no != nil {
		return nil, &Refused{CertificateCredential, *no}
	}
	return held, nil
}
