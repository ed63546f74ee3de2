package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/enrol"
	"troupe/fleetd/library"
	"troupe/schema"
)

const selectTokens = `SELECT digest, robot, serial, created_at, created_by, expires_at, used_at, key_sha256, certificate, labels FROM tokens`

func scanToken(scan func(...any) error) (t enrol.Token, err error) {
	var created, expires, used int64
	var labels string
	if err := scan(&t.Digest, &t.Robot, &t.Serial, &created, &t.CreatedBy, &expires, &used, &t.Key, &t.Certificate, &labels); err != nil {
		return t, err
	}
	t.CreatedAt, t.ExpiresAt, t.UsedAt = timeOf(created), timeOf(expires), timeOf(used)
	if labels != "" {
		t.Labels, err = decodeColumn[map[string]string]([]byte(labels), "labels", "an enrolment token of "+t.Robot)
	}
	return t, err
}

// Token returns an enrolment token by its digest, or ErrNotFound.
func (r reads) Token(ctx context.Context, digest string) (enrol.Token, error) {
	t, err := queryOne(ctx, r, scanToken, selectTokens+" WHERE digest = $1", digest)
	if err != nil {
		return t, fmt.Errorf("enrolment token: %w", err)
	}
	return t, nil
}

// Tokens lists all enrolment tokens of a robot, also used and expired ones, the newest first.
func (r reads) Tokens(ctx context.Context, robot string) ([]enrol.Token, error) {
	all, err := queryAll(ctx, r, scanToken, selectTokens+" WHERE robot = $1 ORDER BY created_at DESC, digest", robot)
	if err != nil {
		return nil, fmt.Errorf("list enrolment tokens: %w", err)
	}
	return all, nil
}

// AddToken adds an enrolment token. Unused tokens of the same robot expire with it: a robot
// has at most one valid token.
func (t *Tx) AddToken(ctx context.Context, token enrol.Token) error {
	if err := t.EndTokens(ctx, token.Robot, token.CreatedAt); err != nil {
		return err
	}
	labels := ""
	if len(token.Labels) > 0 {
		labels = jsonText(token.Labels)
	}
	n, err := t.exec(ctx, `INSERT INTO tokens (digest, robot, serial, created_at, created_by, expires_at, used_at, key_sha256, certificate, labels)
		VALUES ($1, $2, $3, $4, $5, $6, 0, '', '', $7)`,
		token.Digest, token.Robot, token.Serial, micros(token.CreatedAt), token.CreatedBy, micros(token.ExpiresAt), labels)
	return expectOne(n, err, "an enrolment token")
}

// EndTokens makes the unused enrolment tokens of a robot expire.
func (t *Tx) EndTokens(ctx context.Context, robot string, now time.Time) error {
	_, err := t.exec(ctx, `UPDATE tokens SET expires_at = $2 WHERE robot = $1 AND used_at = 0 AND expires_at > $2`, robot, micros(now))
	if err != nil {
		return fmt.Errorf("expire the enrolment tokens of %s: %w", robot, err)
	}
	return nil
}

// UseToken records for which key and certificate a token was used. The second use of a token
// is an ErrConflict.
func (t *Tx) UseToken(ctx context.Context, digest, key, certificate string, now time.Time) error {
	n, err := t.exec(ctx, `UPDATE tokens SET used_at = $2, key_sha256 = $3, certificate = $4 WHERE digest = $1 AND used_at = 0`,
		digest, micros(now), key, certificate)
	return expectOne(n, err, "the use of an enrolment token")
}

const selectCertificates = `SELECT serial, robot, how, pem, issued_at, not_before, not_after, revoked_at, revoked_by, revoked_why FROM certificates`

func scanCertificate(scan func(...any) error) (c enrol.Certificate, err error) {
	var issued, from, until, revoked int64
	err = scan(&c.Serial, &c.Robot, &c.How, &c.PEM, &issued, &from, &until, &revoked, &c.RevokedBy, &c.RevokedWhy)
	c.IssuedAt, c.NotBefore, c.NotAfter, c.RevokedAt = timeOf(issued), timeOf(from), timeOf(until), timeOf(revoked)
	return c, err
}

