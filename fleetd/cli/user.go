package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

func (sh *shell) userCommand() *cobra.Command {
	return group("user", "people and programs that have an account", sh.userDisableCommand(), sh.userPasswordCommand())
}

func addUser(sh *shell, c *cobra.Command) finish {
	file := c.Flags().String("password-file", "", "file whose first line is the password; - is the standard input")
	without := c.Flags().Bool("no-password", false, "the user cannot sign in with a password")
	return func(ctx context.Context, args []string, r rowRequest) (err error) {
		if !*without {
			if r.body["password"], err = sh.secret(ctx, "password for "+args[0], *file); err != nil {
				return err
			}
		}
		return sh.sendRow(ctx, r)
	}
}

func setUser(sh *shell, c *cobra.Command) finish {
	everywhere := c.Flags().Bool("all-sites", false, "the user sees and commands all robots")
	enable := c.Flags().Bool("enable", false, "the user may sign in again")
	c.MarkFlagsMutuallyExclusive("site", "all-sites")
	return func(ctx context.Context, _ []string, r rowRequest) error {
		if *everywhere {
			r.body["sites"] = []string{}
		}
		if *enable {
			r.body["disabled"] = false
		}
		return sh.sendRow(ctx, r)
	}
}

func (sh *shell) userDisableCommand() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "disable USER", Short: "end all sessions of a user at once, and refuse all tokens of the user", Args: cobra.ExactArgs(1),
		Long: `End all sessions of a user at once, and refuse all tokens of the user. Users are not deleted: the
audit names them. fleetd user set USER --enable lets the user sign in again and makes the tokens of
the user valid again: revoke those that are lost (fleetd token revoke).`,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			r := sh.request("change-user", given{"name": args[0], "disabled": true, "why": why})
			r.operation.Done = strings.Replace(r.operation.Done, "changed", "disabled", 1)
			return sh.sendRow(cmd.Context(), r)
		}),
	}
	whyFlag(c, &why)
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
				password, err := sh.secret(cmd.Context(), "new password for "+args[0], file)
				if err != nil {
					return err
				}
				return sh.doAndShow(cmd.Context(), "set-password", given{"name": args[0], "password": password, "why": why})
			}
			old, err := sh.secret(cmd.Context(), "your old password", file)
			if err != nil {
				return err
			}
			password, err := sh.nextSecret(cmd.Context(), "your new password")
			if err != nil {
				return err
			}
			return sh.doAndShow(cmd.Context(), "change-own-password", given{"old": old, "new": password})
		}),
	}
	c.Flags().StringVar(&file, "password-file", "", "file with the password; - is the standard input")
	c.Flags().StringVar(&why, "why", "", "the reason for another user's password, for the audit")
	return c
}
