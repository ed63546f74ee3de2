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
	return group("session", "sign-ins in browsers", sh.sessionListCommand(), sh.sessionEndCommand())
}

func (sh *shell) sessionListCommand() *cobra.Command {
	var user string
	c := &cobra.Command{
		Use: "list", Short: "list where you are signed in, or as administrator where everybody is", Args: cobra.NoArgs,
		Long: "List where you are signed in, or as administrator where everybody is. These are browsers; the command line and programs have tokens, see fleetd token list.",
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			query := url.Values{}
			if user != "" {
				query.Set("user", user)
			}
			var got struct {
				Sessions []api.ActiveSession `json:"sessions"`
			}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "sessions", query: query}, &got); err != nil {
				return err
			}
			return sh.show(got, func(out io.Writer) {
				w := newTable(out)
				defer w.Flush()
				fmt.Fprintln(w, "SESSION\tUSER\tFROM\tSINCE\tLAST USED\tBROWSER")
				for _, s := range got.Sessions {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", s.ID, s.User, orElse(s.Address, "-"), formatTime(s.Since), formatTime(s.UsedAt), orElse(s.Agent, "-"))
				}
			})
		}),
	}
	c.Flags().StringVar(&user, "user", "", "of this user only")
	return c
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
