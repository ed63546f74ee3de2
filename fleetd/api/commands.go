package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/command"
	"troupe/fleetd/selector"
	"troupe/schema"
	"troupe/schema/verb"
)

// maxWait bounds Prefer: wait.
const maxWait = 60 * time.Second

// batchAnswer is the answer to an order.
type batchAnswer struct {
	Status   int
	Location string `header:"Location"`
	Body     Batch
}

// Targets says which robots an order selects.
type Targets interface {
	// Targets returns the robots that match a selector, and the names in it that are no
	// robots of the fleet. For a stop, named robots are targets even if they are unknown.
	Targets(s selector.Selector, stop bool) (targets []command.Target, unknownRobots []string)
	// Labelled reports whether the robots' labels are known. Before the database was read
	// they are not, and each robot checks itself whether a stop's labels match.
	Labelled() bool
}

// Commands sends and reads commands.
type Commands interface {
	// Issue sends commands. A stop is sent before it is persisted, everything else after.
	Issue(ctx context.Context, b command.Batch, commands []command.Command, stop bool) (Ticket, error)
	// Cancel cancels a command if it was not sent to its robot yet, and reports whether it
	// did.
	Cancel(ctx context.Context, id string) bool

	Get(ctx context.Context, id string) (command.Command, error)
	List(ctx context.Context, q CommandQuery) ([]command.Command, error)
	Batch(ctx context.Context, id string) (command.Batch, []command.Command, error)
	Batches(ctx context.Context, limit int) ([]command.Batch, error)
}

// Ticket tracks a batch in progress.
type Ticket interface {
	Commands() []command.Command
	Settled() <-chan struct{}
	Persisted() bool
}

// CommandQuery selects commands; zero values select all.
type CommandQuery struct {
	Batch string
	Robot string
	State command.State
	Limit int
}

type commandList struct {
	Commands []Command `json:"commands"`
}

type batchList struct {
	Batches []Batch `json:"batches"`
}

