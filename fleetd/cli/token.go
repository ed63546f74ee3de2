package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
)

func (sh *shell) tokenCommand() *cobra.Command {
	return group("token", "access tokens, with which programs make requests as a user", sh.tokenListCommand(), sh.tokenCreateCommand(), sh.tokenRevokeCommand())
}

func (sh *shell) tokenListCommand() *cobra.Command {
	var user string
	c := &cobra.Command{
		Use: "list", Short: "list valid tokens: your own, or as administrator those of everybody", Args: cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			query := url.Values{}
			if user != "" {
				query.Set("user", user)
			}
			var got struct {
				Tokens []api.AccessToken `json:"tokens"`
			}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "tokens", query: query}, &got); err != nil {
				return err
			}
			return sh.show(got, func(out io.Writer) {
				w := newTable(out)
				defer w.Flush()
				fmt.Fprintln(w, "TOKEN\tUSER\tFOR\tROLES\tVALID UNTIL")
				for _, t := range got.Tokens {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", t.ID, t.User, t.Name, orElse(roleList(t.Roles), "the user's"), t.ExpiresAt.Time().Format(time.DateOnly))
				}
			})
		}),
	}
	c.Flags().StringVar(&user, "user", "", "of this user only")
	return c
}

func (sh *shell) tokenCreateCommand() *cobra.Command {
	var user, why string
	var roles []string
	var days int
	c := &cobra.Command{
		Use: "create NAME", Short: "make a token and print its secret, which nobody can read again", Args: cobra.ExactArgs(1),
		Long: `Make a token and print its secret, which nobody can read again. NAME says for people what the token
is for. A program sends it as
Authorization: Bearer SECRET, and this one takes it from TROUPE_TOKEN. Give a token only the roles that the program needs.`,
		Example: "  fleetd token create nightly-report --role viewer --days 365",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var made api.AccessToken
			ask := api.NewAccessToken{User: user, Name: args[0], Roles: rolesOf(roles), Days: days, Attribution: audit.Attribution{Who: sh.by, Why: why}}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: "tokens", body: ask}, &made); err != nil {
				return err
			}
			return sh.show(made, func(w io.Writer) {
				fmt.Fprintln(w, made.Secret)
				fmt.Fprintf(sh.Err, "token %s of %s, valid until %s; this is the only time that its secret is shown\n", made.ID, made.User, made.ExpiresAt.Time().Format(time.DateOnly))
			})
		}),
	}
	f := c.Flags()
	f.StringVar(&user, "user", "", "for this user, which administrators may; default: yourself")
	f.StringSliceVar(&roles, "role", nil, "the token has this role of the user only; may be repeated; default: all of them")
	f.IntVar(&days, "days", 90, "how long it is valid")
	f.StringVar(&why, "why", "", "the reason, for the audit")
	return c
}

func (sh *shell) tokenRevokeCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "revoke TOKEN", Short: "end a token at once, by its id", Args: cobra.ExactArgs(1),
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodDelete, path: "tokens/" + url.PathEscape(args[0]), query: sh.attributionQuery(why)}, nil); err != nil {
				return err
			}
			fmt.Fprintf(sh.Out, "token %s is revoked\n", args[0])
			return nil
		}),
	}
	whyFlag(c, &why)
	return c
}
