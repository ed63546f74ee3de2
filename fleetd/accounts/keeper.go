package accounts

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/alexedwards/scs/v2"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/provider"
)

// Deps is what a Keeper needs of the running fleetd.
type Deps struct {
	Log     *slog.Logger
	Now     func() time.Time
	Changes *change.Accounts
	// Rev returns the revision of the accounts in the database.
	Rev func(ctx context.Context) (int64, error)
	// Dev: a person who is not signed in has every right.
	Dev bool
	// Secure: browsers send the cookie of a session over TLS only.
	Secure bool
	// FirstAdmin tells the operator the password of the user admin, which fleetd makes with the
	// first user; nil makes no user. ResetAdmin gives admin a new password at each start.
	FirstAdmin func(name, password string)
	ResetAdmin bool
	// Copy is the file on this machine that keeps the accounts for a start without the database;
	// empty keeps none.
	Copy string
	// Provider also signs people in; nil: nobody else does. Refused records who was not.
	Provider *provider.Provider
	Refused  func(audit.Note)
}

// The cookies. Over TLS their names begin with hostPrefix.
const (
	sessionCookie = "troupe_session"
	seenCookie    = "troupe_seen"
	attemptCookie = "troupe_sign_in"
	// hostPrefix makes browsers take a cookie over TLS and from this host only: a page of another name of the
	// domain, or an answer on the way without TLS, cannot plant one.
	hostPrefix = "__Host-"
)

func (k *Keeper) cookieName(name string) string {
	if k.Secure {
		return hostPrefix + name
	}
	return name
}

// SessionCookie is the name of the cookie of a session.
func (k *Keeper) SessionCookie() string { return k.cookieName(sessionCookie) }

// SeenCookie is the name of the cookie of a browser in which somebody signed in before.
func (k *Keeper) SeenCookie() string { return k.cookieName(seenCookie) }

// AttemptCookie is the name of the cookie of a sign-in with the provider that is under way.
func (k *Keeper) AttemptCookie() string { return k.cookieName(attemptCookie) }

// IsSessionCookie reports whether a cookie is that of a session, at an instance with or without TLS.
func IsSessionCookie(name string) bool { return strings.TrimPrefix(name, hostPrefix) == sessionCookie }

// Lifetime is how long a session lasts from the sign-in on: a day of work. It does not end
// earlier when nobody touches the page, since somebody may need its stop.
const Lifetime = 12 * time.Hour

const (
	// hashers bounds the password hashes that are computed at once: each takes 19 MiB.
	hashers = 2
	// maxStrangers bounds the passwords of people who were not seen before that wait for their hash.
	maxStrangers = 64
	// pollInterval is the pause between two reads of what other instances changed, and
	// between two attempts to save what the database did not take.
	pollInterval = time.Second
	// tidyEvery is the pause between deletions of what has expired.
	tidyEvery = time.Hour
)

// Errors of signing in.
var (
	ErrCredentials = errors.New("user and password do not match")
	ErrTooOften    = errors.New("too many wrong passwords from this address")
	ErrCrowded     = errors.New("too many people are signing in at once")
	ErrToken       = errors.New("the token is unknown, has expired or was revoked")
	ErrNoAccounts  = errors.New("fleetd started while its database was away, and has no accounts on this machine that it can read: it knows " +
		"nobody until the database answers")
)

// Keeper authenticates requests.
type Keeper struct {
	Deps
	sessions *scs.SessionManager
	hashing  chan struct{} // semaphore
	// strangersHashing and strangersWaiting are those of people who were not seen before.
	strangersHashing, strangersWaiting chan struct{}
	wrong                              *limiter
	copy                               localCopy

	beginning  sync.Mutex
	begun      bool     // a Begin succeeded
	maybeAdmin newAdmin // the caller holds beginning

	mu          sync.Mutex
	rev         int64 // of what was read; -1 = nothing yet
	users       map[string]auth.User
	tokens      map[string]auth.Token   // by digest
	open        map[string]auth.Session // by digest
	unsavedOpen map[string]*opened      // of open, by digest: opened here, and not yet among those read from the database
	used        map[string]time.Time    // when this instance got the newest request of a session of open, by digest
	unsavedEnd  map[string]*ended       // by digest: ended here; removed again from what is read
}

// opened is a session of this instance that the database may not have yet.
type opened struct {
	auth.Session
	sessionActor
	at time.Time
	writing
}

// ended is a session that has ended and that the database may have yet.
type ended struct {
	who  auth.Principal
	note audit.Note
	writing
}

// writing is how far a change has come on its way into the database.
type writing struct {
	inProgress, done bool
	void             bool     // it does not begin any more
	after            *writing // while this is in progress, it does not begin; may be nil
}

// sessionActor is who opens or ends a session, and how it was opened: with what, from which address.
type sessionActor struct {
	who auth.Principal
	how string // for the audit
	// open is the user of the session that was open in the browser; empty: none was.
	open string
}

type sessionActorKey struct{}

