package accounts

import (
	"context"
	"crypto/rand"
	"maps"
	"net/http"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/schema/argon2id"
)

// Keys of what a session holds.
const (
	userKey  = "user"
	epochKey = "epoch"
	// Where the sign-in came from; sessions of an earlier release have neither.
	addressKey = "address"
	agentKey   = "agent"
)

// dummyHash is compared with the password of a user that does not exist, so that the time of
// the answer does not show who exists.
var dummyHash = argon2id.Nobody()

func newSalt() (salt [argon2id.SaltBytes]byte) {
	_, _ = rand.Read(salt[:]) // never fails
	return salt
}

// Attempt is what a person signs in with, and where.
type Attempt struct {
	User, Password string
	Address        string // from which the request comes
	Session        string // cookie of the session that the new one replaces; empty: there is none
	Seen           string // cookie of a browser that was seen; empty: it has none
}

// SignIn opens a session for a user and returns its cookie, and that of a browser that was seen.
func (k *Keeper) SignIn(ctx context.Context, a Attempt) ([]*http.Cookie, auth.Principal, error) {
	guesser, seen := Network(a.Address), false
	if u, known := k.User(a.User); known && wasSeen(u, a.Seen) {
		guesser, seen = "browser "+a.Seen, true
	}
	u, ok, err := k.check(ctx, a.User, a.Password, guesser, seen)
	if err != nil {
		return nil, auth.Principal{}, err
	}
	if !ok {
		user := a.User
		if _, known := k.User(a.User); !known { // people type passwords there, too
			user = "(unknown)"
		}
		k.Log.Warn("sign-in refused", "user", user, "address", a.Address)
		return nil, auth.Principal{}, ErrCredentials
	}
	return k.startSeenSession(ctx, u, a, seen)
}

// SignInAgain is SignIn for somebody whose password was set in this moment, and ended their session: there is nothing
// to guess, so no guess of others keeps them out.
func (k *Keeper) SignInAgain(ctx context.Context, a Attempt) ([]*http.Cookie, auth.Principal, error) {
	u, known := k.User(a.User)
	if !known || u.Disabled {
		return nil, auth.Principal{}, ErrCredentials
	}
	return k.startSeenSession(ctx, u, a, false)
}

// startSeenSession opens a session in a browser, which then has been seen.
func (k *Keeper) startSeenSession(ctx context.Context, u auth.User, a Attempt, seen bool) ([]*http.Cookie, auth.Principal, error) {
	session, p, err := k.StartSession(ctx, u, "with a password from "+a.Address, a.Session)
	if err != nil {
		return nil, p, err
	}
	cookies := []*http.Cookie{session}
	if !seen {
		cookies = append(cookies, k.newSeenCookie(u))
	}
	return cookies, p, nil
}

// check reports whether this is the password of a user who may sign in. A wrong one counts against the
// guesser. Those who were seen before go first.
func (k *Keeper) check(ctx context.Context, name, password, guesser string, seen bool) (u auth.User, ok bool, err error) {
	k.mu.Lock()
	nobody := k.knowsNobody()
	k.mu.Unlock()
	if nobody {
		return u, false, ErrNoAccounts
	}
	u, known := k.User(name)
	hash, err := argon2id.Parse(u.Password)
	if err != nil { // there is no such user, or they have no password
		known, hash = false, dummyHash
	}
	attempt, familiar, err := k.wrong.wait(guesser, k.Now())
	if err != nil {
		return u, false, err
	}
	defer k.wrong.leave(attempt)
	start := k.startStrangersHash
	if seen || familiar {
		start = k.startHash
	}
	done, err := start(ctx)
	if err != nil {
		return u, false, err
	}
	defer done()
	// Only now, since right passwords that wait do not count, and wrong ones were compared meanwhile.
	if !k.wrong.begin(attempt, k.Now()) {
		return u, false, ErrTooOften
	}
	ok = hash.Verify([]byte(password)) && known && !u.Disabled
	k.wrong.end(attempt, !ok, k.Now())
	return u, ok, nil
}

// StartSession starts a session for a user who has proved who they are.
func (k *Keeper) StartSession(ctx context.Context, u auth.User, how, before string) (*http.Cookie, auth.Principal, error) {
	p := u.Principal(auth.KindSession)
	p.From = auth.Of(ctx).From
	ctx, err := k.sessions.Load(ctx, before)
	if err != nil {
		return nil, p, err
	}
	ctx = context.WithValue(ctx, sessionActorKey{}, sessionActor{who: p, how: how, open: k.sessions.GetString(ctx, userKey)})
	// A new cookie, and none of what the earlier session held: somebody may know the old one.
	if err := k.sessions.RenewToken(ctx); err != nil {
		return nil, p, err
	}
	if err := k.sessions.Clear(ctx); err != nil {
		return nil, p, err
	}
	k.sessions.SetDeadline(ctx, k.Now().Add(Lifetime))
	k.sessions.Put(ctx, userKey, u.Name)
	k.sessions.Put(ctx, epochKey, u.Epoch)
	k.sessions.Put(ctx, addressKey, p.From.Address)
	k.sessions.Put(ctx, agentKey, audit.Text(p.From.Agent, maxAgent))
	cookieValue, expires, err := k.sessions.Commit(ctx)
	if err != nil {
		return nil, p, err
	}
	return k.cookie(cookieValue, expires), p, nil
}

