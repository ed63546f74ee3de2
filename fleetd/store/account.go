package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"troupe/fleetd/auth"
)

// Accounts returns all users, tokens and sessions.
func (t *Tx) Accounts(ctx context.Context) (all auth.Accounts, err error) {
	if all.Users, err = t.Users(ctx); err != nil {
		return all, err
	}
	if all.Tokens, err = queryAll(ctx, t.reads, scanAccessToken,
		`SELECT id, digest, user_name, name, roles, created_at, expires_at FROM access_tokens ORDER BY created_at, id`); err != nil {
		return all, fmt.Errorf("list tokens: %w", err)
	}
	if all.Sessions, err = queryAll(ctx, t.reads, func(scan func(...any) error) (s auth.Session, err error) {
		var expires int64
		err = scan(&s.Digest, &s.Data, &expires)
		s.ExpiresAt = timeOf(expires)
		return s, err
	}, `SELECT digest, data, expires_at FROM sessions ORDER BY digest`); err != nil {
		return all, fmt.Errorf("list sessions: %w", err)
	}
	all.Rev, err = t.AccountsRev(ctx)
	return all, err
}

// AccountsRev grows with each change of an account, a token or a session.
func (r reads) AccountsRev(ctx context.Context) (rev int64, err error) {
	if err = r.queryRow(ctx, `SELECT accounts_rev FROM fleet WHERE only_row = 1`).Scan(&rev); err != nil {
		return 0, fmt.Errorf("read the revision of the accounts: %w", mapNoRows(err))
	}
	return rev, nil
}

