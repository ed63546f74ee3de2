package schema

import "strings"

// MaxIDLen bounds the ids of robots, clients, acts, stories and the like.
const MaxIDLen = 63

// ValidID reports whether s can name a robot, a client, an act, a story, a unit
// or a label key: [a-z0-9][a-z0-9-]{0,62}. Dots are left out on purpose: a
// client id is a name, or a name, a dot and a suffix (see ClientName).
func ValidID(s string) bool {
	if s == "" || len(s) > MaxIDLen || s[0] == '-' {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}

// ReservedName reports whether s is a name that fleetd instances and people's tools go by
// where nothing else is said: fleetd and what begins with "fleetd-" or "console-",
// admin, obs, guest, stop1, op1 to op9. No robot is called so: sessions and topics of one's own
// go by the name.
func ReservedName(s string) bool {
	switch s {
	case "fleetd", "admin", "obs", "guest", "stop1":
		return true
	}
	return strings.HasPrefix(s, "fleetd-") || strings.HasPrefix(s, "console-") || len(s) == 3 && s[:2] == "op" && s[2] >= '1' && s[2] <= '9'
}

// ValidNamespace reports whether s can be the first level of every topic:
// [a-z0-9-]{1,32}.
func ValidNamespace(s string) bool {
	return len(s) <= 32 && s != "" && ValidID("x"+s)
}

// ValidRequestID reports whether s can name a command: 1-64 characters of
// [A-Za-z0-9._:-]. A UUIDv7 is advised.
func ValidRequestID(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("._:-", rune(c)) {
			return false
		}
	}
	return true
}

// ValidSHA256 reports whether s is the lower-case hexadecimal form of a digest.
func ValidSHA256(s string) bool {
	if len(s) != 64 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// ValidUUID reports whether s is a UUID as it is written, in lower case.
func ValidUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// ClientName returns the name that an MQTT client id stands for: the id itself,
// or what comes before its first dot, so that one person may connect with
// several tools at once (op1, op1.phone).
func ClientName(clientID string) string {
	name, _, _ := strings.Cut(clientID, ".")
	return name
}
