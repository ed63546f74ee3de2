package access

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"troupe/schema"
)

// BlobSuffix is the client id suffix of a robot's second connection, on which it fetches
// blobs, so that neither its heartbeat nor a stop has to wait behind them.
const BlobSuffix = "blob"

// DoctorSuffix is the client id suffix with which robotd doctor tries the way to the broker
// beside a robotd that runs.
const DoctorSuffix = "doctor"

// Bounds of a client's keep-alive, in seconds. Zero would disable the broker's only way to
// detect a dead peer.
const (
	MinKeepAlive = 5
	MaxKeepAlive = 300
)

// Connect holds the fields of a CONNECT packet on which the decision depends.
type Connect struct {
	Protocol  byte // 4 is MQTT 3.1.1
	ClientID  string
	Name      string // user name, empty when none was given
	KeepAlive uint16 // seconds
	Clean     bool
}

// Identity is an authenticated client.
type Identity struct {
	Name     string // user name; guest if the client gave none
	ClientID string
	Role     schema.Role
	Robot    string // the robot of a console, else empty
	Blobs    bool   // it may only read blobs: a robot's second connection, or that of robotd doctor
}

// ConnackCode is the MQTT 3.1.1 CONNACK return code of a refusal.
type ConnackCode byte

const (
	CodeProtocol ConnackCode = 1
	CodeID       ConnackCode = 2 // the client id, or the keep-alive, which has no code of its own
	CodeBusy     ConnackCode = 3 // the client may try again
	CodeLogin    ConnackCode = 4 // user name or password
	CodeDenied   ConnackCode = 5 // the client is known, and may not do this
)

// String returns the name of c for the log.
func (c ConnackCode) String() string {
	switch c {
	case CodeProtocol:
		return "protocol"
	case CodeID:
		return "client id"
	case CodeBusy:
		return "busy"
	case CodeLogin:
		return "login"
	}
	return "denied"
}

// Refusal is why a CONNECT is refused. Detail is for the log: CONNACK of MQTT 3.1.1
// carries only a code.
type Refusal struct {
	Code   ConnackCode
	Detail string
}

// guest is the name of clients without a user name.
const guest = "guest"

// CheckConnect checks what does not depend on the client's identity.
func CheckConnect(c Connect) *Refusal {
	switch {
	case c.Protocol != 4:
		return refuse(CodeProtocol, "protocol level %d: only MQTT 3.1.1 (level 4) is supported; set it in the client", c.Protocol)
	case c.KeepAlive < MinKeepAlive || c.KeepAlive > MaxKeepAlive:
		return refuse(CodeID, "keep-alive %d s: set it to %d to %d s in the client", c.KeepAlive, MinKeepAlive, MaxKeepAlive)
	}
	return nil
}

// UserOfHolder returns the user whom a certificate names. The client may omit its user
// name, but it must not give another one.
func UserOfHolder(c *Connect, h Holder) (User, *Refusal) {
	if c.Name == "" {
		c.Name = h.Name
	}
	if c.Name != h.Name {
		return User{}, refuse(CodeDenied, "user name %q does not match the certificate of %s: give that name, or none", c.Name, h.Name)
	}
	return User{Name: h.Name, Role: h.Role}, nil
}

// Identify binds the session to the user name: sessions are kept by client id, so a
// client that could choose any id could take over another's session. The id of a robot is
// its name, or its name, a dot or an underscore and BlobSuffix or DoctorSuffix for a connection that may only read
// blobs; that of fleetd, a stop button or a panel is its name, or its name, a dot or an underscore and a suffix. Any
// other client may choose its id, as libraries do by themselves: unless it has that form, the session is kept
// under the name, a dot and a digest of the id. An
// empty id becomes the name, a dot and a random suffix, but a robot's is refused.
//
// Call it only for a user who is authenticated, because its refusals explain what is
// wrong. It checks neither the will (see Rights.JudgeWill) nor the password.
func Identify(c Connect, user User, random string) (Identity, *Refusal) {
	if c.Name == "" {
		// The client id of an unnamed client is ignored, so that it cannot be that of
		// another session.
		if !c.Clean {
			return Identity{}, refuse(CodeID, "a client without a user name must ask for a clean session: set clean session, or give a user name")
		}
		return Identity{Name: guest, ClientID: guest + "." + random, Role: user.Role}, nil
	}
	id := Identity{Name: c.Name, ClientID: c.ClientID, Role: user.Role, Robot: user.Robot}
	name, suffix, suffixed := schema.SplitClientID(c.ClientID)
	own := name == c.Name && (!suffixed || validSuffix(suffix))
	switch {
	case user.Role == schema.RoleRobot && (!own || suffixed && suffix != BlobSuffix && suffix != DoctorSuffix):
		return Identity{}, refuse(CodeID, "client id %.64q of robot %s: it must be %[2]s, or %[2]s.%[3]s for blobs, "+
			"or %[2]s.%[4]s for robotd doctor; "+
			"other programs need a user of another role", c.ClientID, c.Name, BlobSuffix, DoctorSuffix)
	case user.Role == schema.RoleRobot && !c.Clean:
		return Identity{}, refuse(CodeID, "robot %s must ask for a clean session: old commands must not be replayed", name)
	case user.Role == schema.RoleRobot:
		id.Blobs = suffixed
	case c.ClientID == "":
		id.ClientID = c.Name + "." + random
	case own:
	case choosesID(user.Role):
		digest := sha256.Sum256([]byte(c.ClientID))
		id.ClientID = c.Name + "." + hex.EncodeToString(digest[:8])
	default:
		return Identity{}, refuse(CodeID, "client id %.64q of user %s with role %s: it must be %[2]s, or %[2]s, "+
			"a dot or an underscore and a suffix of a-z, 0-9, -, . and _",
			c.ClientID, c.Name, user.Role)
	}
	return id, nil
}

// choosesID reports whether clients of that role may have any client id. Robots, fleetd, stop buttons and panels may not:
// their ids tell people which of them is connected, and a second one with the same id is noticed.
func choosesID(r schema.Role) bool {
	switch r {
	case schema.RoleRobot, schema.RoleFleetd, schema.RoleStop, schema.RoleConsole:
		return false
	}
	return true
}

// UnknownUser is the refusal of a name that no user has.
func UnknownUser(name string) *Refusal {
	if name == "" {
		return refuse(CodeLogin, "the client gave no user name: give it the name of a user")
	}
	return refuse(CodeLogin, "unknown user %.64q: add a line for it to the users file, or correct the name in the client", name)
}

func refuse(c ConnackCode, format string, args ...any) *Refusal {
	return &Refusal{c, fmt.Sprintf(format, args...)}
}

func validSuffix(s string) bool {
	if s == "" || len(s) > schema.MaxIDLen {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
	}) < 0
}