func (s *server) commands(h huma.API) {
	register(h, op("command", http.MethodPost, "/commands", "commands", "Send a command to many robots",
		"One MQTT command to each robot that matches the selector. The answer is the batch, at once or, with Prefer: wait=N (seconds, at most 60), when every robot has answered.",
		"Stops are sent before they are persisted, do not wait for the database and ignore expected_count.",
		"A repeated request with the same Idempotency-Key returns the same batch."), sending,
		func(ctx context.Context, in *struct {
			caller
			Prefer string `header:"Prefer" doc:"wait=N"`
			Key    string `header:"Idempotency-Key" maxLength:"64"`
			Body   Order
		}) (*batchAnswer, error) {
			return s.order(ctx, in.principal, in.Body, in.Prefer, in.Key)
		})
	register(h, op("list-commands", http.MethodGet, "/commands", "commands", "List commands, the newest first"), auth.View,
		func(ctx context.Context, in *struct {
			caller
			Batch string `query:"batch"`
			Robot string `query:"robot"`
			State string `query:"state" enum:"QUEUED,SENT,ACKED,RUNNING,SUCCEEDED,FAILED,REJECTED,CANCELLED,SUPERSEDED,EXPIRED,UNDELIVERED,UNKNOWN"`
			Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*answer[commandList], error) {
			rows, err := s.Commands.List(ctx, CommandQuery{Batch: in.Batch, Robot: in.Robot, State: command.State(in.State), Limit: in.Limit})
			if err != nil {
				return nil, s.fail(err, "commands")
			}
			out := toCommands(rows)
			s.explainQueued(out)
			return &answer[commandList]{commandList{out}}, nil
		})
	register(h, op("get-command", http.MethodGet, "/commands/{id}", "commands", "Get one command"), auth.View,
		func(ctx context.Context, in *One) (*answer[Command], error) {
			c, err := s.Commands.Get(ctx, in.ID)
			if err != nil {
				return nil, s.fail(err, "command "+in.ID)
			}
			out := toCommands([]command.Command{c})
			s.explainQueued(out)
			return &answer[Command]{out[0]}, nil
		})
	register(h, op("cancel-command", http.MethodPost, "/commands/{id}/cancel", "commands", "Cancel a command",
		"If it was not sent yet, fleetd cancels it. Otherwise fleetd sends sys/cancel to the robot, which answers whether it can still cancel it."), sending,
		func(ctx context.Context, in *struct {
			One
			Prefer string `header:"Prefer" doc:"wait=N"`
			Body   Signed
		}) (*answer[CancelResult], error) {
			return s.cancelCommand(ctx, in.principal, in.ID, in.Body, in.Prefer)
		})
	register(h, op("list-batches", http.MethodGet, "/batches", "commands", "List batches, the newest first"), auth.View,
		func(ctx context.Context, in *struct {
			caller
			Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*answer[batchList], error) {
			rows, err := s.Commands.Batches(ctx, in.Limit)
			if err != nil {
				return nil, s.fail(err, "batches")
			}
			out := batchList{Batches: []Batch{}}
			for _, b := range rows {
				one := batchOf(b, nil)
				one.Counts, one.Outcome = nil, ""
				out.Batches = append(out.Batches, one)
			}
			return &answer[batchList]{out}, nil
		})
	register(h, op("get-batch", http.MethodGet, "/batches/{id}", "commands", "Get one batch with its commands"), auth.View,
		func(ctx context.Context, in *One) (*answer[Batch], error) {
			b, err := s.storedBatch(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			return &answer[Batch]{b}, nil
		})
}

// storedBatch reads a batch with its commands.
func (s *server) storedBatch(ctx context.Context, id string) (Batch, error) {
	b, rows, err := s.Commands.Batch(ctx, id)
	if err != nil {
		return Batch{}, s.fail(err, "batch "+id)
	}
	out := batchOf(b, rows)
	s.explainQueued(out.Commands)
	return out, nil
}

// classOf returns the class of a verb as a request writes it; empty = there is no such verb.
func classOf(name string) verb.Class {
	group, name, _ := strings.Cut(name, "/")
	v, _ := verb.Of(group, name)
	return v.Class
}

// order issues a command that a person wrote, if they have the right to.
func (s *server) order(ctx context.Context, p auth.Principal, o Order, prefer, key string) (*batchAnswer, error) {
	if no := forbidden(p, rightOf(classOf(o.Verb)), "Send "+o.Verb); no != nil {
		return nil, no
	}
	return s.issue(ctx, p, o, prefer, key)
}

// issue makes a batch of an order and sends it.
func (s *server) issue(ctx context.Context, p auth.Principal, o Order, prefer, key string) (*batchAnswer, error) {
	wait, err := waitOf(prefer)
	if err != nil {
		return nil, err
	}
	if found := o.Selector.Problems(); len(found) > 0 {
		return nil, refusal(inBody("/selector", found))
	}
	stop := classOf(o.Verb) == verb.ClassStop
	targets, unknown := s.Targets.Targets(o.Selector, stop)
	if len(unknown) > 0 {
		return nil, refusal(inBody("/selector", unknownRobotProblems(o.Selector, unknown)))
	}
	x, found := command.Expand(command.Request{
		Verb: o.Verb, Args: jsontext.Value(o.Args), Selector: o.Selector.String(), By: o.By, Why: o.Why,
		TTL: time.Duration(o.TTLMS) * time.Millisecond, Expected: o.ExpectedCount,
		If: schema.Precondition{Mode: o.If.Mode, StateSeq: o.If.StateSeq, Session: o.If.Session, StoryRev: o.If.StoryRev},
	}, targets, s.Now(), ids(key, stop))
	if len(found) > 0 && !(o.DryRun && onlyCounts(found)) {
		return nil, refusal(inBody("", found)).withCount(len(x.Commands))
	}
	out := batchOf(x.Batch, x.Commands)
	out.Waiting, out.Skipped = x.Waiting, skipped(x.Skipped)
	if o.DryRun {
		out.ID, out.DryRun, out.Counts, out.Outcome = "", true, nil, ""
		for i := range out.Commands {
			out.Commands[i] = Command{Robot: out.Commands[i].Robot, Verb: o.Verb}
		}
		return &batchAnswer{Status: http.StatusOK, Body: out}, nil
	}
	x.Batch.Principal = p.ID
	t, err := s.Commands.Issue(ctx, x.Batch, x.Commands, stop)
	if errors.Is(err, change.ErrConflict) && key != "" {
		return s.repeatedBatch(ctx, x.Batch)
	}
	if err != nil {
		return nil, s.fail(err, "one of the robots")
	}
	if stop && !s.Instance.Status().Broker.OK {
		return nil, KindBroker.Problem("the stop reached no robot: fleetd is not connected to the broker; it is sent if the connection is back at once", "stop the robots at the robots")
	}
	await(ctx, t, wait)
	now := batchOf(x.Batch, t.Commands())
	s.explainQueued(now.Commands)
	now.Waiting, now.Skipped, now.Unpersisted = out.Waiting, out.Skipped, !t.Persisted()
	if stop {
		now.NeverSeen = s.neverSeen(o.Selector.IDs)
	}
	return &batchAnswer{Status: http.StatusAccepted, Location: Prefix + "/batches/" + x.Batch.ID, Body: now}, nil
}

// cancelCommand cancels a command in fleetd, or sends sys/cancel to its robot.
func (s *server) cancelCommand(ctx context.Context, p auth.Principal, id string, by Signed, prefer string) (*answer[CancelResult], error) {
	c, err := s.Commands.Get(ctx, id)
	if err != nil {
		return nil, s.fail(err, "command "+id)
	}
	if no := forbidden(p, rightOf(classOf(c.Verb)), "Cancel "+c.Verb); no != nil {
		return nil, no
	}
	if c.State.Final() {
		return nil, KindConflict.Problem("the command has ended already: "+string(c.State)+", "+c.Because, "send another command if needed")
	}
	if s.Commands.Cancel(ctx, id) {
		c, _ = command.Step(c, s.Now(), command.Event{Kind: command.CancelRequested}) // the dispatcher writes the same state
		return &answer[CancelResult]{CancelResult{Command: toCommand(c)}}, nil
	}
	if c.State == command.Queued && c.Owner != s.Instance.Status().Name {
		return nil, KindConflict.Problem("fleetd instance "+c.Owner+" received the command and has not sent it yet", "cancel it at that instance")
	}
	args, err := json.Marshal(map[string]string{"id": id})
	if err != nil {
		return nil, s.fail(err, "command "+id)
	}
	asked, err := s.issue(ctx, p, Order{Verb: "sys/cancel", Args: args, Selector: selector.Selector{IDs: []string{c.Robot}}, By: by.By, Why: by.Why}, prefer, "")
	if err != nil {
		return nil, err
	}
	if c, err = s.Commands.Get(ctx, id); err != nil {
		return nil, s.fail(err, "command "+id)
	}
	return &answer[CancelResult]{CancelResult{Command: toCommand(c), Cancel: &asked.Body}}, nil
}

// neverSeen returns the ids of robots that fleetd never saw.
func (s *server) neverSeen(ids []string) []string {
	var out []string
	for _, id := range ids {
		if _, seen := s.Robots.Robot(id); !seen {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// repeatedBatch answers a request whose Idempotency-Key was used before.
func (s *server) repeatedBatch(ctx context.Context, asked command.Batch) (*batchAnswer, error) {
	b, err := s.storedBatch(ctx, asked.ID)
	if err != nil {
		return nil, err
	}
	if b.Verb != asked.Verb || b.Selector != asked.Selector || fmt.Sprint(b.Args) != fmt.Sprint(asked.Args) {
		return nil, KindInvalid.Problem("this Idempotency-Key was used for another request", "use a new key")
	}
	return &batchAnswer{Status: http.StatusAccepted, Location: Prefix + "/batches/" + b.ID, Body: b}, nil
}

// keys is the UUID name space of batch ids that are derived from an Idempotency-Key.
var keys = uuid.MustParse("6f0f1d3e-5f0b-4f43-9f0c-6c1f2d0f7a11")

// ids returns a generator of ids. With a key the first id, that of the batch, is derived
// from it, so that the database detects a repetition.
func ids(key string, stop bool) func() string {
	first := key != "" && !stop
	return func() string {
		if first {
			first = false
			return uuid.NewSHA1(keys, []byte(key)).String()
		}
		return uuid.Must(uuid.NewV7()).String()
	}
}

func onlyCounts(found []schema.Problem) bool {
	for _, p := range found {
		if p.Code != command.CodeCountChanged && p.Code != command.CodeNobody {
			return false
		}
	}
	return true
}

func unknownRobotProblems(sel selector.Selector, unknown []string) []schema.Problem {
	var out []schema.Problem
	for _, id := range unknown {
		for i, named := range sel.IDs {
			if named == id {
				out = append(out, schema.Fault(fmt.Sprintf("/ids/%d", i), string(schema.ReasonUnknownRobot), "no robot "+id+" belongs to this fleet", "list the robots, or adopt it"))
			}
		}
	}
	return out
}

// waitOf reads Prefer: wait=N.
func waitOf(prefer string) (time.Duration, error) {
	for part := range strings.SplitSeq(prefer, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if !strings.EqualFold(name, "wait") {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return 0, KindInvalid.Problem(fmt.Sprintf("Prefer: wait=%s is not a number of seconds", value), "write Prefer: wait=5")
		}
		return min(time.Duration(n)*time.Second, maxWait), nil
	}
	return 0, nil
}

func batchOf(b command.Batch, rows []command.Command) Batch {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b command.Command) int { return cmp.Compare(a.Robot, b.Robot) })
	states := make([]command.State, len(rows))
	for i, c := range rows {
		states[i] = c.State
	}
	sum := command.Summarise(states)
	return Batch{
		ID: b.ID, Verb: b.Verb, Args: b.Args, Selector: b.Selector, At: schema.TimeOf(b.CreatedAt), By: b.By, Why: b.Why,
		Total: b.Total, Counts: sum.By, Outcome: sum.Outcome, Commands: toCommands(rows),
	}
}

func toCommands(rows []command.Command) []Command {
	out := make([]Command, len(rows))
	for i, c := range rows {
		out[i] = toCommand(c)
	}
	return out
}

func toCommand(c command.Command) Command {
	return Command{
		ID: c.ID, Batch: c.Batch, Robot: c.Robot, Instance: c.Owner, Verb: c.Verb, State: c.State, Because: c.Because, Sends: c.Sends,
		At: timeOf(c.CreatedAt), Expires: timeOf(c.ExpiresAt), Ended: timeOf(c.EndedAt), Answer: c.Answer,
	}
}

func skipped(in []command.Skip) []Skip {
	out := make([]Skip, len(in))
	for i, s := range in {
		out[i] = Skip(s)
	}
	return out
}

// timeOf converts t; the zero time is omitted from JSON.
func timeOf(t time.Time) schema.Time {
	if t.IsZero() {
		return 0
	}
	return schema.TimeOf(t)
}

// await waits until every command of the batch is settled, or time is up.
func await(ctx context.Context, t Ticket, wait time.Duration) {
	if wait <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	select {
	case <-t.Settled():
	case <-ctx.Done():
	}
}
