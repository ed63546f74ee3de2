package schema

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxWord bounds a bare word, every text of a request beside its arguments, and
	// every argument whose type allows no more, in bytes.
	MaxWord = 256
	// MaxText bounds an argument that is a text to be spoken, in characters, as the
	// actions of an act do.
	MaxText = 1000
)

// unprintable finds what cannot be shown in a line without changing what stands
// around it: control characters, which a terminal obeys, line breaks, what turns
// the direction of writing about, and byte order marks.
func unprintable(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029', r == '\ufeff':
		return true
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true
	}
	return false
}

// Printable reports whether a text can be shown to people as it is.
func Printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, unprintable) < 0
}

// Legible is what of a unknown client's text can be told in a document: printable, cut
// at a character, and at most MaxWord bytes as JSON writes it, so that no document
// grows beyond its bound by what is put into it. A text that is all of this
// already stays as it is.
func Legible(s string) string { return LegibleWithin(s, MaxWord) }

// LegibleWithin is Legible with another bound.
func LegibleWithin(s string, most int) string {
	size, clean := 0, true
	for i, r := range s {
		width, plain := written(s[i:], r)
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
		if _, plain := written(s[i:], r); !plain {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// written is how many bytes JSON takes for the first character of s, which is r,
// and whether it can stand there as it is.
func written(s string, r rune) (width int, plain bool) {
	switch width = utf8.RuneLen(r); {
	case r == '"', r == '\\':
		return 2, true
	case unprintable(r), r == utf8.RuneError && !strings.HasPrefix(s, string(utf8.RuneError)):
		return 1, false
	}
	return width, true
}

// text reads a printable text of type t. That of a stop is cut instead: no stop is
// worth less for what is written beside it.
func (c *checks) text(t ArgType, raw jsontext.Value, pointer string, stop bool, into *string) {
	c.read(raw, pointer, into)
	if stop {
		*into = Legible(*into)
		return
	}
	c.bounded(t, pointer, *into)
	switch at := strings.IndexFunc(*into, unprintable); {
	case at >= 0:
		c.add(pointer, "unprintable", fmt.Sprintf("%+q cannot be shown in a line", []rune((*into)[at:])[0]), "leave it out")
	case t == ArgUUID && !ValidUUID(*into):
		c.add(pointer, "bad_id", fmt.Sprintf("%q is not a UUID in lower case", *into), "write it as b108326f-f261-4a6b-ad48-fee8efb991ba")
	}
}

func (c *checks) bounded(t ArgType, pointer, s string) {
	size, most := len(s), MaxWord
	if t == ArgText {
		size, most = utf8.RuneCountInString(s), MaxText
	}
	if size > most {
		c.add(pointer, "too_long", "at most "+t.Bound(), "")
	}
}
