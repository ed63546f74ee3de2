package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// PostedIntent is what a person wants of a robot.
type PostedIntent struct {
	Name       string            `json:"name" minLength:"1" maxLength:"64" doc:"the intent" example:"greet"`
	Slots      map[string]string `json:"slots,omitempty" maxProperties:"16" doc:"its details by name"`
	Text       string            `json:"text,omitempty" maxLength:"1000" doc:"what the person said; fleetd keeps it with the command, but not that of an intent that another client posts over MQTT"`
	Emotion    string            `json:"emotion,omitempty" maxLength:"64" doc:"the emotion in which the robot shall answer; its own if left out"`
	Confidence *float64          `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"certain if left out"`
}

func (s *server) intents(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "post-intent", Method: http.MethodPost, Path: "/robots/{id}/intents", Tag: "robots", Right: auth.Command,
		Summary: "Post an intent to a robot",
		Description: "The robot publishes it for responders and does what its setting intents says. It is the command intent/post, " +
			"so the answer is its batch, at once or, with Prefer: wait=N (seconds, at most 60), when the robot has " +
			"answered." +
			" A repeated request of an account with the same Idempotency-Key returns the same batch.",
		Audit:   audit.CommandAction("intent/post"),
		Example: "intent post r1 --name greet", Without: "the operation command, for any number of robots",
	}, func(ctx context.Context, in *struct {
		PathID
		Prefer string `header:"Prefer" doc:"wait=N"`
		Key    string `header:"Idempotency-Key" maxLength:"64"`
		Body   struct {
			PostedIntent
			audit.Attribution
		}
	}) (*batchAnswer, error) {
		u := schema.Utterance(in.Body.PostedIntent)
		if problems := u.Problems(""); len(problems) > 0 {
			return nil, refusal(inBody("", problems))
		}
		args, err := json.Marshal(in.Body.PostedIntent)
		if err != nil {
			return nil, fmt.Errorf("encode the intent %s: %w", in.Body.Name, err)
		}
		return s.sendCommand(ctx, in.principal, CommandRequest{Verb: "intent/post", Args: args, Selector: selector.IDs(in.ID), By: in.Body.Who,
			Why: in.Body.Why}, in.Prefer, in.Key)
	})
}
