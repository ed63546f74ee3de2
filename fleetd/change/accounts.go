package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/store"
	"troupe/schema"
)

// Accounts changes users, tokens and sessions.
type Accounts struct{ Deps }

// Codes of refused changes of accounts.
const (
	CodeTaken     = "taken"      // a user of this name exists
	CodeLastAdmin = "last_admin" // nobody could administer the fleet afterwards
)

// Read returns all accounts.
func (a *Accounts) Read(ctx context.Context) (all auth.Accounts, err error) {
	err = a.query(ctx, func(tx *store.Tx) (err error) {
		all, err = tx.Accounts(ctx)
		return err
	})
	return all, err
}

// FirstAdmin adds an administrator of this name with this password hash if there are no users. With reset it
// also gives an existing user of this name the password, and makes it an enabled administrator. why is what the audit
// says of it. It reports whether it wrote the user.
func (a *Accounts) FirstAdmin(ctx context.Context, name, hash string, reset bool, why string) (written bool, err error) {
	err = a.transact(ctx, auth.Principal{}, func(tx *store.Tx) error {
		users, err := tx.Users(ctx)
		if err != nil {
			return err
		}
		if written = len(users) == 0 || reset; !written {
			return nil
		}
		now := a.Now()
		u := auth.User{Name: name, CreatedAt: now}
		if i := slices.IndexFunc(users, func(u auth.User) bool { return u.Name == name }); i >= 0 {
			u = users[i]
		}
		u.Password, u.Roles, u.Sites, u.Disabled, u.ChangedAt = hash, []auth.Role{auth.Admin}, nil, false, now
		u.Epoch++
		if err := tx.SaveUser(ctx, u); err != nil {
			return err
		}
		return tx.Note(ctx, now, audit.Note{Who: "fleetd", What: audit.ActionUser, Target: "user " + u.Name, Detail: why})
	})
	return written, err
}

// AddUser adds a user.
func (a *Accounts) AddUser(ctx context.Context, p auth.Principal, u auth.User, by audit.Attribution) (found []schema.Problem, err error) {
	if found := u.Problems(); len(found) > 0 {
		return found, nil
	}
	u.CreatedAt, u.ChangedAt, u.Epoch = a.Now(), a.Now(), 1
	return a.applyUserPlan(ctx, p, by, func(tx *store.Tx, users []auth.User) (auth.User, audit.Note, []schema.Problem) {
		if slices.ContainsFunc(users, func(other auth.User) bool { return other.Name == u.Name }) {
			return u, audit.Note{}, []schema.Problem{schema.NewProblem("/name", CodeTaken, "there is a user "+u.Name+" already",
				"choose another name, or change that user")}
		}
		return u, audit.Note{What: audit.ActionUserAdd, Target: "user " + u.Name, Detail: describe(u)}, nil
	})
}

// ChangeUser changes a user; change gets the user as it is.
func (a *Accounts) ChangeUser(ctx context.Context, p auth.Principal, name string, what audit.Action, by audit.Attribution,
	change func(*auth.User)) (found []schema.Problem, err error) {
	missing := false
	found, err = a.applyUserPlan(ctx, p, by, func(tx *store.Tx, users []auth.User) (auth.User, audit.Note, []schema.Problem) {
		i := slices.IndexFunc(users, func(u auth.User) bool { return u.Name == name })
		if missing = i < 0; missing {
			return auth.User{}, audit.Note{}, []schema.Problem{{}}
		}
		u := users[i]
		change(&u)
		u.ChangedAt = a.Now()
		if found := u.Problems(); len(found) > 0 {
			return u, audit.Note{}, found
		}
		if slices.ContainsFunc(users, func(other auth.User) bool { return u.Subject != "" && other.Subject == u.Subject && other.Name != name }) {
			return u, audit.Note{}, []schema.Problem{schema.NewProblem("/subject", CodeTaken, "another user signs in as this person of the provider",
				"take the subject from that user first, with an empty one")}
		}
		after := slices.Clone(users)
		after[i] = u
		if auth.KeepsAnAdmin(users) && !auth.KeepsAnAdmin(after) { // a fleet that was only used with --dev has none to lose
			return u, audit.Note{}, []schema.Problem{schema.NewProblem("", CodeLastAdmin, name+" is the last administrator",
				"make another user an administrator first")}
		}
		return u, audit.Note{What: what, Target: "user " + name, Detail: describe(u)}, nil
	})
	if missing {
		return nil, fmt.Errorf("user %s: %w", name, ErrNotFound)
	}
	return found, err
}

