package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxShortText is the greatest length in bytes of a bare word, of the texts of a request
	// outside its arguments, and of arguments without a limit of their own.
	MaxShortText = 256
	// MaxText is the greatest length in characters of a text to be spoken, in arguments
	// as in the actions of an act.
	MaxText = 1000
)

// unprintable reports whether r cannot be shown in a line without affecting the text
// around it: control characters, line breaks, direction overrides and byte order marks.
func unprintable(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029', r == '\ufeff':
		return true
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true
	}
	return false
}

// Printable reports whether a text can be shown to people unchanged.
func Printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, unprintable) < 0
}

// SanitizeText returns an untrusted text for use in documents: unprintable characters are
// replaced, and it is truncated at a character to at most MaxShortText bytes in JSON, so that
// no document exceeds its size limit. A text that needs no change is returned as it is.
func SanitizeText(s string) string { return SanitizeTextWithin(s, MaxShortText) }

// SanitizeTextWithin is SanitizeText with another limit in bytes.
func SanitizeTextWithin(s string, most int) string {
	size, clean := 0, true
	for i, r := range s {
		width, plain := jsonWidth(s[i:], r)
		if size += width; size > most {
			s = s[:i]
			break
		}
		clean = clean && plain
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if _, plain := jsonWidth(s[i:], r); !plain {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// jsonWidth returns how many bytes JSON needs for r, the first character of s, and whether
// r is printable.
func jsonWidth(s string, r rune) (width int, plain bool) {
	switch width = utf8.RuneLen(r); {
	case r == '"', r == '\\':
		return 2, true
	case unprintable(r), r == utf8.RuneError && !strings.HasPrefix(s, string(utf8.RuneError)):
		return 1, false
	}
	return width, true
}

// PrintableURL is the text of an address for logs and errors. Of one that may contain a password it has the scheme
// only: the parts of an address that was not parsed are unknown.
func PrintableURL(address string) string {
	if !strings.ContainsAny(address, "@?#") {
		return address
	}
	scheme, _, found := strings.Cut(address, "://")
	if !found || !ValidID(strings.ToLower(scheme)) {
		return "(not shown, since it may contain a password)"
	}
	return scheme + "://... (not shown, since it may contain a password)"
}
