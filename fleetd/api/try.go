package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
	"troupe/schema"
	"troupe/schema/score"
)

// Trial is a text to perform once on one robot.
type Trial struct {
	SourceText
	Only []string `json:"only,omitempty" maxItems:"200" doc:"pointers of the actions or steps to perform, such as /actions/2; empty = all"`
	Lang string   `json:"lang,omitempty" maxLength:"35" doc:"texts in this language only, so that more fits into one command"`
	audit.Attribution
}

// Tried is the commands of a trial.
type Tried struct {
	Control Batch `json:"control" doc:"control/acquire: the lease that the trial took; renew it with control/renew while it lasts, and give it back with control/release"`
	Perform Batch `json:"perform" doc:"act/perform: settled when the robot has performed it"`
}

// tries registers the request that performs a text on a robot.
func (s *server) tries(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "try-text", Method: http.MethodPost, Path: "/robots/{id}/try", Tag: "library", Right: auth.Try,
		Summary: "Perform a text once on one robot, without publishing it",
		Description: "Takes control of the robot, which has to be in mnl, for a minute, and performs the text, or parts of it, as " +
			"one act. Sounds and pictures that the robot does not have are left out, as it reports. Ends with the lease, " +
			"or by manual/stop.",
		Audit:   audit.CommandAction("act/perform"),
		Example: "act try welcome --robot r1",
	}, s.try)
}

func (s *server) try(ctx context.Context, in *idAndBody[Trial]) (*answer[Tried], error) {
	lookup := s.newActLookup(ctx)
	actions, found := trialOf(library.Kind(in.Body.Kind), []byte(in.Body.Text), in.Body.Only, in.Body.Lang, lookup.find)
	if lookup.err != nil {
		return nil, s.fail(lookup.err, "library")
	}
	if len(found) > 0 {
		return nil, refusal(inDocument(found))
	}
	// clear ends what an earlier trial left; with defer an exclusive action waits for those that run,
	// instead of being refused.
	args, err := json.Marshal(map[string]any{"actions": actions, "clear": true, "defer": true})
	if err != nil {
		return nil, fmt.Errorf("write the actions: %w", err)
	}
	send := func(ctx context.Context, verb string, args json.RawMessage, prefer string) (Batch, error) {
		o := CommandRequest{Verb: verb, Args: args, Selector: selector.IDs(in.ID), By: in.Body.Who, Why: orElse(in.Body.Why, "try a draft"),
			If: Condition{Mode: schema.ModeMnl}}
		b, err := s.issue(ctx, in.principal, o, prefer, "")
		if err != nil {
			return Batch{}, err
		}
		return b.Body, nil
	}
	out := Tried{}
	if out.Control, err = send(ctx, "control/acquire", json.RawMessage(`{"ttl_ms":60000}`), "wait=5"); err != nil {
		return nil, err
	}
	c := out.Control.Commands[0]
	if c.Answer == nil || c.Answer.Status != schema.StatusSucceeded {
		why := c.Because
		if c.Answer != nil {
			why = strings.Trim(string(c.Answer.Reason)+": "+c.Answer.Detail, ": ")
		}
		hint := "set the robot to mnl and enable it; a person who has control of it must give it back first"
		if !in.principal.May(auth.Command) {
			hint = "ask a person with the role " + auth.RolesWith(auth.Command) +
				" to set the robot to mnl and enable it; a person who has control of it must give it back first"
		}
		return nil, KindConflict.Problem(fmt.Sprintf("no control of %s: %s", in.ID, orElse(why, "it does not answer")), hint)
	}
	if out.Perform, err = send(ctx, "act/perform", args, ""); err != nil {
		// Nobody knows of the lease, and nobody else could drive the robot until it ends.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTimeout)
		defer cancel()
		if _, failed := send(last, "control/release", releaseOf(c.Answer.Lease), ""); failed != nil {
			s.Log.WarnContext(ctx, "control not given back", "robot", in.ID, "error", failed)
		}
		return nil, err
	}
	return &answer[Tried]{out}, nil
}

// giveBackTimeout bounds giving control back after a trial that could not be sent.
const giveBackTimeout = 5 * time.Second

