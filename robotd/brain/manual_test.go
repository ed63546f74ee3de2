package brain

import (
	"testing"
	"time"

	"troupe/schema"
)

// inHand is a robot in mnl that op1 has in hand, with what it answers to him.
func inHand(t *testing.T) (*rig, *[]schema.Ack) {
	r := newRig(t)
	acks := &[]schema.Ack{}
	r.sent = func(p Publish) {
		if p.Topic != schema.TopicAck {
			return
		}
		a, problems := schema.Decode[schema.Ack](p.Payload)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		*acks = append(*acks, a)
	}
	r.boot()
	r.give(Connected{Session: "s"})
	r.until(200 * time.Millisecond)
	r.command("control/acquire", `{"args":{"ttl_ms":60000}}`)
	r.command("safety/enable", "")
	return r, acks
}

func (r *rig) command(verb, payload string) {
	for _, v := range schema.Verbs {
		if v.ID() == verb {
			r.give(Command{Client: "op1", Group: v.Group, Verb: v.Name, Payload: []byte(payload)})
			r.until(r.now + 200*time.Millisecond)
			return
		}
	}
	r.t.Fatalf("there is no verb %s", verb)
}

func TestTheVolumeCountsForAllAndIsKept(t *testing.T) {
	r, _ := inHand(t)
	var loud []float64
	r.watch = func(_ Event, effects []Effect) {
		for _, e := range effects {
			if s, ok := e.(Start); ok && s.Do.Volume != nil {
				loud = append(loud, *s.Do.Volume)
			} else if ok && s.Unit == "speaker" {
				loud = append(loud, -1)
			}
		}
	}
	r.command("manual/say", "as loud as it is")
	r.command("manual/volume", "0.5")
	r.command("manual/say", "half")
	r.command("manual/say", `{"args":{"text":"a quarter","volume":0.5}}`)
	r.boot()
	r.give(Connected{Session: "s2"})
	r.until(r.now + 200*time.Millisecond)
	r.command("control/acquire", "")
	r.command("manual/say", "still half")
	want := []float64{-1, 0.5, 0.25, 0.5}
	if len(loud) != len(want) {
		t.Fatalf("said at %v, want %v", loud, want)
	}
	for i := range want {
		if loud[i] != want[i] {
			t.Fatalf("said at %v, want %v", loud, want)
		}
	}
}

func TestAUnitThatNeverEndsHasFailed(t *testing.T) {
	for verb, payload := range map[string]string{
		"manual/say": "hello", "manual/face": "smile", "manual/head": `{"args":{"yaw_rad":0.2}}`, "manual/goto": "dock",
	} {
		r, acks := inHand(t)
		r.body.mute = true
		r.command(verb, payload)
		for range 20 { // minutes; whoever has control goes on having it
			r.command("control/renew", `{"args":{"ttl_ms":60000}}`)
			r.until(r.now + 30*time.Second)
		}
		var last schema.Ack
		for _, a := range *acks {
			if a.Verb == verb {
				last = a
			}
		}
		if last.Status != schema.StatusFailed || last.Reason != schema.ReasonTimeout {
			t.Errorf("%s: answered %s %s", verb, last.Status, last.Reason)
		}
	}
}
