package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"troupe/fleetd/accounts"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
)

// AllowPage is the console's page on which a person allows the command line of a machine to act as
// them. Its query has the fields of AllowLogin.
const AllowPage = "/command-line"

// AllowLogin is the permission that a person gives to the command line of a machine. The code goes
// to a port of that machine's loopback address and nowhere else.
type AllowLogin struct {
	Port      int    `json:"port" minimum:"1024" maximum:"65535" doc:"at which the command line listens on 127.0.0.1"`
	State     string `json:"state" minLength:"16" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$" doc:"by which the command line knows its own request"`
	Challenge string `json:"challenge" minLength:"43" maxLength:"43" pattern:"^[A-Za-z0-9_-]+$" doc:"of PKCE: SHA-256 of the verifier, base64url"`
	Machine   string `json:"machine" minLength:"1" maxLength:"40" doc:"name of the machine, for the audit and the list of tokens"`
}

// AllowedLogin is where the browser goes with the code.
type AllowedLogin struct {
	Redirect string `json:"redirect" doc:"an address of 127.0.0.1; the code in it counts once, for two minutes"`
}

// FinishLogin exchanges the code for a token.
type FinishLogin struct {
	Code     string `json:"code" minLength:"1" maxLength:"128"`
	Verifier string `json:"verifier" minLength:"43" maxLength:"128" doc:"of PKCE"`
}

func (s *server) logins(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "allow-login", Method: http.MethodPost, Path: "/logins", Tag: "accounts", Right: auth.Own,
		Summary: "Allow the command line of a machine to act as yourself",
		Description: "Needs the session of a browser. The answer sends the browser to a port of the machine's loopback address " +
			"with a code, which fleetd login exchanges for a token of 30 days.",
		Audit:  audit.ActionLoginAllow,
		NoLine: "the console lets a person allow the command line that fleetd login --browser runs in",
	}, s.allowLogin)
	operation.Register(t, operation.Row{
		ID: "finish-login", Method: http.MethodPost, Path: "/logins/finish", Tag: "accounts", Right: auth.SelfProving,
		Summary:     "Exchange the code of a sign-in for a token",
		Description: "The code counts once, and only with the verifier of its challenge.",
		Audit:       audit.ActionTokenCreate,
		NoLine:      "fleetd login --browser gets its token when a person has allowed it",
	}, s.finishLogin)
}

func (s *server) allowLogin(ctx context.Context, in *bodyOf[AllowLogin]) (*answer[AllowedLogin], error) {
	if in.principal.Kind != auth.KindSession {
		return nil, KindNotAllowed.Problem("only a person who is signed in to the console can allow this",
			"sign in to the console, then run fleetd login --browser again")
	}
	code, err := s.Accounts.AllowLogin(ctx, in.principal, in.Body.Machine, in.Body.Challenge)
	if err != nil {
		return nil, s.fail(err, "the sign-in")
	}
	back := url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", in.Body.Port), Path: "/", RawQuery: url.Values{"code": {code},
		"state": {in.Body.State}}.Encode()}
	return &answer[AllowedLogin]{AllowedLogin{back.String()}}, nil
}

func (s *server) finishLogin(ctx context.Context, in *bodyOf[FinishLogin]) (*answer[AccessToken], error) {
	// A right code is refused too, unlike a right token for enrolment: a person is there to try again.
	if s.loginLimit.exceeded(in.remote, s.Now()) {
		return nil, KindTooOften.Problem("too many wrong codes came from this address", "wait a minute, then run fleetd login --browser again")
	}
	secret, t, err := s.Accounts.FinishLogin(ctx, in.Body.Code, in.Body.Verifier)
	if errors.Is(err, accounts.ErrLoginCode) {
		s.loginLimit.countWrong(in.remote, s.Now())
		return nil, KindSignIn.Problem(err.Error(), "run fleetd login --browser again")
	} else if err != nil {
		return nil, s.fail(err, "the token")
	}
	out := toAccessToken(t)
	out.Secret = secret
	return &answer[AccessToken]{out}, nil
}