// cookie is the cookie of a session; an empty value deletes it.
func (k *Keeper) cookie(value string, expires time.Time) *http.Cookie {
	c := k.sessions.Cookie
	out := &http.Cookie{Name: c.Name, Value: value, Path: c.Path, HttpOnly: c.HttpOnly, SameSite: c.SameSite, Secure: c.Secure,
		Expires: expires}
	if value == "" {
		out.MaxAge = -1
	}
	return out
}

// session returns the principal of a session.
func (k *Keeper) session(ctx context.Context, cookieValue string) (auth.Principal, bool) {
	ctx, err := k.sessions.Load(ctx, cookieValue)
	if err != nil {
		return auth.Principal{}, false
	}
	u, ok := k.User(k.sessions.GetString(ctx, userKey))
	if !ok || u.Disabled || k.sessions.GetInt64(ctx, epochKey) != u.Epoch {
		return auth.Principal{}, false
	}
	k.mu.Lock()
	k.used[digestOf(cookieValue)] = k.Now()
	k.mu.Unlock()
	return u.Principal(auth.KindSession), true
}

// SignOut ends a session and returns the cookie that makes the browser forget it.
func (k *Keeper) SignOut(ctx context.Context, p auth.Principal, cookieValue string) (*http.Cookie, error) {
	ctx, err := k.sessions.Load(ctx, cookieValue)
	if err == nil { // p may be nobody, if the session does not count any more
		err = k.sessions.Destroy(context.WithValue(ctx, sessionActorKey{}, sessionActor{who: p, open: k.sessions.GetString(ctx, userKey)}))
	}
	return k.cookie("", time.Time{}), err
}

// sessionStore keeps the sessions of scs, which names them by the digest of their cookie. A
// session that the database does not take is valid at once all the same, and is saved later.
type sessionStore struct{ k *Keeper }

// FindCtx implements scs.CtxStore.
func (s sessionStore) FindCtx(_ context.Context, digest string) ([]byte, bool, error) {
	s.k.mu.Lock()
	defer s.k.mu.Unlock()
	row, ok := s.k.open[digest]
	if !ok || !s.k.Now().Before(row.ExpiresAt) {
		return nil, false, nil
	}
	return row.Data, true, nil
}

// CommitCtx implements scs.CtxStore.
func (s sessionStore) CommitCtx(ctx context.Context, digest string, data []byte, expires time.Time) error {
	by, _ := ctx.Value(sessionActorKey{}).(sessionActor)
	one := &opened{Session: auth.Session{Digest: digest, Data: data, ExpiresAt: expires}, sessionActor: by, at: s.k.Now()}
	s.k.mu.Lock()
	s.k.open[digest], s.k.unsavedOpen[digest] = one.Session, one
	s.k.mu.Unlock()
	audit.Written(ctx) // with the session: below, or by Run if the database does not answer now
	s.k.saveCopy()
	s.k.saveOpened(ctx, one)
	return nil
}

// DeleteCtx implements scs.CtxStore.
func (s sessionStore) DeleteCtx(ctx context.Context, digest string) error {
	by, _ := ctx.Value(sessionActorKey{}).(sessionActor)
	note := audit.Note{Who: by.who.ID, What: audit.ActionSignOut, Target: "user " + by.open}
	if signsIn := by.how != ""; signsIn && by.open != by.who.ID {
		note.Detail = by.who.ID + " signed in in the same browser"
	}
	s.k.end(ctx, digest, &ended{who: by.who, note: note})
	return nil
}

// Find implements scs.Store, as Commit and Delete do. scs calls the methods with a context instead.
func (s sessionStore) Find(digest string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), digest)
}

// Commit implements scs.Store.
func (s sessionStore) Commit(digest string, data []byte, expires time.Time) error {
	return s.CommitCtx(context.Background(), digest, data, expires)
}

// Delete implements scs.Store.
func (s sessionStore) Delete(digest string) error { return s.DeleteCtx(context.Background(), digest) }

// save saves what the database did not take earlier.
func (k *Keeper) save(ctx context.Context) {
	k.mu.Lock()
	opened, ended := maps.Clone(k.unsavedOpen), maps.Clone(k.unsavedEnd)
	k.mu.Unlock()
	for _, s := range opened {
		k.saveOpened(ctx, s)
	}
	for digest, e := range ended {
		k.saveEnded(ctx, digest, e)
	}
}

func (k *Keeper) saveOpened(ctx context.Context, s *opened) {
	if err := k.write(&s.writing, func() error { return k.Changes.SaveSession(ctx, s.who, s.Session, s.at, s.how) }); err != nil {
		k.Log.Error("session not saved: it ends if fleetd ends before the database is back", "user", s.who.ID, "error", err)
	}
}

func (k *Keeper) saveEnded(ctx context.Context, digest string, e *ended) {
	if err := k.write(&e.writing, func() error { return k.Changes.EndSession(ctx, e.who, digest, e.note) }); err != nil {
		k.Log.Error("the end of a session is not saved yet, and is tried again; until then other instances accept the session, and this one "+
			"too if it restarts", "ended_by", e.who.ID, "target", e.note.Target, "error", err)
	}
}

// write makes one attempt to write something, unless it is written, void or another attempt is on its
// way. What has to wait for another change is left to Run.
func (k *Keeper) write(w *writing, do func() error) error {
	k.mu.Lock()
	begin := !w.inProgress && !w.done && !w.void && (w.after == nil || !w.after.inProgress)
	w.inProgress = w.inProgress || begin
	k.mu.Unlock()
	if !begin {
		return nil
	}
	err := do()
	k.mu.Lock()
	defer k.mu.Unlock()
	w.inProgress, w.done = false, err == nil
	return err
}