// releaseOf returns the arguments that give back this lease, and no later one of the same holder.
func releaseOf(l *schema.Lease) json.RawMessage {
	if l == nil {
		return json.RawMessage("{}")
	}
	args, _ := json.Marshal(map[string]string{"lease": l.ID}) // cannot fail: a text
	return args
}

// trialOf returns the actions that perform a text, or parts of it, with everything that it
// names filled in.
func trialOf(kind library.Kind, text []byte, only []string, lang string, lookup score.Lookup) (json.RawMessage, []schema.Problem) {
	whole := score.Act{ID: score.InlineAct}
	if kind == library.KindAct {
		a, readable, found := score.CheckAct(text, lookup)
		if errs := schema.Errors(found); !readable || len(errs) > 0 {
			return nil, errs
		}
		whole.Actions = chosenActions(a.Resolve(score.Step{}).Actions, only) // in the order of the text, as pointers count
		whole = whole.Sorted()
	} else {
		story, found := library.StoryOf(kind, text)
		if len(found) == 0 {
			found = schema.Errors(score.ValidateStory(story, lookup))
		}
		if len(found) > 0 {
			return nil, found
		}
		for i, step := range story.Acts {
			if len(only) > 0 && !slices.Contains(only, fmt.Sprintf("/acts/%d", i)) {
				continue
			}
			// With defer an exclusive action waits for those before it, so that acts follow each other.
			whole.Actions = append(whole.Actions, score.Action{Method: score.MethodExclusive, StartMS: int64(len(whole.Actions)),
				Do: score.PerformAct{Act: step.Act, With: step.With}})
		}
	}
	if len(whole.Actions) == 0 {
		return nil, []schema.Problem{schema.NewProblem("", score.CodeZeroLength, "there is nothing to perform", "choose an action")}
	}
	whole, found := whole.Expand(lookup)
	if len(found) > 0 {
		return nil, schema.Errors(found)
	}
	if lang != "" {
		inOneLanguage(whole.Actions, lang)
	}
	body, err := schema.Encode(whole)
	if err != nil {
		return nil, []schema.Problem{schema.NewProblem("", string(schema.ReasonInternal), err.Error(), "")}
	}
	var parts struct {
		Actions json.RawMessage `json:"actions"`
	}
	_ = json.Unmarshal(body, &parts) // it was encoded above
	if limit := schema.TopicOf(schema.TopicCmd).MaxBytes - commandFrame; len(parts.Actions) > limit {
		return nil, []schema.Problem{schema.NewProblem("", score.CodeTooBig, fmt.Sprintf("it has %d bytes, a command at most %d",
			len(parts.Actions), limit), "try it in parts, or in one language; or publish it and assign it to the robot")}
	}
	return parts.Actions, nil
}

// commandFrame is the room for the other fields of a command.
const commandFrame = 1 << 10

// inOneLanguage leaves each text only in one language.
func inOneLanguage(actions []score.Action, lang string) {
	for i := range actions {
		x := &actions[i]
		x.ReplaceTexts(func(t score.Text) score.Text {
			if len(t) > 1 {
				return score.Text{lang: t.In(lang)}
			}
			return t
		})
		choices := x.Choices() // a copy of those before
		for k := range choices {
			choices[k].Text = score.Text{lang: choices[k].Text.In(lang)}
		}
		x.SetInner(slices.Clone(x.Inner()))
		inOneLanguage(x.Inner(), lang)
	}
}

// chosenActions returns the actions at these pointers; the first one starts at once. Without
// pointers it returns all.
func chosenActions(all []score.Action, only []string) []score.Action {
	if len(only) == 0 {
		return all
	}
	var out []score.Action
	var down func(base string, list []score.Action)
	down = func(base string, list []score.Action) {
		for i, x := range list {
			p := fmt.Sprintf("%s/%d", base, i)
			if slices.Contains(only, p) {
				out = append(out, x)
				continue
			}
			down(p+"/actions", x.Inner())
		}
	}
	down("/actions", all)
	first := int64(score.MaxActMS)
	for _, x := range out {
		first = min(first, x.StartMS)
	}
	for i := range out {
		out[i].StartMS -= first
		if end := out[i].EndMS; end != nil {
			moved := *end - first
			out[i].EndMS = &moved
		}
	}
	return out
}
