package server

import (
	"errors"
	"fmt"
	"log/slog"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
	"golang.org/x/time/rate"

	"troupe/broker/access"
	"troupe/schema"
)

// authenticate accepts or refuses the sender of a CONNECT, and answers a refused one.
func (g *guard) authenticate(cl *mqtt.Client, pk *packets.Packet) error {
	nc := connOf(cl)
	if nc.emptyWill { // see checkConnect
		pk.Connect.WillPayload, cl.Properties.Will.Payload = nil, nil
	}
	c, no := g.identify(nc, pk)
	if no != nil {
		g.counters.add(connectRefused)
		g.throttledLog.add(slog.LevelWarn, "connect refused", no.Code.String(), g.logKey(nc, string(pk.Connect.Username)),
			"remote", cl.Net.Remote, "client", pk.Connect.ClientIdentifier, "user", string(pk.Connect.Username), "why", no.Detail)
		_ = g.srv.SendConnack(cl, connackCode(no.Code), false, nil)
		return errors.New(no.Detail)
	}
	cl.ID = c.ClientID
	// No session outlives its connection. The library would deliver stored messages in
	// random order and without checking rights, and may even lose acknowledged ones.
	// CONNACK therefore always says that no session is present.
	cl.Properties.Clean = true
	c.refusals = rate.NewLimiter(rate.Limit(g.rates.refused), g.rates.refusedBurst)
	c.notices = rate.NewLimiter(rate.Limit(g.rates.notice), g.rates.noticeBurst)
	c.frameNotices = rate.NewLimiter(1, 1)
	if c.Role == schema.RoleRobot {
		c.messages = rate.NewLimiter(rate.Limit(g.rates.robot), g.rates.robotBurst)
		c.bytes = rate.NewLimiter(rate.Limit(g.rates.bytes), g.rates.bytesBurst)
	}
	if c.Blobs {
		nc.timeout.Store(int64(blobWriteTimeout))
	}
	nc.client.Store(c)
	return nil
}

// logKey groups refused CONNECTs in the log: by name and address for an existing user, by
// address for all others.
func (g *guard) logKey(nc *conn, name string) string {
	address := addrOf(nc.raw).String()
	if _, known := g.creds.current.Load().users.Named(name); known {
		return name + " " + address
	}
	return address
}

// connackCode is the library's code for c. The library maps these to the five codes of
// MQTT 3.1.1; some clients take any other code for success.
func connackCode(c access.ConnackCode) packets.Code {
	switch c {
	case access.CodeProtocol:
		return packets.ErrUnsupportedProtocolVersion
	case access.CodeID:
		return packets.ErrClientIdentifierNotValid
	case access.CodeBusy:
		return packets.ErrServerUnavailable
	case access.CodeLogin:
		return packets.ErrMalformedUsername
	}
	return packets.ErrBadUsernameOrPassword
}

// takeID takes the client id over: when it returns true, the previous
// connection with that id has ended. When it returns false, the client gets a CONNACK with code 5
// (not authorized). A client that may try again later gets code 3 (server unavailable)
// here first, and Stop closes its connection, so that code 5 is not sent after it.
func (g *guard) takeID(cl *mqtt.Client) bool {
	c := clientOf(cl)
	if c == nil || g.connectsTooOften(cl, c) {
		return false
	}
	old, err := g.sessions.take(cl.ID, connOf(cl), g.notifyTakenOver)
	switch {
	case errors.Is(err, errOtherRole):
		g.counters.add(otherRole)
		g.throttledLog.add(slog.LevelError, "connect refused", "name taken", c.Name, "client", cl.ID, "role", c.Role, "remote", cl.Net.Remote,
			"why", err, "connected_role", old.client.Load().Role, "connected_remote", remote(old.raw))
		if g.clashNotices.Allow() {
			g.notify(c.Name, schema.Notice{Reason: schema.ReasonForbidden,
				Detail: fmt.Sprintf("a client of role %s tried to connect with this name from %s and was refused", c.Role, cl.Net.Remote), Count: 1})
		}
		return false
	case errors.Is(err, errNameFull), errors.Is(err, errNoSlot):
		g.counters.add(noSlot)
		g.throttledLog.add(slog.LevelWarn, "connect refused", err.Error(), c.Name, "client", cl.ID, "role", c.Role, "remote", cl.Net.Remote,
			"why", err)
		_ = g.srv.SendConnack(cl, packets.ErrServerUnavailable, false, nil)
		cl.Stop(packets.ErrServerUnavailable)
		return false
	case err != nil:
		g.counters.add(connectRefused)
		g.throttledLog.add(slog.LevelError, "connect refused", "old connection open", c.Name, "client", cl.ID, "why", err)
		return false
	case old != nil:
		g.throttledLog.add(slog.LevelWarn, "session taken over", "", cl.ID, "client", cl.ID, "old_remote", remote(old.raw), "new_remote",
			cl.Net.Remote)
	}
	// A right that was lost since identify checked it is noticed here or by recheckAll.
	if why := g.whyRefused(connOf(cl), c); why != "" {
		g.counters.add(connectRefused)
		g.throttledLog.add(slog.LevelWarn, "connect refused", "not allowed", c.Name, "client", cl.ID, "why", why)
		return false
	}
	return true
}

