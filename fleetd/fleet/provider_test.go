package fleet_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/fleet"
	"troupe/fleetd/provider"
	"troupe/fleetd/provider/providertest"
)

// visitor is a browser that follows redirects and keeps cookies.
type visitor struct {
	*browser
	cookies map[string]*http.Cookie
}

// visit requests a page and returns where the answer sends the browser.
func (v *visitor) visit(address string) (location *url.URL) {
	v.Helper()
	r := httptest.NewRequest(http.MethodGet, address, nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site") // as after a visit at the issuer
	for _, c := range v.cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	v.Handler().ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if v.cookies[c.Name] = c; c.MaxAge < 0 {
			delete(v.cookies, c.Name)
		}
	}
	location, err := w.Result().Location()
	if err != nil {
		v.Fatalf("GET %s: %d %s", address, w.Code, w.Body)
	}
	v.browser.cookie = v.cookies["troupe_session"]
	return location
}

const publicURL = "https://fleet.example"

// begin begins to sign in and returns the issuer's address.
func (v *visitor) begin() string {
	v.Helper()
	return v.visit(publicURL + api.ProviderPath + "?next=/robots?q=r1").String()
}

// signIn signs in at the issuer. It returns the reason why that was refused; empty if it was not.
func (v *visitor) signIn(i *issuer) (refused string) {
	v.Helper()
	return v.refused(v.visit(i.authorize(v.begin())))
}

// refused is the reason that the page to sign in gets.
func (v *visitor) refused(at *url.URL) string {
	v.Helper()
	if reason := at.Query().Get("refused"); reason != "" && at.Path == "/sign-in" {
		return reason
	}
	if at.Path != "/robots" || at.RawQuery != "q=r1" {
		v.Errorf("after the sign-in the browser goes to %s", at)
	}
	return ""
}

// withIssuer runs a test in a world whose users also sign in at an issuer.
func withIssuer(t *testing.T, test func(w *world, i *issuer, admin *browser), options ...func(*fleet.Config)) {
	var password string
	i := newIssuer(t)
	inWorld(t, func(w *world) {
		admin := &browser{world: w}
		if p := admin.ask("POST", "/session", api.Credentials{User: "admin", Password: password}, nil); p != nil {
			t.Fatal(p)
		}
		test(w, i, admin)
	}, append([]func(*fleet.Config){guarded(&password), func(c *fleet.Config) { signsInAt(c, i) }}, options...)...)
}

// signsInAt makes fleetd use an issuer.
func signsInAt(c *fleet.Config, i *issuer) {
	c.PublicURL = publicURL
	c.Provider = provider.Config{
		Issuer: issuerURL, ClientID: providertest.ClientID, ClientSecret: providertest.ClientSecret, Name: "Museum", Scopes: []string{"openid"},
		Claim: "groups", Client: &http.Client{Transport: i},
		Grants: []provider.Grant{{Value: "guides", Role: auth.Operator, Site: "lobby"}, {Value: "writers", Role: auth.Author},
			{Value: "it", Role: auth.Admin}},
	}
}

func newVisitor(w *world) *visitor {
	return &visitor{browser: &browser{world: w}, cookies: map[string]*http.Cookie{}}
}

// The proxy takes the path away from what browsers ask for.
func TestBelowAPathTheProviderSendsBrowsersBackThere(t *testing.T) {
	withIssuer(t, func(w *world, i *issuer, _ *browser) {
		i.SignInAs("Anna@museum.example", "guides")
		v := newVisitor(w)
		begun := v.visit(publicURL + api.ProviderPath + "?next=/robots")
		if back := begun.Query().Get("redirect_uri"); back != publicURL+"/troupe"+api.CallbackPath {
			t.Errorf("the provider sends browsers to %s", back)
		}
		back := strings.Replace(i.authorize(begun.String()), "/troupe", "", 1)
		if to := v.visit(back); to.Path != "/troupe/robots" {
			t.Errorf("then the browser goes to %s", to)
		}
		if to := v.visit(back); to.Path != "/troupe/sign-in" { // the answer counts once
			t.Errorf("a refused browser goes to %s", to)
		}
	}, func(c *fleet.Config) { c.PublicURL = publicURL + "/troupe" })
}

