package audit

import "time"

// Attribution says who makes a change, why, and when.
type Attribution struct {
	Who string    `json:"by,omitempty" maxLength:"63" doc:"the person, if nobody is signed in; else it is the account's name"`
	Why string    `json:"why,omitempty" maxLength:"256" doc:"the reason, for the audit"`
	At  time.Time `json:"-"` // when it is carried out
}

// Because returns a with the reason "what: why", in which why is the reason that the person gave;
// without one it is what.
func (a Attribution) Because(what string) Attribution {
	if a.Why != "" {
		what += ": " + a.Why
	}
	a.Why = what
	return a
}

// WithTime returns a with the time of the change.
func (a Attribution) WithTime(now time.Time) Attribution {
	a.At = now
	return a
}
