package accounts

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/provider"
	"troupe/schema"
)

// Errors of signing in with the provider.
var (
	ErrNoProvider = errors.New("this fleetd has no OpenID Connect provider")
	ErrDisabled   = errors.New("the user is disabled")
	ErrNameTaken  = errors.New("a user of this name exists who does not sign in with the provider")
	ErrRoles      = errors.New("the roles that the provider's claims give cannot be given")
	errNotRead    = errors.New("the user is added, but fleetd could not read the accounts: sign in again")
)

// ProviderName is the name of the provider; empty without one.
func (k *Keeper) ProviderName() string {
	if k.Provider == nil {
		return ""
	}
	return k.Provider.Name()
}

// BeginWithProvider begins a sign-in. It returns the address to which the browser goes, and the
// cookie with which it comes back.
func (k *Keeper) BeginWithProvider(ctx context.Context, next string) (string, *http.Cookie, error) {
	if k.Provider == nil {
		return "", nil, ErrNoProvider
	}
	address, attempt, err := k.Provider.Begin(ctx, next)
	if err != nil {
		k.Log.Error("sign-in with the provider not possible", "provider", k.ProviderName(), "error", err)
		return "", nil, err
	}
	sealed, err := k.Provider.Seal(attempt)
	return address, k.newAttemptCookie(sealed, int(provider.AttemptLifetime.Seconds())), err
}

// newAttemptCookie is the cookie of a sign-in under way; a negative age deletes it.
func (k *Keeper) newAttemptCookie(value string, age int) *http.Cookie {
	return &http.Cookie{Name: k.AttemptCookie(), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: k.Secure,
		MaxAge: age}
}

// FinishWithProvider ends a sign-in with the cookie and the query that the browser brought
// back. It returns the cookies to set, also with an error, and the path to go to.
func (k *Keeper) FinishWithProvider(ctx context.Context, attempt string, back url.Values, address,
	before string) (cookies []*http.Cookie, next string, err error) {
	if k.Provider == nil {
		return nil, "", ErrNoProvider
	}
	cookies = []*http.Cookie{k.newAttemptCookie("", -1)} // an attempt can be used once
	a := k.Provider.Open(attempt)
	who, err := k.Provider.Finish(ctx, a, back)
	var u auth.User
	if err == nil {
		u, err = k.admit(ctx, who)
	} else if errors.Is(err, provider.ErrNoRole) || errors.Is(err, provider.ErrNotAllowed) {
		k.dismiss(ctx, who)
	}
	if err != nil {
		k.refuse(ctx, who, err)
		return cookies, a.Next, err
	}
	session, _, err := k.StartSession(ctx, u, "with "+k.ProviderName()+" from "+address, before)
	if err != nil {
		return cookies, a.Next, err
	}
	return append(cookies, session), a.Next, nil
}

// refuse logs and audits a sign-in that was refused.
func (k *Keeper) refuse(ctx context.Context, who provider.Person, why error) {
	from := auth.Of(ctx).From
	k.Log.Warn("sign-in refused", "provider", k.ProviderName(), "user", who.Name, "subject", who.Subject, "address", from.Address,
		"error", why)
	target := "provider " + k.ProviderName()
	if who.Name != "" {
		target = "user " + who.Name
	}
	n := audit.Note{
		Source: audit.Source{Address: from.Address, Via: from.Via}, What: audit.ActionSignIn, Target: audit.Text(target, 256),
		Why: audit.Text(why.Error(), 512), Outcome: audit.Refused,
	}
	if who.Subject != "" {
		n.Detail = "the subject is " + audit.Text(who.Subject, 512)
	}
	k.Refused(n)
}

// bySubject returns the user who is a person of the provider.
func (k *Keeper) bySubject(subject string) (auth.User, bool) {
	for _, u := range k.Users() {
		if u.Subject == subject {
			return u, true
		}
	}
	return auth.User{}, false
}

// admit returns the user who is a person of the provider, with the roles that the provider gives
// now. It adds the user at the first sign-in. A user of the same name whom nobody linked stays
// out of reach: people may choose their names at many providers.
func (k *Keeper) admit(ctx context.Context, who provider.Person) (auth.User, error) {
	u, known := k.bySubject(who.Subject)
	if !known {
		if _, taken := k.User(who.Name); taken {
			return u, ErrNameTaken
		}
		u = auth.User{Name: who.Name, Display: who.Display, Roles: who.Roles, Sites: who.Sites, Subject: who.Subject}
		if found, err := k.AddUser(ctx, k.caller(ctx), u, "", k.byProvider()); err != nil || len(found) > 0 {
			return u, notGiven(found, err)
		}
		if u, known = k.bySubject(who.Subject); !known {
			return u, errNotRead
		}
	}
	if u.Disabled {
		return u, ErrDisabled
	}
	if slices.Equal(u.Roles, who.Roles) && slices.Equal(u.Sites, who.Sites) && (u.Display == who.Display || who.Display == "") {
		return u, nil
	}
	found, err := k.ChangeUser(ctx, k.caller(ctx), u.Name, k.byProvider(), func(u *auth.User) {
		u.Roles, u.Sites = who.Roles, who.Sites
		if who.Display != "" {
			u.Display = who.Display
		}
	})
	if err != nil || len(found) > 0 {
		return u, notGiven(found, err)
	}
	u, _ = k.User(u.Name)
	return u, nil
}

// dismiss takes the roles from a user to whom the provider gives none any more, and ends the
// user's sessions. Tokens of the user then have no rights.
func (k *Keeper) dismiss(ctx context.Context, who provider.Person) {
	u, known := k.bySubject(who.Subject)
	if !known || len(u.Roles) == 0 {
		return
	}
	found, err := k.ChangeUser(ctx, k.caller(ctx), u.Name, k.byProvider(), func(u *auth.User) {
		u.Roles, u.Sites = nil, nil
		u.Epoch++
	})
	if err != nil || len(found) > 0 {
		k.Log.Error("user keeps roles that the provider does not give any more", "user", u.Name, "error", notGiven(found, err))
	}
}

// caller is the principal of changes that are made during a sign-in with the provider: nobody is
// signed in yet.
func (k *Keeper) caller(ctx context.Context) auth.Principal {
	return auth.Principal{ID: "provider " + k.ProviderName(), From: auth.Of(ctx).From}
}

func (k *Keeper) byProvider() audit.Attribution {
	return audit.Attribution{Why: "as the provider says at the sign-in"}
}

// notGiven is why the provider's roles were not given to a user.
func notGiven(found []schema.Problem, err error) error {
	if err != nil {
		return err
	}
	var all []string
	for _, p := range found {
		all = append(all, p.Detail)
	}
	return fmt.Errorf("%w: %s", ErrRoles, strings.Join(all, "; "))
}
