package request

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// maxRecordBytes is the largest encoded record; a test of package disk shows that
// a journal full of such records fits the disk.
const maxRecordBytes = 3000

// TestRecordSizeIsBounded sends commands and stops whose fields are as long as
// possible.
func TestRecordSizeIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.SampledFrom([]string{"x", `"`, "ä", "\x01", "\u2028"}), func(s string) string {
			return strings.Repeat(s, rapid.SampledFrom([]int{1, 100, 128, 256, 1000, 9000, 500_000}).Draw(t, "times"))
		})
		id := rapid.SampledFrom([]string{"safety/stop", "auto/pause", "manual/say", "mode/set"}).Draw(t, "verb")
		v := verbOf(id)
		word := text.Draw(t, "word")
		args := map[string]verb.Args{"safety/stop": verb.Stop{Why: word}, "auto/pause": verb.PauseStory{Why: word},
			"manual/say": verb.Say{Text: verb.Text(word)}, "mode/set": verb.SetMode{Mode: schema.ModeID(word)}}[id]
		payload, err := verb.Encode(v, verb.Request{Args: args,
			Envelope: schema.Envelope{ID: strings.Repeat("k", 64), By: text.Draw(t, "by"), Why: text.Draw(t, "why"),
				Session: text.Draw(t, "session"), Seq: 1 << 52}})
		if err != nil {
			t.Fatal(err)
		}
		s := Restore(1, nil, nil)
		client := strings.Repeat("c", 63)
		now := clock.Now{Wall: noon}
		out := s.at(now, arrives(event.Command{Client: client, Group: v.Group, Verb: v.Name, Payload: payload}))
		out = append(out, s.at(now, saved("", command.KeyOf(client, strings.Repeat("k", 64))))...)
		for _, e := range out {
			if p, ok := e.(effect.Dispatch); ok {
				out = append(out, s.at(now, ends(p.Key, schema.Verdict{Status: schema.StatusFailed, Reason: schema.ReasonInternal, Detail: word,
					Pointer: "/args/" + id}))...)
			}
		}
		for _, e := range out {
			save, _ := e.(effect.SaveRequests)
			for _, r := range save.Put {
				if b, err := schema.Encode(&r); err != nil || len(b) > maxRecordBytes {
					t.Fatalf("record has %d bytes: %.200s, %v", len(b), b, err)
				}
			}
		}
	})
}

// TestStopOfAnyLengthIsPerformed also checks that no more of a stop is read than
// of any other command.
func TestStopOfAnyLengthIsPerformed(t *testing.T) {
	for _, payload := range []string{
		strings.Repeat("x", 500_000),
		`{"by":"` + strings.Repeat("x", 500_000) + `"}`,
		`{"id":"k1","by":"` + strings.Repeat("x", 7000) + `"}`,
		`{"id":"k1","x_note":"` + strings.Repeat("x", 8000) + `","args":{"why":"it is long"}}`,
	} {
		s := Restore(1, nil, nil)
		out := s.at(clock.Now{}, arrives(event.Command{Client: "stop1", Group: "safety", Verb: "stop", Payload: []byte(payload)}))
		p, ok := out[0].(effect.Dispatch)
		if !ok || p.Verb.ID() != "safety/stop" || len(p.By) > schema.MaxShortText || len(p.Why) > schema.MaxShortText ||
			len(p.Args.(verb.Stop).Why) > schema.MaxShortText {
			t.Errorf("%.30s...: %.300v", payload, out[0])
		}
		if known := len(payload) <= maxStopBytes; known && p.ID != "k1" {
			t.Errorf("%.30s...: id is %s", payload, p.ID)
		}
	}
}

// TestFullDiskEvictsOldAnswers: the disk is full and the journal large. The older
// half of the answers is evicted, and the command is written once more.
func TestFullDiskEvictsOldAnswers(t *testing.T) {
	s := Restore(1, nil, nil)
	ask := func(id string) {
		s.at(clock.Now{}, arrives(event.Command{Client: "op1", Group: "auto", Verb: "pause", Payload: []byte(`{"id":"` + id + `"}`)}))
	}
	const many = 100
	for i := range many {
		id := fmt.Sprint("k", i)
		ask(id)
		s.at(clock.Now{}, saved("", command.KeyOf("op1", id)))
		s.at(clock.Now{}, ends(command.KeyOf("op1", id), schema.Verdict{Status: schema.StatusSucceeded}))
	}
	ask("new")
	out := s.at(clock.Now{}, saved(schema.ReasonNoSpace, "op1/new"))
	save, ok := out[0].(effect.SaveRequests)
	if len(out) != 1 || !ok || len(save.Forget) != many/2 || save.Forget[0] != "op1/k0" || len(save.Put) == 0 ||
		save.Put[len(save.Put)-1].ID != "new" {
		t.Fatalf("on a full disk: %+v", out)
	}
	if out = s.at(clock.Now{}, saved("", "op1/new")); len(out) != 1 || out[0].(effect.Dispatch).ID != "new" {
		t.Errorf("after the eviction: %+v", out)
	}
	// The newest answers are kept even if the disk stays full.
	ask("newer")
	out = s.at(clock.Now{}, saved(schema.ReasonNoSpace, "op1/newer"))
	if answer, ok := out[0].(SendAck); !ok || answer.Ack.Reason != schema.ReasonNoSpace {
		t.Errorf("disk still full: %+v", out)
	}
}
