package api

import (
	"context"
	"errors"
	"net/http"

	"troupe/fleetd/accounts"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
)

// Credentials are what a person signs in with.
type Credentials struct {
	User     string `json:"user" minLength:"1" maxLength:"63"`
	Password string `json:"password" minLength:"1" maxLength:"256"`
}

// Me is who makes a request, and what they may do.
type Me struct {
	ID     string      `json:"id" doc:"name of the account"`
	Name   string      `json:"name,omitempty" doc:"name to show"`
	Kind   auth.Kind   `json:"kind" enum:"dev,session,token" doc:"how the request was authenticated"`
	Token  string      `json:"token,omitempty" doc:"name of the token of the request"`
	Roles  []auth.Role `json:"roles" enum:"viewer,operator,author,releaser,admin,auditor"`
	Rights []string    `json:"rights" enum:"view,edit,assign,command,manual,stop,release_stops,administer,audit,own,try,records,approve"`
	Sites  []string    `json:"sites" doc:"robots of these sites only; empty = every robot"`
	Dev    bool        `json:"dev" doc:"this instance is in development mode: a person who is not signed in has every right"`

	Password bool `json:"password" doc:"the account can sign in with a password"`
	Provider bool `json:"provider" doc:"the account can sign in with the OpenID Connect provider"`

	Fleets []FleetLink `json:"fleets,omitempty" doc:"the fleets between which the console switches, this one among them; each has accounts of its own"`
}

// FleetLink is where people reach the console of a fleet.
type FleetLink struct {
	Name string `json:"name" doc:"name to show"`
	URL  string `json:"url" doc:"without a slash at the end"`
}

// SignInWays is how people can sign in at this instance.
type SignInWays struct {
	Password bool   `json:"password"`
	Provider string `json:"provider,omitempty" doc:"name of the OpenID Connect provider; sign in at /api/v1/session/provider"`
	Dev      bool   `json:"dev" doc:"this instance is in development mode: a person who is not signed in has every right"`
}

type signedIn struct {
	Cookies []*http.Cookie `header:"Set-Cookie"`
	Body    Me
}

type signedOut struct {
	Cookie http.Cookie `header:"Set-Cookie"`
}

// ownCookies are the cookies of fleetd in a request; each may be empty.
type ownCookies struct{ session, seen string }

func (s *server) cookiesOf(c caller) ownCookies {
	value := func(name string) string {
		for _, one := range c.cookies {
			if one.Name == name {
				return one.Value
			}
		}
		return ""
	}
	return ownCookies{session: value(s.Accounts.SessionCookie()), seen: value(s.Accounts.SeenCookie())}
}

func (s *server) sessions(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "sign-in-ways", Method: http.MethodGet, Path: "/session", Tag: "accounts", Right: auth.Public,
		Summary: "Get the ways to sign in",
		NoLine:  "the console shows how people can sign in",
	}, func(context.Context, *noInput) (*answer[SignInWays], error) {
		return &answer[SignInWays]{SignInWays{Password: true, Provider: s.Accounts.ProviderName(), Dev: s.Status().Dev}}, nil
	})
	operation.Register(t, operation.Row{
		ID: "sign-in", Method: http.MethodPost, Path: "/session", Tag: "accounts", Right: auth.SelfProving,
		Summary: "Sign in with a password",
		Description: "The answer sets the cookie of a session, which lasts 12 hours. An address that sent too many wrong passwords " +
			"has to wait, but for people who have signed in before in their browser.",
		Audit:   audit.ActionSignIn,
		Example: "login --user anna --password-file password",
	}, func(ctx context.Context, in *bodyOf[Credentials]) (*signedIn, error) {
		if a := requestOf(ctx); a != nil {
			_, a.userKnown = s.Accounts.User(in.Body.User)
		}
		own := s.cookiesOf(in.caller)
		made, p, err := s.Accounts.SignIn(ctx, accounts.Attempt{User: in.Body.User, Password: in.Body.Password, Address: hostOf(in.remote),
			Session: own.session, Seen: own.seen})
		if err != nil {
			return nil, s.signInProblem(err)
		}
		return &signedIn{made, s.me(p)}, nil
	})
	operation.Register(t, operation.Row{
		ID: "sign-out", Method: http.MethodDelete, Path: "/session", Tag: "accounts", Right: auth.Public,
		Summary: "Sign out: end the session",
		Audit:   audit.ActionSignOut,
		Example: "login --user anna --password-file password",
	}, func(ctx context.Context, in *struct {
		caller
	}) (*signedOut, error) {
		cookie, err := s.Accounts.SignOut(ctx, in.principal, s.cookiesOf(in.caller).session)
		if err != nil {
			return nil, s.fail(err, "the session")
		}
		return &signedOut{*cookie}, nil
	})
	operation.Register(t, operation.Row{
		ID: "me", Method: http.MethodGet, Path: "/me", Tag: "accounts", Right: auth.Own | auth.View,
		Summary: "Get who makes the request, and what they may do",
		Use:     "whoami",
		Short:   "show the account as which fleetd knows you, and what you may do",
	}, func(_ context.Context, in *noInput) (*answer[Me], error) {
		return &answer[Me]{s.me(in.principal)}, nil
	})
}

func (s *server) me(p auth.Principal) Me {
	u, _ := s.Accounts.User(p.ID) // nobody for dev
	return Me{
		ID: p.ID, Name: p.Name, Kind: p.Kind, Token: p.Token, Roles: nonNil(p.Roles), Rights: p.Rights.Names(), Sites: nonNil(p.Sites),
		Dev:      s.Status().Dev,
		Password: u.Password != "", Provider: u.Subject != "", Fleets: s.Fleets,
	}
}

// signInProblem says why somebody cannot sign in.
func (s *server) signInProblem(err error) error {
	switch {
	case errors.Is(err, accounts.ErrTooOften):
		return KindTooOften.Problem(err.Error(), "wait a minute, then try again")
	case errors.Is(err, accounts.ErrCrowded):
		p := KindOverload.Problem(err.Error(), "try again in a moment; who has signed in before in this browser goes first")
		p.retryAfter = 1
		return p
	case errors.Is(err, accounts.ErrCredentials):
		return KindSignIn.Problem(err.Error(), "check both; an administrator can give you another password, or enable the account")
	case errors.Is(err, accounts.ErrNoAccounts):
		return noAccounts(err)
	}
	return s.fail(err, "the session")
}

// noAccounts is the answer while fleetd has not read the accounts from its database yet.
func noAccounts(err error) *Problem {
	return KindDatabase.Problem(err.Error(),
		"see whether the database of fleetd runs; until then stop robots at the robots, or with an MQTT client of the role stop")
}

// signInRequired is the answer to a request without valid credentials.
func signInRequired(detail string) *Problem {
	return KindSignIn.Problem(detail,
		"sign in to the console or with fleetd login; programs send the header Authorization: Bearer and a token of fleetd token create")
}
