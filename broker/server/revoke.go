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

// revoked holds what fleetd publishes on fleet/revoked. The broker stores nothing on disk,
// so after a restart it is empty until fleetd publishes again. A revocation that must hold
// without fleetd belongs in the certificate revocation list.
type revoked struct {
	topic string
	mu    sync.Mutex // held by writers
	now   atomic.Pointer[access.Revoked]
}

// revoke takes over a list from fleetd and ends the sessions of the clients on it. It
// returns why the list is refused, or nothing.
func (g *guard) revoke(cl *mqtt.Client, payload []byte) (why string) {
	g.revoked.mu.Lock()
	next, why := g.revoked.now.Load().Replace(payload)
	if why == "" {
		g.revoked.now.Store(next)
	}
	g.revoked.mu.Unlock()
	if why == "" {
		g.log.Info("revocation list updated", "from", cl.ID)
		g.recheckAll(g.revokedByFleetd) // not the slower full check of signatures: fleetd's next message may be a stop
	}
	return why
}

// revokedByFleetd returns why a client is revoked, or nothing. Every name can be revoked
// but those of administrators and of fleetd instances: a list that names one would lock out the
// only one that can change the list. A fleetd instance is revoked by its certificate.
func (g *guard) revokedByFleetd(_ *conn, c *client) string {
	name := c.Name
	if c.Role == schema.RoleFleetd || c.Role == schema.RoleAdmin {
		name = ""
	}
	if g.revoked.now.Load().Revokes(name, c.serial) {
		return "revoked by fleetd"
	}
	return ""
}

// whyRefused returns why a client may not, or may no longer, be connected; empty if it
// may.
func (g *guard) whyRefused(nc *conn, c *client) string {
	now := g.creds.current.Load()
	if why := g.revokedByFleetd(nc, c); why != "" {
		return why
	}
	if c.serial != "" {
		if user, named := now.users.Named(c.Name); named && user.Role != c.Role {
			return fmt.Sprintf("its certificate is for role %s, but the users file lists the name with role %s", c.Role, user.Role)
		}
		return now.trusts(nc.chain)
	}
	user, known := now.users.Find(c.user.Name)
	switch {
	case !known:
		return "the user was removed"
	case user.Role != c.user.Role:
		return "the role of the user has changed"
	case user.Robot != c.user.Robot:
		return "the robot of the console has changed"
	case (user.Hash == nil) != (c.user.Hash == nil) || user.Hash != nil && user.Hash.String() != c.user.Hash.String():
		return "the password of the user has changed"
	}
	return ""
}

// kick is why a client lost the right to be connected.
type kick struct {
	reason string // reason in its presence "lost"
	why    string // for the log
}

// recheckAll ends the sessions of clients that have lost their right, at once. It is
// called after every change on which why depends.
func (g *guard) recheckAll(why func(*conn, *client) string) {
	for _, nc := range g.sessions.all() {
		if why := why(nc, nc.client.Load()); why != "" {
			g.kick(nc, kick{"revoked", why})
		}
	}
}

// expired ends a connection whose client certificate has expired. It may not have sent
// CONNECT yet.
func (g *guard) expired(nc *conn) {
	g.kick(nc, kick{"expired", "its certificate expired at " + nc.expires.UTC().Format(time.RFC3339)})
}

func (g *guard) kick(nc *conn, k kick) {
	if !nc.kicked.CompareAndSwap(nil, &k) {
		return
	}
	id := ""
	if c := nc.client.Load(); c != nil {
		id = c.ClientID
	}
	g.counters.add(kicked)
	g.log.Warn("client disconnected by broker", "client", id, "remote", remote(nc.raw), "why", k.why)
	nc.Close()
}
