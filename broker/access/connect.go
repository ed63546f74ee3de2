package access

import (
	"fmt"
	"strings"

	"troupe/schema"
)

// BlobSuffix marks a robot's second connection, on which it fetches blobs, so
// that neither its heartbeat nor a stop waits behind them.
const BlobSuffix = "blob"

// Bounds of the keep-alive that a client may ask for, in seconds. Zero would
// switch the broker's only way of finding a dead peer off.
const (
	MinKeepAlive = 5
	MaxKeepAlive = 300
)

// Connect is what a client says of itself before anything else.
type Connect struct {
	Protocol  byte // 4 is MQTT 3.1.1
	ClientID  string
	Name      string // user name, empty when none was given
	KeepAlive uint16 // seconds
	Clean     bool
}

// Identity is who a connection turned out to be.
type Identity struct {
	Name     string // user name, guest for somebody unnamed
	ClientID string
	Role     schema.Role
	Blobs    bool // a robot's second connection
}

// Fault is which of MQTT's connect return codes fits a refusal.
type Fault byte

const (
	FaultProtocol Fault = 1
	FaultID       Fault = 2
	FaultLogin    Fault = 4
	FaultDenied   Fault = 5
)

// Refusal is why somebody may not connect; for the log, since MQTT 3.1.1 has no
// words for it.
type Refusal struct {
	Fault  Fault
	Detail string
}

// guest is the name of those who give none.
const guest = "guest"

// Identify binds the client id to the user name: sessions are kept by client id,
// so whoever could choose another's would take over his session. The id is the
// name, or for those who are no robots the name, a dot and anything; an empty one
// becomes the name, a dot and random.
//
// Neither the will (see Rights.JudgeWill) nor the password is looked at here: the
// server asks user.Hash, because it limits how many are computed at once.
func Identify(c Connect, users Users, random string) (Identity, User, *Refusal) {
	refuse := func(f Fault, format string, args ...any) (Identity, User, *Refusal) {
		return Identity{}, User{}, &Refusal{f, fmt.Sprintf(format, args...)}
	}
	switch {
	case c.Protocol != 4:
		return refuse(FaultProtocol, "protocol level %d: only MQTT 3.1.1 is spoken", c.Protocol)
	case c.KeepAlive < MinKeepAlive || c.KeepAlive > MaxKeepAlive:
		return refuse(FaultID, "keep-alive %d s: want %d to %d s", c.KeepAlive, MinKeepAlive, MaxKeepAlive)
	}
	user, ok := users.Find(c.Name)
	if !ok {
		return refuse(FaultLogin, "no such user: %q", c.Name)
	}
	if c.Name == "" {
		// Whatever somebody unnamed calls himself, it must not be another's
		// session; so the id he gives is not used at all.
		if !c.Clean {
			return refuse(FaultID, "an unnamed client asks for a kept session")
		}
		return Identity{Name: guest, ClientID: guest + "." + random, Role: user.Role}, user, nil
	}
	id := Identity{Name: c.Name, ClientID: c.ClientID, Role: user.Role}
	if id.ClientID == "" {
		if user.Role == schema.RoleRobot {
			return refuse(FaultID, "robot %s: the client id must be its name", c.Name)
		}
		id.ClientID = id.Name + "." + random
	}
	name, suffix, dotted := strings.Cut(id.ClientID, ".")
	switch {
	case !schema.ValidID(name) || dotted && !validSuffix(suffix):
		return refuse(FaultID, "client id %q: want a-z, 0-9 and -, then perhaps a dot and more of it", c.ClientID)
	case name != id.Name:
		return refuse(FaultID, "client id %q does not belong to user %q", c.ClientID, c.Name)
	}
	if user.Role == schema.RoleRobot {
		if dotted && suffix != BlobSuffix {
			return refuse(FaultID, "client id %q: a robot is %s, or %s.%s for blobs", c.ClientID, name, name, BlobSuffix)
		}
		if !c.Clean {
			return refuse(FaultID, "robot %s asks for a kept session: old commands must not be replayed", name)
		}
		id.Blobs = dotted
	}
	return id, user, nil
}

func validSuffix(s string) bool {
	if s == "" || len(s) > schema.MaxIDLen {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
	}) < 0
}
