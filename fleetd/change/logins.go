package change

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/store"
)

// AllowLogin keeps the permission of a user for the command line of a machine.
func (a *Accounts) AllowLogin(ctx context.Context, p auth.Principal, c auth.LoginCode) error {
	return a.transact(ctx, p, func(tx *store.Tx) error {
		if err := tx.AddLoginCode(ctx, c); err != nil {
			return err
		}
		return tx.Note(ctx, a.Now(), audit.Note{Who: p.ID, What: audit.ActionLoginAllow, Target: "user " + c.User,
			Detail: "the command line on " + c.Machine})
	})
}

// FinishLogin adds the token for a permission, and deletes the permission even if it is not valid.
// It returns ErrNotFound if there is no valid one for this challenge.
func (a *Accounts) FinishLogin(ctx context.Context, from auth.Origin, digest, challenge string,
	token func(auth.LoginCode) auth.Token) (made auth.Token, err error) {
	valid := false
	err = a.transact(ctx, auth.Principal{From: from}, func(tx *store.Tx) error {
		valid = false
		c, err := tx.TakeLoginCode(ctx, digest)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		users, err := tx.Users(ctx)
		if err != nil {
			return err
		}
		enabled := slices.ContainsFunc(users, func(u auth.User) bool { return u.Name == c.User && !u.Disabled })
		valid = enabled && a.Now().Before(c.ExpiresAt) && subtle.ConstantTimeCompare([]byte(c.Challenge), []byte(challenge)) == 1
		if !valid {
			return nil
		}
		made = token(c)
		if err := tx.AddAccessToken(ctx, made); err != nil {
			return err
		}
		tx.ActFor(auth.Principal{ID: c.User, From: from})
		return tx.Note(ctx, a.Now(), audit.Note{Who: c.User, What: audit.ActionTokenCreate, Target: "token " + made.ID,
			Detail: fmt.Sprintf("%s of %s, until %s", made.Name, made.User, made.ExpiresAt.Format(time.RFC3339))})
	})
	if err == nil && !valid {
		err = ErrNotFound
	}
	return made, err
}