// Certificates lists all certificates of a robot, the newest first. The empty name means
// those of no robot: of instances, and those of which only the serial number is known.
func (r reads) Certificates(ctx context.Context, robot string) ([]enrol.Certificate, error) {
	all, err := queryAll(ctx, r, scanCertificate, selectCertificates+" WHERE robot = $1 ORDER BY issued_at DESC, serial", robot)
	if err != nil {
		return nil, fmt.Errorf("list certificates of %s: %w", robot, err)
	}
	return all, nil
}

// Certificate returns the certificate of a serial number, or ErrNotFound.
func (r reads) Certificate(ctx context.Context, serial string) (enrol.Certificate, error) {
	c, err := queryOne(ctx, r, scanCertificate, selectCertificates+" WHERE serial = $1", serial)
	if err != nil {
		return c, fmt.Errorf("certificate %s: %w", serial, err)
	}
	return c, nil
}

// Revoked lists the revoked certificates that expire after then.
func (r reads) Revoked(ctx context.Context, then time.Time) ([]enrol.Certificate, error) {
	all, err := queryAll(ctx, r, scanCertificate, selectCertificates+" WHERE revoked_at > 0 AND not_after > $1 ORDER BY serial", micros(then))
	if err != nil {
		return nil, fmt.Errorf("list revoked certificates: %w", err)
	}
	return all, nil
}

// AddCertificate adds a certificate that was issued.
func (t *Tx) AddCertificate(ctx context.Context, c enrol.Certificate) error {
	n, err := t.exec(ctx, `INSERT INTO certificates (serial, robot, how, pem, issued_at, not_before, not_after, revoked_at, revoked_by, revoked_why)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 0, '', '')`,
		c.Serial, c.Robot, string(c.How), c.PEM, micros(c.IssuedAt), micros(c.NotBefore), micros(c.NotAfter))
	return expectOne(n, err, "the certificate of "+c.Robot)
}

// RevokedNames lists the robots that may not connect, by name. Their table has the name barred.
func (r reads) RevokedNames(ctx context.Context) ([]enrol.RevokedName, error) {
	all, err := queryAll(ctx, r, func(scan func(...any) error) (b enrol.RevokedName, err error) {
		var at int64
		err = scan(&b.Robot, &at, &b.By, &b.Why)
		b.At = timeOf(at)
		return b, err
	}, `SELECT robot, barred_at, barred_by, why FROM barred ORDER BY robot`)
	if err != nil {
		return nil, fmt.Errorf("list revoked names: %w", err)
	}
	return all, nil
}

// RestoreName ends the revocation of a name and reports whether it was revoked.
func (t *Tx) RestoreName(ctx context.Context, robot string) (bool, error) {
	n, err := t.exec(ctx, `DELETE FROM barred WHERE robot = $1`, robot)
	if err != nil {
		return false, fmt.Errorf("restore the name %s: %w", robot, err)
	}
	return n == 1, nil
}

// Revoke revokes the name and the certificates of a robot, and ends its tokens. What was revoked
// before keeps its date.
func (t *Tx) Revoke(ctx context.Context, r enrol.Revocation) error {
	b := r.Name
	if _, err := t.exec(ctx, `INSERT INTO barred (robot, barred_at, barred_by, why) VALUES ($1, $2, $3, $4) ON CONFLICT (robot) DO NOTHING`,
		b.Robot, micros(b.At), b.By, b.Why); err != nil {
		return fmt.Errorf("revoke the name %s: %w", b.Robot, err)
	}
	for _, c := range r.Certificates {
		n, err := t.exec(ctx, `UPDATE certificates SET revoked_at = $2, revoked_by = $3, revoked_why = $4 WHERE serial = $1 AND revoked_at = 0`,
			c.Serial, micros(c.RevokedAt), c.RevokedBy, c.RevokedWhy)
		if err := expectOne(n, err, "the revocation of "+c.Robot); err != nil {
			return err
		}
	}
	return t.EndTokens(ctx, b.Robot, b.At)
}

// Revocation returns the newest published document fleet/revoked, or rev 0 if there is none.
func (r reads) Revocation(ctx context.Context) (rev int64, payload []byte, err error) {
	err = r.queryRow(ctx, `SELECT rev, payload FROM revocation WHERE only_row = 1`).Scan(&rev, &payload)
	if err = mapNoRows(err); errors.Is(err, ErrNotFound) {
		return 0, nil, nil
	} else if err != nil {
		return 0, nil, fmt.Errorf("read fleet/revoked: %w", err)
	}
	return rev, payload, nil
}

