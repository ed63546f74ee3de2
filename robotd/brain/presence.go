package brain

import (
	"slices"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/link"
	"troupe/robotd/request"
	"troupe/schema"
)

// presenceEvery is how often the robot repairs its presence at most.
const presenceEvery = time.Second

// undisputed is how long a session lasts before the robot believes that it has
// its name for itself again: a rival comes back within seconds.
const undisputed = 5 * time.Minute

// connected tells every document anew: the broker may have lost them all.
func (t *step) connected(ev event.Connected) {
	t.session, t.connectedAt = ev.Session, t.now.Mono
	t.halfOpen.Opened(t.now.Mono)
	t.gaps.Opened(t.now.Mono)
	t.note("post", "down", "up", "the broker granted everything", "")
	t.reached(link.Joined(&t.link, t.now.Mono))
	t.documents()
	t.nextBeat = t.now.Mono
	if t.linkFault != "" {
		t.tell("deaf_connection_renewed", "post", t.linkFault, "", nil)
		t.linkFault = ""
	}
	t.asking(request.Connected{})
	t.tellAnswers()
}

// documents tells every retained document of the robot but its presence.
func (t *step) documents() {
	t.tellCaps()
	t.modesTold, t.modesLast, t.modesDirty = t.now.Mono-modesGather, nil, true
	t.tellModes()
	t.document(schema.TopicActs, t.actsDocument())
	t.changed, t.stateTold = max(t.changed, effect.FlushSoon), t.now.Mono-t.cfg.Gather
	t.tellState()
	t.reportDirty = true
	t.tellReport()
}

// resyncEvery is how often all documents are told at most: they are many.
const resyncEvery = time.Second

// resync tells every document again, for a broker or a fleetd instance that lost them.
func (t *step) resync(o request.Perform) {
	if t.resynced != 0 && t.now.Mono < t.resynced+resyncEvery {
		t.reply(o.Key, request.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonOverloaded, Detail: "every document was told less than a second ago"})
		return
	}
	t.resynced = t.now.Mono
	if t.session != "" {
		here := PresenceOf(t.session, t.boot, t.cfg.Version, t.now.Wall)
		here.Since = t.wall(t.connectedAt)
		t.document(schema.TopicPresence, here)
		t.documents()
	}
	t.reply(o.Key, request.Verdict{Status: schema.StatusSucceeded})
}

func (t *step) disconnected(ev event.Disconnected) {
	if t.session == "" {
		return
	}
	t.note("post", "up", "down", ev.Why, "")
	t.session, t.presenceWrong, t.leftOut, t.disconnectedAt = "", "", leftOut{}, t.now.Mono
	clear(t.retained)
	t.stops.Disconnected()
	t.halfOpen.Closed()
	t.gaps.Closed()
	if ev.HalfOpen {
		t.linkFault = ev.Why
	}
	if t.safety.At != schema.SafetyDisabled {
		t.reached(link.Parted(&t.link, t.now.Mono))
	}
	// What was found wrong with a session ends with it; the next one tells anew.
	for _, a := range slices.Clone(t.alerts) {
		switch a.Type {
		case "presence_overwritten", string(schema.ReasonRetainedCommand), notTakenAlert:
			t.clear(a.Type, a.Source)
		}
	}
}

const duplicateIdentity = "duplicate_identity"

// contested notes that somebody else connects under the robot's name. It is told
// when the robot is connected again, and stands while the two throw each other
// out.
func (t *step) contested(ev event.Contested) {
	t.raise(duplicateIdentity, schema.AlertError, "post", ev.Why, "look for a second robot with this name, such as one with a cloned disk, and give it a name of its own")
}

// undispute takes the alert back once the name has long been the robot's alone.
func (t *step) undispute() {
	if t.session != "" && t.now.Mono >= t.connectedAt+undisputed {
		t.clear(duplicateIdentity, "post")
	}
}

// seen watches over the robot's own presence: whatever else stands there is
// replaced, once a second at most. The late word of an earlier connection of this
// robot's is in order; anybody else's is not.
func (t *step) seen(ev event.Seen) {
	p := ev.Presence
	if t.session == "" || p.Session == t.session && p.State == schema.PresenceOnline {
		return
	}
	own := p.Boot == t.boot || slices.Contains(t.previousBoots, p.Boot)
	if own && p.State != schema.PresenceOnline && p.Session != t.session {
		t.presenceWrong = "late_word_of_an_earlier_session"
	} else {
		t.presenceWrong = "overwritten"
		t.raise("presence_overwritten", schema.AlertWarn, "brain", "somebody else wrote this robot's presence", "look for a second robot with this name")
	}
	t.tellPresence()
}

func (t *step) tellPresence() {
	if t.presenceWrong == "" || t.presenceTold != 0 && t.now.Mono < t.presenceTold+presenceEvery {
		return
	}
	t.tell("presence_repaired", "brain", t.presenceWrong, "", nil)
	t.presenceTold, t.presenceWrong = t.now.Mono, ""
	t.document(schema.TopicPresence, PresenceOf(t.session, t.boot, t.cfg.Version, t.now.Wall))
}

// PresenceOf is what a robot that is there says of itself.
func PresenceOf(session, boot, version string, at schema.Time) *schema.Presence {
	return &schema.Presence{State: schema.PresenceOnline, Session: session, Boot: boot, TS: at, Since: at, Software: "robotd " + version}
}

// WillOf is what the broker says of a robot that is gone. It has no time: who
// would know it is not there any more.
func WillOf(session, boot string) *schema.Presence {
	return &schema.Presence{State: schema.PresenceLost, Session: session, Boot: boot, Reason: "will"}
}

// FarewellOf is what a robot says last.
func FarewellOf(session, boot, why string, at schema.Time) *schema.Presence {
	return &schema.Presence{State: schema.PresenceOffline, Session: session, Boot: boot, TS: at, Reason: why}
}

// SleepOf is what a robot says last that will be started again at wake.
func SleepOf(session, boot, why string, at, wake schema.Time) *schema.Presence {
	return &schema.Presence{State: schema.PresenceSleeping, Session: session, Boot: boot, TS: at, Reason: why, WakeAt: wake}
}
