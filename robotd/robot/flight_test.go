package robot

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"troupe/broker/brokertest"
	"troupe/robotd/recorder"
	"troupe/schema"
	"troupe/schema/bubble"
)

// recorded returns what a robot recorded, by topic.
func recorded(t *testing.T, dir string) map[string][][]byte {
	t.Helper()
	spans, err := recorder.List(filepath.Join(dir, recorder.Folder))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][][]byte{}
	for _, s := range spans {
		if err := recorder.Read(s.Path, func(topic string, _ time.Time, message []byte) {
			all[topic] = append(all[topic], bytes.Clone(message))
		}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// A person drives faster than the drive goes, and stops the robot: the recording has what was
// asked, what was answered, what the body got and what it did.
func TestRecordingHasWhatPassedTheLoop(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.boot(func(c *Config) { c.RecorderBytes = 8 << 20 })
		s.mode(schema.ModeMnl)
		s.op.Subscribe("troupe/v1/robots/r1/telemetry/drive")
		lease := s.ask("control/acquire", `{"ttl_ms":60000}`).Lease
		s.must("safety/enable", "")
		var seen schema.Telemetry
		for seq := range int64(21) {
			s.op.ExpectThat("troupe/v1/robots/r1/telemetry/drive", func(m brokertest.Message) bool {
				newer, _ := schema.Decode[schema.Telemetry](m.Payload)
				fresh := newer.MonoMS > seen.MonoMS
				seen = newer
				return fresh
			})
			f := schema.VelocityFrame{Lease: lease.ID, Seq: seq + 1, TTLMS: 400, SeenMonoMS: seen.MonoMS}
			if seq > 0 {
				f.VXMPS, f.WZRadPS = 100, -0.2
			}
			frame, err := schema.Encode(&f)
			if err != nil {
				t.Fatal(err)
			}
			s.op.Send(brokertest.Message{Topic: "troupe/v1/robots/r1/cmd/op1/manual/velocity", Payload: frame})
			time.Sleep(50 * time.Millisecond)
		}
		s.must("manual/head", `{"yaw_rad":1}`)
		s.must("safety/stop", "")
		time.Sleep(time.Second)
		s.shutDown()
		all := recorded(t, s.dir)
		has := func(topic, part string) {
			t.Helper()
			if !slices.ContainsFunc(all[topic], func(m []byte) bool { return bytes.Contains(m, []byte(part)) }) {
				t.Errorf("no %s with %s among %d", topic, part, len(all[topic]))
			}
		}
		has("/command", `"verb":"safety/enable"`)
		has("/command", `"verb":"safety/stop"`)
		has("/answer", `"client":"op1"`)
		has("/action", `"yaw_rad":1},"sent":{"type":"head"`)
		has("/action", `"what":"done"`)
		has("/transition", `"to":"ENABLED"`)
		has("/order", `"order":"stop"`)
		has("/unit", `"unit":"drive","state":"run"`)
		has("/sample", `"unit":"head","state":"run","angles":{"yaw_rad":0.`)
		has("/event", `"booted"`)
		driving := 0
		for _, m := range all["/sample"] {
			var r recorder.Sample
			if err := json.Unmarshal(m, &r); err != nil {
				t.Fatal(err)
			}
			if r.Safety == schema.SafetyEnabled && r.Demanded.VXMPS > r.Sent.VXMPS && r.Sent.VXMPS > 0 && r.Measured != nil && r.Measured.VXMPS > 0 {
				driving++
			}
		}
		if driving < 30 { // of 1 s
			t.Errorf("%d samples of driving among %d", driving, len(all["/sample"]))
		}
	})
}
