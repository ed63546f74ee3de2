package robot

import (
	"testing"

	"troupe/broker/link"
)

// Two stops that differ in anything but id and time are never duplicates.
func TestStopsThatDifferOnlyInIDAreDuplicates(t *testing.T) {
	p := &mqttTranslator{ns: "troupe", id: "r1"}
	says := func(topic, payload string) string {
		return p.dedupKey(link.Message{Topic: "troupe/v1/" + topic, Payload: []byte(payload)})
	}
	const stop = "robots/r1/cmd/op1/safety/stop"
	first := says(stop, `{"id":"k1","ts":"2027-01-15T08:00:00.000Z","by":"anna"}`)
	if first == "" || first != says(stop, `{"by":"anna","id":"k2","seq":7,"session":"s1"}`) {
		t.Errorf("a repeated stop with another id is not a duplicate: %q", first)
	}
	if garbled := says(stop, `{{{`); garbled == "" || garbled != says(stop, `{{{`) {
		t.Error("a repeated stop that cannot be read is not a duplicate")
	}
	for topic, payload := range map[string]string{
		"robots/r1/cmd/op2/safety/stop":      `{"id":"k3","by":"anna"}`,
		"robots/r1/cmd/op1/safety/halt":      `{"id":"k3","by":"anna"}`,
		"robots/r1/cmd/op1/safety/soft-stop": `{"id":"k3","by":"anna"}`,
		"robots/r1/cmd/op1/safety/stop":      `{"id":"k3","by":"anna","args":{"latch":"z1"}}`,
	} {
		if says(topic, payload) == first {
			t.Errorf("%s %s counts as a duplicate of another stop", topic, payload)
		}
	}
	if says(stop, `{"args":{"latch":"z1"}}`) == says(stop, `{"args":{"latch":"z2"}}`) {
		t.Error("two latched stops with two ids count as duplicates")
	}
	if says("fleet/cmd/op1/stop", `{"id":"a"}`) == says("fleet/cmd/op1/stop", `{"id":"b"}`) {
		t.Error("two live latched stops with two ids count as duplicates")
	}
	for _, topic := range []string{"robots/r1/desired/stop", "fleet/stop"} {
		if says(topic, `{}`) != "" {
			t.Errorf("%s may release, and waits for nothing", topic)
		}
	}
}
