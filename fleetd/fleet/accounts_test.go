package fleet_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/accounts"
	"troupe/fleetd/api"
	"troupe/fleetd/auth"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store/pgtest"
)

// guarded is a world in which everybody has to sign in. It catches the password of admin.
func guarded(password *string) func(*fleet.Config) {
	return func(c *fleet.Config) {
		c.Dev = false
		c.FirstAdmin = func(_, p, _ string) { *password += p }
	}
}

// browser makes requests with the cookie that it was given.
type browser struct {
	*world
	cookie *http.Cookie
	header http.Header
}

// ask makes a request, keeps the cookie of the answer and decodes its body.
func (b *browser) ask(method, path string, body, into any) *api.Problem {
	b.Helper()
	status, answer := request(b.T, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range b.header {
			r.Header[name] = values
		}
		if b.cookie != nil {
			r.AddCookie(b.cookie)
		}
		b.Handler().ServeHTTP(w, r)
		for _, c := range (&http.Response{Header: w.Header()}).Cookies() {
			if accounts.IsSessionCookie(c.Name) {
				b.cookie = c
			}
		}
	}), method, path, body)
	if status >= 400 {
		var p api.Problem
		if err := json.Unmarshal(answer, &p); err != nil || p.Status != status {
			b.Fatalf("%s %s: %d %s", method, path, status, answer)
		}
		return &p
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			b.Fatal(err)
		}
	}
	return nil
}

func TestFirstStartMakesOneAdmin(t *testing.T) {
	var password string
	inWorld(t, func(w *world) {
		first := password
		if len(first) < 20 {
			t.Fatalf("the password of admin is %q", first)
		}
		b := &browser{world: w}
		if p := b.ask("GET", "/me", nil, nil); p == nil || p.Status != 401 || !p.Of(api.KindSignIn) {
			t.Fatalf("without a sign-in: %v", p)
		}
		var health map[string]any
		if p := b.ask("GET", "/healthz", nil, &health); p != nil {
			t.Fatal(p)
		}
		if _, list := health["instances"].([]any); !list {
			t.Errorf("without a sign-in the instances are %v", health["instances"])
		}
		if p := b.ask("POST", "/session", api.Credentials{User: "admin", Password: "wrong"}, nil); p == nil || p.Status != 401 {
			t.Errorf("a wrong password: %v", p)
		}
		var me api.Me
		if p := b.ask("POST", "/session", api.Credentials{User: "admin", Password: first}, &me); p != nil {
			t.Fatal(p)
		}
		if me.ID != "admin" || len(me.Roles) != 1 || me.Dev || !strings.Contains(strings.Join(me.Rights, " "), "administer") {
			t.Errorf("admin is %+v", me)
		}
		if c := b.cookie; !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure || c.Path != "/" {
			t.Errorf("the cookie is %v", c)
		}
		if p := b.ask("GET", "/robots", nil, nil); p != nil {
			t.Errorf("signed in: %v", p)
		}
		w.sleep(time.Second)
		var audited api.Audit
		if p := b.ask("GET", "/audit?what=me", nil, &audited); p != nil || len(audited.Entries) != 1 ||
			audited.Entries[0].Detail != "answered 401" {
			t.Errorf("the audit of the request without a sign-in: %v, %+v", p, audited.Entries)
		}
		w.stopFleetd()
		w.startFleetd()
		if password != first {
			t.Error("the second start made another password")
		}
		if p := b.ask("GET", "/me", nil, nil); p != nil {
			t.Errorf("a restart ended the session: %v", p)
		}
		cookie := b.cookie
		if p := b.ask("DELETE", "/session", nil, nil); p != nil || b.cookie.MaxAge >= 0 {
			t.Errorf("sign-out: %v, cookie %v", p, b.cookie)
		}
		b.cookie = cookie
		if p := b.ask("GET", "/me", nil, nil); p == nil || p.Status != 401 {
			t.Errorf("after the sign-out: %v", p)
		}
	}, guarded(&password))
}

