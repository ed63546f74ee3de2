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
	Robot    string // where a console stands, else empty
	Blobs    bool   // a robot's second connection
}

// Fault is which of MQTT's connect return codes fits a refusal.
type Fault byte

const (
	FaultProtocol Fault = 1
	FaultID       Fault = 2
	FaultBusy     Fault = 3 // it may be tried again
	FaultLogin    Fault = 4
	FaultDenied   Fault = 5
)

// String is what an operator's log calls f.
func (f Fault) String() string {
	switch f {
	case FaultProtocol:
		return "protocol"
	case FaultID:
		return "client id"
	case FaultBusy:
		return "busy"
	case FaultLogin:
		return "login"
	}
	return "denied"
}

// Refusal is why somebody may not connect; for the log, since MQTT 3.1.1 has no
// words for it.
type Refusal struct {
	Fault  Fault
	Detail string
}

// guest is the name of those who give none.
const guest = "guest"

// Check decides what needs no knowledge of who it is.
func Check(c Connect) *Refusal {
	switch {
	case c.Protocol != 4:
		return refuse(FaultProtocol, "protocol level %d: only MQTT 3.1.1 is spoken", c.Protocol)
	case c.KeepAlive < MinKeepAlive || c.KeepAlive > MaxKeepAlive:
		return refuse(FaultID, "keep-alive %d s: want %d to %d s", c.KeepAlive, MinKeepAlive, MaxKeepAlive)
	}
	return nil
}

// ByCertificate makes a user of the holder of a certificate. The user name may be
// left out, but not be another's.
func ByCertificate(c *Connect, h Holder) (User, *Refusal) {
	if c.Name == "" {
		c.Name = h.Name
	}
	if c.Name != h.Name {
		return User{}, refuse(FaultDenied, "user name %q with the certificate of %s", c.Name, h.Name)
	}
	return User{Name: h.Name, Role: h.Role}, nil
}

// Identify binds the client id to the user name: sessions are kept by client id,
// so whoever could choose another's would take over his session. The id is the
// name, or for those who are no robots the name, a dot and anything; an empty one
// becomes the name, a dot and random.
//
// It is for a user who has proved who he is: what it refuses, it explains.
// Neither the will (see Rights.JudgeWill) nor the password is looked at here.
func Identify(c Connect, user User, random string) (Identity, *Refusal) {
	if c.Name == "" {
		// Whatever somebody unnamed calls himself, it must not be another's
		// session; so the id he gives is not used at all.
		if !c.Clean {
			return Identity{}, refuse(FaultID, "an unnamed client asks for a kept session")
		}
		return Identity{Name: guest, ClientID: guest + "." + random, Role: user.Role}, nil
	}
	id := Identity{Name: c.Name, ClientID: c.ClientID, Role: user.Role, Robot: user.Robot}
	if id.ClientID == "" {
		if user.Role == schema.RoleRobot {
			return Identity{}, refuse(FaultID, "robot %s: the client id must be its name", c.Name)
		}
		id.ClientID = id.Name + "." + random
	}
	name, suffix, dotted := strings.Cut(id.ClientID, ".")
	switch {
	case !schema.ValidID(name) || dotted && !validSuffix(suffix):
		return Identity{}, refuse(FaultID, "client id %q: want a-z, 0-9 and -, then perhaps a dot and more of it", c.ClientID)
	case name != id.Name:
		return Identity{}, refuse(FaultID, "client id %q does not belong to user %q", c.ClientID, c.Name)
	}
	if user.Role == schema.RoleRobot {
		if dotted && suffix != BlobSuffix {
			return Identity{}, refuse(FaultID, "client id %q: a robot is %s, or %s.%s for blobs", c.ClientID, name, name, BlobSuffix)
		}
		if !c.Clean {
			return Identity{}, refuse(FaultID, "robot %s asks for a kept session: old commands must not be replayed", name)
		}
		id.Blobs = dotted
	}
	return id, nil
}

func refuse(f Fault, format string, args ...any) *Refusal {
	return &Refusal{f, fmt.Sprintf(format, args...)}
}

func validSuffix(s string) bool {
	if s == "" || len(s) > schema.MaxIDLen {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
	}) < 0
}
