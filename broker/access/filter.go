package access

import (
	"strings"
	"unicode/utf8"

	"troupe/schema"
)

// Matches reports whether filter matches topic by the rules of MQTT: + stands for one
// level, # for all further levels including none (a/# matches a), and neither matches a
// first level that begins with $.
func Matches(filter, topic string) bool { return Intersects(filter, topic) }

// Intersects reports whether some topic matches both filters. A topic is a filter without
// wildcards, so Matches is a special case.
func Intersects(a, b string) bool {
	for first, restA, restB := true, true, true; ; first = false {
		var la, lb string
		if restA {
			la, a, restA = cutLevel(a)
		} else {
			// a has no more levels: b must end here as well, or in #.
			return !restB || b == "#"
		}
		if restB {
			lb, b, restB = cutLevel(b)
		} else {
			return la == "#"
		}
		if first && (isWildcard(la) && strings.HasPrefix(lb, "$") || isWildcard(lb) && strings.HasPrefix(la, "$")) {
			return false
		}
		switch {
		case la == "#" || lb == "#":
			return true
		case la != lb && la != "+" && lb != "+":
			return false
		}
	}
}

// cutLevel splits the first level off s. more reports whether another level follows; after
// a trailing slash that is an empty one.
func cutLevel(s string) (level, rest string, more bool) {
	if i := strings.IndexByte(s, '/'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func isWildcard(level string) bool { return level == "+" || level == "#" }

// ValidTopic reports whether s is a topic that can be published to.
func ValidTopic(s string) bool { return validName(s) && !strings.ContainsAny(s, "+#") }

// ValidFilter reports whether s can be subscribed to: a wildcard must be a whole level,
// and # the last one. Shared subscriptions are not supported.
func ValidFilter(s string) bool {
	if !validName(s) || strings.HasPrefix(s, "$share/") || strings.HasPrefix(s, "$queue/") {
		return false
	}
	for rest, more := s, true; more; {
		var level string
		level, rest, more = cutLevel(rest)
		if strings.ContainsAny(level, "+#") && (len(level) > 1 || level == "#" && more) {
			return false
		}
	}
	return true
}

func validName(s string) bool {
	if s == "" || len(s) > schema.MaxTopicBytes || strings.Count(s, "/") >= schema.MaxTopicLevels || !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) < 0
}