// user returns a user as an administrator sees them.
func (b *browser) user(name string) (found api.Account) {
	b.Helper()
	var list struct{ Users []api.Account }
	if p := b.ask("GET", "/users", nil, &list); p != nil {
		b.Fatal(p)
	}
	for _, u := range list.Users {
		if u.Name == name {
			return u
		}
	}
	return found
}

// note waits for the newest entry of the audit about a sign-in of a user that ended so.
func (b *browser) note(target string, outcome audit.Outcome) (newest audit.Note) {
	b.Helper()
	b.until("the sign-ins of "+target+" are in the audit", func() bool {
		var list struct{ Entries []audit.Entry }
		if p := b.ask("GET", "/audit?what=sign+in&outcome="+string(outcome)+"&target="+url.QueryEscape(target), nil, &list); p != nil {
			b.Fatal(p)
		}
		if len(list.Entries) > 0 {
			newest = list.Entries[0].Note
		}
		return len(list.Entries) > 0
	})
	return newest
}

func TestPersonSignsInWithTheProvider(t *testing.T) {
	withIssuer(t, func(w *world, i *issuer, admin *browser) {
		var ways api.SignInWays
		if p := (&browser{world: w}).ask("GET", "/session", nil, &ways); p != nil || ways.Provider != "Museum" || !ways.Password {
			t.Errorf("the ways to sign in are %+v, %v", ways, p)
		}
		i.SignInAs("Anna@museum.example", "guides", "writers", "choir")
		v := newVisitor(w)
		if refused := v.signIn(i); refused != "" {
			t.Fatalf("refused: %s", refused)
		}
		var me api.Me
		if p := v.ask("GET", "/me", nil, &me); p != nil {
			t.Fatal(p)
		}
		if me.ID != "anna@museum.example" || me.Kind != auth.KindSession || me.Name != "Dr. Anna@museum.example" || len(me.Roles) != 2 ||
			len(me.Sites) != 1 || me.Sites[0] != "lobby" {
			t.Errorf("the person is %+v", me)
		}
		if c := v.cookies["troupe_session"]; !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
			t.Errorf("the cookie is %v", c)
		}
		if len(v.cookies) != 1 {
			t.Errorf("the browser keeps %v", v.cookies)
		}
		if n := admin.note("user anna@museum.example", audit.Done); !strings.HasPrefix(n.Detail, "with Museum from ") {
			t.Errorf("the audit says %+v", n)
		}

		// Roles follow the issuer at each sign-in.
		i.SignInAs("Anna@museum.example", "it")
		if refused := newVisitor(w).signIn(i); refused != "" {
			t.Fatalf("refused: %s", refused)
		}
		if p := v.ask("GET", "/me", nil, &me); p != nil || len(me.Roles) != 1 || me.Roles[0] != auth.Admin || len(me.Sites) != 0 {
			t.Errorf("with other groups the person is %+v, %v", me, p)
		}

		// A person who has no role any more is out, also with a token.
		var made api.AccessToken
		if p := v.ask("POST", "/tokens", api.NewAccessToken{Name: "script", Days: 1}, &made); p != nil {
			t.Fatal(p)
		}
		i.SignInAs("Anna@museum.example", "choir")
		if refused := newVisitor(w).signIn(i); refused != "no-role" {
			t.Errorf("without a role: %q", refused)
		}
		if p := v.ask("GET", "/me", nil, nil); p == nil || p.Status != 401 {
			t.Errorf("the session of a person without a role: %v", p)
		}
		token := &browser{world: w, header: http.Header{"Authorization": {"Bearer " + made.Secret}}}
		if p := token.ask("GET", "/robots", nil, nil); p == nil || p.Status != 403 {
			t.Errorf("the token of a person without a role: %v", p)
		}
		i.SignInAs("Anna@museum.example", "writers")
		if refused := newVisitor(w).signIn(i); refused != "" {
			t.Errorf("with a role again: %q", refused)
		}
		if p := admin.ask("GET", "/me", nil, nil); p != nil {
			t.Errorf("the first administrator: %v", p)
		}
	})
}

