package accounts

import (
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/store"
	"troupe/schema/bubble"
)

// newKeeper makes a keeper with a copy in a file, whose log is text.
func newKeeper(path string, text *strings.Builder) *Keeper {
	return New(Deps{Log: slog.New(slog.NewTextHandler(text, nil)), Now: time.Now, Copy: path})
}

func TestAccountsComeBackFromTheCopyUntilTheDatabaseIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleetd.accounts")
	var log strings.Builder
	secret, later := auth.NewSecret(), time.Now().Add(time.Hour)
	k := newKeeper(path, &log)
	all := auth.Accounts{
		Rev: 7,
		Users: []auth.User{{Name: "anna", Roles: []auth.Role{auth.Operator}, Sites: []string{"lobby"}},
			{Name: "ben", Roles: []auth.Role{auth.Operator}, Disabled: true}},
		Tokens: []auth.Token{{ID: "1", Digest: auth.Digest(secret), User: "anna", ExpiresAt: later}, {ID: "2", Digest: auth.Digest(secret + "b"),
			User: "ben", ExpiresAt: later}},
	}
	k.install(all, nil)
	k.saveCopy()

	k = newKeeper(path, &log)
	k.Restore()
	p, err := k.bearer("Bearer " + secret)
	if err != nil || p.ID != "anna" || p.Rights != auth.RightsOf([]auth.Role{auth.Operator}) || len(p.Sites) != 1 {
		t.Errorf("the token of anna: %+v, %v", p, err)
	}
	for _, wrong := range []string{secret + "b", secret + "c"} {
		if _, err := k.bearer("Bearer " + wrong); err == nil {
			t.Error("a disabled user or a wrong token is accepted")
		}
	}
	k.install(auth.Accounts{Rev: 1}, nil) // a backup of the database that is older than the file
	if _, err := k.bearer("Bearer " + secret); err == nil {
		t.Error("the copy is used after the database was read")
	}
	k.install(all, nil)
	k.copy.path = filepath.Join(t.TempDir(), "other")
	k.Restore()
	if _, err := k.bearer("Bearer " + secret); err != nil {
		t.Errorf("a restore replaced what the database said: %v", err)
	}
}

func TestTokenEndsWhenItExpires(t *testing.T) {
	var log strings.Builder
	k := newKeeper("", &log)
	now := time.Now()
	k.Now = func() time.Time { return now }
	secret := auth.NewSecret()
	k.install(auth.Accounts{Users: []auth.User{{Name: "anna"}}, Tokens: []auth.Token{{ID: "1", Digest: auth.Digest(secret), User: "anna",
		ExpiresAt: now.Add(time.Hour)}}}, nil)
	for _, c := range []struct {
		after time.Duration
		err   error
	}{{time.Hour - 1, nil}, {time.Hour, ErrToken}, {24 * time.Hour, ErrToken}} {
		k.Now = func() time.Time { return now.Add(c.after) }
		if _, err := k.bearer("Bearer " + secret); !errors.Is(err, c.err) {
			t.Errorf("%v after it was made: %v, want %v", c.after, err, c.err)
		}
	}
}

// Two reads may end in the other order than they began: a token that was revoked does not come back.
func TestOlderReadOfAccountsReplacesNoNewerOne(t *testing.T) {
	var log strings.Builder
	k := newKeeper("", &log)
	secret := auth.NewSecret()
	with := auth.Accounts{Rev: 7, Users: []auth.User{{Name: "anna"}}, Tokens: []auth.Token{{ID: "1", Digest: auth.Digest(secret), User: "anna",
		ExpiresAt: time.Now().Add(time.Hour)}}}
	k.install(with, nil)
	k.install(auth.Accounts{Rev: 8, Users: with.Users}, nil)
	if k.install(with, nil) {
		t.Error("the older accounts are installed")
	}
	if _, err := k.bearer("Bearer " + secret); !errors.Is(err, ErrToken) {
		t.Errorf("the revoked token: %v", err)
	}
}

