package audit

import (
	"strings"
	"time"
)

// Filter are the conditions of a list, which all must hold; a zero field does not restrict.
type Filter struct {
	Who     string    `query:"who" maxLength:"64" doc:"part of the person's name or of the principal"`
	What    string    `query:"what" maxLength:"64" doc:"part of what was done"`
	Without string    `query:"without" maxLength:"64" doc:"none whose name of what was done contains this, such as command control/renew" cli:"-"`
	Target  string    `query:"target" maxLength:"128" doc:"part of what it was done to"`
	Via     Via       `query:"via" enum:"web,cli,token,api,mqtt,robot,fleetd" doc:"through what it came"`
	Outcome Outcome   `query:"outcome" enum:"done,accepted,partly,refused,failed" doc:"how it ended"`
	ID      string    `query:"id" maxLength:"64" doc:"this entry, and those that say how it ended"`
	Since   time.Time `query:"since" doc:"at or after" cli:",when"`
	Until   time.Time `query:"until" doc:"before" cli:",when"`
}

// Matches reports whether an entry meets all conditions, as the database does.
func (f Filter) Matches(e Entry) bool {
	has := func(text, part string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(part)) }
	what := string(e.What)
	return (has(e.Who, f.Who) || has(e.Principal, f.Who)) &&
		has(what, f.What) && (f.Without == "" || !has(what, f.Without)) && has(e.Target, f.Target) &&
		(f.Via == "" || f.Via == e.Via) && (f.Outcome == "" || f.Outcome == e.Outcome) && (f.ID == "" || f.ID == e.ID || f.ID == e.Of) &&
		(f.Since.IsZero() || !e.At.Before(f.Since)) && (f.Until.IsZero() || e.At.Before(f.Until))
}
