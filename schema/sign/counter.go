package sign

import "fmt"

// Policy is what a robot does about signatures.
type Policy string

// The policies, each stricter than the one before.
const (
	Off     Policy = "off"     // nobody looks
	Warn    Policy = "warn"    // what does not verify is taken, and alerted
	Require Policy = "require" // what does not verify is refused
)

// Policies lists them, the strictest last.
var Policies = []Policy{Off, Warn, Require}

// Stricter reports whether p asks for more than other.
func (p Policy) Stricter(other Policy) bool { return p.rank() > other.rank() }

func (p Policy) rank() int {
	for i, q := range Policies {
		if p == q {
			return i
		}
	}
	return -1
}

// Mark is the highest release counter that was believed of one kind of document of
// one fleet, and the document that it stood for.
type Mark struct {
	Counter  int64  `json:"counter"`
	Document string `json:"document"`
}

// Marks are the marks of a robot, by MarkOf. The zero value has seen nothing.
type Marks map[string]Mark

// MarkOf names the mark that a desired state counts under.
func MarkOf(w Subject) string { return string(w.Kind) + " " + w.FleetID }

// Clash is what speaks against a counter.
type Clash string

// The clashes.
const (
	Fresh        Clash = ""             // none
	PlayedBack   Clash = "played_back"  // a higher counter was believed before
	Equivocation Clash = "equivocation" // the same counter was believed for another document
)

// Judge answers whether the counter of a desired state whose signature was verified may be
// believed. It changes nothing.
func (m Marks) Judge(w Subject) (Clash, string) {
	switch seen := m[MarkOf(w)]; {
	case w.Counter < seen.Counter:
		return PlayedBack, fmt.Sprintf("release counter %d came after %d", w.Counter, seen.Counter)
	case w.Counter == seen.Counter && w.Document != seen.Document:
		return Equivocation, fmt.Sprintf("two documents were signed under release counter %d", w.Counter)
	}
	return Fresh, ""
}

// Note raises the mark to that of a desired state that Judge found Fresh, and reports
// whether that changed it.
func (m Marks) Note(w Subject) bool {
	now := Mark{w.Counter, w.Document}
	if m[MarkOf(w)] == now {
		return false
	}
	m[MarkOf(w)] = now
	return true
}
