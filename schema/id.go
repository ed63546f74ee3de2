package schema

import "strings"

// MaxIDLen is the greatest length of ids of robots, clients, acts, stories and so on.
const MaxIDLen = 63

// ValidID reports whether s can name a robot, a client, an act, a story, a unit
// or a label key: [a-z0-9][a-z0-9-]{0,62}. Dots are not allowed, because in a client id
// a dot separates the name from a suffix (see ClientName).
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

// ReservedName reports whether s is a default name of fleetd or of people's tools:
// fleetd, names that begin with "fleetd-" or "console-", admin, obs, guest, stop1,
// resp1, op1 to op9. A robot cannot have such a name, because sessions and a client's own topics
// are identified by the name.
func ReservedName(s string) bool {
	switch s {
	case "fleetd", "admin", "obs", "guest", "stop1", "resp1":
		return true
	}
	return strings.HasPrefix(s, "fleetd-") || strings.HasPrefix(s, "console-") || len(s) == 3 && s[:2] == "op" && s[2] >= '1' && s[2] <= '9'
}

// LocalClient is the sender of commands and heartbeats from the robot's own page. A robot
// gives a client of the broker with this name another one, so that it cannot pass for the page.
const LocalClient = "local"

// ValidNamespace reports whether s can be the first level of every topic:
// [a-z0-9-]{1,32}.
func ValidNamespace(s string) bool {
	return len(s) <= 32 && s != "" && ValidID("x"+s)
}

// ValidRequestID reports whether s can be the id of a command: 1-64 characters of
// [A-Za-z0-9._:-]. A UUIDv7 is recommended.
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

// ValidUUID reports whether s is a UUID in lower case.
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

// SplitClientID returns the name in an MQTT client id, which is the part before its first dot or
// underscore, and the suffix after it. So one person may connect with several tools at once (op1, op1.phone).
// Engines that know no dot in a client id, such as NATS, need the underscore.
func SplitClientID(id string) (name, suffix string, hasSuffix bool) {
	if i := strings.IndexAny(id, "._"); i >= 0 {
		return id[:i], id[i+1:], true
	}
	return id, "", false
}
