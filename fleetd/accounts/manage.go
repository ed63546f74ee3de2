package accounts

import (
	"context"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/schema"
	"troupe/schema/argon2id"
)

// AddUser adds a user; with an empty password the user cannot sign in with one.
func (k *Keeper) AddUser(ctx context.Context, p auth.Principal, u auth.User, password string,
	by audit.Attribution) ([]schema.Problem, error) {
	if password != "" {
		if found := auth.PasswordProblems("/password", password); len(found) > 0 {
			return found, nil
		}
		var err error
		if u.Password, err = k.hash(ctx, password); err != nil {
			return nil, err
		}
	}
	found, err := k.Changes.AddUser(ctx, p, u, by)
	return found, k.changed(ctx, found, err)
}

// ChangeUser changes a user; change gets the user as it is. Disabling ends
// the sessions of the user for good, and suspends the tokens until the user is enabled again.
func (k *Keeper) ChangeUser(ctx context.Context, p auth.Principal, name string, by audit.Attribution,
	change func(*auth.User)) ([]schema.Problem, error) {
	found, err := k.Changes.ChangeUser(ctx, p, name, audit.ActionUserSet, by, func(u *auth.User) {
		was := u.Disabled
		change(u)
		if u.Disabled && !was {
			u.Epoch++ // so the sessions stay ended when the user is enabled again
		}
	})
	return found, k.changed(ctx, found, err)
}

// SetPassword gives a user another password, and ends the user's sessions.
func (k *Keeper) SetPassword(ctx context.Context, p auth.Principal, name, password string, by audit.Attribution) ([]schema.Problem, error) {
	if found := auth.PasswordProblems("/password", password); len(found) > 0 {
		return found, nil
	}
	hash, err := k.hash(ctx, password)
	if err != nil {
		return nil, err
	}
	found, err := k.Changes.ChangeUser(ctx, p, name, audit.ActionUserPassword, by, func(u *auth.User) {
		u.Password = hash
		u.Epoch++
	})
	return found, k.changed(ctx, found, err)
}

// CheckPassword reports whether a user who is signed in has this password. Wrong ones count against the user, since
// nobody else can send them.
func (k *Keeper) CheckPassword(ctx context.Context, name, password string) error {
	_, ok, err := k.check(ctx, name, password, "user "+name, true)
	if err == nil && !ok {
		err = ErrCredentials
	}
	return err
}

// AddToken makes a token of a user and returns its secret, which nobody can read again.
func (k *Keeper) AddToken(ctx context.Context, p auth.Principal, t auth.Token, valid time.Duration,
	by audit.Attribution) (secret string, made auth.Token, err error) {
	secret, t = k.newToken(t, valid)
	err = k.Changes.AddToken(ctx, p, t, by)
	return secret, t, k.changed(ctx, nil, err)
}

// newToken completes a token and returns its secret.
func (k *Keeper) newToken(t auth.Token, valid time.Duration) (string, auth.Token) {
	secret := auth.NewSecret()
	t.ID, t.Digest, t.CreatedAt = uuid.NewString()[:8], auth.Digest(secret), k.Now().Truncate(time.Microsecond)
	t.ExpiresAt = t.CreatedAt.Add(valid)
	return secret, t
}

// RevokeToken ends a token.
func (k *Keeper) RevokeToken(ctx context.Context, p auth.Principal, id string, by audit.Attribution) error {
	return k.changed(ctx, nil, k.Changes.RevokeToken(ctx, p, id, by))
}

// changed reads the accounts after a change, so that it takes effect at once.
func (k *Keeper) changed(ctx context.Context, found []schema.Problem, err error) error {
	if err != nil || len(found) > 0 {
		return err
	}
	if err := k.Reload(context.WithoutCancel(ctx)); err != nil {
		k.Log.Error("accounts not read after a change; the next attempt follows", "error", err)
	}
	return nil
}

// hash computes the hash of a new password.
func (k *Keeper) hash(ctx context.Context, password string) (string, error) {
	done, err := k.startHash(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	return argon2id.HashPassword(password, newSalt()).String(), nil
}

// startHash waits until another hash may be computed.
func (k *Keeper) startHash(ctx context.Context) (done func(), err error) {
	select {
	case k.hashing <- struct{}{}:
		return func() { <-k.hashing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// startStrangersHash is startHash for the password of somebody who was not seen before. Only one of these
// is computed at a time, so that one place is left for others, and few wait.
func (k *Keeper) startStrangersHash(ctx context.Context) (done func(), err error) {
	select {
	case k.strangersWaiting <- struct{}{}:
		defer func() { <-k.strangersWaiting }()
	default:
		return nil, ErrCrowded
	}
	select {
	case k.strangersHashing <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	hashed, err := k.startHash(ctx)
	if err != nil {
		<-k.strangersHashing
		return nil, err
	}
	return func() {
		hashed()
		<-k.strangersHashing
	}, nil
}
