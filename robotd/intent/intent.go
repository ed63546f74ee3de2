// Package intent answers intents: it publishes each, keeps the robot's emotion, and turns an
// intent into the command that the setting intents names for it. That command goes the way of
// every other one, so all checks apply and every refusal reaches the client that posted the intent.
package intent

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/schema"
	"troupe/schema/intents"
	"troupe/schema/verb"
)

// Config is what is configured of intents.
type Config struct {
	Rows       []intents.Row // what the robot does about intents
	Confidence float64       // below it, an intent is only published
}

// Defaults is what a robot without configuration does about intents.
func Defaults() Config { return Config{Confidence: intents.DefaultConfidence} }

// State is the robot's emotion, and the intents that it received.
type State struct {
	cfg      *Config
	emotion  string // empty = none since robotd started
	since    schema.Time
	newest   *schema.NewestIntent    // the newest intent that had enough confidence; immutable
	n        int64                   // number of intents of the body that were taken (not dropped)
	reacting []reacting              // the body's intents whose reaction is not answered yet
	heard    [maxHeard]time.Duration // ring: when the newest of them came; the next one is written at n % maxHeard
	dropping bool                    // the newest one came too soon
}

// A body that misunderstands a noise must not crowd out what else the robot publishes: of more
// than maxHeard intents within heardWithin it drops the later ones, and reports that once.
const (
	maxHeard    = 10
	heardWithin = 10 * time.Second
)

// reacting is an intent of the body whose reaction has not ended.
type reacting struct {
	key  command.Key
	name string
	does schema.Reaction
}

// maxReacting bounds the body's intents that are remembered; of earlier ones, refusals are not
// reported.
const maxReacting = 16

// New returns the state of a robot that has received no intent.
func New(cfg *Config) State { return State{cfg: cfg} }

// Step is the part of one step of the robot that concerns intents.
type Step struct {
	*State
	Facts
	Now clock.Now
	Out *effect.List
}

// Facts are the facts about other parts.
type Facts struct {
	Session string
	Boot    string
	// ModePrevented is why an intent may not change the mode now, as for a desired mode (see
	// desired.ModeFacts); that the robot is DISABLED does not prevent it. Detail explains it.
	ModePrevented schema.Reason
	Detail        string
}

// body is the source of intents that no client posted. The key of a client's command begins
// with the client's name, and these keys with a slash, so the two never collide.
const (
	body       = "body"
	bodyPrefix = "/body/intent/"
)

// FromBody reports whether a command is the reaction to an intent that the body heard.
func FromBody(k command.Key) bool { return strings.HasPrefix(string(k), bodyPrefix) }

// Ask takes a command, and reports whether it posts an intent.
func (t Step) Ask(o effect.Dispatch) bool {
	a, ok := o.Args.(verb.PostIntent)
	if ok {
		t.post(o, a)
	}
	return ok
}

func (t Step) post(o effect.Dispatch, a verb.PostIntent) {
	u, problems := a.Utterance()
	if len(problems) > 0 {
		t.Out.Refuse(o.Key, schema.ReasonBadRequest, problems[0].Pointer, problems[0].Detail)
		return
	}
	t.take(o, u, o.Client)
}

// Heard takes an intent that the body heard. One that is not valid is dropped: nobody could
// correct it.
func (t Step) Heard(u schema.Utterance) {
	if problems := u.Problems(""); len(problems) > 0 {
		t.Out.Event("intent_refused", body, string(schema.ReasonBadRequest), "", refused{
			Name: schema.SanitizeText(u.Name), Reason: schema.ReasonBadRequest, Detail: schema.SanitizeText(problems[0].String()),
		})
		return
	}
	if at := t.heard[t.n%maxHeard]; t.n >= maxHeard && t.Now.Mono < at+heardWithin {
		if !t.dropping {
			t.Out.Event("intent_refused", body, string(schema.ReasonBusy), "", refused{
				Name: u.Name, Reason: schema.ReasonBusy, Detail: fmt.Sprintf("the body heard %d intents within %v; more are dropped", maxHeard,
					heardWithin),
			})
		}
		t.dropping = true
		return
	}
	t.dropping = false
	t.heard[t.n%maxHeard] = t.Now.Mono
	t.n++
	key := command.Key(fmt.Sprintf("%s%d", bodyPrefix, t.n))
	t.take(effect.Dispatch{Key: key, ID: key.ID(), Arrived: t.Now.Mono}, u, body)
}

// refused and posted are data of events.
type (
	refused struct {
		Name     string           `json:"name"`
		Reaction *schema.Reaction `json:"reaction,omitzero"`
		Reason   schema.Reason    `json:"reason"`
		Detail   string           `json:"detail,omitempty"`
	}
	posted struct {
		Name             string           `json:"name"`
		Confidence       *float64         `json:"confidence,omitzero"`
		Emotion          string           `json:"emotion,omitempty"`
		Reaction         *schema.Reaction `json:"reaction,omitzero"`
		ResultingEmotion string           `json:"resulting_emotion,omitempty"`
		Reason           schema.Reason    `json:"reason,omitempty"`
	}
)

