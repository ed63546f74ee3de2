package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

func TestUnfinishedCommandIsAnsweredAfterRestart(t *testing.T) {
	d, saved := mustOpen(t, t.TempDir())
	s, _ := request.Restore(saved.Starts, saved.Commands, nil)
	ask := request.Arrival{Client: "op1", Group: "mode", Verb: "set", Payload: []byte(`{"id":"k1","args":{"mode":"ato"}}`)}
	for _, e := range request.Step(s, request.Now{}, ask, nil) {
		mustApply(t, d, effect.SaveRequests{Save: e.(request.Save)})
	}

	d, saved = reopen(t, d)
	s, effects := request.Restore(saved.Starts, saved.Commands, nil)
	for _, e := range effects {
		mustApply(t, d, effect.SaveRequests{Save: e.(request.Save)})
	}
	out := request.Step(s, request.Now{}, request.Connected{}, nil)
	if len(out) != 1 || out[0].(request.SendAck).Ack.Reason != schema.ReasonRestarted {
		t.Fatalf("after the link returned: %+v", out)
	}
	request.Step(s, request.Now{}, request.Delivered{Key: "op1/k1"}, nil)

	_, saved = reopen(t, d)
	s, effects = request.Restore(saved.Starts, saved.Commands, nil)
	if len(effects) != 0 {
		t.Errorf("a delivered answer is sent again: %+v", effects)
	}
	out = request.Step(s, request.Now{}, ask, nil)
	if a := out[0].(request.SendAck).Ack; a.Reason != schema.ReasonRestarted || !a.Dup {
		t.Errorf("answer to the repeated command: %+v", a)
	}
}

func TestStagedStoryIsActivatedAfterRestart(t *testing.T) {
	d, saved := mustOpen(t, t.TempDir())
	c := delivery.Defaults(sign.Story, delivery.Judge[score.PublishedStory]{
		Read: func(data []byte) (*score.PublishedStory, []schema.Problem) {
			return &score.PublishedStory{Story: score.Story{ID: string(data), Acts: []score.Step{{Act: "wave"}}}}, nil
		},
		Fit: func(b *score.PublishedStory) delivery.Fit[score.PublishedStory] {
			return delivery.Fit[score.PublishedStory]{Content: b}
		},
	})
	apply := func(effects []delivery.Effect) {
		for _, e := range effects {
			if save, ok := e.(delivery.Save); ok {
				mustApply(t, d, effect.SaveContent{Save: save})
			}
		}
	}
	blob := []byte("hello")
	sum := sha256.Sum256(blob)
	pin := &schema.ContentPin{ID: "hello", Rev: 1, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(blob))}
	busy := delivery.Facts{Performing: true}
	s, _ := delivery.Restore(delivery.Now{}, &c, saved.Deliveries[sign.Story], delivery.DiskContents{Blobs: saved.Blobs}, "", nil)
	apply(delivery.Step(s, delivery.Now{}, &c, busy, delivery.Document{Desired: delivery.Desired{Rev: 1, FleetID: "home", Pin: pin, Apply: schema.ApplyNextAct}}, nil))
	apply(delivery.Step(s, delivery.Now{}, &c, busy, delivery.Fetched{SHA256: pin.SHA256, Bytes: blob}, nil))

	for range 2 {
		d, saved = reopen(t, d)
		s, effects := delivery.Restore(delivery.Now{}, &c, saved.Deliveries[sign.Story], delivery.DiskContents{Blobs: saved.Blobs}, "", nil)
		apply(effects)
		apply(delivery.Step(s, delivery.Now{}, &c, delivery.Facts{}, delivery.Tick{}, nil))
		if l, why := s.InUse(); l == nil || l.Pin.ID != "hello" || s.Phase() != schema.DeployActive {
			t.Fatalf("after the restart %s, nothing to play: %s", s.Phase(), why)
		}
	}
}
