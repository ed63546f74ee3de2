package server

import (
	"fmt"
	"net/netip"

	"github.com/mochi-mqtt/server/v2/packets"

	"troupe/broker/access"
	"troupe/schema"
)

// nobodysHash is computed for names that do not exist, so that the time of a
// refusal does not tell them from those that do.
var nobodysHash = access.HashPassword("", [access.SaltBytes]byte{})

// identify finds out who says CONNECT: by the certificate of the connection, or
// else by name and password. Only who has proved his name is told what else is
// wrong with what he says.
func (g *guard) identify(nc *conn, pk packets.Packet) (*client, *access.Refusal) {
	req := access.Connect{
		Protocol: pk.ProtocolVersion, ClientID: pk.Connect.ClientIdentifier, Name: string(pk.Connect.Username),
		KeepAlive: pk.Connect.Keepalive, Clean: pk.Connect.Clean,
	}
	if no := access.Check(req); no != nil {
		return nil, no
	}
	c := &client{}
	var no *access.Refusal
	if len(nc.chain) > 0 {
		no = g.byCertificate(nc, &req, c)
	} else {
		no = g.byPassword(addrOf(nc.raw), req.Name, pk.Connect.Password, c)
	}
	if no != nil {
		return nil, no
	}
	if c.Identity, no = access.Identify(req, c.user, random()); no != nil {
		return nil, no
	}
	if why := g.wrong(nc, c); why != "" {
		return nil, &access.Refusal{Fault: access.FaultDenied, Detail: why}
	}
	c.rights = access.Compile(c.Identity, g.ns)
	if pk.Connect.WillFlag {
		w := access.Publish{Topic: pk.Connect.WillTopic, Retain: pk.Connect.WillRetain, Size: len(pk.Connect.WillPayload)}
		if v := c.rights.JudgeWill(w); v.Do != access.Pass {
			return nil, &access.Refusal{Fault: access.FaultDenied, Detail: fmt.Sprintf("will on %q: %s", w.Topic, v.Detail)}
		}
	}
	return c, nil
}

func (g *guard) byCertificate(nc *conn, req *access.Connect, c *client) *access.Refusal {
	h, err := access.HolderOf(nc.chain[0])
	if err != nil {
		g.counters.add(certificateRefused)
		return &access.Refusal{Fault: access.FaultDenied, Detail: err.Error()}
	}
	user, no := access.ByCertificate(req, h)
	if no != nil {
		g.counters.add(certificateRefused)
		return no
	}
	c.user, c.serial = user, h.Serial
	return nil
}

func (g *guard) byPassword(from netip.Addr, name string, password []byte, c *client) *access.Refusal {
	user, known := g.creds.now.Load().users.Find(name)
	hash := user.Hash
	switch {
	case !known && !schema.ValidID(name): // nobody can be called so
		return &access.Refusal{Fault: access.FaultLogin, Detail: fmt.Sprintf("no such user: %q", name)}
	case !known:
		hash = &nobodysHash
	}
	if hash != nil {
		fits, busy := g.hashing.fits(from, *hash, password)
		switch {
		case busy:
			g.counters.add(passwordBusy)
			return &access.Refusal{Fault: access.FaultBusy, Detail: "too many passwords wait to be checked"}
		case !known:
			return &access.Refusal{Fault: access.FaultLogin, Detail: fmt.Sprintf("no such user: %q", name)}
		case !fits:
			g.counters.add(passwordWrong)
			return &access.Refusal{Fault: access.FaultLogin, Detail: "wrong password"}
		}
	}
	c.user = user
	return nil
}
