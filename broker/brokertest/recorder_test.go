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
	return Message{Topic: "troupe/v1/fleet/heartbeat/fleetd", Payload: fmt.Appendf(nil, `{"ts":"2026-01-31T09:30:0%d.000Z","session":"s1","seq":%d}`, second, n)}
}

const online = `{"state":"online","session":"s1","boot":"b1"}`

// speech is what a robot and others may say, and the breach it is, if any.
var speech = map[string]struct {
	say    func(robot, fleetd *Client)
	breach string
}{
	"a well-behaved robot": {func(r, d *Client) {
		r.Retain(r1+"presence", online)
		r.Publish(r1+"event", event(1))
		r.Publish(r1+"event", event(2))
		d.Publish(r1+"cmd/fleetd/mode/set", "ato")
		d.Retain("troupe/v1/blobs/"+digest("x"), "x")
		r.Retain(r1+"presence", "")
	}, ""},
	"an undeclared topic":          {func(r, _ *Client) { r.Publish(r1+"mood", "{}") }, "undeclared topic"},
	"a payload without its parts":  {func(r, _ *Client) { r.Retain(r1+"presence", `{"state":"online"}`) }, "the schema refuses it"},
	"a field that no schema has":   {func(r, _ *Client) { r.Retain(r1+"presence", `{"state":"online","session":"s","boot":"b","mood":1}`) }, "the schema refuses it"},
	"broken JSON":                  {func(r, _ *Client) { r.Publish(r1+"event", "{{{") }, "the schema refuses it"},
	"an argument that no verb has": {func(_, d *Client) { d.Publish(r1+"cmd/fleetd/mode/set", `{"args":{"mood":"good"}}`) }, "the schema refuses it"},
	"an undeclared verb":           {func(_, d *Client) { d.Publish(r1+"cmd/fleetd/mode/sing", "") }, "undeclared verb"},
	"a wrong QoS":                  {func(r, _ *Client) { r.Send(Message{Topic: r1 + "event", Payload: []byte(event(1))}) }, "QoS 0, declared with 1"},
	"a document not retained":      {func(r, _ *Client) { r.Publish(r1+"presence", online) }, "without the retain flag"},
	"an event retained":            {func(r, _ *Client) { r.Retain(r1+"event", event(1)) }, "was retained, and must not be"},
	"a document too big":           {func(r, _ *Client) { r.Retain(r1+"presence", online+strings.Repeat(" ", 600)) }, "at most 512"},
	"a sequence that goes back": {func(r, _ *Client) {
		r.Publish(r1+"event", event(2))
		r.Publish(r1+"event", event(1))
	}, "sequence goes back: 1 after 2"},
	"a fleetd instance's sign of life said again": {func(_, d *Client) {
		d.Send(beat(1, 0))
		d.Send(beat(2, 0))
		d.Send(beat(2, 0))
	}, ""},
	"two signs of life of one number": {func(_, d *Client) {
		d.Send(beat(2, 0))
		d.Send(beat(2, 1))
	}, "sequence goes back: 2 after 2"},
	"events told again": {func(r, _ *Client) {
		r.Publish(r1+"event", event(1))
		r.Publish(r1+"event", event(2))
		r.Publish(r1+"event", event(1))
	}, ""},
	"an event told again in other words": {func(r, _ *Client) {
		r.Publish(r1+"event", event(1))
		r.Publish(r1+"event", strings.Replace(event(1), "changed", "forgotten", 1))
	}, "in other words"},
	"a blob under another name": {func(_, d *Client) { d.Retain("troupe/v1/blobs/"+digest("x"), "y") }, "digest"},
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func connectTo(t *testing.T, dial Dialer, name string) *Client {
	return Connect(t, dial, Hello{Name: name, ClientID: defaultID(name)})
}

// On a stock broker everything goes through, so everything must be seen.
func TestEachBreachOfTheContractIsSeen(t *testing.T) {
	for name, s := range speech {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dial := TCP(mosquittotest.Start(t, mosquittotest.Options{}))
			rec := record(t, dial)
			s.say(connectTo(t, dial, "r1"), connectTo(t, dial, "fleetd"))
			found := strings.Join(rec.end(), "\n")
			if s.breach == "" && found != "" || s.breach != "" && !strings.Contains(found, s.breach) {
				t.Errorf("found %q, want %q", found, s.breach)
			}
		})
	}
}

func TestAnnouncedBreachesAreNone(t *testing.T) {
	b := Start(t)
	rec := record(t, b.Dial)
	rec.Allow(r1 + "cmd/+/mode/set")
	b.Client(t, "op1").Publish(r1+"cmd/op1/mode/set", `{{{`)
	if found := rec.end(); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}

func TestOurBrokerLetsNoWrongFlagThrough(t *testing.T) {
	for _, name := range []string{"an undeclared topic", "a document not retained", "an event retained", "a document too big"} {
		t.Run(name, func(t *testing.T) {
			b := Start(t)
			Record(t, b.Dial)
			speech[name].say(b.Client(t, "r1"), b.Client(t, "fleetd"))
		})
	}
}

func TestTheRecorderKnowsEveryMessageOfTheTable(t *testing.T) {
	for _, row := range schema.Topics {
		c := newContract(schema.DefaultNamespace)
		c.payload(row, schema.TopicParams{Group: "sys", Verb: "ping"}, Message{Topic: "x", Payload: []byte(`{}`)})
		if strings.Contains(strings.Join(c.found, ""), "knows no message") {
			t.Errorf("%s: %v", row.Kind, c.found)
		}
	}
}
