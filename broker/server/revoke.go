package server

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"

	"troupe/broker/access"
	"troupe/schema"
)

// revoked is what fleetd says on fleet/revoked. The broker keeps nothing on
// disk, so after a restart this is nobody until fleetd has said it again; what
// must hold without a fleetd instance stands in the certificate revocation list.
type revoked struct {
	topic string
	mu    sync.Mutex // of writers
	now   atomic.Pointer[access.Revoked]
}

// revoke takes a list from fleetd, and ends the sessions of those on it. The
// answer is why it is not taken.
func (g *guard) revoke(cl *mqtt.Client, payload []byte) (why string) {
	g.revoked.mu.Lock()
	next, why := g.revoked.now.Load().Replace(payload)
	if why == "" {
		g.revoked.now.Store(next)
	}
	g.revoked.mu.Unlock()
	if why == "" {
		g.log.Info("list of the revoked", "from", cl.ID)
		g.rejudge(g.disowned) // no signatures: fleetd's next word, which waits, may be a stop
	}
	return why
}

// disowned says that fleetd has revoked somebody, if it has. Names are those of
// robots: a list that names a fleetd instance would lock out for good who alone can take it
// back. A fleetd instance loses its right by the certificate that it shows.
func (g *guard) disowned(_ *conn, c *client) string {
	name := c.Name
	if c.Role == schema.RoleFleetd || c.Role == schema.RoleAdmin {
		name = ""
	}
	if g.revoked.now.Load().Revokes(name, c.serial) {
		return "revoked by fleetd"
	}
	return ""
}

// wrong says why somebody may not, or may no longer, be connected; empty: he may.
func (g *guard) wrong(nc *conn, c *client) string {
	now := g.creds.now.Load()
	if why := g.disowned(nc, c); why != "" {
		return why
	}
	if c.serial != "" {
		if user, named := now.users.Named(c.Name); named && user.Role != c.Role {
			return fmt.Sprintf("its certificate is that of a %s, and the users file calls a %s so", c.Role, user.Role)
		}
		return now.trusts(nc.chain)
	}
	user, known := now.users.Find(c.user.Name)
	switch {
	case !known:
		return "there is no such user any more"
	case user.Role != c.user.Role:
		return "its role has changed"
	case user.Robot != c.user.Robot:
		return "it is the console of another robot now"
	case (user.Hash == nil) != (c.user.Hash == nil) || user.Hash != nil && user.Hash.String() != c.user.Hash.String():
		return "its password has changed"
	}
	return ""
}

// kick is why somebody lost his right to be connected.
type kick struct {
	reason string // in the presence that is left behind
	why    string // for the log
}

// rejudge ends the sessions of those who lost their right, at once. It comes after
// every change of what wrong goes by.
func (g *guard) rejudge(wrong func(*conn, *client) string) {
	for _, nc := range g.live.all() {
		if why := wrong(nc, nc.who.Load()); why != "" {
			g.kick(nc, kick{"revoked", why})
		}
	}
}

// expired ends a connection with the certificate that it was opened with. It may
// not have said CONNECT yet.
func (g *guard) expired(nc *conn) {
	g.kick(nc, kick{"expired", "its certificate ended at " + nc.ends.UTC().Format(time.RFC3339)})
}

func (g *guard) kick(nc *conn, k kick) {
	if !nc.kicked.CompareAndSwap(nil, &k) {
		return
	}
	id := ""
	if c := nc.who.Load(); c != nil {
		id = c.ClientID
	}
	g.counters.add(kicked)
	g.log.Warn("client kicked", "client", id, "remote", remote(nc.raw), "why", k.why)
	nc.Close()
}
