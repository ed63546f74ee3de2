package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// commands takes commands as a robot does whose state nobody looks at.
type commands struct {
	request.Report
	request.State
}

func (*commands) Changed(effect.Urgency) {}

func restoreCommands(saved Saved, out *effect.List) *commands {
	return &commands{State: request.Restore(saved.Starts, saved.Commands, out)}
}

func (c *commands) step(do func(request.Step)) (effect.List, []request.SendAck) {
	var out effect.List
	do(request.Step{State: &c.State, Facts: request.Facts{Report: c}, Out: &out})
	return out, c.Acks()
}

func TestUnfinishedCommandIsAnsweredAfterRestart(t *testing.T) {
	d, saved := mustOpen(t, t.TempDir())
	save := func(out effect.List) {
		for i := range out.Len() {
			mustApply(t, d, out.At(i).(effect.SaveRequests))
		}
	}
	var out effect.List
	ask := func(s request.Step) {
		s.Arrive(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte(`{"id":"k1","args":{"mode":"ato"}}`)}, false, 0, nil)
	}
	out, _ = restoreCommands(saved, &out).step(ask)
	save(out)

	d, saved = reopen(t, d)
	out = effect.List{}
	c := restoreCommands(saved, &out)
	save(out)
	_, acks := c.step(request.Step.Connected)
	if len(acks) != 1 || acks[0].Ack.Reason != schema.ReasonRestarted {
		t.Fatalf("after the link returned: %+v", acks)
	}
	c.Delivered("op1/k1")

	_, saved = reopen(t, d)
	out = effect.List{}
	c = restoreCommands(saved, &out)
	if out.Len() != 0 {
		t.Errorf("a delivered answer is sent again: %+v", out)
	}
	_, acks = c.step(ask)
	if a := acks[0].Ack; a.Reason != schema.ReasonRestarted || !a.Dup {
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
	apply(delivery.Step(s, delivery.Now{}, &c, busy, delivery.Document{Desired: delivery.Desired{Rev: 1, FleetID: "home", Pin: pin,
		Apply: schema.ApplyNextAct}}, nil))
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
