package brain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/robotd/event"
	"troupe/robotd/taught"
	"troupe/schema"
)

// recordingRig is a robot that records an act for op1.
type recordingRig struct {
	*rig
	acks map[string]schema.Ack
}

func newRecordingRig(t *testing.T) recordingRig {
	r := newRig(t)
	rec := recordingRig{r, acks(r)}
	r.bootConnected("s")
	rec.ask("control/acquire", "c1", `{"ttl_ms":60000}`)
	rec.ask("manual/act-record", "r1", `{"do":"start","act":"speech"}`)
	return rec
}

func (r recordingRig) ask(verb, id, args string) {
	group, name, _ := strings.Cut(verb, "/")
	r.give(event.Command{Client: "op1", Group: group, Verb: name, Payload: []byte(`{"id":"` + id + `","args":` + args + `}`)})
	r.until(r.now + 100*time.Millisecond)
}

// endedAsTooBig counts the events which say that the recording ended because the act is too big.
func (r recordingRig) endedAsTooBig() (n int) {
	for _, raw := range r.events {
		if strings.Contains(string(raw), `"act_recording_ended"`) && strings.Contains(string(raw), `"too_big"`) {
			n++
		}
	}
	return n
}

// TestRecordingThatCanNeverBeKeptEnds records more bytes than an act may have, and stops twice.
func TestRecordingThatCanNeverBeKeptEnds(t *testing.T) {
	r := newRecordingRig(t)
	ask, got := r.ask, r.acks
	for i := range 40 {
		ask("manual/say", fmt.Sprint("s", i), `{"text":"`+strings.Repeat("word ", 190)+`"}`)
	}
	ask("manual/act-record", "r2", `{"do":"stop"}`)
	if a := got["r2"]; a.Reason != schema.ReasonTooBig || !strings.HasSuffix(a.Detail, "the recording has ended, and nothing is kept") {
		t.Errorf("the stop was answered %s %s (%s)", a.Status, a.Reason, a.Detail)
	}
	if ended := r.endedAsTooBig(); ended != 1 {
		t.Errorf("%d events say that the recording ended because it is too big, want 1", ended)
	}
	ask("manual/act-record", "r3", `{"do":"stop"}`)
	if a := got["r3"]; a.Reason != schema.ReasonInvalidTransition {
		t.Errorf("the second stop was answered %s %s (%s)", a.Status, a.Reason, a.Detail)
	}
}

func TestRecordingEndsWhenItHasTooManyActions(t *testing.T) {
	r := newRecordingRig(t)
	for i := range taught.MaxActions {
		r.ask("manual/face", fmt.Sprint("f", i), `{"face":"smile"}`)
	}
	if ended := r.endedAsTooBig(); ended != 0 {
		t.Fatalf("with %d actions, %d events say that the recording ended", taught.MaxActions, ended)
	}
	r.ask("manual/face", "more", `{"face":"sad"}`)
	if ended := r.endedAsTooBig(); ended != 1 {
		t.Errorf("with %d actions, %d events say that the recording ended, want 1", taught.MaxActions+1, ended)
	}
	r.ask("manual/act-record", "r2", `{"do":"stop"}`)
	const want = "no act is being recorded; what was recorded as speech was dropped: it had more than 100 actions"
	if a := r.acks["r2"]; a.Status != schema.StatusRejected || a.Detail != want {
		t.Errorf("the stop was answered %s %s (%s), want the detail %q", a.Status, a.Reason, a.Detail, want)
	}
}

func TestActWhoseLastDriveIsOneActionTooManyIsNotKept(t *testing.T) {
	r := newRecordingRig(t)
	r.ask("safety/enable", "e1", `{}`)
	for i := range taught.MaxActions {
		r.ask("manual/face", fmt.Sprint("f", i), `{"face":"smile"}`)
	}
	lease := r.s.manual.Control().Lease.ID
	for seq := range int64(50) { // the drive has not ended when the recording stops
		f := schema.VelocityFrame{Lease: lease, Seq: seq + 1, TTLMS: 400, SeenMonoMS: r.now.Milliseconds()}
		if seq > 0 { // the stick was released before it drives
			f.VXMPS = 0.2
		}
		r.give(event.Frame{Client: "op1", Frame: f})
		r.until(r.now + 20*time.Millisecond)
	}
	r.ask("manual/act-record", "r2", `{"do":"stop"}`)
	if a := r.acks["r2"]; a.Reason != schema.ReasonTooBig ||
		a.Detail != "the act has more than 100 actions; the recording has ended, and nothing is kept" {
		t.Errorf("the stop was answered %s %s (%s)", a.Status, a.Reason, a.Detail)
	}
}
