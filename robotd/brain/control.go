package brain

import (
	"slices"
	"time"

	"troupe/robotd/control"
	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/schema"
)

// askControl lays a request for control before its room.
func (t *step) askControl(o request.Perform) {
	t.toControl.Put(control.Input{
		What: control.What(o.Verb.Name), Who: whoOf(o), Rank: t.rankOf(o), Scope: control.Scope(o.Args.Scope),
		TTL: time.Duration(o.Args.TTLMS) * time.Millisecond, Lease: o.Args.Lease, Req: string(o.Key),
	}, o.Key, schema.Precondition{})
}

// asker names to people who asked for something. A client's word for the person
// behind it stands beside the client: only a fleetd instance speaks for persons, whom it has
// seen.
func (t *step) asker(client, by string) string {
	if by != "" && t.fleetds.has(client) {
		return by
	}
	return schema.Asker(client, by)
}

func whoOf(o request.Perform) control.Who { return control.Who{Client: o.Client, By: o.By} }

// rankOf is whose desired state counts more: that of somebody at the robot before all.
func (t *step) rankOf(o request.Perform) control.Rank {
	if o.Local {
		return control.Local
	}
	return t.cfg.Ranks[o.Client]
}

// needs is what a verb asks of control.
func needs(v schema.Verb) control.Need {
	switch {
	case v.ID() == "act/perform":
		return control.NotOthers // responders ask for it, who can never have control
	case v.Class == schema.ClassManual:
		return control.Hand
	case v.ID() == "safety/enable":
		return control.NotOthers
	case v.ID() == "mode/enable", v.ID() == "mode/disable":
		return control.Nothing // which modes there are is no matter of the moment
	case v.Class == schema.ClassMode:
		return control.Modes
	}
	return control.Nothing
}

// uncontrolled refuses an order whose sender lacks the control that it needs.
func (t *step) uncontrolled(o request.Perform) bool {
	no := t.control.May(&t.cfg.Control, needs(o.Verb), whoOf(o))
	if no.Reason == "" {
		return false
	}
	r := request.Verdict{Status: schema.StatusRejected, Reason: no.Reason, Detail: no.Detail}
	if l := t.control.Lease; t.control.At == control.Held && l.Who != whoOf(o) {
		r.Lease = leaseOf(l, false)
	}
	t.reply(o.Key, r)
	return true
}

// controlling gives control one input: the oldest that waits, or the passing of
// time.
func (t *step) controlling() {
	in, waits := t.toControl.Peek()
	if !waits {
		in.In.What = control.Tick
	}
	d := control.Step(&t.control, t.now.Mono, &t.cfg.Control, in.In)
	if waits && !d.Again {
		t.toControl.Take()
	}
	if d.Changed {
		t.dirty(effect.FlushSoon)
	}
	if d.Changed && d.On != control.OnRenewed {
		t.controlChanged(d, in.In.Req, in.By)
	}
	if a := d.Answer; a.Status != "" {
		r := request.Verdict{Status: a.Status, Reason: a.Reason, Pointer: a.Pointer, Detail: a.Detail}
		if a.Lease != nil {
			r.Lease = leaseOf(*a.Lease, true)
		}
		t.reply(in.By, r)
	}
}

// handover is what an event tells of a change of control.
type handover struct {
	From   string `json:"from,omitempty"`
	FromBy string `json:"from_by,omitempty"`
	To     string `json:"to,omitempty"`
	ToBy   string `json:"to_by,omitempty"`
}

// controlChanged tells who has the robot in hand now, and whom it was taken
// from.
func (t *step) controlChanged(d control.Decision, req string, by request.Key) {
	was, is := d.Was.Who, t.control.Lease.Who
	t.note("control", string(d.From), string(d.To), d.Why, was.String()+" -> "+is.String())
	told := handover{From: was.Client, FromBy: was.By, To: is.Client, ToBy: is.By}
	if !control.Lost(d.On) {
		t.tell("control_"+string(d.To), "control", string(d.On), req, told)
		return
	}
	t.tell("control_lost", "control", string(d.On), req, told)
	if d.On == control.OnTakenOver {
		t.revoke(request.Key(d.Was.Req), is.String()+" took over", leaseOf(t.control.Lease, false), by.Refs())
	}
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

// leaseOf is a lease in the words of the wire; its id is for its holder alone.
func leaseOf(l control.Lease, own bool) *schema.Lease {
	w := &schema.Lease{Holder: l.Who.Client, By: l.Who.By, Scope: string(l.Scope), UntilMS: l.Until.Milliseconds()}
	if own {
		w.ID = l.ID
	}
	return w
}

// controlDocument is who has the robot in hand, as the state shows it; nil for
// nobody.
func (t *step) controlDocument() *schema.StateControl {
	if t.control.At != control.Held {
		return nil
	}
	l := t.control.Lease
	return &schema.StateControl{
		Holder: l.Who.Client, By: l.Who.By, Scope: string(l.Scope), UntilMS: l.Until.Milliseconds(),
		TakeoverAllowed: l.Rank <= control.Operator,
	}
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
		t.toControl.Add(control.Input{What: control.Gone, Who: control.Who{Client: client}})
	}
}