// A session that this machine ended is not in its copy, so it does not come back before the database
// answers: if that has the session still, it is open again.
func TestSessionThatEndedDoesNotComeBackFromTheCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleetd.accounts")
	var log strings.Builder
	k := newKeeper(path, &log)
	k.install(auth.Accounts{Users: []auth.User{{Name: "anna", Roles: []auth.Role{auth.Operator}}}}, nil)
	k.Changes = awayDatabase()
	u, _ := k.User("anna")
	var cookies [2]*http.Cookie
	for i := range cookies {
		ctx, mark := audit.WithMark(t.Context())
		var err error
		if cookies[i], _, err = k.StartSession(ctx, u, "in a test", ""); err != nil || !mark.IsSet() {
			t.Fatalf("signed in: %v, leaves an entry in the audit: %v", err, mark.IsSet())
		}
	}
	ctx, mark := audit.WithMark(t.Context())
	if _, err := k.SignOut(ctx, u.Principal(auth.KindSession), cookies[1].Value); err != nil || !mark.IsSet() {
		t.Fatalf("signed out: %v, leaves an entry in the audit: %v", err, mark.IsSet())
	}
	k = newKeeper(path, &log)
	k.Restore()
	if p, ok := k.session(t.Context(), cookies[0].Value); !ok || p.ID != "anna" {
		t.Errorf("the session of anna: %+v, %v", p, ok)
	}
	if _, ok := k.session(t.Context(), cookies[1].Value); ok {
		t.Error("the session that ended is back")
	}
}

func TestCopyThatCannotBeTrustedIsNotRead(t *testing.T) {
	whole := `{"version":1,"users":[{"name":"anna","roles":["admin"]}],"tokens":[{"digest":"` + auth.Digest("secret") + `","user":"anna","expires_at":"2999-01-01T00:00:00Z"}]}`
	for what, c := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"others can write to it":                   {whole, 0o622},
		"its format is version 9":                  {strings.Replace(whole, ":1", ":9", 1), 0o600},
		"unexpected end of JSON":                   {whole[:len(whole)/2], 0o600},
		"using the accounts saved on this machine": {whole, 0o600},
	} {
		path := filepath.Join(t.TempDir(), "fleetd.accounts")
		if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		k := newKeeper(path, &log)
		k.Restore()
		_, err := k.bearer("Bearer secret")
		if trusted := c.text == whole && c.mode == 0o600; (err == nil) != trusted {
			t.Errorf("%s: the token is accepted: %v", what, err == nil)
		}
		if !strings.Contains(log.String(), what) {
			t.Errorf("the log does not say %q: %s", what, log.String())
		}
	}
}

func TestCopyIsWrittenAgainAfterAFailure(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "missing")
	var log strings.Builder
	k := newKeeper(filepath.Join(folder, "fleetd.accounts"), &log)
	k.saveCopy()
	k.saveStaleCopy()
	if n := strings.Count(log.String(), "accounts not kept on this machine"); n != 1 {
		t.Errorf("the failure is logged %d times: %s", n, log.String())
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	k.saveStaleCopy()
	if _, err := os.Stat(k.copy.path); err != nil {
		t.Error(err)
	}
}

// awayDatabase makes changes of a database that is away.
func awayDatabase() *change.Accounts {
	return &change.Accounts{Deps: change.Deps{Now: time.Now, Store: func() (*store.Store, error) {
		return nil, errors.New("the database is away")
	}}}
}

// Nobody who starts fleetd while its database is away is sent to look for a typing error, and no
// address waits for it.
func TestNoPasswordIsWrongBeforeTheAccountsAreRead(t *testing.T) {
	var log strings.Builder
	k := newKeeper(filepath.Join(t.TempDir(), "fleetd.accounts"), &log)
	k.Restore()
	for range 30 {
		if _, _, err := k.SignIn(t.Context(), Attempt{User: "anna", Password: "a password", Address: "127.0.0.1"}); !errors.Is(err,
			ErrNoAccounts) {
			t.Fatalf("signing in: %v", err)
		}
	}
}

func TestSessionThatAnotherInstanceEndedIsOver(t *testing.T) {
	var log strings.Builder
	k := newKeeper(filepath.Join(t.TempDir(), "fleetd.accounts"), &log)
	all := auth.Accounts{Users: []auth.User{{Name: "anna", Roles: []auth.Role{auth.Operator}}}}
	k.install(all, nil)
	k.Changes = awayDatabase()
	u, _ := k.User("anna")
	ctx, _ := audit.WithMark(t.Context())
	cookie, _, err := k.StartSession(ctx, u, "in a test", "")
	if err != nil {
		t.Fatal(err)
	}
	open := func() bool { _, ok := k.session(t.Context(), cookie.Value); return ok }
	if k.install(all, nil); !open() {
		t.Error("a session is over because the database does not have it yet")
	}
	saved := map[string]bool{}
	for digest := range k.unsavedOpen {
		saved[digest] = true
	}
	if k.install(all, saved); open() || len(k.unsavedOpen) > 0 {
		t.Error("a session is open that the database had and does not have any more")
	}
}

