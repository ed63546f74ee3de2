package sign

import "fmt"

// Policy is how a robot treats signatures.
type Policy string

// The policies, each stricter than the one before.
const (
	Off     Policy = "off"     // signatures are not checked
	Warn    Policy = "warn"    // a document that does not verify is accepted, with an alert
	Require Policy = "require" // a document that does not verify is rejected
)

// Policies lists the policies, the strictest last.
var Policies = []Policy{Off, Warn, Require}

// Stricter reports whether p is stricter than other.
func (p Policy) Stricter(other Policy) bool { return p.rank() > other.rank() }

func (p Policy) rank() int {
	for i, q := range Policies {
		if p == q {
			return i
		}
	}
	return -1
}

// Mark is the highest accepted signature counter of one kind of document of one fleet, with
// the digest of that document.
type Mark struct {
	Counter  int64  `json:"counter"`
	Document string `json:"document"`
}

// Marks holds the marks of a robot by markKey.
type Marks map[string]Mark

// markKey returns the key of the mark for a document.
func markKey(w Subject) string { return string(w.Kind) + " " + w.FleetID }

// Clash is why a counter is not accepted.
type Clash string

// The clashes.
const (
	Fresh        Clash = ""             // the counter is accepted
	Replayed     Clash = "replayed"     // replay: a higher counter was accepted before
	Equivocation Clash = "equivocation" // the same counter was accepted for another document
)

// Check checks the counter of a document whose signature was verified. It changes nothing.
func (m Marks) Check(w Subject) (Clash, string) {
	switch seen := m[markKey(w)]; {
	case w.Counter < seen.Counter:
		return Replayed, fmt.Sprintf("signature counter %d came after %d", w.Counter, seen.Counter)
	case w.Counter == seen.Counter && w.Document != seen.Document:
		return Equivocation, fmt.Sprintf("two documents were signed under signature counter %d", w.Counter)
	}
	return Fresh, ""
}

// Note records the counter of a document that Check found Fresh, and reports whether the
// mark changed.
func (m Marks) Note(w Subject) bool {
	now := Mark{w.Counter, w.Document}
	if m[markKey(w)] == now {
		return false
	}
	m[markKey(w)] = now
	return true
}
