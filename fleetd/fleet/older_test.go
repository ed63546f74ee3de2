package fleet_test

import (
	"testing"

	"troupe/schema"
	"troupe/schema/verb"
)

// An older robot refuses arguments that it does not know, as every robot does.
func TestOlderRobotIsEnabled(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		caps, _ := schema.Decode[schema.Caps](w.Document("r1", schema.TopicCaps))
		caps.Arguments = map[string][]string{"safety/enable": {"seen_mono_ms"}}
		body, err := schema.Encode(caps)
		if err != nil {
			w.Fatal(err)
		}
		r.Raw(schema.TopicCaps, string(body))
		w.until("its caps are received", func() bool {
			d, _ := w.Robot("r1")
			return d.Caps != nil && len(d.Caps.Arguments) == 1 && d.Heartbeat != nil
		})
		r.Answer(func(_ string, q verb.Request) []schema.Ack {
			a, _ := q.Args.(verb.EnableOrReset)
			if a.SeenBoot != "" {
				return []schema.Ack{{Status: schema.StatusRejected, Reason: schema.ReasonBadRequest, Pointer: "/args/seen_boot"}}
			}
			if a.SeenMonoMS == 0 {
				return []schema.Ack{{Status: schema.StatusRejected, Reason: schema.ReasonPrecondition}}
			}
			return []schema.Ack{{Status: schema.StatusSucceeded, Result: schema.ResultOK}}
		})
		w.state(w.command(order("safety/enable", "r1")), "SUCCEEDED")
	})
}
