package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/command"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
)

// CancelResult is the result of cancelling a command.
type CancelResult struct {
	Command Command `json:"command" doc:"the command as it is now"`
	Cancel  *Batch  `json:"cancel,omitempty" doc:"the sys/cancel that was sent to the robot; left out if the command had not been sent"`
}

// CommandList is commands to robots.
type CommandList struct {
	Commands []Command `json:"commands"`
}

// BatchList is batches without their commands.
type BatchList struct {
	Batches []Batch `json:"batches"`
}

func (s *server) commands(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "command", Method: http.MethodPost, Path: "/commands", Tag: "commands", Right: sending,
		Summary: "Send a command to many robots",
		Description: "One MQTT command to each robot that matches the selector. The answer is the batch, at once or, with Prefer: " +
			"wait=N (seconds, at most 60), when every robot has answered." +
			" Stops are sent before they are persisted, do not wait for the database and ignore expected_count." +
			" A repeated request of an account with the same Idempotency-Key returns the same batch; a stop is always " +
			"sent again, whatever its key. Until fleetd has read its database, a stop of the group safety by labels or of " +
			"all robots is latched as by POST /stops.",
		Audit:   audit.ActionCommand,
		Example: "mode set ato r1",
	}, func(ctx context.Context, in *struct {
		caller
		Prefer string `header:"Prefer" doc:"wait=N"`
		Key    string `header:"Idempotency-Key" maxLength:"64"`
		Body   CommandRequest
	}) (*batchAnswer, error) {
		return s.sendCommand(ctx, in.principal, in.Body, in.Prefer, in.Key)
	})
	operation.Register(t, operation.Row{
		ID: "list-commands", Method: http.MethodGet, Path: "/commands", Tag: "commands", Right: auth.View,
		Summary: "List commands, the newest first",
		Use:     "command list",
	}, func(ctx context.Context, in *struct {
		caller
		Batch string `query:"batch" doc:"only commands of this batch"`
		Robot string `query:"robot" doc:"only commands to this robot"`
		Site  string `query:"site" maxLength:"63" doc:"only of robots whose label site is this"`
		State string `query:"state" enum:"QUEUED,SENT,ACKED,RUNNING,SUCCEEDED,FAILED,REJECTED,CANCELLED,SUPERSEDED,EXPIRED,UNDELIVERED,UNKNOWN" doc:"only commands in this state"`
		Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"at most this many" cli:"limit,,50"`
	}) (*answer[CommandList], error) {
		sites, err := sitesOf(in.principal, in.Site)
		if err != nil {
			return nil, err
		}
		q := change.CommandQuery{Batch: in.Batch, Robot: in.Robot, State: command.State(in.State), Limit: in.Limit, Sites: sites}
		rows, err := s.Commands.List(ctx, q)
		if err != nil {
			return nil, s.fail(err, "commands")
		}
		out := toCommands(rows)
		s.explainQueued(out)
		if err := s.withAuthors(ctx, out); err != nil {
			return nil, err
		}
		return &answer[CommandList]{CommandList{out}}, nil
	})
	operation.Register(t, operation.Row{
		ID: "get-command", Method: http.MethodGet, Path: "/commands/{id}", Tag: "commands", Right: auth.View,
		Summary: "Get one command",
		Example: "command get 0198c0de",
	}, func(ctx context.Context, in *PathID) (*answer[Command], error) {
		c, err := s.Commands.Get(ctx, in.ID)
		if err != nil {
			return nil, s.fail(err, "command "+in.ID)
		}
		if err := s.outsideCommand(in.principal, c); err != nil {
			return nil, err
		}
		out := toCommands([]command.Command{c})
		s.explainQueued(out)
		if err := s.withAuthors(ctx, out); err != nil {
			return nil, err
		}
		return &answer[Command]{out[0]}, nil
	})
	operation.Register(t, operation.Row{
		ID: "cancel-command", Method: http.MethodPost, Path: "/commands/{id}/cancel", Tag: "commands", Right: sending,
		Summary: "Cancel a command",
		Description: "If it was not sent yet, fleetd cancels it. Otherwise fleetd sends sys/cancel to the robot, which answers " +
			"whether it can still cancel it.",
		Audit:   audit.ActionCancel,
		Use:     "command cancel ID",
		Example: "command cancel 0198c0de",
	}, func(ctx context.Context, in *struct {
		PathID
		Prefer string `header:"Prefer" doc:"wait=N"`
		Body   audit.Attribution
	}) (*answer[CancelResult], error) {
		return s.cancelCommand(ctx, in.principal, in.ID, in.Body, in.Prefer)
	})
	operation.Register(t, operation.Row{
		ID: "list-batches", Method: http.MethodGet, Path: "/batches", Tag: "commands", Right: auth.View,
		Summary: "List batches, the newest first",
		Use:     "command batches",
		Short:   "list what was sent to robots, one line for each request, the newest first",
	}, func(ctx context.Context, in *struct {
		caller
		Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"at most this many" cli:"limit,,50"`
	}) (*answer[BatchList], error) {
		rows, err := s.Commands.Batches(ctx, in.Limit, in.principal.Sites)
		if err != nil {
			return nil, s.fail(err, "batches")
		}
		out := BatchList{Batches: []Batch{}}
		for _, b := range rows {
			one := batchOf(b, nil)
			one.Counts, one.Outcome, one.Selector = nil, "", s.visibleSelector(in.principal, b.Selector)
			out.Batches = append(out.Batches, one)
		}
		return &answer[BatchList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "get-batch", Method: http.MethodGet, Path: "/batches/{id}", Tag: "commands", Right: auth.View,
		Summary: "Get one batch with its commands",
		Example: "command get 0198c0de",
	}, func(ctx context.Context, in *PathID) (*answer[Batch], error) {
		b, err := s.storedBatch(ctx, in.principal, in.ID)
		if err != nil {
			return nil, err
		}
		return &answer[Batch]{b}, nil
	})
}