// RevokeSerial revokes one certificate, also one that is not in the database. A certificate
// that is revoked already keeps its date.
func (t *Tx) RevokeSerial(ctx context.Context, serial, by, why string, now time.Time) error {
	if _, err := t.exec(ctx, `INSERT INTO certificates (serial, robot, how, pem, issued_at, not_before, not_after, revoked_at, revoked_by, revoked_why)
		VALUES ($1, '', $2, '', $3, $3, $4, $3, $5, $6)
		ON CONFLICT (serial) DO UPDATE SET revoked_at = excluded.revoked_at, revoked_by = excluded.revoked_by, revoked_why = excluded.revoked_why
		WHERE certificates.revoked_at = 0`,
		serial, string(enrol.BySerial), micros(now), micros(now.Add(enrol.LongestLife)), by, why); err != nil {
		return fmt.Errorf("revoke the certificate %s: %w", serial, err)
	}
	return nil
}

// ImportRevocation imports a fleet/revoked that brokers have and the database does not: it revokes
// the names and the certificates in it, also those that are not in the database.
// The next list that is published has a higher revision.
func (t *Tx) ImportRevocation(ctx context.Context, l schema.Revoked, now time.Time) error {
	const by, why = "fleet/revoked", "on the list that brokers had"
	for _, name := range l.Names {
		if _, err := t.exec(ctx, `INSERT INTO barred (robot, barred_at, barred_by, why) VALUES ($1, $2, $3, $4) ON CONFLICT (robot) DO NOTHING`,
			name, micros(now), by, why); err != nil {
			return fmt.Errorf("revoke the name %s: %w", name, err)
		}
	}
	for _, serial := range l.Serials {
		if !enrol.ValidSerial(serial) {
			continue // cannot be the serial number of a certificate
		}
		if err := t.RevokeSerial(ctx, serial, by, why, now); err != nil {
			return err
		}
	}
	if _, err := t.exec(ctx, `INSERT INTO revocation (only_row, rev, payload, changed_at) VALUES (1, $1, $2, $3)
		ON CONFLICT (only_row) DO UPDATE SET rev = excluded.rev WHERE revocation.rev < excluded.rev`, l.Rev, []byte{}, micros(now)); err != nil {
		return fmt.Errorf("save the revision of the brokers' fleet/revoked: %w", err)
	}
	return nil
}

// EnqueueRevocation writes a new fleet/revoked from what this transaction reads, and enqueues it.
func (t *Tx) EnqueueRevocation(ctx context.Context, fleetID string, now time.Time) error {
	rev, _, err := t.Revocation(ctx)
	if err != nil {
		return err
	}
	names, err := t.RevokedNames(ctx)
	if err != nil {
		return err
	}
	revoked, err := t.Revoked(ctx, now)
	if err != nil {
		return err
	}
	payload, left, err := enrol.EncodeRevoked(names, revoked, fleetID, rev+1, now, schema.TopicOf(schema.TopicRevoked).MaxBytes)
	if err != nil {
		return err
	}
	if left > 0 {
		if err := t.Note(ctx, now, audit.Note{Who: "fleetd", What: audit.ActionRevoke, Target: "fleet/revoked",
			Detail: fmt.Sprintf("the document is full: the %d names that were revoked longest ago are no longer in it: give the broker ca/crl.pem "+
				"(flag --crl), which has all certificates, and remove those with a password from its users file", left)}); err != nil {
			return err
		}
	}
	if _, err := t.exec(ctx, `INSERT INTO revocation (only_row, rev, payload, changed_at) VALUES (1, $1, $2, $3)
		ON CONFLICT (only_row) DO UPDATE SET rev = excluded.rev, payload = excluded.payload, changed_at = excluded.changed_at`,
		rev+1, payload, micros(now)); err != nil {
		return fmt.Errorf("write fleet/revoked: %w", err)
	}
	return t.enqueue(ctx, []library.Message{{Topic: schema.TopicRevoked, Payload: payload}}, now)
}
