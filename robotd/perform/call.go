package perform

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/interrupts"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// call sends the HTTP request of a handler, which names the interrupt. The event Called brings
// the answer.
func (t Step) call(h *runningHandler, c *interrupts.Call, interrupter string) {
	h.calling = true
	t.Out.Do(effect.Call{
		ID: h.id, URL: c.URL, Timeout: cmp.Or(interrupts.Duration(c.Timeout), interrupts.DefaultTimeout),
		Body: effect.Encode(question{Robot: t.cfg.ID, Interrupt: h.id, Handler: h.handler, Interrupter: interrupter}),
	})
}

// question is the body of a call.
type question struct {
	Robot       string `json:"robot"`
	Interrupt   string `json:"interrupt"`
	Handler     string `json:"handler"`
	Interrupter string `json:"interrupter"`
}

// answer is the body of the answer to a call: an act, or nothing.
type answer struct {
	Act     string            `json:"act"`
	Actions jsontext.Value    `json:"actions"`
	With    map[string]string `json:"with"`
}

// Called takes the answer to a call: the act in it is performed. An answer that comes after
// the end of its interrupt does not count.
func (t Step) Called(ev event.Called) {
	for i := range t.runningHandlers {
		h := &t.runningHandlers[i]
		if h.id != ev.ID || !h.calling {
			continue
		}
		h.calling = false
		t.Out.Do(effect.EndCall{ID: h.id})
		a, wrong := answer{}, schema.Problem{}
		if len(ev.Body) > 0 && ev.Reason == "" {
			var problems []schema.Problem
			if a, problems = schema.DecodeStrictWithin[answer](ev.Body, interrupts.MaxNesting); len(problems) > 0 {
				ev.Reason, wrong = schema.ReasonBadRequest, problems[0]
				ev.Detail = "the answer of the call: " + wrong.String()
			}
		}
		switch {
		case h.ending:
		case ev.Reason != "":
			h.detail = schema.SanitizeText(ev.Detail)
			t.fail(h, ev.Reason)
		case a.Act == "" && len(a.Actions) == 0:
			t.done(h)
		default:
			t.performAnswer(h, a)
		}
	}
}

func (t Step) performAnswer(h *runningHandler, a answer) {
	with, _ := schema.Encode(a.With)
	acts, files, languages := t.Repertoire()
	e, no := t.Lanes.Resolve(verb.Perform{Act: a.Act, Actions: verb.Objects(a.Actions), With: verb.Values(with)}, acts, languages,
		score.WithAssets(t.Body.Capabilities(t.cfg.Languages), files))
	if no != nil {
		h.detail = "the answer of the call: " + no.Detail
		t.fail(h, no.Reason)
		return
	}
	h.script = script{files: files}
	h.acts = append(h.acts, e)
	t.nextAct(h)
}
