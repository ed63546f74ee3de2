package operatorlink

import "slices"

// maxSenders bounds how many senders of heartbeats the robot knows by their sessions.
const maxSenders = 4

// sender is one sender of heartbeats and its session.
type sender struct{ client, session string }

// Senders are the fleetd instances whose heartbeats came last, the newest first. A console at
// the robot is not among them.
type Senders [maxSenders]sender

// Note records that a heartbeat came.
func (d *Senders) Note(client, session string) {
	at := maxSenders - 1
	for i := range d {
		if d[i].client == client {
			at = i
			break
		}
	}
	copy(d[1:at+1], d[:at])
	d[0] = sender{client, session}
}

// Newest is the client whose heartbeat came last; empty for none.
func (d *Senders) Newest() string { return d[0].client }

// Has reports whether the client is one of them.
func (d *Senders) Has(client string) bool {
	return slices.ContainsFunc(d[:], func(k sender) bool { return k.client == client })
}

// Of returns the client of a session.
func (d *Senders) Of(session string) (string, bool) {
	for _, k := range d {
		if session != "" && k.session == session {
			return k.client, true
		}
	}
	return "", false
}
