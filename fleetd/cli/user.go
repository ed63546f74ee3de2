package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
)

func (sh *shell) userCommand() *cobra.Command {
	return group("user", "people and programs that have an account", sh.userListCommand(), sh.userAddCommand(), sh.userSetCommand(), sh.userDisableCommand(), sh.userPasswordCommand())
}

func (sh *shell) userListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list users", Args: cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			var got struct {
				Users []api.Account `json:"users"`
			}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "users"}, &got); err != nil {
				return err
			}
			return sh.show(got, func(out io.Writer) {
				w := newTable(out)
				defer w.Flush()
				fmt.Fprintln(w, "USER\tNAME\tROLES\tSITES\tSIGNS IN WITH")
				for _, u := range got.Users {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", u.Name, dash(u.Display), roleList(u.Roles), orElse(strings.Join(u.Sites, ", "), "all"), signsInWith(u))
				}
			})
		}),
	}
}

func signsInWith(u api.Account) string {
	switch {
	case u.Disabled:
		return "disabled"
	case u.Password && u.Subject != "":
		return "password, provider"
	case u.Password:
		return "password"
	case u.Subject != "":
		return "provider"
	}
	return "tokens only"
}

func roleList(roles []auth.Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

func rolesOf(names []string) []auth.Role {
	var roles []auth.Role
	for _, name := range names {
		roles = append(roles, auth.Role(name))
	}
	return roles
}

// showUser prints a user after a change.
func (sh *shell) showUser(u api.Account, what string) error {
	return sh.show(u, func(w io.Writer) {
		fmt.Fprintf(w, "user %s %s: %s, sites %s, %s\n", u.Name, what, roleList(u.Roles), orElse(strings.Join(u.Sites, ", "), "all"), signsInWith(u))
	})
}

const roleUsage = "role of the user, or several: viewer, operator, author, releaser, admin, auditor"

func (sh *shell) userAddCommand() *cobra.Command {
	var display, file, why string
	var roles, sites []string
	var without bool
	c := &cobra.Command{
		Use: "add USER", Short: "add a user", Args: cobra.ExactArgs(1),
		Long: `Add a user. The password is asked for, or read from --password-file (- is the standard input).
A user without a password uses tokens.`,
		Example: "  fleetd user add anna --role operator --role author --site lobby\n  fleetd user add nightly --role viewer --no-password",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			ask := api.NewUser{Name: args[0], Display: display, Roles: rolesOf(roles), Sites: sites, Attribution: audit.Attribution{Who: sh.by, Why: why}}
			if !without {
				var err error
				if ask.Password, err = sh.secret("password for "+args[0], file); err != nil {
					return err
				}
			}
			var u api.Account
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: "users", body: ask}, &u); err != nil {
				return err
			}
			return sh.showUser(u, "added")
		}),
	}
	f := c.Flags()
	f.StringVar(&display, "display", "", "name to show")
	f.StringSliceVar(&roles, "role", nil, roleUsage)
	f.StringSliceVar(&sites, "site", nil, "the user sees and commands robots with this label site only; may be repeated")
	f.StringVar(&file, "password-file", "", "file whose first line is the password; - is the standard input")
	f.BoolVar(&without, "no-password", false, "the user cannot sign in with a password")
	f.StringVar(&why, "why", "", "the reason, for the audit")
	return c
}

func (sh *shell) userSetCommand() *cobra.Command {
	var display, subject, why string
	var roles, sites []string
	var everywhere, enable bool
	c := &cobra.Command{
		Use: "set USER", Short: "change the roles and sites of a user, or enable the user again", Args: cobra.ExactArgs(1),
		Example: "  fleetd user set anna --role releaser --all-sites",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			change := api.UserChange{Attribution: audit.Attribution{Who: sh.by, Why: why}}
			f := cmd.Flags()
			if f.Changed("display") {
				change.Display = &display
			}
			if f.Changed("subject") {
				change.Subject = &subject
			}
			if f.Changed("role") {
				all := rolesOf(roles)
				change.Roles = &all
			}
			if everywhere {
				sites = []string{}
			}
			if everywhere || f.Changed("site") {
				change.Sites = &sites
			}
			if enable {
				no := false
				change.Disabled = &no
			}
			return sh.changeUser(cmd, args[0], change, "changed")
		}),
	}
	f := c.Flags()
	f.StringVar(&display, "display", "", "name to show")
	f.StringSliceVar(&roles, "role", nil, roleUsage+"; replaces those that the user has")
	f.StringSliceVar(&sites, "site", nil, "the user sees and commands robots with this label site only; replaces those that the user has")
	f.BoolVar(&everywhere, "all-sites", false, "the user sees and commands all robots")
	f.StringVar(&subject, "subject", "", "the person of the OpenID Connect provider who signs in as this user, as the audit names it; '' = nobody")
	f.BoolVar(&enable, "enable", false, "the user may sign in again")
	f.StringVar(&why, "why", "", "the reason, for the audit")
	c.MarkFlagsMutuallyExclusive("site", "all-sites")
	return c
}

func (sh *shell) changeUser(cmd *cobra.Command, name string, change api.UserChange, what string) error {
	var u api.Account
	if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPatch, path: "users/" + url.PathEscape(name), body: change}, &u); err != nil {
		return err
	}
	return sh.showUser(u, what)
}

func (sh *shell) userDisableCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "disable USER", Short: "end all sessions of a user at once, and refuse all tokens of the user", Args: cobra.ExactArgs(1),
		Long: "End all sessions of a user at once, and refuse all tokens of the user. Users are not deleted: the audit names them. fleetd user set USER --enable lets the user sign in again and makes the tokens of the user valid again: revoke those that are lost (fleetd token revoke).",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			yes := true
			return sh.changeUser(cmd, args[0], api.UserChange{Disabled: &yes, Attribution: audit.Attribution{Who: sh.by, Why: why}}, "disabled")
		}),
	}
	c.Flags().StringVar(&why, "why", "", "the reason, for the audit")
	return c
}

func (sh *shell) userPasswordCommand() *cobra.Command {
	var file, why string
	c := &cobra.Command{
		Use: "password [USER]", Short: "change your own password, or give a user another one", Args: cobra.MaximumNArgs(1),
		Long: `Change your own password, or give another user a new one, which administrators may. All sessions of
the user end; tokens stay valid. Passwords are asked for, or read from --password-file or the
standard input, one a line: for your own password first the old one, then the new one.`,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				password, err := sh.secret("new password for "+args[0], file)
				if err != nil {
					return err
				}
				var u api.Account
				ask := api.NewPassword{Password: password, Attribution: sh.attribution(why)}
				if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: "users/" + url.PathEscape(args[0]) + "/password", body: ask}, &u); err != nil {
					return err
				}
				return sh.showUser(u, "has a new password")
			}
			old, err := sh.secret("your old password", file)
			if err != nil {
				return err
			}
			password, err := sh.nextSecret("your new password")
			if err != nil {
				return err
			}
			var me api.Me
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: "me/password", body: api.OwnPassword{Old: old, New: password}}, &me); err != nil {
				return err
			}
			return sh.show(me, func(w io.Writer) { fmt.Fprintf(w, "the password of %s is changed\n", me.ID) })
		}),
	}
	c.Flags().StringVar(&file, "password-file", "", "file with the password; - is the standard input")
	c.Flags().StringVar(&why, "why", "", "the reason for another user's password, for the audit")
	return c
}
