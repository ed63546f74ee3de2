package accounts

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
)

// ActiveSession is an open session: the sign-in of a user in a browser, as people see it.
type ActiveSession struct {
	ID      string // names it in requests; the cookie cannot be derived from it
	User    string
	Address string // where the sign-in came from; empty if an earlier release opened it
	Agent   string // what the browser calls itself, as at the sign-in
	Since   time.Time
	// UsedAt is when its newest request came to this instance; zero if none did since its start.
	UsedAt    time.Time
	ExpiresAt time.Time

	digest string
}

// maxAgent bounds what is kept of what a browser calls itself.
const maxAgent = 256

// ActiveSessions lists the sessions of a user, those of everybody if the name is empty; the
// newest first.
func (k *Keeper) ActiveSessions(user string) []ActiveSession {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := []ActiveSession{}
	for digest, row := range k.open {
		_, values, err := k.sessions.Codec.Decode(row.Data)
		name, _ := values[userKey].(string)
		epoch, _ := values[epochKey].(int64)
		u, known := k.users[name]
		if err != nil || !known || u.Disabled || epoch != u.Epoch || !k.Now().Before(row.ExpiresAt) || user != "" && user != name {
			continue
		}
		s := ActiveSession{ID: sessionID(digest), User: name, Since: row.ExpiresAt.Add(-Lifetime), UsedAt: k.used[digest],
			ExpiresAt: row.ExpiresAt, digest: digest}
		s.Address, _ = values[addressKey].(string)
		s.Agent, _ = values[agentKey].(string)
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b ActiveSession) int { return b.Since.Compare(a.Since) })
	return all
}

// SessionID names the session of a cookie.
func (k *Keeper) SessionID(cookie string) string { return sessionID(digestOf(cookie)) }

func sessionID(digest string) string { return auth.Digest(digest)[:12] }

// digestOf is how scs names the session of a cookie in its store.
func digestOf(cookie string) string {
	sum := sha256.Sum256([]byte(cookie))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// EndSession ends a session of another browser, at once at this instance.
func (k *Keeper) EndSession(ctx context.Context, p auth.Principal, s ActiveSession, by audit.Attribution) {
	k.end(ctx, s.digest, &ended{who: p, note: audit.Note{
		Who: by.Who, What: audit.ActionSessionEnd, Target: "user " + s.User, Why: by.Why,
		Detail: fmt.Sprintf("session %s from %s, signed in %s", s.ID, s.Address, s.Since.UTC().Format(time.RFC3339)),
	}})
}

// end ends a session, if there is one with this digest.
func (k *Keeper) end(ctx context.Context, digest string, one *ended) {
	k.mu.Lock()
	_, known := k.open[digest]
	if o := k.unsavedOpen[digest]; o != nil {
		o.void, one.after = true, &o.writing // otherwise the session could be saved after its end
	}
	delete(k.open, digest)
	delete(k.unsavedOpen, digest)
	delete(k.used, digest)
	if known {
		k.unsavedEnd[digest] = one
	}
	k.mu.Unlock()
	if known {
		audit.Written(ctx) // with the end of the session: below, or by Run if the database does not answer now
		k.saveCopy()
		k.saveEnded(ctx, digest, one)
	}
}
