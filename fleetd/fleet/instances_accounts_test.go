package fleet_test

import (
	"net/http"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/auth"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store"
)

// An instance looks every second for what other instances changed.
const accountsKnownWithin = time.Second + 100*time.Millisecond

// A person who loses access at one instance loses it at every other one.
func TestAccountsChangedAtOneInstanceTakeEffectAtTheOther(t *testing.T) {
	var password string
	instances(t, func(t *testing.T, a, b *instance, _ *store.Store) {
		at := func(w *instance) *browser { return &browser{world: w.world} }
		admin := at(a)
		if p := admin.ask("POST", "/session", api.Credentials{User: "admin", Password: password}, nil); p != nil {
			t.Fatal(p)
		}
		token := func(user string) (made api.AccessToken) {
			if p := admin.ask("POST", "/tokens", api.NewAccessToken{User: user, Name: "tablet", Days: 1}, &made); p != nil {
				t.Fatal(p)
			}
			return made
		}
		with := func(w *instance, secret string) *browser {
			return &browser{world: w.world, header: http.Header{"Authorization": {"Bearer " + secret}}}
		}
		isIn := func(who string, c *browser, want bool) {
			t.Helper()
			if p := c.ask("GET", "/me", nil, nil); (p == nil) != want || p != nil && p.Status != 401 {
				t.Errorf("%s at fleetd-b: %v", who, p)
			}
		}
		for _, name := range []string{"anna", "ben"} {
			if p := admin.ask("POST", "/users", api.NewUser{Name: name, Roles: []auth.Role{auth.Operator}, Password: "a long password"},
				nil); p != nil {
				t.Fatal(p)
			}
		}
		anna, lost, kept := with(b, token("anna").Secret), token("ben"), with(b, token("ben").Secret)
		revoked := with(b, lost.Secret)
		a.sleep(accountsKnownWithin)
		session, over := at(b), at(a)
		for _, c := range []*browser{session, over} {
			if p := c.ask("POST", "/session", api.Credentials{User: "anna", Password: "a long password"}, nil); p != nil {
				t.Fatal(p)
			}
		}
		a.sleep(accountsKnownWithin)
		over.world = b.world // a browser that a load balancer sends to another instance
		for who, c := range map[string]*browser{"the token of anna": anna, "a token of ben": revoked, "the other token of ben": kept,
			"a session": session, "a session from fleetd-a": over} {
			isIn(who, c, true)
		}

		ended := make(chan struct{})
		go func() {
			defer close(ended)
			session.ask("GET", "/stream", nil, nil)
		}()
		a.sleep(time.Second)
		yes := true
		if p := admin.ask("PATCH", "/users/anna", api.UserChange{Disabled: &yes}, nil); p != nil {
			t.Fatal(p)
		}
		if p := admin.ask("DELETE", "/tokens/"+lost.ID, nil, nil); p != nil {
			t.Fatal(p)
		}
		a.sleep(accountsKnownWithin)
		isIn("the token of a disabled user", anna, false)
		isIn("the session of a disabled user", &browser{world: b.world, cookie: session.cookie}, false)
		isIn("a session from fleetd-a of a disabled user", over, false)
		isIn("a revoked token", revoked, false)
		isIn("the token that was not revoked", kept, true)
		began := time.Now()
		<-ended
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("the stream of a disabled user ended after %v", took)
		}

		// Also while the database is away from the instance that is asked: it knows what it saw.
		b.gate.Cut()
		isIn("a revoked token without the database", revoked, false)
		isIn("a token without the database", kept, true)
		b.gate.Mend()
	}, guarded(&password))
}

// The browser keeps the attempt, so that another instance than the first one may end it.
func TestSignInWithTheProviderEndsAtAnotherInstance(t *testing.T) {
	var password string
	i := newIssuer(t)
	instances(t, func(t *testing.T, a, b *instance, _ *store.Store) {
		i.SignInAs("anna", "guides")
		v := newVisitor(a.world)
		back := i.authorize(v.begin())
		v.world = b.world
		if refused := v.refused(v.visit(back)); refused != "" {
			t.Errorf("refused: %s", refused)
		}
		if p := v.ask("GET", "/me", nil, nil); p != nil {
			t.Error(p)
		}
	}, guarded(&password), func(c *fleet.Config) { signsInAt(c, i) })
}
