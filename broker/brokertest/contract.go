package brokertest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"troupe/broker/access"
	"troupe/schema"
	"troupe/schema/verb"
)

// contract checks messages against the topic table, the schemas, and earlier messages. It
// does not depend on a connection.
type contract struct {
	ns         schema.Namespace
	allowed    []string // filters of topics on which the test violates the contract on purpose
	liveAtQoS0 bool     // the engine stores messages of QoS 1, so that live ones are sent at 0
	seqs       map[string]seq
	heartbeats map[string]string     // newest heartbeats of fleetd instances, by topic
	events     map[occurrence]string // payloads when first received
	docs       map[string]bool       // topics of documents received live; false: deleted since
	found      []string
}

// occurrence identifies an event.
type occurrence struct {
	topic, boot string
	seq         int64
}

// seq is the newest sequence number of one boot or session.
type seq struct {
	owner string // boot or session
	n     int64
}

func newContract(ns schema.Namespace) *contract {
	return &contract{ns: ns, seqs: map[string]seq{}, heartbeats: map[string]string{}, events: map[occurrence]string{}, docs: map[string]bool{}}
}

func (c *contract) report(topic, format string, args ...any) {
	for _, f := range c.allowed {
		if access.Matches(f, topic) {
			return
		}
	}
	c.found = append(c.found, topic+": "+fmt.Sprintf(format, args...))
}

// check checks one message as a subscriber with QoS 1 received it.
func (c *contract) check(m Message) {
	row, params, ok := c.ns.Match(m.Topic)
	if !ok {
		c.report(m.Topic, "topic is not in the topic table: %.200q", m.Payload)
		return
	}
	if m.QoS != row.QoS && (!c.liveAtQoS0 || m.QoS != 0 || row.Retain) {
		c.report(m.Topic, "sent with QoS %d, declared with %d", m.QoS, row.QoS)
	}
	if m.Retain && !row.Retain {
		c.report(m.Topic, "is retained, but must not be")
	}
	if len(m.Payload) > row.MaxBytes {
		c.report(m.Topic, "%d bytes, at most %d are declared", len(m.Payload), row.MaxBytes)
	}
	if row.Retain && !m.Retain {
		c.docs[m.Topic] = len(m.Payload) > 0
	}
	if row.Retain && len(m.Payload) == 0 {
		delete(c.seqs, m.Topic)
		return // deleted
	}
	c.payload(row, params, m)
}

