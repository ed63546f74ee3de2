package change

import (
	"context"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/store"
)

// Commands notes what people do to commands that were issued already.
type Commands struct{ Deps }

// NoteCancelled notes that a command was cancelled before it was sent.
func (c *Commands) NoteCancelled(ctx context.Context, p auth.Principal, id string, by audit.Attribution) error {
	return c.transact(ctx, p, func(tx *store.Tx) error {
		return tx.Note(ctx, c.Now(), audit.Note{Who: by.Who, What: audit.ActionCancel, Target: "command " + id, Why: by.Why})
	})
}
