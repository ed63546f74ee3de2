package report

import (
	"slices"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// presence is the robot's own presence document, as the broker keeps it.
type presence struct {
	repairedAt time.Duration // when it was repaired last
	wrong      string        // why it has to be repaired; empty = it is right
}

// presenceEvery is how often the robot repairs its presence at most.
const presenceEvery = time.Second

// duplicateClearsAfter is how long a session has to last until the robot clears the alert that another
// client uses its name: such a client comes back within seconds.
const duplicateClearsAfter = 5 * time.Minute

const duplicateIdentity = "duplicate_identity"

// DuplicateIdentitySeen notes that another client connects under the robot's name. The alert is
// published when the robot is connected again, and stays until ClearDuplicateIdentity finds that the
// other one is gone.
func (t Step) DuplicateIdentitySeen(ev event.DuplicateIdentity) {
	t.Raise(duplicateIdentity, schema.AlertError, "mqtt", ev.Why,
		"look for a second robot with this name, such as one with a cloned disk, and give it a name of its own")
}

// ClearDuplicateIdentity clears the alert when no other client has connected under the robot's name
// for a while.
func (t Step) ClearDuplicateIdentity() {
	if t.session.id != "" && t.Now.Mono >= t.session.since+duplicateClearsAfter {
		t.Clear(duplicateIdentity, "mqtt")
	}
}

// PresenceSeen takes the presence of this robot as the broker has it. Any but that of the present
// session is replaced, once a second at most. The end of an earlier connection of this robot, such
// as its last will, is expected; for any other presence there is an alert as well.
func (t Step) PresenceSeen(ev event.PresenceSeen) {
	p := ev.Presence
	if t.session.id == "" || p.Session == t.session.id && p.State == schema.PresenceOnline {
		return
	}
	own := p.Boot == t.boot || slices.Contains(t.session.earlier, p.Boot)
	if own && p.State != schema.PresenceOnline && p.Session != t.session.id {
		t.presence.wrong = "presence_of_earlier_session"
	} else {
		t.presence.wrong = "overwritten"
		t.Raise("presence_overwritten", schema.AlertWarn, "robotd", "somebody else wrote this robot's presence",
			"look for a second robot with this name")
	}
	t.RepairPresence()
}

func (t Step) RepairPresence() {
	if t.presence.wrong == "" || t.presence.repairedAt != 0 && t.Now.Mono < t.presence.repairedAt+presenceEvery {
		return
	}
	t.Event("presence_repaired", "robotd", t.presence.wrong, "", nil)
	t.presence.repairedAt, t.presence.wrong = t.Now.Mono, ""
	t.PublishPresence()
}

// document publishes what has no more than one form.
func (t Step) document(k schema.TopicKind, v any) {
	t.Out.Do(effect.Publish{Topic: k, Payload: effect.Encode(v)})
}

// PublishPresence publishes that the robot is there, and since when.
func (t Step) PublishPresence() {
	here := PresenceOf(t.session.id, t.boot, t.cfg.Version, t.Now.Wall)
	here.Since = t.Now.At(t.session.since)
	t.document(schema.TopicPresence, here)
}

// PresenceOf is the presence of a robot that is connected.
func PresenceOf(session, boot, version string, at schema.Time) *schema.Presence {
	return &schema.Presence{State: schema.PresenceOnline, Session: session, Boot: boot, TS: at, Since: at, Software: "robotd " + version}
}

// WillOf is the last will, which the broker publishes for a robot that is gone. It has no
// time, because it is written when the robot connects, and not when the connection is lost.
func WillOf(session, boot string) *schema.Presence {
	return &schema.Presence{State: schema.PresenceLost, Session: session, Boot: boot, Reason: "will"}
}

// FarewellOf is the presence of a robot that ends.
func FarewellOf(session, boot, why string, at schema.Time) *schema.Presence {
	return &schema.Presence{State: schema.PresenceOffline, Session: session, Boot: boot, TS: at, Reason: why}
}

// SleepOf is the presence of a robot that ends and will be started again at wake.
func SleepOf(session, boot, why string, at, wake schema.Time) *schema.Presence {
	return &schema.Presence{State: schema.PresenceSleeping, Session: session, Boot: boot, TS: at, Reason: why, WakeAt: wake}
}
