package brain

import (
	"bytes"
	"time"

	"troupe/robotd/effect"
	"troupe/schema"
)

// modesGather is how long changes of the catalogue of modes are gathered.
const modesGather = time.Second

// publish tells what has changed, at the end of a step: the state first, then
// the answers that it bears out, then the slower documents.
func (t *step) publish() {
	t.persistStops()
	t.replaying()
	t.release()
	t.tellState()
	t.answerStops()
	t.tellAnswers()
	if t.over() {
		t.do(effect.Exit{Why: "no mode is in charge and the body stands"})
	}
	if t.session == "" {
		return
	}
	t.tellLeftOut()
	t.tellModes()
	t.tellReport()
	t.tellPresence()
	t.tellDrive()
	if t.now.Mono >= t.nextBeat {
		t.nextBeat = t.now.Mono + t.cfg.Heartbeat
		// It promises nothing, so it waits for no disk: a disk that hangs is no
		// reason to look dead.
		t.do(effect.Publish{Topic: schema.TopicHeartbeat, Payload: encode(t.heartbeat()), First: true})
	}
}

// tellState publishes the state when it is due, as it is when all that belongs to
// one event has been done. While nobody listens nothing is due; the first thing
// of a new session is the state as it is then.
func (t *step) tellState() {
	if t.session == "" || t.Pending() || t.now.Mono < t.due() {
		return
	}
	urgent := t.changed == effect.FlushNow
	t.changed, t.stateTold = effect.Clean, t.now.Mono
	t.stateSeq++
	d := t.stateDocument()
	payload := within(schema.TopicState, d)
	t.do(effect.Publish{Topic: schema.TopicState, Payload: payload, First: urgent})
}

// due is when the state has to be told next.
func (s *State) due() time.Duration {
	switch s.changed {
	case effect.FlushNow:
		return 0
	case effect.FlushSoon:
		return s.stateTold + s.cfg.Gather
	}
	return s.stateTold + s.cfg.AtLatest
}

// tellModes publishes the catalogue of modes when it differs from what was told
// last; why a mode cannot be selected depends on nearly everything, so it is
// compared rather than marked.
func (t *step) tellModes() {
	if !t.modesDirty || t.now.Mono < t.modesTold+modesGather {
		return
	}
	t.modesDirty, t.modesTold = false, t.now.Mono
	d := t.modesDocument()
	body := encode(d)
	if bytes.Equal(body, t.modesLast) {
		return
	}
	t.modesLast = body
	t.modesRev++
	d.TS, d.ModesRev = t.now.Wall, t.modesRev
	t.do(effect.Publish{Topic: schema.TopicModes, Payload: within(schema.TopicModes, d)})
}

// tellCaps tells what the robot is and can do; while nobody listens there is
// nobody to tell.
func (t *step) tellCaps() {
	if t.session != "" {
		d := t.capsDocument()
		t.do(effect.Publish{Topic: schema.TopicCaps, Payload: within(schema.TopicCaps, d)})
	}
}

func (t *step) document(k schema.TopicKind, v any) {
	t.do(effect.Publish{Topic: k, Payload: encode(v)})
}