func TestPasswordInThePlaceOfANameIsNotKept(t *testing.T) {
	var password string
	var log bytes.Buffer
	inWorld(t, func(w *world) {
		b := &browser{world: w}
		const typed = "correct horse battery"
		for _, c := range []api.Credentials{{User: typed, Password: "x"}, {User: typed}, {User: "admin", Password: "wrong"}} {
			if p := b.ask("POST", "/session", c, nil); p == nil || strings.Contains(p.Detail+p.Hint, typed) {
				t.Errorf("%q signs in: %v", c.User, p)
			}
		}
		w.sleep(time.Second)
		if p := b.ask("POST", "/session", api.Credentials{User: "admin", Password: password}, nil); p != nil {
			t.Fatal(p)
		}
		var audited api.Audit
		if p := b.ask("GET", "/audit?what=sign+in", nil, &audited); p != nil {
			t.Fatal(p)
		}
		var targets []string
		for _, e := range audited.Entries {
			targets = append(targets, e.Target)
		}
		slices.Sort(targets)
		if want := []string{"user admin", "user admin", "user who does not exist", "user who does not exist"}; !slices.Equal(targets, want) {
			t.Errorf("the audit names %q, want %q", targets, want)
		}
		if strings.Contains(log.String(), typed) {
			t.Errorf("the log contains what was typed:\n%s", log.String())
		}
	}, guarded(&password), func(c *fleet.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
}

func TestBrowsersKeepCookiesAndTheHostToTLS(t *testing.T) {
	var password string
	inWorld(t, func(w *world) {
		b := &browser{world: w}
		if p := b.ask("POST", "/session", api.Credentials{User: "admin", Password: password}, nil); p != nil {
			t.Fatal(p)
		}
		if c := b.cookie; c.Name != "__Host-troupe_session" || !c.Secure || c.Path != "/" || c.Domain != "" {
			t.Errorf("the cookie is %v", c)
		}
		if p := b.ask("GET", "/me", nil, nil); p != nil {
			t.Errorf("signed in: %v", p)
		}
		b.cookie.Name = "troupe_session" // which a page of another name of the domain can plant
		if p := b.ask("GET", "/me", nil, nil); p == nil || p.Status != 401 {
			t.Errorf("with a cookie that any name of the domain may set: %v", p)
		}
		answer, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/sign-in", nil)
		r.Host = "localhost"
		w.Handler().ServeHTTP(answer, r)
		if got := answer.Header().Get("Strict-Transport-Security"); answer.Code != 200 || !strings.HasPrefix(got, "max-age=") {
			t.Errorf("the page is answered %d with %q", answer.Code, got)
		}
	}, guarded(&password), func(c *fleet.Config) { c.BehindProxy = true })
}

func TestDevelopmentModeIsLogged(t *testing.T) {
	for _, dev := range []bool{true, false} {
		var log bytes.Buffer
		inWorld(t, func(*world) {}, func(c *fleet.Config) {
			c.Dev, c.FirstAdmin, c.Logger = dev, func(_, _, _ string) {}, slog.New(slog.NewTextHandler(&log, nil))
		})
		if said := strings.Contains(log.String(), "DEVELOPMENT MODE: a person on this machine who is not signed in has every right"); said !=
			dev {
			t.Errorf("--dev %v: the log says so: %v\n%s", dev, said, log.String())
		}
	}
}

// sessions lists what a browser sees of sessions: whose and which browser, with * for its own.
func (b *browser) sessions(query string) (list []api.ActiveSession, text []string) {
	var got struct{ Sessions []api.ActiveSession }
	if p := b.ask("GET", "/sessions"+query, nil, &got); p != nil {
		return nil, []string{fmt.Sprint(p.Status)}
	}
	for _, s := range got.Sessions {
		one := s.User + " " + s.Agent
		if s.This {
			one += " *"
		}
		text = append(text, one)
	}
	slices.Sort(text)
	return got.Sessions, text
}

func TestPersonSeesAndEndsTheirOwnSessions(t *testing.T) {
	var password string
	inWorld(t, func(w *world) {
		open := func(agent, user, with string) *browser {
			t.Helper()
			b := &browser{world: w, header: http.Header{"User-Agent": {agent}}}
			if p := b.ask("POST", "/session", api.Credentials{User: user, Password: with}, nil); p != nil {
				t.Fatal(p)
			}
			if p := b.ask("GET", "/me", nil, nil); p != nil {
				t.Fatal(p)
			}
			return b
		}
		const annas = "a password for anna"
		admin := open("Desk", "admin", password)
		for _, name := range []string{"anna", "ben"} {
			if p := admin.ask("POST", "/users", map[string]any{"name": name, "roles": []string{"viewer"}, "password": annas}, nil); p != nil {
				t.Fatal(p)
			}
		}
		laptop, tablet, phone, ben := open("Laptop", "anna", annas), open("Tablet", "anna", annas), open("Phone", "anna", annas),
			open("Ben", "ben", annas)
		list, text := laptop.sessions("?user=ben") // that is for administrators: anna gets her own
		if want := []string{"anna Laptop *", "anna Phone", "anna Tablet"}; !slices.Equal(text, want) {
			t.Fatalf("anna sees %q, not %q", text, want)
		}
		if one := list[0]; one.Address == "" || one.Since.Time().IsZero() || one.UsedAt.Time().IsZero() ||
			!one.ExpiresAt.Time().After(one.Since.Time()) {
			t.Errorf("a session lacks where or when: %+v", one)
		}
		id := func(b *browser, agent string) string {
			all, _ := b.sessions("")
			return all[slices.IndexFunc(all, func(s api.ActiveSession) bool { return s.Agent == agent })].ID
		}
		if p := laptop.ask("DELETE", "/sessions/"+id(admin, "Ben"), nil, nil); p == nil || p.Status != 404 {
			t.Errorf("anna ends a session of ben: %v", p)
		}
		if p := laptop.ask("DELETE", "/sessions?user=ben", nil, nil); p == nil || p.Status != 403 {
			t.Errorf("anna ends the sessions of ben: %v", p)
		}
		if p := laptop.ask("DELETE", "/sessions/"+id(laptop, "Tablet")+"?why=lost", nil, nil); p != nil {
			t.Errorf("anna ends the session of her tablet: %v", p)
		}
		if p := tablet.ask("GET", "/me", nil, nil); p == nil || p.Status != 401 {
			t.Errorf("the tablet after its session ended: %v", p)
		}
		var ended api.EndedSessions
		if p := laptop.ask("DELETE", "/sessions", nil, &ended); p != nil || ended.Ended != 1 {
			t.Errorf("anna ends all others: %v, %+v", p, ended)
		}
		if p := phone.ask("GET", "/me", nil, nil); p == nil || p.Status != 401 {
			t.Errorf("the phone after its session ended: %v", p)
		}
		if p := laptop.ask("GET", "/me", nil, nil); p != nil {
			t.Errorf("the laptop, which ended the others: %v", p)
		}
		if p := admin.ask("DELETE", "/sessions?user=anna&why=left", nil, &ended); p != nil || ended.Ended != 1 {
			t.Errorf("the administrator ends the sessions of anna: %v, %+v", p, ended)
		}
		if _, text := admin.sessions(""); !slices.Equal(text, []string{"admin Desk *", "ben Ben"}) {
			t.Errorf("the administrator sees %q", text)
		}
		if p := ben.ask("GET", "/me", nil, nil); p != nil {
			t.Errorf("ben: %v", p)
		}
		var notes struct {
			Entries []struct{ Principal, What, Target, Why string }
		}
		if p := admin.ask("GET", "/audit?what=session%20end", nil, &notes); p != nil {
			t.Fatal(p)
		}
		var said []string
		for _, n := range notes.Entries {
			said = append(said, n.Principal+": "+n.Target+" "+n.Why)
		}
		if want := []string{"admin: user anna left", "anna: user anna ", "anna: user anna lost"}; !slices.Equal(said, want) {
			t.Errorf("the audit says %q, not %q", said, want)
		}
	}, guarded(&password))
}

// A page of another site has no use for a cookie that it got hold of, also not to read.
func TestStolenCookieFromAnotherOriginDoesNothing(t *testing.T) {
	var password string
	inWorld(t, func(w *world) {
		b := &browser{world: w}
		if p := b.ask("POST", "/session", api.Credentials{User: "admin", Password: password}, nil); p != nil {
			t.Fatal(p)
		}
		for _, header := range []http.Header{
			{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}},
			{"Sec-Fetch-Site": {"same-site"}},
			{"Origin": {"https://evil.example"}}, // an older browser
			{"Origin": {"null"}},
		} {
			b.header = header
			for _, path := range []string{"/me", "/robots", "/stream"} {
				if p := b.ask("GET", path, nil, nil); p == nil || p.Status != 401 {
					t.Errorf("%v: GET %s: %v", header, path, p)
				}
			}
			stop := map[string]any{"selector": map[string]any{"all": true}}
			if p := b.ask("POST", "/stops", stop, nil); p == nil || p.Status != 403 {
				t.Errorf("%v: a stop: %v", header, p)
			}
			if p := b.ask("DELETE", "/session", nil, nil); p == nil || p.Status != 403 {
				t.Errorf("%v: a sign-out: %v", header, p)
			}
		}
		b.header = http.Header{"Sec-Fetch-Site": {"same-origin"}}
		if p := b.ask("GET", "/me", nil, nil); p != nil {
			t.Errorf("fleetd's own page: %v", p)
		}
	}, guarded(&password))
}

func TestWrongPasswordsSlowDownAnAddress(t *testing.T) {
	var password string
	inWorld(t, func(w *world) {
		b := &browser{world: w}
		for range 10 {
			if p := b.ask("POST", "/session", api.Credentials{User: "admin", Password: "wrong"}, nil); p == nil || p.Status != 401 {
				t.Fatalf("a wrong password: %v", p)
			}
		}
		right := api.Credentials{User: "admin", Password: password}
		if p := b.ask("POST", "/session", right, nil); p == nil || p.Status != 429 {
			t.Errorf("after ten wrong passwords: %v", p)
		}
		w.sleep(11 * time.Second)
		if p := b.ask("POST", "/session", right, nil); p != nil {
			t.Errorf("after a pause: %v", p)
		}
	}, guarded(&password))
}

// Whoever changes their own password is signed in afterwards, while somebody else at their address guesses.
func TestChangedPasswordKeepsItsOwnerSignedIn(t *testing.T) {
	var password string
	inWorld(t, func(w *world) {
		mine, guesser := &browser{world: w}, &browser{world: w}
		if p := mine.ask("POST", "/session", api.Credentials{User: "admin", Password: password}, nil); p != nil {
			t.Fatal(p)
		}
		for range 12 {
			_ = guesser.ask("POST", "/session", api.Credentials{User: "admin", Password: "wrong"}, nil)
		}
		if p := mine.ask("POST", "/me/password", api.OwnPassword{Old: password, New: "a longer password than before"}, nil); p != nil {
			t.Error(p)
		}
		if p := mine.ask("GET", "/robots", nil, nil); p != nil {
			t.Error(p)
		}
	}, guarded(&password))
}

// A person who is signed in stops robots while the database is away, and another one may sign in then.
func TestStopNeedsNoDatabaseToKnowWhoAsks(t *testing.T) {
	var password string
	onPostgres(t, func(w *world, g *pgtest.Cable) {
		w.startFleetd()
		earlier, token := &browser{world: w}, &browser{world: w}
		admin := api.Credentials{User: "admin", Password: password}
		if p := earlier.ask("POST", "/session", admin, nil); p != nil {
			t.Fatal(p)
		}
		var made api.AccessToken
		if p := earlier.ask("POST", "/tokens", api.NewAccessToken{Name: "wall", Days: 1}, &made); p != nil {
			t.Fatal(p)
		}
		token.header = http.Header{"Authorization": {"Bearer " + made.Secret}}
		r := startUnknownRobot(w, "r1")
		g.Cut()
		w.until("fleetd says that the database is away", func() bool { return w.ask("GET", "/healthz", nil, nil) != nil })
		later := &browser{world: w}
		if p := later.ask("POST", "/session", admin, nil); p != nil {
			t.Fatalf("sign in while the database is away: %v", p)
		}
		stop := map[string]any{"selector": map[string]any{"ids": []string{"r1"}}}
		for i, b := range []*browser{earlier, token, later} {
			var came api.Batch
			if p := b.ask("POST", "/stops", stop, &came); p != nil {
				t.Errorf("stop %d while the database is away: %v", i, p)
			}
			w.until("the robot got it", func() bool { return count(r.Received(), "safety/stop") == i+1 })
		}
		nobody := &browser{world: w}
		if p := nobody.ask("POST", "/stops", stop, nil); p == nil || p.Status != 401 {
			t.Errorf("a stop of nobody: %v", p)
		}
		g.Mend()
		w.until("the database is back", func() bool { return w.ask("GET", "/healthz", nil, nil) == nil })
		w.sleep(5 * time.Second)
		w.stopFleetd()
		w.startFleetd()
		if p := later.ask("GET", "/me", nil, nil); p != nil {
			t.Errorf("the session of the sign-in without a database was not saved: %v", p)
		}
	}, guarded(&password))
}

// A disabled user is out at once: sessions, tokens and streams.
func TestDisabledUserIsOutAtOnce(t *testing.T) {
	var password string
	inWorld(t, func(w *world) {
		admin, anna, token := &browser{world: w}, &browser{world: w}, &browser{world: w}
		if p := admin.ask("POST", "/session", api.Credentials{User: "admin", Password: password}, nil); p != nil {
			t.Fatal(p)
		}
		if p := admin.ask("POST", "/users", api.NewUser{Name: "anna", Roles: []auth.Role{auth.Operator}, Password: "a long password"},
			nil); p != nil {
			t.Fatal(p)
		}
		if p := anna.ask("POST", "/session", api.Credentials{User: "anna", Password: "a long password"}, nil); p != nil {
			t.Fatal(p)
		}
		var made api.AccessToken
		if p := anna.ask("POST", "/tokens", api.NewAccessToken{Name: "script", Days: 1}, &made); p != nil {
			t.Fatal(p)
		}
		token.header = http.Header{"Authorization": {"Bearer " + made.Secret}}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			anna.ask("GET", "/stream", nil, nil)
		}()
		w.sleep(time.Second)
		yes, no := true, false
		if p := admin.ask("PATCH", "/users/anna", api.UserChange{Disabled: &yes}, nil); p != nil {
			t.Fatal(p)
		}
		for _, b := range []*browser{{world: w, cookie: anna.cookie}, token} {
			if p := b.ask("GET", "/me", nil, nil); p == nil || p.Status != 401 {
				t.Errorf("disabled: %v", p)
			}
		}
		<-ended // the stream of anna
		if p := admin.ask("PATCH", "/users/anna", api.UserChange{Disabled: &no}, nil); p != nil {
			t.Fatal(p)
		}
		if p := anna.ask("GET", "/me", nil, nil); p == nil || p.Status != 401 {
			t.Errorf("a session from before is valid again: %v", p)
		}
		if p := token.ask("GET", "/me", nil, nil); p != nil {
			t.Errorf("a token of a user who is enabled again: %v", p)
		}
	}, guarded(&password))
}