// New makes a keeper that knows nobody.
func New(d Deps) *Keeper {
	k := &Keeper{
		Deps: d, hashing: make(chan struct{}, hashers), strangersHashing: make(chan struct{}, hashers-1), strangersWaiting: make(chan struct{},
			maxStrangers), wrong: newLimiter(), copy: localCopy{path: d.Copy}, rev: -1,
		users: map[string]auth.User{}, tokens: map[string]auth.Token{}, open: map[string]auth.Session{}, unsavedOpen: map[string]*opened{},
		used: map[string]time.Time{}, unsavedEnd: map[string]*ended{},
	}
	// Not scs.New, whose default store has a goroutine that cannot be ended safely.
	k.sessions = &scs.SessionManager{
		Store: sessionStore{k}, HashTokenInStore: true, Lifetime: Lifetime, Codec: scs.GobCodec{},
		Cookie: scs.SessionCookie{Name: k.SessionCookie(), Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: d.Secure},
	}
	return k
}

// Reload reads the accounts from the database.
func (k *Keeper) Reload(ctx context.Context) error {
	k.mu.Lock()
	saved := map[string]bool{} // what is read now has them, unless another instance ended them
	for digest, s := range k.unsavedOpen {
		saved[digest] = s.done
	}
	k.mu.Unlock()
	all, err := k.Changes.Read(ctx)
	if err != nil {
		return err
	}
	if k.install(all, saved) {
		k.saveCopy()
	}
	return nil
}

// install replaces what is known, except by something older. saved are the sessions opened here
// that were in the database before all was read.
func (k *Keeper) install(all auth.Accounts, saved map[string]bool) (installed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if all.Rev < k.rev {
		return false
	}
	k.rev = all.Rev
	maps.DeleteFunc(k.unsavedOpen, func(digest string, _ *opened) bool { return saved[digest] })
	k.replace(all)
	return true
}

// replace replaces what is known. Sessions that this instance opened or ended stay as they are.
// The caller holds mu.
func (k *Keeper) replace(all auth.Accounts) {
	clear(k.users)
	clear(k.tokens)
	clear(k.open)
	for _, u := range all.Users {
		k.users[u.Name] = u
	}
	for _, t := range all.Tokens {
		k.tokens[t.Digest] = t
	}
	for _, s := range all.Sessions {
		k.open[s.Digest] = s
		delete(k.unsavedOpen, s.Digest)
	}
	for digest, s := range k.unsavedOpen {
		k.open[digest] = s.Session
	}
	maps.DeleteFunc(k.used, func(digest string, _ time.Time) bool { _, open := k.open[digest]; return !open })
	for digest, e := range k.unsavedEnd {
		if _, shown := k.open[digest]; shown {
			delete(k.open, digest)
		} else if e.done {
			delete(k.unsavedEnd, digest)
		}
	}
}

// Run follows changes of other instances, and saves what the database did not take, until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	poll, tidy := time.NewTicker(pollInterval), time.NewTicker(tidyEvery)
	defer poll.Stop()
	defer tidy.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tidy.C:
			if err := k.Changes.DeleteExpired(ctx); err != nil {
				k.Log.Debug("expired sessions not deleted", "error", err)
			}
		case <-poll.C:
			if err := k.Begin(ctx); err != nil {
				continue // mostly because there is no database yet; the next poll tries again
			}
			k.save(ctx)
			k.saveStaleCopy()
			rev, err := k.Rev(ctx)
			if err != nil {
				continue // the others that ask the database log it
			}
			k.mu.Lock()
			same := rev == k.rev
			k.mu.Unlock()
			if same {
				continue
			}
			if err := k.Reload(ctx); err != nil {
				k.Log.Error("accounts not read", "error", err)
			}
		}
	}
}

// Authenticate implements auth.Authenticator. It never asks the database.
func (k *Keeper) Authenticate(r *http.Request) (auth.Principal, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		return k.bearer(header)
	}
	if c, err := r.Cookie(k.SessionCookie()); err == nil && sameOrigin(r) {
		if p, ok := k.session(r.Context(), c.Value); ok {
			return p, nil
		}
	}
	if k.Dev {
		return auth.Dev(), nil
	}
	return auth.Principal{}, nil
}

func (k *Keeper) bearer(header string) (auth.Principal, error) {
	kind, secret, _ := strings.Cut(header, " ")
	if !strings.EqualFold(kind, "Bearer") {
		return auth.Principal{}, errors.New("the header Authorization is not Bearer and a token")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	t, known := k.tokens[auth.Digest(strings.TrimSpace(secret))]
	u := k.users[t.User]
	if k.knowsNobody() {
		return auth.Principal{}, ErrNoAccounts
	}
	if !known || u.Disabled || !k.Now().Before(t.ExpiresAt) {
		return auth.Principal{}, ErrToken
	}
	return t.Principal(u), nil
}

// knowsNobody reports whether no accounts were read yet, so that no password and no token is wrong.
// The caller holds mu.
func (k *Keeper) knowsNobody() bool { return k.rev < 0 && len(k.users) == 0 }

// origin decides which requests come from fleetd's own pages.
var origin = http.NewCrossOriginProtection()

// sameOrigin reports whether a request may use a cookie: a page of another site may not, also
// if the request only reads. Browsers say which site a request is from.
func sameOrigin(r *http.Request) bool {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		as := *r
		as.Method = http.MethodPost // the protection lets requests pass that only read
		return origin.Check(&as) == nil
	}
	return true
}
