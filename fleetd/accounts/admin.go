package accounts

import (
	"context"
	"errors"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
)

// newAdmin is a password of admin of which the database did not say whether it was saved. It is
// printed if the next reading of the accounts shows that it was.
type newAdmin struct{ hash, password string }

// Begin reads the accounts from a database that was just opened. The first time it makes the
// user admin, unless in development mode.
func (k *Keeper) Begin(ctx context.Context) error {
	k.beginning.Lock()
	defer k.beginning.Unlock()
	if k.begun {
		return nil
	}
	if err := k.Reload(ctx); err != nil {
		return err
	}
	if err := k.makeAdmin(ctx); err != nil {
		return err
	}
	k.begun = true
	return nil
}

// makeAdmin makes the first user, or gives it a new password.
func (k *Keeper) makeAdmin(ctx context.Context) error {
	k.mu.Lock()
	first := len(k.users) == 0 && !k.Dev
	admin := k.users[string(auth.Admin)]
	k.mu.Unlock()
	if m := k.maybeAdmin; m.hash != "" && m.hash == admin.Password {
		k.FirstAdmin(admin.Name, m.password)
		return nil
	}
	if k.FirstAdmin == nil || !first && !k.ResetAdmin {
		return nil
	}
	password := auth.NewPassword()
	hash, err := k.hash(ctx, password)
	if err != nil {
		return err
	}
	written, err := k.Changes.FirstAdmin(ctx, string(auth.Admin), hash, k.ResetAdmin, "a password was printed at the start of fleetd")
	if errors.Is(err, change.ErrOutcomeUnknown) {
		k.maybeAdmin = newAdmin{hash: hash, password: password}
	}
	if err != nil || !written { // another instance was faster
		return err
	}
	k.FirstAdmin(string(auth.Admin), password)
	k.ResetAdmin = false // if the reading below fails, Begin runs again, and this password stays
	return k.Reload(ctx)
}
