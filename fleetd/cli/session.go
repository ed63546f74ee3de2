package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

func (sh *shell) sessionCommand() *cobra.Command {
	return group("session", "sign-ins in browsers", sh.sessionEndCommand())
}

func (sh *shell) sessionEndCommand() *cobra.Command {
	var user, why string
	var all bool
	c := &cobra.Command{
		Use: "end [SESSION...]", Short: "end sign-ins at once, by their ids or all of a user", Args: cobra.ArbitraryArgs,
		Example: "  fleetd session end 5d41402abc4b\n  fleetd session end --all --user anna --why 'lost tablet'",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if all == (len(args) > 0) || user != "" && !all {
				return usage("name sessions, or write --all (for another user: --all --user NAME)")
			}
			query := sh.attributionQuery(why)
			for _, id := range args {
				if err := sh.call(cmd.Context(), apiRequest{method: http.MethodDelete, path: "sessions/" + url.PathEscape(id), query: query}, nil); err != nil {
					return err
				}
				fmt.Fprintf(sh.Out, "session %s has ended\n", id)
			}
			if !all {
				return nil
			}
			if user != "" {
				query.Set("user", user)
			}
			var got api.EndedSessions
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodDelete, path: "sessions", query: query}, &got); err != nil {
				return err
			}
			return sh.show(got, func(w io.Writer) { fmt.Fprintf(w, "ended sessions: %d\n", got.Ended) })
		}),
	}
	c.Flags().BoolVar(&all, "all", false, "all of yours, or of --user")
	c.Flags().StringVar(&user, "user", "", "of this user, which administrators may end; default: yourself")
	whyFlag(c, &why)
	return c
}
