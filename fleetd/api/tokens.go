package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// AccessToken lets a program make requests as a user.
type AccessToken struct {
	ID        string      `json:"id"`
	User      string      `json:"user"`
	Name      string      `json:"name" doc:"what it is for"`
	Roles     []auth.Role `json:"roles" enum:"viewer,operator,author,releaser,admin,auditor" doc:"it has these of the user's roles; empty = all of them"`
	CreatedAt schema.Time `json:"created_at"`
	ExpiresAt schema.Time `json:"expires_at"`
	Secret    string      `json:"secret,omitempty" doc:"what the program sends; only the answer that makes the token has it"`
}

// NewAccessToken is a token to make.
type NewAccessToken struct {
	User  string      `json:"user,omitempty" maxLength:"63" doc:"default: yourself; for others administrators only"`
	Name  string      `json:"name" minLength:"1" maxLength:"63" doc:"what it is for"`
	Roles []auth.Role `json:"roles,omitempty" maxItems:"6" enum:"viewer,operator,author,releaser,admin,auditor" doc:"default: all of the user's roles" cli:"role"`
	Days  int         `json:"days,omitempty" minimum:"1" maximum:"3650" default:"90" doc:"how long it is valid"`
	audit.Attribution
}

// ValidUntil is the day on which the token ends.
func (t AccessToken) ValidUntil() string { return t.ExpiresAt.Time().Format(time.DateOnly) }

type accessTokenList struct {
	Tokens []AccessToken `json:"tokens"`
}

func (s *server) accessTokens(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-tokens", Method: http.MethodGet, Path: "/tokens", Tag: "accounts", Right: auth.Own | auth.Administer,
		Summary:     "List valid tokens",
		Description: "One's own; administrators see those of everybody.",
		Use:         "token list",
		Columns:     "TOKEN id | USER user | FOR name | ROLES roles=the user's | VALID UNTIL ValidUntil()",
	}, func(_ context.Context, in *struct {
		caller
		User string `query:"user" maxLength:"63" doc:"of this user only"`
	}) (*answer[accessTokenList], error) {
		user := in.User
		if !in.principal.May(auth.Administer) {
			user = in.principal.ID
		}
		out := accessTokenList{Tokens: []AccessToken{}}
		for _, t := range s.Accounts.Tokens(user) {
			out.Tokens = append(out.Tokens, toAccessToken(t))
		}
		return &answer[accessTokenList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "make-access-token", Method: http.MethodPost, Path: "/tokens", Tag: "accounts", Right: auth.Own | auth.Administer,
		Summary: "Make a token for a program",
		Description: "Only this answer has its secret, which the program sends as Authorization: Bearer. It is valid while its " +
			"user is enabled. A token with roles of its own cannot make tokens.",
		Audit:   audit.ActionTokenCreate,
		Use:     "token create NAME",
		Example: "token create nightly\ntoken create nightly-report --role viewer --days 365",
	}, func(ctx context.Context, in *bodyOf[NewAccessToken]) (*answer[AccessToken], error) {
		return s.makeAccessToken(ctx, in.principal, in.Body)
	})
	operation.Register(t, operation.Row{
		ID: "revoke-access-token", Method: http.MethodDelete, Path: "/tokens/{id}", Tag: "accounts", Right: auth.Own | auth.Administer,
		Summary:     "End a token",
		Description: "One's own; administrators can end every token. The id self is the token of the request.",
		Audit:       audit.ActionTokenRevoke,
		Use:         "token revoke TOKEN",
		Example:     "token revoke 0198c0de",
		Done:        "token {id} is revoked",
	}, func(ctx context.Context, in *idAndReason) (*struct{}, error) {
		return nil, s.revokeAccessToken(ctx, in.principal, in.ID, in.attribution(in.principal))
	})
}

func toAccessToken(t auth.Token) AccessToken {
	return AccessToken{ID: t.ID, User: t.User, Name: t.Name, Roles: nonNil(t.Roles), CreatedAt: timeOf(t.CreatedAt),
		ExpiresAt: timeOf(t.ExpiresAt)}
}

func (s *server) makeAccessToken(ctx context.Context, p auth.Principal, in NewAccessToken) (*answer[AccessToken], error) {
	user := orElse(in.User, p.ID)
	switch {
	case s.isLimited(p):
		return nil, KindNotAllowed.Problem("the token "+p.Token+" has roles of its own, so it cannot make tokens",
			"sign in to the console or with fleetd login")
	case user != p.ID && !p.May(auth.Administer):
		return nil, forbidden(p, auth.Administer, "Make a token for "+user)
	}
	u, known := s.Accounts.User(user)
	if !known {
		return nil, KindNotFound.Problem("there is no user "+user, "list the users, or add it; dev has no tokens")
	}
	for _, r := range in.Roles {
		if !slices.Contains(u.Roles, r) {
			return nil, refusal(inBody("", []schema.Problem{schema.NewProblem("/roles", "bad_value", user+" does not have the role "+string(r),
				"leave it out, or give the user the role first")}))
		}
	}
	secret, t, err := s.Accounts.AddToken(ctx, p, auth.Token{User: user, Name: in.Name, Roles: unique(in.Roles)},
		time.Duration(in.Days)*24*time.Hour, attribute(p, in.Attribution))
	if err != nil {
		return nil, s.fail(err, "user "+user)
	}
	out := toAccessToken(t)
	out.Secret = secret
	return &answer[AccessToken]{out}, nil
}

// isLimited reports whether the request has a token that was made for less than its user may do.
func (s *server) isLimited(p auth.Principal) bool {
	return slices.ContainsFunc(s.Accounts.Tokens(p.ID), func(t auth.Token) bool { return t.ID == p.TokenID && len(t.Roles) > 0 })
}

func (s *server) revokeAccessToken(ctx context.Context, p auth.Principal, id string, by audit.Attribution) error {
	if id == "self" {
		if id = p.TokenID; id == "" {
			return KindNotFound.Problem("this request was made without a token, so there is none of its own to end",
				"name the token by its id, or send the request with the token")
		}
	}
	all := s.Accounts.Tokens("")
	i := slices.IndexFunc(all, func(t auth.Token) bool { return t.ID == id })
	if i < 0 {
		return KindNotFound.Problem("there is no valid token "+id, "")
	}
	if all[i].User != p.ID {
		if no := forbidden(p, auth.Administer, "End a token of "+all[i].User); no != nil {
			return no
		}
	}
	if err := s.Accounts.RevokeToken(ctx, p, id, by); err != nil {
		return s.fail(err, "token "+id)
	}
	return nil
}
