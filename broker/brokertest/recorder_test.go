package brokertest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"troupe/deploy/mosquittotest"
	"troupe/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const r1 = "troupe/v1/robots/r1/"

func event(n int) string {
	return fmt.Sprintf(`{"ts":"2026-01-31T09:30:00.000Z","boot":"b1","seq":%d,"type":"mode_changed","source":"mode"}`, n)
}

func beat(n, second int) Message {
	return Message{Topic: "troupe/v1/fleet/heartbeat/fleetd",
		Payload: fmt.Appendf(nil, `{"ts":"2026-01-31T09:30:0%d.000Z","session":"s1","seq":%d}`, second, n)}
}

const online = `{"state":"online","session":"s1","boot":"b1"}`

// scripts are what clients publish, each with the violation that the recorder must find,
// if any.
var scripts = map[string]struct {
	say       func(robot, fleetd *Client)
	violation string
}{
	"a well-behaved robot": {func(r, d *Client) {
		r.Retain(r1+"presence", online)
		r.Publish(r1+"event", event(1))
		r.Publish(r1+"event", event(2))
		d.Publish(r1+"cmd/fleetd/mode/set", "ato")
		d.Retain("troupe/v1/blobs/"+digest("x"), "x")
		r.Retain(r1+"presence", "")
	}, ""},
	"an undeclared topic": {func(r, _ *Client) { r.Publish(r1+"mood", "{}") }, "not in the topic table"},
	"a missing member":    {func(r, _ *Client) { r.Retain(r1+"presence", `{"state":"online"}`) }, "invalid payload"},
	"an unknown member": {func(r, _ *Client) { r.Retain(r1+"presence", `{"state":"online","session":"s","boot":"b","mood":1}`) },
		"invalid payload"},
	"broken JSON":         {func(r, _ *Client) { r.Publish(r1+"event", "{{{") }, "invalid payload"},
	"an unknown argument": {func(_, d *Client) { d.Publish(r1+"cmd/fleetd/mode/set", `{"args":{"mood":"good"}}`) }, "invalid payload"},
	"an undeclared verb":  {func(_, d *Client) { d.Publish(r1+"cmd/fleetd/mode/sing", "") }, "not in the verb table"},
	"a wrong QoS": {func(r, _ *Client) { r.Send(Message{Topic: r1 + "event", Payload: []byte(event(1))}) },
		"QoS 0, declared with 1"},
	"a document not retained": {func(r, _ *Client) { r.Publish(r1+"presence", online) }, "without the retain flag"},
	"a retained event":        {func(r, _ *Client) { r.Retain(r1+"event", event(1)) }, "is retained, but must not be"},
	"a document too big":      {func(r, _ *Client) { r.Retain(r1+"presence", online+strings.Repeat(" ", 600)) }, "at most 512"},
	"a decreasing sequence number": {func(r, _ *Client) {
		r.Publish(r1+"event", event(2))
		r.Publish(r1+"event", event(1))
	}, "sequence number 1 after 2"},
	"a repeated heartbeat of fleetd": {func(_, d *Client) {
		d.Send(beat(1, 0))
		d.Send(beat(2, 0))
		d.Send(beat(2, 0))
	}, ""},
	"two heartbeats with one number": {func(_, d *Client) {
		d.Send(beat(2, 0))
		d.Send(beat(2, 1))
	}, "sequence number 2 after 2"},
	"repeated events": {func(r, _ *Client) {
		r.Publish(r1+"event", event(1))
		r.Publish(r1+"event", event(2))
		r.Publish(r1+"event", event(1))
	}, ""},
	"a repeated event with another payload": {func(r, _ *Client) {
		r.Publish(r1+"event", event(1))
		r.Publish(r1+"event", strings.Replace(event(1), "changed", "forgotten", 1))
	}, "differs from its first publication"},
	"a blob with a wrong digest": {func(_, d *Client) { d.Retain("troupe/v1/blobs/"+digest("x"), "y") }, "digest"},
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func connectTo(t *testing.T, dial Dialer, name string) *Client {
	return Connect(t, dial, ConnectPacket{Name: name, ClientID: defaultID(name)})
}

// Mosquitto without an acl_file passes every message on, so the recorder must report it.
func TestEachContractViolationIsFound(t *testing.T) {
	for name, s := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dial := TCP(mosquittotest.Start(t, mosquittotest.Options{}))
			rec := record(t, dial)
			s.say(connectTo(t, dial, "r1"), connectTo(t, dial, "fleetd"))
			found := strings.Join(rec.end(), "\n")
			if s.violation == "" && found != "" || s.violation != "" && !strings.Contains(found, s.violation) {
				t.Errorf("found %q, want %q", found, s.violation)
			}
		})
	}
}

func TestAllowedViolationsAreNotReported(t *testing.T) {
	b := Start(t)
	rec := record(t, b.Dial)
	rec.Allow(r1 + "cmd/+/mode/set")
	b.Client(t, "op1").Publish(r1+"cmd/op1/mode/set", `{{{`)
	if found := rec.end(); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

func TestBrokerEnforcesTheTopicTable(t *testing.T) {
	for _, name := range []string{"an undeclared topic", "a document not retained", "a retained event", "a document too big"} {
		t.Run(name, func(t *testing.T) {
			b := Start(t)
			Record(t, b.Dial)
			scripts[name].say(b.Client(t, "r1"), b.Client(t, "fleetd"))
		})
	}
}

func TestRecorderHasACaseForEachMessageType(t *testing.T) {
	for _, row := range schema.Topics {
		c := newContract(schema.DefaultNamespace)
		c.payload(row, schema.TopicParams{Group: "sys", Verb: "ping"}, Message{Topic: "x", Payload: []byte(`{}`)})
		if strings.Contains(strings.Join(c.found, ""), "has no case for message type") {
			t.Errorf("%s: %v", row.Kind, c.found)
		}
	}
}
