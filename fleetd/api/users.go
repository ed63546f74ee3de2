package api

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"troupe/fleetd/accounts"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// Account is a person or a program that has an account.
type Account struct {
	Name      string      `json:"name" doc:"what the user signs in with"`
	Display   string      `json:"display,omitempty" doc:"name to show"`
	Roles     []auth.Role `json:"roles" enum:"viewer,operator,author,releaser,admin,auditor"`
	Sites     []string    `json:"sites" doc:"sees and commands robots with one of these values of the label site only; empty = every robot"`
	Password  bool        `json:"password" doc:"can sign in with a password"`
	Subject   string      `json:"subject,omitempty" doc:"the person of the OpenID Connect provider who signs in as this user: the issuer and the subject there"`
	Disabled  bool        `json:"disabled"`
	CreatedAt schema.Time `json:"created_at"`
	ChangedAt schema.Time `json:"changed_at"`
}

// SignsInWith says how the user signs in.
func (a *Account) SignsInWith() string {
	switch {
	case a.Disabled:
		return "disabled"
	case a.Password && a.Subject != "":
		return "password, provider"
	case a.Password:
		return "password"
	case a.Subject != "":
		return "provider"
	}
	return "tokens only"
}

// accountText is what a command says of a user after a change.
const accountText = "{.roles}, sites {.sites=all}, {.SignsInWith()}"

// NewUser is a user to add.
type NewUser struct {
	Name     string      `json:"name" maxLength:"63"`
	Display  string      `json:"display,omitempty" maxLength:"63" doc:"name to show"`
	Roles    []auth.Role `json:"roles" minItems:"1" maxItems:"6" enum:"viewer,operator,author,releaser,admin,auditor" doc:"one or several" cli:"role"`
	Sites    []string    `json:"sites,omitempty" maxItems:"64" doc:"the user sees and commands robots with one of these values of the label site only" cli:"site"`
	Password string      `json:"password,omitempty" maxLength:"256" doc:"empty: the user cannot sign in with a password, but tokens work" cli:"-"`
	audit.Attribution
}

// UserChange changes a user; fields that are left out stay.
type UserChange struct {
	Display  *string      `json:"display,omitempty" maxLength:"63" doc:"name to show"`
	Roles    *[]auth.Role `json:"roles,omitempty" minItems:"1" maxItems:"6" enum:"viewer,operator,author,releaser,admin,auditor" doc:"instead of those that the user has" cli:"role"`
	Sites    *[]string    `json:"sites,omitempty" maxItems:"64" doc:"empty list = every robot" cli:"site"`
	Subject  *string      `json:"subject,omitempty" maxLength:"512" doc:"the person of the OpenID Connect provider who signs in as this user, as the audit names the subject of a refused sign-in; empty = nobody"`
	Disabled *bool        `json:"disabled,omitempty" doc:"true ends all sessions, and no token of the user works" cli:"-"`
	audit.Attribution
}

// NewPassword is a password that replaces another one.
type NewPassword struct {
	Password string `json:"password" minLength:"1" maxLength:"256"`
	audit.Attribution
}

// OwnPassword is a password that a person gives themselves.
type OwnPassword struct {
	Old string `json:"old" minLength:"1" maxLength:"256"`
	New string `json:"new" minLength:"1" maxLength:"256"`
}

type userList struct {
	Users []Account `json:"users"`
}

// OneUser is the path parameter of a user.
type OneUser struct {
	caller
	Name string `path:"name" maxLength:"63"`
}

