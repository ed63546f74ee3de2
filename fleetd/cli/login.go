package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/accounts"
	"troupe/fleetd/api"
)

// loginDays is how long the token of a login is valid.
const loginDays = int(accounts.LoginLifetime / (24 * time.Hour))

func (sh *shell) loginCommand() *cobra.Command {
	var user, file, name string
	var browser bool
	c := &cobra.Command{
		Use: "login", Short: "sign in, and keep a token for the commands that follow", Args: cobra.NoArgs,
		Long: fmt.Sprintf(`Sign in at a server with user and password, and keep a token in a context for the commands that
follow. The token is valid for %d days, or until fleetd logout. The password is asked for, or
read from --password-file (- is the standard input); it is never a flag and not kept.

A person without a password, who signs in to the console with a provider, uses --browser: it
opens a page of the console on this machine, on which the person allows it.

Contexts are in contexts.yaml in the folder troupe of your configuration folder, which only you
can read.`, loginDays),
		Example: "  fleetd login --server https://fleet.example:8080 --user anna\n  fleetd login --server https://fleet.example:8080 --browser",
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			if browser {
				return sh.loginInBrowser(cmd.Context(), orElse(name, sh.contextName()))
			}
			if user == "" {
				user = sh.by
			}
			password, err := sh.secret(cmd.Context(), "password of "+user+" at "+sh.server, file)
			if err != nil {
				return err
			}
			return sh.login(cmd.Context(), orElse(name, sh.contextName()), user, password)
		}),
	}
	c.Flags().StringVar(&user, "user", "", "name of the account; default: your name (--by)")
	c.Flags().StringVar(&file, "password-file", "", "file whose first line is the password; - is the standard input")
	c.Flags().BoolVar(&browser, "browser", false, "sign in at a page of the console in a browser on this machine, without a password here")
	c.MarkFlagsMutuallyExclusive("browser", "user")
	c.MarkFlagsMutuallyExclusive("browser", "password-file")
	c.Flags().StringVar(&name, "name", "", "name of the context; default: host and port of the server")
	return c
}

// contextName names the context of a server.
func (sh *shell) contextName() string {
	if sh.context != "" {
		return sh.context
	}
	base, err := url.Parse(sh.server)
	if err != nil {
		return sh.server
	}
	return base.Host
}

// login opens a session, makes a token with it, and ends the session.
func (sh *shell) login(ctx context.Context, name, user, password string) error {
	sh.token, sh.cookie = "", nil
	if err := sh.do(ctx, "sign-in", given{"user": user, "password": password}, nil); err != nil {
		var ways api.SignInWays
		if sh.do(ctx, "sign-in-ways", nil, &ways) == nil && ways.Provider != "" {
			fmt.Fprintf(sh.Err, "A person who signs in with %s has no password here: use fleetd login --browser\n", ways.Provider)
		}
		return err
	}
	var made api.AccessToken
	err := sh.do(ctx, "make-access-token", given{"name": accounts.LoginTokenName(machineName()), "days": loginDays}, &made)
	if over := sh.do(ctx, "sign-out", nil, nil); err == nil {
		err = over
	}
	if err != nil {
		return err
	}
	if made.Secret == "" {
		return errors.New("fleetd made no token: is it in development mode, in which nobody needs one?")
	}
	return sh.keepToken(name, made)
}

// machineName is how the token of this machine is called.
func machineName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		name = "a machine without a name"
	}
	return firstBytes(name, 40)
}

// keepToken keeps the token of a sign-in as the current context.
func (sh *shell) keepToken(name string, made api.AccessToken) error {
	if err := validContextName(name); err != nil {
		return err
	}
	all, err := sh.readContexts()
	if err != nil {
		return err
	}
	all.Current, all.Contexts[name] = name, serverContext{Server: sh.server, CA: absolute(sh.ca), User: made.User, Token: made.Secret}
	if err := sh.writeContexts(all); err != nil {
		return err
	}
	fmt.Fprintf(sh.Out, "signed in as %s at %s; this is the context %s now\n", made.User, sh.server, name)
	return nil
}

func (sh *shell) logoutCommand() *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "end the token of the current context, and forget it", Args: cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			all, err := sh.readContexts()
			if err != nil {
				return err
			}
			name := sh.contextOf(all, sh.serverGiven(cmd))
			if _, ok := all.Contexts[name]; !ok {
				return errors.New("there is no context to sign out of; fleetd context list shows them")
			}
			return sh.removeContext(cmd.Context(), all, name)
		}),
	}
}

// removeContext ends the token of a context, if it has one, and forgets the context.
func (sh *shell) removeContext(ctx context.Context, all contexts, name string) error {
	c := all.Contexts[name]
	sh.server, sh.ca, sh.token, sh.usedContext, sh.noServer = c.Server, c.CA, c.Token, name, nil
	var revoked error
	if c.Token != "" {
		revoked = sh.do(ctx, "revoke-access-token", given{"id": "self"}, nil)
	}
	delete(all.Contexts, name)
	if all.Current == name {
		all.Current = ""
	}
	if err := sh.writeContexts(all); err != nil {
		return err
	}
	switch {
	case revoked != nil:
		return fmt.Errorf("the context %s is forgotten, but its token may still be valid: %w", name, revoked)
	case c.Token == "":
		fmt.Fprintf(sh.Out, "the context %s is removed\n", name)
	default:
		fmt.Fprintf(sh.Out, "signed out of %s\n", c.Server)
	}
	return nil
}
