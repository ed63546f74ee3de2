package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func endSession(sh *shell, c *cobra.Command) finish {
	all := c.Flags().Bool("all", false, "all of yours, or of --user")
	user := c.Flags().String("user", "", "of this user, which administrators may end; default: yourself")
	return func(ctx context.Context, args []string, r rowRequest) error {
		switch {
		case *all == (len(args) > 0) || *user != "" && !*all:
			return usage("name sessions, or write --all (for another user: --all --user NAME)")
		case *all:
			return sh.doAndShow(ctx, "end-sessions", given{"user": *user, "why": r.query.Get("why")})
		}
		return sh.sendEach(ctx, args, r)
	}
}
