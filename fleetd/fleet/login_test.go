package fleet_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/accounts"
	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
)

const loginVerifier = "a verifier that has at least forty-three characters"

var askedLogin = api.AllowLogin{Port: 40000, State: "a-state-of-the-command-line", Challenge: accounts.Challenge(loginVerifier),
	Machine: "laptop"}

// allow lets the person of a browser allow a command line, and returns the code that it gets.
func (b *browser) allow() (code string) {
	b.Helper()
	asked := askedLogin
	var got api.AllowedLogin
	if p := b.ask("POST", "/logins", asked, &got); p != nil {
		b.Fatal(p)
	}
	to, err := url.Parse(got.Redirect)
	if err != nil || to.Scheme != "http" || to.Host != "127.0.0.1:40000" || to.Path != "/" || to.Query().Get("state") != asked.State {
		b.Fatalf("the browser goes to %s", got.Redirect)
	}
	return to.Query().Get("code")
}

// finish exchanges a code as the command line does.
func (w *world) finish(code, verifier string) (made api.AccessToken, p *api.Problem) {
	nobody := &browser{world: w}
	p = nobody.ask("POST", "/logins/finish", api.FinishLogin{Code: code, Verifier: verifier}, &made)
	return made, p
}

func TestPersonWithoutAPasswordSignsInTheCommandLine(t *testing.T) {
	withIssuer(t, func(w *world, i *issuer, admin *browser) {
		i.SignInAs("anna", "guides")
		anna := newVisitor(w)
		if refused := anna.signIn(i); refused != "" {
			t.Fatalf("refused: %s", refused)
		}
		code := anna.allow()
		w.stopFleetd()
		w.startFleetd() // as good as another instance: the code is in the database
		made, p := w.finish(code, loginVerifier)
		if p != nil {
			t.Fatal(p)
		}
		token := &browser{world: w, header: http.Header{"Authorization": {"Bearer " + made.Secret}}}
		var me api.Me
		if p := token.ask("GET", "/me", nil, &me); p != nil || me.ID != "anna" || me.Kind != auth.KindToken || me.Password || !me.Provider ||
			len(me.Sites) != 1 {
			t.Errorf("with the token: %+v, %v", me, p)
		}
		if d := made.ExpiresAt.Time().Sub(made.CreatedAt.Time()); made.Name != "fleetd login on laptop" || d != accounts.LoginLifetime {
			t.Errorf("the token is %+v", made)
		}
		if _, p := w.finish(code, loginVerifier); p == nil || p.Status != 401 {
			t.Errorf("the code again: %v", p)
		}
		for what, target := range map[string]string{"login allow": "user anna", "token create": "token " + made.ID} {
			var list struct{ Entries []audit.Entry }
			if p := admin.ask("GET", "/audit?what="+url.QueryEscape(what)+"&target="+url.QueryEscape(target), nil, &list); p != nil ||
				len(list.Entries) != 1 || list.Entries[0].Principal != "anna" {
				t.Errorf("the audit of %s: %+v, %v", what, list, p)
			}
		}
	})
}

func TestCodeOfTheCommandLineCountsOnceSoonAndWithItsVerifier(t *testing.T) {
	var password string
	inWorld(t, func(w *world) {
		admin := &browser{world: w}
		if p := admin.ask("POST", "/session", api.Credentials{User: "admin", Password: password}, nil); p != nil {
			t.Fatal(p)
		}
		code := admin.allow()
		if _, p := w.finish(code, loginVerifier+"!"); p == nil || p.Status != 401 || !strings.Contains(p.Hint, "fleetd login --browser") {
			t.Errorf("with another verifier: %v", p)
		}
		if _, p := w.finish(code, loginVerifier); p == nil || p.Status != 401 {
			t.Errorf("after a wrong verifier: %v", p)
		}
		code = admin.allow()
		w.sleep(2*time.Minute + time.Second)
		if _, p := w.finish(code, loginVerifier); p == nil || p.Status != 401 {
			t.Errorf("after two minutes: %v", p)
		}
		code = admin.allow()
		bearer := &browser{world: w, header: http.Header{"Authorization": {"Bearer " + code}}}
		if p := bearer.ask("GET", "/me", nil, nil); p == nil || p.Status != 401 {
			t.Errorf("the code as a token: %v", p)
		}
		if p := admin.ask("POST", "/users", api.NewUser{Name: "anna", Roles: []auth.Role{auth.Viewer}, Password: "a long password"},
			nil); p != nil {
			t.Fatal(p)
		}
		anna := &browser{world: w}
		if p := anna.ask("POST", "/session", api.Credentials{User: "anna", Password: "a long password"}, nil); p != nil {
			t.Fatal(p)
		}
		code = anna.allow()
		yes := true
		if p := admin.ask("PATCH", "/users/anna", api.UserChange{Disabled: &yes}, nil); p != nil {
			t.Fatal(p)
		}
		if _, p := w.finish(code, loginVerifier); p == nil || p.Status != 401 {
			t.Errorf("of a user who was disabled meanwhile: %v", p)
		}
		for range 10 {
			w.finish("a guess", loginVerifier)
		}
		if _, p := w.finish("a guess", loginVerifier); p == nil || p.Status != 429 {
			t.Errorf("after many guesses: %v", p)
		}
	}, guarded(&password))
}

// The code goes to the machine of the person who is at the page, and only that page may ask for it.
func TestOnlyThePageOfAPersonAllowsACommandLine(t *testing.T) {
	var password string
	inWorld(t, func(w *world) {
		admin := &browser{world: w}
		if p := admin.ask("POST", "/session", api.Credentials{User: "admin", Password: password}, nil); p != nil {
			t.Fatal(p)
		}
		asked := askedLogin
		for _, header := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Origin": {"https://evil.example"}}} {
			foreign := &browser{world: w, cookie: admin.cookie, header: header}
			if p := foreign.ask("POST", "/logins", asked, nil); p == nil || p.Status != 403 {
				t.Errorf("%v: %v", header, p)
			}
		}
		var made api.AccessToken
		if p := admin.ask("POST", "/tokens", api.NewAccessToken{Name: "script", Days: 1}, &made); p != nil {
			t.Fatal(p)
		}
		token := &browser{world: w, header: http.Header{"Authorization": {"Bearer " + made.Secret}}}
		if p := token.ask("POST", "/logins", asked, nil); p == nil || p.Status != 403 {
			t.Errorf("a token: %v", p)
		}
		for what, change := range map[string]func(*api.AllowLogin){
			"a privileged port": func(a *api.AllowLogin) { a.Port = 80 },
			"another host":      func(a *api.AllowLogin) { a.State = "state@evil.example" },
			"no challenge":      func(a *api.AllowLogin) { a.Challenge = "" },
		} {
			wrong := asked
			change(&wrong)
			if p := admin.ask("POST", "/logins", wrong, nil); p == nil || p.Status != 422 {
				t.Errorf("%s: %v", what, p)
			}
		}
	}, guarded(&password))
}