func TestSignInWithTheProviderIsRefused(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(i *issuer)
	}{
		{"a nonce of another sign-in", "invalid", func(i *issuer) { i.Claim("nonce", "other") }},
		{"an expired token", "invalid", func(i *issuer) { i.Claim("exp", time.Now().Add(-time.Minute).Unix()) }},
		{"an unknown audience", "invalid", func(i *issuer) { i.Claim("aud", "another program") }},
		{"no subject", "invalid", func(i *issuer) { i.Claim("sub", "") }},
		{"a token for another program", "invalid", func(i *issuer) { i.Claim("azp", "another program") }},
		{"several audiences and no party", "invalid", func(i *issuer) { i.Claim("aud", []string{providertest.ClientID, "another program"}) }},
		{"a token from tomorrow", "invalid", func(i *issuer) { i.Claim("iat", time.Now().Add(24*time.Hour).Unix()) }},
		{"another issuer", "invalid", func(i *issuer) { i.Claim("iss", "https://evil.example") }},
		{"no role", "no-role", func(i *issuer) { i.Claim("groups", []string{"choir"}) }},
		{"no groups", "no-role", func(i *issuer) { i.Claim("groups", nil) }},
		{"no name", "no-name", func(i *issuer) { i.Claim("preferred_username", nil); i.Claim("email", "anna@museum.example") }},
		{"the name of another user", "name-taken", func(i *issuer) { i.Claim("preferred_username", "admin") }},
		{"a name that no user can have", "roles", func(i *issuer) { i.Claim("preferred_username", "anna b") }},
		{"a person who is not allowed", "not-allowed", func(i *issuer) { i.Claim("preferred_username", "anna@other.example") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			withIssuer(t, func(w *world, i *issuer, admin *browser) {
				i.SignInAs("anna@museum.example", "guides")
				c.change(i)
				v := newVisitor(w)
				if refused := v.signIn(i); refused != c.want {
					t.Errorf("refused because of %q, not %q", refused, c.want)
				}
				if v.cookie != nil {
					t.Error("the browser got a session")
				}
				target := "provider Museum"
				if name, ok := i.Claimed("preferred_username").(string); ok && c.want != "invalid" {
					target = "user " + name
				}
				if n := admin.note(target, audit.Refused); n.Why == "" {
					t.Errorf("the audit says %+v", n)
				}
				if u := admin.user("anna@museum.example"); u.Name != "" {
					t.Errorf("there is a user: %+v", u)
				}
			}, func(c *fleet.Config) { c.Provider.Allowed = []string{"@museum.example", "admin", "anna b"} })
		})
	}
}

func TestAnswerOfTheProviderCountsOnceAndInItsBrowserOnly(t *testing.T) {
	withIssuer(t, func(w *world, i *issuer, _ *browser) {
		i.SignInAs("anna", "guides")
		v := newVisitor(w)
		back := i.authorize(v.begin())
		if refused := newVisitor(w).refused(newVisitor(w).visit(back)); refused != "attempt" {
			t.Errorf("in another browser: %q", refused)
		}
		other := newVisitor(w)
		other.begin()
		if refused := other.refused(other.visit(back)); refused != "attempt" {
			t.Errorf("with the state of another sign-in: %q", refused)
		}
		attempt := v.cookies["troupe_sign_in"]
		if !attempt.HttpOnly || attempt.SameSite != http.SameSiteLaxMode {
			t.Errorf("the cookie of the attempt is %v", attempt)
		}
		if refused := v.refused(v.visit(back)); refused != "" {
			t.Fatalf("refused: %s", refused)
		}
		if refused := v.refused(v.visit(back)); refused != "attempt" {
			t.Errorf("again in the same browser: %q", refused)
		}
		forger, state := newVisitor(w), back[strings.LastIndex(back, "state=")+len("state="):]
		forged := base64.RawURLEncoding.EncodeToString([]byte(`{"state":"` + state + `","begun_at":"` + time.Now().UTC().Format(time.RFC3339) + `"}`))
		for _, value := range []string{forged, "." + forged, attempt.Value[:43] + "." + forged} {
			forger.cookies[attempt.Name] = &http.Cookie{Name: attempt.Name, Value: value}
			if refused := forger.refused(forger.visit(back)); refused != "attempt" {
				t.Errorf("with the cookie of an attempt that fleetd did not make: %q", refused)
			}
		}
		thief := newVisitor(w)
		thief.cookies["troupe_sign_in"] = attempt
		if refused := thief.refused(thief.visit(back)); refused != "invalid" {
			t.Errorf("again with the cookie of the attempt: %q", refused)
		}

		late := newVisitor(w)
		back = i.authorize(late.begin())
		w.sleep(provider.AttemptLifetime + time.Second)
		if refused := late.refused(late.visit(back)); refused != "attempt" {
			t.Errorf("too late: %q", refused)
		}
		denied := newVisitor(w)
		u, err := url.Parse(denied.begin())
		if err != nil {
			t.Fatal(err)
		}
		back = publicURL + api.CallbackPath + "?error=access_denied&state=" + u.Query().Get("state")
		if refused := denied.refused(denied.visit(back)); refused != "denied" {
			t.Errorf("denied by the issuer: %q", refused)
		}
	})
}