// applyUserPlan writes the user that plan returns, with its note, unless plan finds problems.
func (a *Accounts) applyUserPlan(ctx context.Context, p auth.Principal, by audit.Attribution,
	plan func(*store.Tx, []auth.User) (auth.User, audit.Note, []schema.Problem)) (found []schema.Problem, err error) {
	err = a.transact(ctx, p, func(tx *store.Tx) error {
		users, err := tx.Users(ctx)
		if err != nil {
			return err
		}
		var u auth.User
		var note audit.Note
		if u, note, found = plan(tx, users); len(found) > 0 {
			return errRefused
		}
		if err := tx.SaveUser(ctx, u); err != nil {
			return err
		}
		note.Who, note.Why = by.Who, by.Why
		return tx.Note(ctx, a.Now(), note)
	})
	if errors.Is(err, errRefused) {
		err = nil
	}
	return found, err
}

// describe says for the audit what a user may do.
func describe(u auth.User) string {
	roles := make([]string, len(u.Roles))
	for i, r := range u.Roles {
		roles[i] = string(r)
	}
	text := strings.Join(roles, ", ")
	if len(u.Sites) > 0 {
		text += " at " + strings.Join(u.Sites, ", ")
	}
	if u.Disabled {
		text += ", disabled"
	}
	return text
}

// AddToken adds a token.
func (a *Accounts) AddToken(ctx context.Context, p auth.Principal, t auth.Token, by audit.Attribution) error {
	return a.transact(ctx, p, func(tx *store.Tx) error {
		if err := tx.AddAccessToken(ctx, t); err != nil {
			return err
		}
		return tx.Note(ctx, a.Now(), audit.Note{Who: by.Who, What: audit.ActionTokenCreate, Target: "token " + t.ID, Why: by.Why,
			Detail: fmt.Sprintf("%s of %s, until %s", t.Name, t.User, t.ExpiresAt.Format(time.RFC3339))})
	})
}

// RevokeToken deletes a token.
func (a *Accounts) RevokeToken(ctx context.Context, p auth.Principal, id string, by audit.Attribution) error {
	return a.transact(ctx, p, func(tx *store.Tx) error {
		t, err := tx.DeleteAccessToken(ctx, id)
		if err != nil {
			return err
		}
		return tx.Note(ctx, a.Now(), audit.Note{Who: by.Who, What: audit.ActionTokenRevoke, Target: "token " + id, Why: by.Why, Detail: t.Name +
			" of " + t.User})
	})
}

// SaveSession saves a new session of a principal; how says for the audit how it was opened.
func (a *Accounts) SaveSession(ctx context.Context, p auth.Principal, s auth.Session, at time.Time, how string) error {
	return a.transact(ctx, p, func(tx *store.Tx) error {
		if err := tx.SaveSession(ctx, s); err != nil {
			return err
		}
		return tx.Note(ctx, at, audit.Note{Who: p.ID, What: audit.ActionSignIn, Target: "user " + p.ID, Detail: how})
	})
}

// EndSession deletes a session; note says for the audit who ended it.
func (a *Accounts) EndSession(ctx context.Context, p auth.Principal, digest string, note audit.Note) error {
	return a.transact(ctx, p, func(tx *store.Tx) error {
		if err := tx.DeleteSession(ctx, digest); err != nil {
			return err
		}
		return tx.Note(ctx, a.Now(), note)
	})
}

// DeleteExpired deletes sessions and tokens that have expired.
func (a *Accounts) DeleteExpired(ctx context.Context) error {
	return a.transact(ctx, auth.Principal{}, func(tx *store.Tx) error { return tx.DeleteExpiredAccess(ctx, a.Now()) })
}