func (s *server) users(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-users", Method: http.MethodGet, Path: "/users", Tag: "accounts", Right: auth.Administer,
		Summary: "List users",
		Use:     "user list",
		Columns: "USER name | NAME display | ROLES roles | SITES sites=all | SIGNS IN WITH SignsInWith()",
	}, func(context.Context, *noInput) (*answer[userList], error) {
		out := userList{Users: []Account{}}
		for _, u := range s.Accounts.Users() {
			out.Users = append(out.Users, toAccount(u))
		}
		return &answer[userList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "add-user", Method: http.MethodPost, Path: "/users", Tag: "accounts", Right: auth.Administer,
		Summary: "Add a user",
		Audit:   audit.ActionUserAdd,
		Use:     "user add NAME",
		Example: "user add anna --role operator --no-password\nuser add anna --role operator --role author --site lobby",
		Long: "Add a user. The password is asked for, or read from --password-file (- is the standard input).\n" +
			"A user without a password uses tokens.",
		Done: "user {.name} added: " + accountText,
	}, func(ctx context.Context, in *bodyOf[NewUser]) (*answer[Account], error) {
		b := in.Body
		found, err := s.Accounts.AddUser(ctx, in.principal, auth.User{Name: b.Name, Display: b.Display, Roles: unique(b.Roles),
			Sites: unique(b.Sites)}, b.Password, attribute(in.principal, b.Attribution))
		return s.userAnswer(b.Name, found, err)
	})
	operation.Register(t, operation.Row{
		ID: "change-user", Method: http.MethodPatch, Path: "/users/{name}", Tag: "accounts", Right: auth.Administer,
		Summary:     "Change a user's roles and sites, or disable the user",
		Description: "It counts at once, also for requests in progress, such as a stream. The last administrator stays one.",
		Audit:       audit.ActionUserSet,
		Use:         "user set USER",
		Short:       "change the roles and sites of a user, or enable the user again",
		Example:     "user set anna --role operator\nuser set anna --role releaser --all-sites",
		Long: "Change the roles and sites of a user, or enable the user again. --role and --site replace those that the user\n" +
			"has; with --site the user sees and commands robots with one of these values of the label site only. It counts\n" +
			"at once, also for requests in progress. The last administrator stays one.",
		Done: "user {.name} changed: " + accountText,
	}, func(ctx context.Context, in *struct {
		OneUser
		Body UserChange
	}) (*answer[Account], error) {
		found, err := s.Accounts.ChangeUser(ctx, in.principal, in.Name, attribute(in.principal, in.Body.Attribution), in.Body.apply)
		return s.userAnswer(in.Name, found, err)
	})
	operation.Register(t, operation.Row{
		ID: "set-password", Method: http.MethodPost, Path: "/users/{name}/password", Tag: "accounts", Right: auth.Administer,
		Summary:     "Give a user another password",
		Description: "It ends all sessions of the user; tokens stay valid.",
		Audit:       audit.ActionUserPassword,
		Example:     "user password anna --password-file password",
		Done:        "user {.name} has a new password: " + accountText,
	}, func(ctx context.Context, in *struct {
		OneUser
		Body NewPassword
	}) (*answer[Account], error) {
		found, err := s.Accounts.SetPassword(ctx, in.principal, in.Name, in.Body.Password, attribute(in.principal, in.Body.Attribution))
		return s.userAnswer(in.Name, found, err)
	})
	operation.Register(t, operation.Row{
		ID: "change-own-password", Method: http.MethodPost, Path: "/me/password", Tag: "accounts", Right: auth.Own,
		Summary:     "Change one's own password",
		Description: "It ends all sessions of the user, and opens a new one for this browser; tokens stay valid.",
		Audit:       audit.ActionUserPassword,
		Example:     "user password --password-file passwords",
		Done:        "the password of {.id} is changed",
	}, func(ctx context.Context, in *bodyOf[OwnPassword]) (*signedIn, error) {
		return s.changeOwnPassword(ctx, in.principal, hostOf(in.remote), s.cookiesOf(in.caller), in.Body)
	})
}

func (c UserChange) apply(u *auth.User) {
	if c.Display != nil {
		u.Display = *c.Display
	}
	if c.Roles != nil {
		u.Roles = unique(*c.Roles)
	}
	if c.Sites != nil {
		u.Sites = unique(*c.Sites)
	}
	if c.Subject != nil {
		u.Subject = *c.Subject
	}
	if c.Disabled != nil {
		u.Disabled = *c.Disabled
	}
}

// unique sorts a list and removes repetitions.
func unique[T ~string](list []T) []T {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

func toAccount(u auth.User) Account {
	return Account{
		Name: u.Name, Display: u.Display, Roles: nonNil(u.Roles), Sites: nonNil(u.Sites), Password: u.Password != "", Subject: u.Subject,
		Disabled:  u.Disabled,
		CreatedAt: timeOf(u.CreatedAt), ChangedAt: timeOf(u.ChangedAt),
	}
}

// userAnswer is the answer to a change of a user.
func (s *server) userAnswer(name string, found []schema.Problem, err error) (*answer[Account], error) {
	if err := s.failed(err, "user "+name, inBody("", found)); err != nil {
		return nil, err
	}
	u, _ := s.Accounts.User(name)
	return &answer[Account]{toAccount(u)}, nil
}

// changeOwnPassword changes the password of the principal, who proves that they know the old one.
func (s *server) changeOwnPassword(ctx context.Context, p auth.Principal, address string, cookies ownCookies,
	in OwnPassword) (*signedIn, error) {
	if p.Kind == auth.KindDev {
		return nil, KindInvalid.Problem("nobody is signed in: dev has no password", "sign in first")
	}
	if err := s.Accounts.CheckPassword(ctx, p.ID, in.Old); err != nil {
		if errors.Is(err, accounts.ErrCredentials) {
			what := "this is not your password"
			if u, _ := s.Accounts.User(p.ID); u.Password == "" {
				what = "you have no password here: you sign in with the provider, or with tokens"
			}
			return nil, refusal(
				inBody("", []schema.Problem{schema.NewProblem("/old", "bad_value", what,
					"an administrator can give you another one: fleetd user password "+p.ID)}))
		}
		return nil, s.signInProblem(err)
	}
	found, err := s.Accounts.SetPassword(ctx, p, p.ID, in.New, audit.Attribution{Who: p.ID})
	for i := range found {
		found[i].Pointer = "/new"
	}
	if _, err := s.userAnswer(p.ID, found, err); err != nil {
		return nil, err
	}
	if p.Kind != auth.KindSession {
		return &signedIn{Body: s.me(p)}, nil
	}
	made, p, err := s.Accounts.SignInAgain(ctx, accounts.Attempt{User: p.ID, Address: address, Session: cookies.session})
	if err != nil {
		return nil, s.signInProblem(err)
	}
	return &signedIn{made, s.me(p)}, nil
}