// Users lists all users by name.
func (r reads) Users(ctx context.Context) ([]auth.User, error) {
	all, err := queryAll(ctx, r, func(scan func(...any) error) (u auth.User, err error) {
		var roles, sites string
		var disabled, created, changed int64
		if err = scan(&u.Name, &u.Display, &roles, &sites, &u.Password, &u.Subject, &disabled, &u.Epoch, &created, &changed); err != nil {
			return u, err
		}
		u.Disabled, u.CreatedAt, u.ChangedAt = disabled != 0, timeOf(created), timeOf(changed)
		return u, decodeBoth(roles, &u.Roles, sites, &u.Sites)
	}, `SELECT name, display, roles, sites, password, subject, disabled, epoch, created_at, changed_at FROM users ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("list users: %w", err)
	}
	return all, nil
}

func scanAccessToken(scan func(...any) error) (t auth.Token, err error) {
	var roles string
	var created, expires int64
	if err = scan(&t.ID, &t.Digest, &t.User, &t.Name, &roles, &created, &expires); err != nil {
		return t, err
	}
	t.CreatedAt, t.ExpiresAt = timeOf(created), timeOf(expires)
	return t, json.Unmarshal([]byte(roles), &t.Roles)
}

func decodeBoth(a string, into any, b string, andInto any) error {
	if err := json.Unmarshal([]byte(a), into); err != nil {
		return err
	}
	return json.Unmarshal([]byte(b), andInto)
}

// encodeList writes a list as JSON; an empty one is [].
func encodeList[T ~string](list []T) (string, error) {
	text, err := json.Marshal(append([]T{}, list...))
	return string(text), err
}

// SaveUser adds a user or replaces one.
func (t *Tx) SaveUser(ctx context.Context, u auth.User) error {
	roles, err := encodeList(u.Roles)
	if err != nil {
		return err
	}
	sites, err := encodeList(u.Sites)
	if err != nil {
		return err
	}
	n, err := t.exec(ctx, `INSERT INTO users (name, display, roles, sites, password, subject, disabled, epoch, created_at, changed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (name) DO UPDATE SET display = excluded.display, roles = excluded.roles, sites = excluded.sites, password = excluded.password,
			subject = excluded.subject, disabled = excluded.disabled, epoch = excluded.epoch, changed_at = excluded.changed_at`,
		u.Name, u.Display, roles, sites, u.Password, u.Subject, boolToInt(u.Disabled), u.Epoch, micros(u.CreatedAt), micros(u.ChangedAt))
	if err := expectOne(n, err, "the user "+u.Name); err != nil {
		return err
	}
	return t.raiseAccountsRev(ctx)
}

// AddAccessToken adds a token of a user.
func (t *Tx) AddAccessToken(ctx context.Context, token auth.Token) error {
	roles, err := encodeList(token.Roles)
	if err != nil {
		return err
	}
	n, err := t.exec(ctx, `INSERT INTO access_tokens (id, digest, user_name, name, roles, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		token.ID, token.Digest, token.User, token.Name, roles, micros(token.CreatedAt), micros(token.ExpiresAt))
	if err := expectOne(n, err, "a token of "+token.User); err != nil {
		return err
	}
	return t.raiseAccountsRev(ctx)
}

// DeleteAccessToken deletes a token and returns it, or ErrNotFound.
func (t *Tx) DeleteAccessToken(ctx context.Context, id string) (auth.Token, error) {
	token, err := queryOne(ctx, t.reads, scanAccessToken,
		`DELETE FROM access_tokens WHERE id = $1 RETURNING id, digest, user_name, name, roles, created_at, expires_at`, id)
	if err != nil {
		return token, fmt.Errorf("delete the token %s: %w", id, err)
	}
	return token, t.raiseAccountsRev(ctx)
}

// SaveSession adds a session or replaces it.
func (t *Tx) SaveSession(ctx context.Context, s auth.Session) error {
	n, err := t.exec(ctx, `INSERT INTO sessions (digest, data, expires_at) VALUES ($1, $2, $3)
		ON CONFLICT (digest) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at`, s.Digest, neverNil(s.Data), micros(s.ExpiresAt))
	if err := expectOne(n, err, "a session"); err != nil {
		return err
	}
	return t.raiseAccountsRev(ctx)
}

// DeleteSession deletes a session, if there is one with this digest.
func (t *Tx) DeleteSession(ctx context.Context, digest string) error {
	if _, err := t.exec(ctx, `DELETE FROM sessions WHERE digest = $1`, digest); err != nil {
		return fmt.Errorf("delete a session: %w", err)
	}
	return t.raiseAccountsRev(ctx)
}

// AddLoginCode adds a login code.
func (t *Tx) AddLoginCode(ctx context.Context, c auth.LoginCode) error {
	n, err := t.exec(ctx, `INSERT INTO login_codes (digest, challenge, user_name, machine, expires_at) VALUES ($1, $2, $3, $4, $5)`,
		c.Digest, c.Challenge, c.User, c.Machine, micros(c.ExpiresAt))
	return expectOne(n, err, "a login code of "+c.User)
}

// TakeLoginCode deletes a login code and returns it, or ErrNotFound.
func (t *Tx) TakeLoginCode(ctx context.Context, digest string) (auth.LoginCode, error) {
	c, err := queryOne(ctx, t.reads, func(scan func(...any) error) (c auth.LoginCode, err error) {
		var expires int64
		err = scan(&c.Digest, &c.Challenge, &c.User, &c.Machine, &expires)
		c.ExpiresAt = timeOf(expires)
		return c, err
	}, `DELETE FROM login_codes WHERE digest = $1 RETURNING digest, challenge, user_name, machine, expires_at`, digest)
	if err != nil {
		return c, fmt.Errorf("take a login code: %w", err)
	}
	return c, nil
}

// DeleteExpiredAccess deletes sessions, tokens and login codes that have expired. Other instances
// need not read them again.
func (t *Tx) DeleteExpiredAccess(ctx context.Context, now time.Time) error {
	for _, table := range []string{"sessions", "access_tokens", "login_codes"} {
		if _, err := t.exec(ctx, `DELETE FROM `+table+` WHERE expires_at <= $1`, micros(now)); err != nil {
			return fmt.Errorf("delete expired %s: %w", table, err)
		}
	}
	return nil
}

func (t *Tx) raiseAccountsRev(ctx context.Context) error {
	n, err := t.exec(ctx, `UPDATE fleet SET accounts_rev = accounts_rev + 1 WHERE only_row = 1`)
	return expectOne(n, err, "the revision of the accounts")
}
