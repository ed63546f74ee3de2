package server

import (
	"cmp"
	"slices"
	"time"

	"troupe/schema"
)

// standing describes one connection, as shown by /clients.
type standing struct {
	ClientID  string      `json:"client_id"`
	Name      string      `json:"name"`
	Role      schema.Role `json:"role"`
	Robot     string      `json:"robot,omitempty"` // the robot of a console
	Since     time.Time   `json:"since"`
	Address   string      `json:"address"`
	Transport string      `json:"transport"` // mqtt, mqtts, ws, wss, or in-process
	// Certificate is the client certificate by which it authenticated, if any.
	Certificate *shown `json:"certificate,omitempty"`

	Subscriptions  int   `json:"subscriptions"`
	Pending        int64 `json:"pending"`        // deliveries in its queue
	Unacknowledged int   `json:"unacknowledged"` // deliveries sent to it
	Dropped        int64 `json:"dropped"`        // deliveries for which its queue had no room, on this connection
}

type shown struct {
	Serial string    `json:"serial"`
	Ends   time.Time `json:"ends"` // the connection ends then, too
}

// connected lists all established connections by client id.
func (s *Server) connected() []standing {
	all := []standing{}
	for _, c := range s.guard.live.all() {
		if st, ok := s.standing(c); ok {
			all = append(all, st)
		}
	}
	slices.SortFunc(all, func(a, b standing) int { return cmp.Compare(a.ClientID, b.ClientID) })
	return all
}

// standing describes c; it returns false if c is not established yet or any more.
func (s *Server) standing(c *conn) (standing, bool) {
	who := c.who.Load()
	cl, known := s.mochi.Clients.Get(who.ClientID)
	if !known || connOf(cl) != c {
		return standing{}, false
	}
	st := standing{
		ClientID: who.ClientID, Name: who.Name, Role: who.Role, Robot: who.Robot,
		Since: c.since.UTC(), Address: remote(c.raw), Transport: "in-process",
		Subscriptions: cl.State.Subscriptions.Len(), Pending: c.tally.queued.Load(), Unacknowledged: cl.State.Inflight.Len(), Dropped: c.tally.dropped.Load(),
	}
	if c.door != nil {
		st.Transport = c.door.kind
	}
	if who.serial != "" {
		st.Certificate = &shown{who.serial, c.ends.UTC()}
	}
	return st, true
}
