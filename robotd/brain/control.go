package brain

import (
	"slices"

	"troupe/robotd/request"
	"troupe/schema"
)

// asker names to people who asked for something. A client's word for the person
// behind it stands beside the client: only a fleetd instance speaks for persons, whom it has
// seen.
func (t *step) asker(client, by string) string {
	if by != "" && t.fleetds.has(client) {
		return by
	}
	return schema.Asker(client, by)
}

// revoke tells the old holder, under the id of his request. Where he was not told
// yet that he had control, he is told that he has not.
func (t *step) revoke(key request.Key, detail string, now *schema.Lease, by []schema.Ref) {
	for i := range t.replies {
		if r := &t.replies[i]; r.key == key {
			r.Verdict = request.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonNotInControl, Detail: detail, Lease: now, Refs: by}
			return
		}
	}
	t.asking(request.Revoked{Key: key, Reason: schema.ReasonNotInControl, Detail: detail, Lease: now, Refs: by})
}

// maxInstances bounds how many senders of heartbeats the robot knows by their
// sessions.
const maxInstances = 4

// fleetd is one sender of heartbeats and its session.
type fleetd struct{ client, session string }

// instances are those that were heard last, the newest first.
type fleetInstances [maxInstances]fleetd

func (d *fleetInstances) heard(client, session string) {
	at := maxInstances - 1
	for i := range d {
		if d[i].client == client {
			at = i
			break
		}
	}
	copy(d[1:at+1], d[:at])
	d[0] = fleetd{client, session}
}

// has reports whether a client sends heartbeats, as fleetd instances alone may.
func (d *fleetInstances) has(client string) bool {
	return slices.ContainsFunc(d[:], func(k fleetd) bool { return k.client == client })
}

// of names the client of a session.
func (d *fleetInstances) of(session string) (string, bool) {
	for _, k := range d {
		if session != "" && k.session == session {
			return k.client, true
		}
	}
	return "", false
}

// fleetdSeen hears that a fleetd instance is not there any more; whoever had control through
// it has lost it. An end of another session than the one that was heard last is
// old news.
func (t *step) fleetdSeen(p schema.Presence) {
	if p.State == schema.PresenceOnline {
		return
	}
	if client, ok := t.fleetds.of(p.Session); ok {
		t.manual.Gone(client)
	}
}
