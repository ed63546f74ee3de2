package api

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"troupe/fleetd/accounts"
	"troupe/fleetd/provider"
)

// ProviderPath is where browsers begin to sign in with the OpenID Connect provider, and
// CallbackPath is where the provider sends them back. They are for browsers and answer with
// redirects, so they are no operations of the API.
const (
	ProviderPath = Prefix + "/session/provider"
	CallbackPath = ProviderPath + "/callback"
)

// signInPage is the console's page to sign in. It has a sentence for each reason of a refusal.
const signInPage = "/sign-in"

// providerRefusals are the reasons that the console explains, by the error.
var providerRefusals = []struct {
	err    error
	reason string
}{
	{provider.ErrUnavailable, "unavailable"},
	{provider.ErrAttempt, "attempt"},
	{provider.ErrDenied, "denied"},
	{provider.ErrToken, "invalid"},
	{provider.ErrNoName, "no-name"},
	{provider.ErrNotAllowed, "not-allowed"},
	{provider.ErrNoRole, "no-role"},
	{accounts.ErrRoles, "roles"},
	{accounts.ErrDisabled, "disabled"},
	{accounts.ErrNameTaken, "name-taken"},
	{accounts.ErrNoProvider, "no-provider"},
}

func (s *server) signInWithProvider(mux *http.ServeMux) {
	mux.HandleFunc("GET "+ProviderPath, func(w http.ResponseWriter, r *http.Request) {
		next := ownPath(r.URL.Query().Get("next"))
		address, attempt, err := s.Accounts.BeginWithProvider(r.Context(), next)
		if err != nil {
			s.refusedByProvider(w, r, next, err)
			return
		}
		http.SetCookie(w, attempt)
		http.Redirect(w, r, address, http.StatusSeeOther)
	})
	mux.HandleFunc("GET "+CallbackPath, func(w http.ResponseWriter, r *http.Request) {
		cookies, next, err := s.Accounts.FinishWithProvider(r.Context(), cookieOf(r, s.Accounts.AttemptCookie()), r.URL.Query(),
			hostOf(r.RemoteAddr), cookieOf(r, s.Accounts.SessionCookie()))
		for _, c := range cookies {
			http.SetCookie(w, c)
		}
		if next = ownPath(next); err != nil {
			s.refusedByProvider(w, r, next, err)
			return
		}
		http.Redirect(w, r, s.Base+next, http.StatusSeeOther)
	})
}

// refusedByProvider sends the browser to the page to sign in, which says why.
func (s *server) refusedByProvider(w http.ResponseWriter, r *http.Request, next string, err error) {
	reason := "database"
	for _, one := range providerRefusals {
		if errors.Is(err, one.err) {
			reason = one.reason
		}
	}
	if reason == "database" {
		s.Log.ErrorContext(r.Context(), "sign-in with the provider failed", "error", err)
	}
	http.Redirect(w, r, s.Base+signInPage+"?"+url.Values{"refused": {reason}, "next": {next}}.Encode(), http.StatusSeeOther)
}

func cookieOf(r *http.Request, name string) string {
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// ownPath is next if it is a path of this console, else "/".
func ownPath(next string) string {
	at, err := url.Parse(next)
	if err != nil || at.IsAbs() || at.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		strings.ContainsAny(next, "\\\r\n\t") || at.Path == signInPage {
		return "/"
	}
	return next
}