func TestSessionEndsAfterItsLifetime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var log strings.Builder
		k := newKeeper("", &log)
		anna := auth.User{Name: "anna", Roles: []auth.Role{auth.Operator}}
		k.install(auth.Accounts{Users: []auth.User{anna}}, nil)
		k.Changes = awayDatabase()
		cookie, _, err := k.StartSession(t.Context(), anna, "in a test", "")
		if err != nil {
			t.Fatal(err)
		}
		open := func() bool { _, ok := k.session(t.Context(), cookie.Value); return ok }
		if time.Sleep(Lifetime - time.Minute); !open() {
			t.Error("it has ended a minute before its end")
		}
		if time.Sleep(2 * time.Minute); open() {
			t.Error("it is open a minute after its end")
		}
	})
}

// A session that was ended before it was saved would be open at other instances, and here after a restart.
func TestSessionThatEndedIsNotSavedAfterwards(t *testing.T) {
	var log strings.Builder
	k := newKeeper("", &log)
	anna := auth.User{Name: "anna", Roles: []auth.Role{auth.Operator}}
	k.install(auth.Accounts{Users: []auth.User{anna}}, nil)
	var attempts atomic.Int32
	began, hold := make(chan bool), make(chan bool)
	k.Changes = &change.Accounts{Deps: change.Deps{Now: time.Now, Store: func() (*store.Store, error) {
		if attempts.Add(1) == 1 {
			began <- true
			<-hold
		}
		return nil, errors.New("the database is away")
	}}}
	var cookie *http.Cookie
	signedIn := make(chan error)
	go func() {
		var err error
		cookie, _, err = k.StartSession(t.Context(), anna, "in a test", "")
		signedIn <- err
	}()
	<-began
	k.mu.Lock()
	waiting := maps.Clone(k.unsavedOpen) // as save has them
	k.mu.Unlock()
	for digest := range waiting {
		k.EndSession(t.Context(), auth.Dev(), ActiveSession{digest: digest, User: "anna"}, audit.Attribution{})
	}
	if len(waiting) != 1 || attempts.Load() != 1 {
		t.Errorf("of %d sessions the end is written while the session is being saved", len(waiting))
	}
	close(hold)
	if err := <-signedIn; err != nil {
		t.Fatal(err)
	}
	for _, s := range waiting {
		k.saveOpened(t.Context(), s)
	}
	if attempts.Load() != 1 {
		t.Error("a session that has ended is saved")
	}
	if k.save(t.Context()); attempts.Load() != 2 {
		t.Errorf("the database is asked %d times, for the session and its end", attempts.Load())
	}
	if _, ok := k.session(t.Context(), cookie.Value); ok {
		t.Error("the session is open")
	}
}

// Who signs in where somebody else is signed in ends that session; the audit says whose it was.
func TestSignInOverTheSessionOfAnotherUserIsAudited(t *testing.T) {
	var log strings.Builder
	k := newKeeper(filepath.Join(t.TempDir(), "fleetd.accounts"), &log)
	anna, ben := auth.User{Name: "anna", Roles: []auth.Role{auth.Viewer}}, auth.User{Name: "ben", Roles: []auth.Role{auth.Viewer}}
	k.install(auth.Accounts{Users: []auth.User{anna, ben}}, nil)
	k.Changes = awayDatabase()
	ctx, _ := audit.WithMark(t.Context())
	before := ""
	for _, u := range []auth.User{anna, ben, ben} {
		cookie, _, err := k.StartSession(ctx, u, "in a test", before)
		if err != nil {
			t.Fatal(err)
		}
		before = cookie.Value
	}
	ended := map[string]audit.Note{}
	for _, e := range k.unsavedEnd {
		ended[e.note.Target] = e.note
	}
	if n := ended["user anna"]; n.Who != "ben" || n.What != "sign out" || n.Detail != "ben signed in in the same browser" {
		t.Errorf("the end of anna's session: %+v", n)
	}
	if n := ended["user ben"]; n.Who != "ben" || n.Detail != "" {
		t.Errorf("the end of ben's first session: %+v", n)
	}
}

// A browser whose session does not count any more, as after a new password, signs out as nobody.
func TestSignOutNamesTheUserOfTheSession(t *testing.T) {
	var log strings.Builder
	k := newKeeper("", &log)
	anna := auth.User{Name: "anna", Roles: []auth.Role{auth.Viewer}}
	k.install(auth.Accounts{Users: []auth.User{anna}}, nil)
	k.Changes = awayDatabase()
	for who, p := range map[string]auth.Principal{"": {}, "dev": auth.Dev(), "anna": anna.Principal(auth.KindSession)} {
		cookie, _, err := k.StartSession(t.Context(), anna, "in a test", "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.SignOut(t.Context(), p, cookie.Value); err != nil {
			t.Fatal(err)
		}
		e := k.unsavedEnd[digestOf(cookie.Value)]
		if e == nil || e.note.Target != "user anna" || e.note.Who != who || e.note.Detail != "" {
			t.Errorf("a sign-out of %q: %+v", who, e)
		}
	}
}