func TestDisabledUserCannotSignInWithTheProvider(t *testing.T) {
	withIssuer(t, func(w *world, i *issuer, admin *browser) {
		i.SignInAs("anna", "guides")
		v := newVisitor(w)
		if refused := v.signIn(i); refused != "" {
			t.Fatalf("refused: %s", refused)
		}
		yes := true
		if p := admin.ask("PATCH", "/users/anna", api.UserChange{Disabled: &yes}, nil); p != nil {
			t.Fatal(p)
		}
		if p := v.ask("GET", "/me", nil, nil); p == nil || p.Status != 401 {
			t.Errorf("the session of a disabled user: %v", p)
		}
		i.SignInAs("anna", "it")
		if refused := v.signIn(i); refused != "disabled" {
			t.Errorf("disabled: %q", refused)
		}
		if u := admin.user("anna"); !u.Disabled || u.Roles[0] != auth.Operator {
			t.Errorf("the sign-in changed the user to %+v", u)
		}
	})
}

// A person who had a password is linked by an administrator, never by the name alone.
func TestAdministratorLinksAUserWithTheProvider(t *testing.T) {
	withIssuer(t, func(w *world, i *issuer, admin *browser) {
		if p := admin.ask("POST", "/users", api.NewUser{Name: "anna", Roles: []auth.Role{auth.Viewer}, Password: "a long password"},
			nil); p != nil {
			t.Fatal(p)
		}
		i.SignInAs("anna", "writers")
		v := newVisitor(w)
		if refused := v.signIn(i); refused != "name-taken" {
			t.Fatalf("before: %q", refused)
		}
		_, subject, found := strings.Cut(admin.note("user anna", audit.Refused).Detail, "the subject is ")
		if !found {
			t.Fatal("the audit does not name the subject")
		}
		if p := admin.ask("PATCH", "/users/anna", api.UserChange{Subject: &subject}, nil); p != nil {
			t.Fatal(p)
		}
		if p := admin.ask("PATCH", "/users/admin", api.UserChange{Subject: &subject}, nil); p == nil || p.Status != 422 && p.Status != 409 {
			t.Errorf("two users are one person: %v", p)
		}
		if refused := v.signIn(i); refused != "" {
			t.Fatalf("refused: %s", refused)
		}
		if u := admin.user("anna"); u.Roles[0] != auth.Author || !u.Password || u.Subject != subject {
			t.Errorf("the user is %+v", u)
		}
	})
}

func TestIssuerThatIsAwayHindersNobodyElse(t *testing.T) {
	withIssuer(t, func(w *world, i *issuer, _ *browser) { // the password of admin works
		v := newVisitor(w)
		if refused := v.refused(v.visit(publicURL + api.ProviderPath)); refused != "unavailable" {
			t.Errorf("while the issuer is away: %q", refused)
		}
		i.Away(false)
		w.sleep(5 * time.Second)
		i.SignInAs("anna", "guides")
		back := i.authorize(v.begin())
		i.Away(true)
		if refused := v.refused(v.visit(back)); refused != "unavailable" {
			t.Errorf("the issuer went away during the sign-in: %q", refused)
		}
		i.Away(false)
		if refused := v.signIn(i); refused != "" {
			t.Errorf("after its return: %q", refused)
		}
	}, func(c *fleet.Config) { c.Provider.Client.Transport.(*issuer).Away(true) })
}

func TestBrowserIsSentToNoOtherSite(t *testing.T) {
	withIssuer(t, func(w *world, i *issuer, _ *browser) {
		i.SignInAs("anna", "guides")
		for _, next := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "evil.example", "/sign-in"} {
			v := newVisitor(w)
			begin := v.visit(publicURL + api.ProviderPath + "?" + url.Values{"next": {next}}.Encode())
			if at := v.visit(i.authorize(begin.String())); at.String() != "/" {
				t.Errorf("next %q leads to %s", next, at)
			}
		}
	})
}
