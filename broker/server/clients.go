package server

import (
	"cmp"
	"slices"
	"time"

	"troupe/schema"
)

// clientInfo describes one connection, as shown by /clients.
type clientInfo struct {
	ClientID  string      `json:"client_id"`
	Name      string      `json:"name"`
	Role      schema.Role `json:"role"`
	Robot     string      `json:"robot,omitempty"` // the robot of a console
	Since     time.Time   `json:"since"`
	Address   string      `json:"address"`
	Transport string      `json:"transport"` // mqtt, mqtts, ws, wss, or in-process
	// Certificate is the client certificate by which it authenticated, if any.
	Certificate *certificateInfo `json:"certificate,omitempty"`

	Subscriptions  int   `json:"subscriptions"`
	Pending        int64 `json:"pending"`        // deliveries in its queue
	Unacknowledged int   `json:"unacknowledged"` // deliveries sent to it
	Dropped        int64 `json:"dropped"`        // deliveries for which its queue had no room, on this connection
}

type certificateInfo struct {
	Serial string    `json:"serial"`
	Ends   time.Time `json:"ends"` // the connection ends then, too
}

// clients lists all established connections by client id.
func (s *Server) clients() []clientInfo {
	all := []clientInfo{}
	for _, c := range s.guard.sessions.all() {
		if st, ok := s.clientInfo(c); ok {
			all = append(all, st)
		}
	}
	slices.SortFunc(all, func(a, b clientInfo) int { return cmp.Compare(a.ClientID, b.ClientID) })
	return all
}

// clientInfo describes c; it returns false if c is not established yet or any more.
func (s *Server) clientInfo(c *conn) (clientInfo, bool) {
	who := c.client.Load()
	cl, known := s.mochi.Clients.Get(who.ClientID)
	if !known || connOf(cl) != c {
		return clientInfo{}, false
	}
	st := clientInfo{
		ClientID: who.ClientID, Name: who.Name, Role: who.Role, Robot: who.Robot,
		Since: c.since.UTC(), Address: remote(c.raw), Transport: "in-process",
		Subscriptions: cl.State.Subscriptions.Len(), Pending: c.tally.queued.Load(), Unacknowledged: cl.State.Inflight.Len(),
		Dropped: c.tally.dropped.Load(),
	}
	if c.endpoint != nil {
		st.Transport = c.endpoint.kind
	}
	if who.serial != "" {
		st.Certificate = &certificateInfo{who.serial, c.expires.UTC()}
	}
	return st, true
}