// connectsTooOften limits how often a robot connects, or two that share an id; the
// existing connection stays, so a stop still reaches it. It is checked after
// authentication, so that an unknown client cannot slow a robot down. Other roles are not
// limited, because the next connection of an operator's tool may carry a stop; nor are
// blob connections, which are opened for each download.
func (g *guard) connectsTooOften(cl *mqtt.Client, c *client) bool {
	if c.Role != schema.RoleRobot || c.Blobs || g.connects.allow(c.ClientID) {
		return false
	}
	g.counters.add(connectFlapping)
	g.throttledLog.add(slog.LevelWarn, "connect refused", "too often", cl.ID, "client", cl.ID, "remote", cl.Net.Remote, "why",
		"connects too often", "pause", connectInterval)
	_ = g.srv.SendConnack(cl, packets.ErrServerUnavailable, false, nil)
	cl.Stop(packets.ErrServerUnavailable)
	return true
}

// isRobotInTime reports whether a client is a robot that connects no more often than it may, which does not count
// for the rate of connections of its address. For blobs it may connect more often, and then counts like any other.
func (g *guard) isRobotInTime(c *client) bool {
	return c.Role == schema.RoleRobot && (!c.Blobs || g.blobConnects.allow(c.Name)) // others have passed connectsTooOften
}

// identify authenticates the sender of a CONNECT, by its certificate or else by name and
// password. Only an authenticated client learns what else is wrong with its CONNECT.
func (g *guard) identify(nc *conn, pk *packets.Packet) (*client, *access.Refusal) {
	req := access.Connect{
		Protocol: pk.ProtocolVersion, ClientID: pk.Connect.ClientIdentifier, Name: string(pk.Connect.Username),
		KeepAlive: pk.Connect.Keepalive, Clean: pk.Connect.Clean,
	}
	if no := access.CheckConnect(req); no != nil {
		return nil, no
	}
	if g.bus { // it accepts every client of this machine, and each is the same to it
		req.Name = ""
	}
	c := &client{asked: req.ClientID}
	var no *access.Refusal
	if len(nc.chain) > 0 {
		no = g.byCertificate(nc, &req, c)
	} else {
		no = g.byPassword(nc, req.Name, pk.Connect.Password, c)
	}
	if no != nil {
		return nil, no
	}
	if c.Identity, no = access.Identify(req, c.user, random()); no != nil {
		return nil, no
	}
	if why := g.whyRefused(nc, c); why != "" {
		return nil, &access.Refusal{Code: access.CodeDenied, Detail: why}
	}
	if c.rights = access.Compile(c.Identity, g.ns); g.bus {
		c.rights = access.Bus()
	}
	if pk.Connect.WillFlag {
		if why := g.judgeWill(c, pk.Connect.WillTopic, pk.Connect.WillRetain, pk.Connect.WillPayload); why != "" {
			return nil, &access.Refusal{Code: access.CodeDenied, Detail: fmt.Sprintf("will on %q: %s", pk.Connect.WillTopic, why)}
		}
		c.will = will{topic: pk.Connect.WillTopic, payload: string(pk.Connect.WillPayload)}
	}
	return c, nil
}

// serverFor returns the server whose NewClient makes a client with the queue that an authenticated client gets, see withQueue.
func (g *guard) serverFor(c *client) *mqtt.Server {
	switch {
	case g.bus: // all are the same to it
	case c.Role == schema.RoleRobot:
		return g.robots
	case c.Role == schema.RoleFleetd:
		return g.fleetds
	}
	return g.srv
}

func (g *guard) byCertificate(nc *conn, req *access.Connect, c *client) *access.Refusal {
	h, err := access.HolderOf(nc.chain[0])
	if err != nil {
		g.counters.add(certificateRefused)
		return &access.Refusal{Code: access.CodeDenied, Detail: err.Error()}
	}
	user, no := access.UserOfHolder(req, h)
	if no != nil {
		g.counters.add(certificateRefused)
		return no
	}
	c.user, c.serial = user, h.Serial
	return nil
}

// byPassword accepts a name without a password only on endpoints that no other machine can
// reach.
func (g *guard) byPassword(nc *conn, name string, password []byte, c *client) *access.Refusal {
	user, known := g.creds.current.Load().users.Find(name)
	unproven := known && user.Hash == nil && nc.endpoint.requiresProof()
	switch {
	case !known && !schema.ValidID(name): // no user can have this name, so no hash is computed to hide that
		return access.UnknownUser(name)
	case known && user.Hash == nil && !unproven:
		c.user = user
		return nil
	}
	who := claimant{claim{addrOf(nc.raw), name}, user.Role == schema.RoleStop, func() bool { return hungUp(nc.raw) }}
	switch a := g.passwords.check(who, user.Hash, password); {
	case a == isBusy:
		g.counters.add(passwordBusy)
		return &access.Refusal{Code: access.CodeBusy, Detail: "too many passwords are waiting to be checked; the client may try again"}
	case !known:
		return access.UnknownUser(name)
	case unproven:
		return &access.Refusal{Code: access.CodeLogin, Detail: fmt.Sprintf("user %q has no password and presented no certificate: "+
			"that is accepted only from this machine; add the hash of a password to its line of the users file (broker hash-password)", name)}
	case a == isWrong:
		g.counters.add(passwordWrong)
		return &access.Refusal{Code: access.CodeLogin, Detail: "wrong password: give the client the right one, " +
			"or its line of the users file another hash (broker hash-password)"}
	}
	c.user = user
	return nil
}
