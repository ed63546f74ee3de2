package schema

import "fmt"

// checks collects the problems of one message.
type checks []Problem

func (c *checks) add(pointer, code, detail, hint string) {
	*c = append(*c, NewProblem(pointer, code, detail, hint))
}

func (c *checks) present(pointer string, ok bool) {
	if !ok {
		c.add(pointer, "missing", "missing", "every message of this kind carries it")
	}
}

func (c *checks) id(pointer, v string) {
	if !ValidID(v) {
		c.add(pointer, "bad_id", fmt.Sprintf("%q is not an id", v), "use a-z, 0-9 and hyphens, at most 63")
	}
}

func (c *checks) digest(pointer, v string) {
	if !ValidSHA256(v) {
		c.add(pointer, "bad_digest", fmt.Sprintf("%q is not a SHA-256 in lower-case hexadecimal", v), "64 characters of 0-9 and a-f")
	}
}

func (c *checks) atLeast(pointer string, v, least int64) {
	if v < least {
		c.add(pointer, "out_of_range", fmt.Sprintf("%d is below %d", v, least), "")
	}
}