func (c *contract) payload(row schema.Topic, params schema.TopicParams, m Message) {
	switch row.Message {
	case "":
		if sum := sha256.Sum256(m.Payload); hex.EncodeToString(sum[:]) != params.SHA256 {
			c.report(m.Topic, "digest of the payload is %x", sum)
		}
	case "Request":
		v, known := verb.Of(params.Group, params.Verb)
		if !known {
			c.report(m.Topic, "verb is not in the verb table")
			return
		}
		_, ps := verb.Decode(v, m.Payload)
		c.problems(m, schema.Errors(ps))
	case "Presence":
		decode[schema.Presence](c, m)
	case "Heartbeat":
		if h := decode[schema.Heartbeat](c, m); h != nil {
			c.checkIncreasing(m, h.Boot, h.Seq, 1)
		}
	case "State":
		if s := decode[schema.State](c, m); s != nil {
			c.checkIncreasing(m, s.Boot, s.StateSeq, 0) // the same state may be published again
		}
	case "Modes":
		decode[schema.Modes](c, m)
	case "Caps":
		decode[schema.Caps](c, m)
	case "Acts":
		decode[schema.Acts](c, m)
	case "ReportedStory":
		decode[schema.ReportedStory](c, m)
	case "Event":
		if e := decode[schema.Event](c, m); e != nil {
			c.checkEvent(m, e)
		}
	case "Intent":
		decode[schema.Intent](c, m)
	case "Ack":
		decode[schema.Ack](c, m)
	case "DesiredStory":
		decode[schema.DesiredStory](c, m)
	case "FleetHeartbeat":
		// A fleetd instance repeats its heartbeat until it receives the echo.
		if h := decode[schema.FleetHeartbeat](c, m); h != nil && string(m.Payload) != c.heartbeats[m.Topic] {
			c.checkIncreasing(m, h.Session, h.Seq, 1)
			c.heartbeats[m.Topic] = string(m.Payload)
		}
	case "Notice":
		decode[schema.Notice](c, m)
	case "DesiredConfig":
		decode[schema.DesiredConfig](c, m)
	case "ReportedConfig":
		decode[schema.ReportedConfig](c, m)
	case "DesiredMode":
		decode[schema.DesiredMode](c, m)
	case "ReportedMode":
		decode[schema.ReportedMode](c, m)
	case "DesiredSet":
		decode[schema.DesiredSet](c, m)
	case "ReportedSet":
		decode[schema.ReportedSet](c, m)
	case "DesiredStop":
		decode[schema.DesiredStop](c, m)
	case "FleetStop":
		decode[schema.FleetStop](c, m)
	case "StopRequest":
		decode[schema.StopRequest](c, m)
	case "Revoked":
		decode[schema.Revoked](c, m)
	case "VelocityFrame":
		if f := decode[schema.VelocityFrame](c, m); f != nil {
			c.checkIncreasing(m, f.Lease, f.Seq, 1)
		}
	case "Telemetry":
		if f := decode[schema.Telemetry](c, m); f != nil {
			c.checkIncreasing(m, f.Session, f.Seq, 1)
		}
	case "SimInput":
		_, ps := schema.DecodeSimInput(params.Name, m.Payload)
		c.problems(m, schema.Errors(ps))
	default:
		c.report(m.Topic, "the recorder has no case for message type %s", row.Message)
	}
}

// decode is strict: messages of our own programs must not have unknown members.
func decode[T any](c *contract, m Message) *T {
	v, ps := schema.DecodeStrict[T](m.Payload)
	if errs := schema.Errors(ps); len(errs) > 0 {
		c.problems(m, errs)
		return nil
	}
	return &v
}

func (c *contract) problems(m Message, ps []schema.Problem) {
	for _, p := range ps {
		c.report(m.Topic, "invalid payload: %v: %.200s", p, m.Payload)
	}
}

// checkIncreasing checks that the numbers of one boot or session increase by at least step. Retained
// messages are not checked.
func (c *contract) checkIncreasing(m Message, life string, n, step int64) {
	last, known := c.seqs[m.Topic]
	if m.Retain {
		return
	}
	if known && last.owner == life && n < last.n+step {
		c.report(m.Topic, "sequence number %d after %d", n, last.n)
	}
	c.seqs[m.Topic] = seq{life, n}
}

// checkEvent checks that events come in order, and that a repeated event is unchanged.
func (c *contract) checkEvent(m Message, e *schema.Event) {
	k := occurrence{m.Topic, e.Boot, e.Seq}
	switch first, again := c.events[k]; {
	case !again:
		c.events[k] = string(m.Payload)
		c.checkIncreasing(m, e.Boot, e.Seq, 1)
	case first != string(m.Payload):
		c.report(m.Topic, "event %d differs from its first publication", e.Seq)
	}
}

// checkRetained checks the messages that a new subscriber receives at the end: retained documents
// only, and each one that was published and not deleted. For a topic in live, a message
// came after the subscription, so it does not show whether the broker retains it.
func (c *contract) checkRetained(ms []Message, live map[string]bool) {
	there := map[string]bool{}
	for _, m := range ms {
		there[m.Topic] = true
		c.check(m)
	}
	for topic, want := range c.docs {
		switch {
		case want && !there[topic] && !live[topic]:
			c.report(topic, "document was published without the retain flag")
		case !want && there[topic] && !live[topic]:
			c.report(topic, "document was deleted without the retain flag")
		}
	}
}
