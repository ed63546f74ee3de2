package e2e

import (
	"testing"

	"troupe/schema"
)

// TestInlineActionsArePerformed sends the actions of an act that is in no library.
func TestInlineActionsArePerformed(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		const (
			welcome = `"actions":[{"type":"face","start_ms":0,"face":"smile"},{"type":"say","start_ms":100,"text":{"en":"Welcome ${guest}"},"timeout_ms":9000}]`
			blue    = `"actions":[{"type":"led","start_ms":0,"end_ms":300,"colour":"#20c0ff"}]`
			forever = `"actions":[{"type":"wait","start_ms":0,"end_ms":3600000}]`
		)
		w.mustRequest("op1", "r1", "act/perform", `{"args":{`+welcome+`,"with":{"guest":"Ada"}}}`)
		for args, pointer := range map[string]string{
			welcome: "/args/actions/1/text/en",
			`"actions":[{"type":"face","start_ms":0,"face":"unheard-of"}]`:     "/args/actions/0/face",
			`"actions":[{"type":"dance","start_ms":0}],"with":{"guest":"Ada"}`: "/args/actions/0/type",
			blue + `,"act":"welcome"`: "/args/actions",
			`"act":"welcome"`:         "/args/act",
		} {
			if a := w.request("op1", "r1", "act/perform", `{"args":{`+args+`}}`); a.Status != schema.StatusRejected || a.Pointer != pointer {
				w.t.Errorf("%s: answer %s, want a refusal at %s", args, jsonText(a), pointer)
			}
		}

		// A request with clear supersedes the acts that another client requested.
		mark := w.observer.mark()
		w.publish("op1", robotTopic("r1", "cmd/op1/act/perform"), `{"id":"long","args":{`+forever+`}}`)
		w.publish("op1", robotTopic("r1", "cmd/op1/act/perform"), `{"id":"next","args":{`+blue+`}}`)
		w.awaitState("r1", "with one act waiting", func(s schema.State) bool { return len(s.Queue.Waiting) == 1 })
		w.mustRequest("op2", "r1", "act/perform", `{"args":{`+blue+`,"clear":true}}`)
		for _, id := range []string{"long", "next"} {
			if a := w.awaitFinalAck(mark, "op1", "r1", id); a.Status != schema.StatusSuperseded {
				w.t.Errorf("%s was answered %s", id, jsonText(a))
			}
		}
	})
}
