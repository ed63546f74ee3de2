package brain

import (
	"bytes"
	"slices"
	"time"

	"troupe/robotd/link"
	"troupe/robotd/request"
	"troupe/schema"
)

// modesGather is how long changes of the catalogue of modes are gathered.
const modesGather = time.Second

// presenceEvery is how often the robot repairs its presence at most.
const presenceEvery = time.Second

// publish tells what has changed, at the end of a step: the state first, then
// the answers that it bears out, then the slower documents.
func (t *turn) publish() {
	t.release()
	t.tellState()
	t.tellAnswers()
	if t.over() {
		t.do(Exit{Why: "no mode is in charge and the body stands"})
	}
	if t.session == "" {
		return
	}
	t.tellModes()
	t.tellReport()
	t.tellPresence()
	if t.now.Mono >= t.nextBeat {
		t.nextBeat = t.now.Mono + t.cfg.Heartbeat
		// It promises nothing, so it waits for no disk: a disk that hangs is no
		// reason to look dead.
		t.do(Publish{Topic: schema.TopicHeartbeat, Payload: t.encode(t.heartbeat()), First: true})
	}
}

// tellState publishes the state when it is due, as it is when all that belongs to
// one event has been done. While nobody listens nothing is due; the first thing
// of a new session is the state as it is then.
func (t *turn) tellState() {
	if t.session == "" || t.Pending() || t.now.Mono < t.due() {
		return
	}
	urgent := t.changed == now
	t.changed, t.stateTold = settled, t.now.Mono
	t.stateSeq++
	d := t.stateDocument()
	payload := t.encode(d)
	limit := schema.TopicOf(schema.TopicState).MaxBytes
	for step := 0; len(payload) > limit && shrinkState(d, step); step++ {
		d.Truncated = true
		payload = t.encode(d)
	}
	t.do(Publish{Topic: schema.TopicState, Payload: payload, First: urgent})
}

// due is when the state has to be told next.
func (s *State) due() time.Duration {
	switch s.changed {
	case now:
		return 0
	case soon:
		return s.stateTold + s.cfg.Gather
	}
	return s.stateTold + s.cfg.AtLatest
}

// tellModes publishes the catalogue of modes when it differs from what was told
// last; why a mode cannot be selected depends on nearly everything, so it is
// compared rather than marked.
func (t *turn) tellModes() {
	if !t.modesDirty || t.now.Mono < t.modesTold+modesGather {
		return
	}
	t.modesDirty, t.modesTold = false, t.now.Mono
	d := t.modesDocument()
	body := t.encode(d)
	if bytes.Equal(body, t.modesLast) {
		return
	}
	t.modesLast = body
	t.modesRev++
	d.TS, d.ModesRev = t.now.Wall, t.modesRev
	t.document(schema.TopicModes, d)
}

func (t *turn) document(k schema.TopicKind, v any) {
	t.do(Publish{Topic: k, Payload: t.encode(v)})
}

// connected tells every document anew: the broker may have lost them all.
func (t *turn) connected(ev Connected) {
	t.session = ev.Session
	t.note("post", "down", "up", "the broker granted everything", "")
	t.reached(link.Joined(&t.link, t.now.Mono))
	t.document(schema.TopicCaps, t.capsDocument())
	t.modesTold, t.modesLast, t.modesDirty = t.now.Mono-modesGather, nil, true
	t.tellModes()
	t.document(schema.TopicActs, t.actsDocument())
	t.changed, t.stateTold = soon, t.now.Mono-t.cfg.Gather
	t.tellState()
	t.reportDirty = true
	t.tellReport()
	t.nextBeat = t.now.Mono
	t.asking(request.Connected{})
	t.tellAnswers()
}

func (t *turn) disconnected(ev Disconnected) {
	if t.session == "" {
		return
	}
	t.note("post", "up", "down", ev.Why, "")
	t.session = ""
	if t.safety.At != schema.SafetyDisabled {
		t.reached(link.Parted(&t.link, t.now.Mono))
	}
	// What was found wrong with a session ends with it; the next one tells anew.
	for _, a := range slices.Clone(t.alerts) {
		switch a.Type {
		case "presence_overwritten", "duplicate_identity", string(schema.ReasonRetainedCommand):
			t.clear(a.Type, a.Source)
		}
	}
}

// seen watches over the robot's own presence: whatever else stands there is
// replaced, once a second at most.
func (t *turn) seen(ev Seen) {
	p := ev.Presence
	if t.session == "" || p.Session == t.session && p.State == schema.PresenceOnline {
		return
	}
	if p.Boot != t.boot || p.State != schema.PresenceLost {
		t.raise("presence_overwritten", schema.AlertWarn, "brain", "somebody else wrote this robot's presence", "look for a second robot with this name")
	}
	t.presenceWrong = true
	t.tellPresence()
}

func (t *turn) tellPresence() {
	if !t.presenceWrong || t.presenceTold != 0 && t.now.Mono < t.presenceTold+presenceEvery {
		return
	}
	t.presenceTold, t.presenceWrong = t.now.Mono, false
	t.tell("presence_repaired", "brain", "", "", nil)
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