// take publishes an intent, and turns the row that the setting intents has for it into a
// command, which takes the place of o.
func (t Step) take(o effect.Dispatch, u schema.Utterance, source string) {
	d := t.decide(u)
	kind := "intent"
	if d.why == schema.ReasonLowConfidence {
		kind = "intent_ignored"
	} else {
		t.newest = &schema.NewestIntent{Name: u.Name, TS: t.Now.Wall, Source: source, Reaction: d.does, Reason: d.why}
	}
	if d.feels != "" && d.feels != t.emotion {
		t.emotion, t.since = d.feels, t.Now.Wall
	}
	t.Out.Changed(effect.FlushSoon)
	req := ""
	if source != body {
		req = string(o.Key)
	}
	t.Out.Event(kind, source, u.Name, req, posted{u.Name, u.Confidence, d.emotion, d.does, d.feels, d.why})
	if t.Session != "" {
		t.Out.Do(effect.Document{Topic: schema.TopicIntent, Value: &schema.Intent{
			TS: t.Now.Wall, Session: t.Session, Boot: t.Boot, ID: req, Source: source, By: o.By, Utterance: u,
			RobotEmotion: t.emotion, Reaction: d.does, Reason: d.why,
		}})
	}
	if d.does == nil {
		t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded, Reason: d.why, Detail: d.detail})
		return
	}
	t.react(o, u, d)
}

// decision is what the robot does about an intent.
type decision struct {
	row     *intents.Row
	does    *schema.Reaction // nil = nothing but to change the emotion
	emotion string           // in which it answers
	feels   string           // its emotion from now on; empty = unchanged
	why     schema.Reason    // why it does nothing
	detail  string
}

func (s *State) decide(u schema.Utterance) decision {
	d := decision{emotion: cmp.Or(u.Emotion, s.emotion)}
	if u.Confidence != nil && *u.Confidence < s.cfg.Confidence {
		d.why, d.detail = schema.ReasonLowConfidence, fmt.Sprintf("the confidence is %g, and intent_confidence %g", *u.Confidence,
			s.cfg.Confidence)
		return d
	}
	d.row = intents.Match(s.cfg.Rows, u.Name, d.emotion)
	if d.row == nil {
		d.why, d.detail = schema.ReasonUnknownIntent, "the setting intents has no row for "+u.Name+", and no default row"
		return d
	}
	d.does, d.feels = d.row.Reaction(), d.row.ResultingEmotion
	return d
}

// react lets the robot carry out the reaction in place of the command that posted the intent.
func (t Step) react(o effect.Dispatch, u schema.Utterance, d decision) {
	if FromBody(o.Key) {
		t.reacting = append(t.reacting[max(0, len(t.reacting)-maxReacting+1):], reacting{o.Key, u.Name, *d.does})
	}
	switch does := d.does; {
	case does.Act != "":
		a := verb.Perform{Act: does.Act, Clear: d.row.Clear}
		if with := d.row.Values(u.Slots); len(with) > 0 {
			a.With = verb.Values(effect.Encode(with))
		}
		o.Verb, o.Args = verb.Must("act", "perform"), a
	case does.Interrupt != "":
		o.Verb, o.Args = verb.Must("interrupt", "request"), verb.RequestInterrupt{Handler: does.Interrupt, Interrupter: interrupt.AIInterrupter}
	case does.Mode != "" && t.ModePrevented != "":
		t.Out.Refuse(o.Key, t.ModePrevented, "", t.Detail)
		return
	case does.Mode != "":
		o.Verb, o.Args = verb.Must("mode", "set"), verb.SetMode{Mode: does.Mode}
	default:
		o.Verb, o.Args = verb.Must("life", "focus"), verb.FocusActivity{Activity: does.Activity}
	}
	t.Out.Do(o)
}

// Answered takes the answer to a reaction to an intent of the body, which nobody else gets.
func (t Step) Answered(to command.Key, v schema.Verdict) {
	if !v.Status.Final() {
		return
	}
	for i, r := range t.reacting {
		if r.key != to {
			continue
		}
		t.reacting = append(t.reacting[:i], t.reacting[i+1:]...)
		if v.Status != schema.StatusSucceeded {
			t.Out.Event("intent_refused", body, string(v.Reason), "", refused{r.name, &r.does, v.Reason, v.Detail})
		}
		return
	}
}

// Newest returns the name of the newest intent that had enough confidence; empty = none.
func (s *State) Newest() string {
	if s.newest == nil {
		return ""
	}
	return s.newest.Name
}

// Document is what the state shows.
func (s *State) Document() *schema.StateIntent {
	if s.newest == nil && s.emotion == "" {
		return nil
	}
	return &schema.StateIntent{Emotion: s.emotion, EmotionSince: s.since, Newest: s.newest}
}