// cancelCommand cancels a command in fleetd, or sends sys/cancel to its robot.
func (s *server) cancelCommand(ctx context.Context, p auth.Principal, id string, by audit.Attribution,
	prefer string) (*answer[CancelResult], error) {
	c, err := s.Commands.Get(ctx, id)
	if err != nil {
		return nil, s.fail(err, "command "+id)
	}
	if no := forbidden(p, rightOf(c.Verb), "Cancel "+c.Verb); no != nil {
		return nil, no
	}
	if err := s.outsideCommand(p, c); err != nil {
		return nil, err
	}
	if c.State.Final() {
		return nil, KindConflict.Problem("the command has ended already: "+string(c.State)+", "+c.Because, "send another command if needed")
	}
	if s.Dispatcher.Cancel(ctx, id) {
		if err := s.Commands.NoteCancelled(context.WithoutCancel(ctx), p, id, attribute(p, by)); err != nil {
			s.Log.ErrorContext(ctx, "cancellation not written to the audit", "command", id, "by", attribute(p, by).Who, "error", err)
		}
		c, _ = command.Step(c, s.Now(), command.Event{Kind: command.CancelRequested}) // the dispatcher writes the same state
		return &answer[CancelResult]{CancelResult{Command: toCommand(c)}}, nil
	}
	if c.State == command.Queued && c.Owner != s.Status().Name {
		return nil, KindConflict.Problem("fleetd instance "+c.Owner+" received the command and has not sent it yet", "cancel it at that instance")
	}
	args, err := json.Marshal(map[string]string{"id": id})
	if err != nil {
		return nil, fmt.Errorf("encode the cancellation of command %s: %w", id, err)
	}
	asked, err := s.issue(ctx, p, CommandRequest{Verb: "sys/cancel", Args: args, Selector: selector.Selector{IDs: []string{c.Robot}},
		By: by.Who, Why: by.Why}, prefer, "")
	if err != nil {
		return nil, err
	}
	if c, err = s.Commands.Get(ctx, id); err != nil {
		return nil, s.fail(err, "command "+id)
	}
	return &answer[CancelResult]{CancelResult{Command: toCommand(c), Cancel: &asked.Body}}, nil
}
