package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/selector"
	"troupe/schema"
	"troupe/schema/verb"
)

// CommandRequest asks fleetd to send one command to many robots.
type CommandRequest struct {
	Verb          string            `json:"verb" doc:"group/verb, such as mode/set" example:"mode/set"`
	Args          json.RawMessage   `json:"args,omitempty" doc:"an object with the arguments of the verb (topics.md)"`
	Selector      selector.Selector `json:"selector"`
	By            string            `json:"by,omitempty" maxLength:"63" doc:"the person, if nobody is signed in; else it is the account's name"`
	Why           string            `json:"why,omitempty" maxLength:"256" doc:"the reason, for the audit"`
	If            Condition         `json:"if,omitzero" doc:"condition that each robot checks; ignored for stops" cli:"-"`
	TTLMS         int64             `json:"ttl_ms,omitempty" minimum:"1" maximum:"3600000" doc:"the robot refuses the command when it is older; default: that of the verb" cli:"ttl,ms"`
	DryRun        bool              `json:"dry_run,omitempty" doc:"only show which robots it would be sent to"`
	ExpectedCount *int              `json:"expected_count,omitempty" minimum:"0" doc:"refused unless exactly this many robots match; ignored for stops"`
}

// Condition is what must hold at each robot when it accepts the command. Fields that are
// left out are not checked.
type Condition struct {
	Mode     schema.ModeID `json:"mode,omitempty" doc:"the active mode" example:"mnl"`
	StateSeq int64         `json:"state_seq,omitempty" minimum:"1" doc:"state_seq of the robot's state; for one robot"`
	Session  string        `json:"session,omitempty" doc:"session of the robot; for one robot"`
	StoryRev int64         `json:"story_rev,omitempty" minimum:"1" doc:"the revision of the active story"`
}

// batchAnswer is the answer to a command request.
type batchAnswer struct {
	Status   int
	Location string `header:"Location"`
	Body     Batch
}

// classOf returns the class of a verb as a request writes it; empty = there is no such verb.
func classOf(name string) verb.Class {
	group, name, _ := strings.Cut(name, "/")
	v, _ := verb.Of(group, name)
	return v.Class
}

// sendCommand issues a command that a person wrote, if they have the right to.
func (s *server) sendCommand(ctx context.Context, p auth.Principal, o CommandRequest, prefer, key string) (*batchAnswer, error) {
	if no := forbidden(p, rightOf(o.Verb), "Send "+o.Verb); no != nil {
		return nil, no
	}
	return s.issue(ctx, p, o, prefer, key)
}

// withReason adds the reason to the arguments of a verb that takes one, and was given none: the
// robot publishes it.
func withReason(o CommandRequest) jsontext.Value {
	args := map[string]any{}
	group, name, _ := strings.Cut(o.Verb, "/")
	v, _ := verb.Of(group, name)
	if o.Why == "" || !v.Takes("why") || len(o.Args) > 0 && json.Unmarshal(o.Args, &args) != nil || args["why"] != nil {
		return jsontext.Value(o.Args)
	}
	args["why"] = o.Why
	text, err := json.Marshal(args)
	if err != nil {
		return jsontext.Value(o.Args)
	}
	return text
}

// issue makes a batch of a request and sends it.
func (s *server) issue(ctx context.Context, p auth.Principal, o CommandRequest, prefer, key string) (*batchAnswer, error) {
	wait, err := waitOf(prefer)
	if err != nil {
		return nil, err
	}
	o.By = actingName(p, o.By) // robots give control to a person: nobody uses another one's
	if found := o.Selector.Problems(); len(found) > 0 {
		return nil, refusal(inBody("/selector", found))
	}
	stop := classOf(o.Verb) == verb.ClassStop
	if o.Selector, err = s.narrow(p, o.Selector, stop); err != nil {
		return nil, err
	}
	loaded := s.View.Loaded() // before Targets: robots that are read in between must not count as unknown
	targets, unknown := s.View.Targets(o.Selector, stop)
	switch level, latches := levelOf(o.Verb); {
	case loaded:
	case !stop:
		return nil, s.loading("which robots the command is for")
	case latches && (o.Selector.All || len(o.Selector.Labels) > 0) && !o.DryRun: // no robot has labels here yet, and most may be unknown
		return s.stopAndLatch(ctx, p, LatchStopRequest{Selector: o.Selector, Level: level, By: o.By, Why: o.Why}, prefer, "")
	}
	if len(unknown) > 0 {
		return nil, refusal(inBody("/selector", unknownRobotProblems(o.Selector, unknown)))
	}
	if needsSight(o.Verb) && !o.DryRun {
		targets = s.sighted(ctx, o.Selector, targets)
	}
	x, found := command.Expand(command.Request{
		Verb: o.Verb, Args: withReason(o), Selector: o.Selector.String(), By: o.By, Why: o.Why,
		TTL: time.Duration(o.TTLMS) * time.Millisecond, Expected: o.ExpectedCount,
		If: schema.Precondition(o.If),
	}, targets, s.Now(), ids(p, key, stop))
	if !loaded && onlyCounts(found) && len(found) > 0 {
		return nil, s.stopIncomplete(0)
	}
	if len(found) > 0 && !(o.DryRun && onlyCounts(found)) {
		return nil, refusal(inBody("", found)).withCount(len(x.Commands))
	}
	out := batchOf(x.Batch, x.Commands)
	out.Waiting, out.Skipped = x.Waiting, x.Skipped
	if o.DryRun {
		out.ID, out.DryRun, out.Counts, out.Outcome = "", true, nil, ""
		for i := range out.Commands {
			out.Commands[i] = Command{Robot: out.Commands[i].Robot, Verb: o.Verb}
		}
		return &batchAnswer{Status: http.StatusOK, Body: out}, nil
	}
	x.Batch.Source = p.Source()
	if stop {
		audit.Written(ctx) // when the stop is persisted
	}
	t, err := s.Dispatcher.Issue(ctx, x.Batch, x.Commands, stop)
	if errors.Is(err, change.ErrConflict) && key != "" {
		return s.repeatedBatch(ctx, p, x.Batch)
	}
	if errors.Is(err, change.ErrNotFound) {
		return nil, KindConflict.Problem("a robot left the fleet at the same time", "try again")
	}
	if err != nil {
		return nil, s.fail(err, "the command "+o.Verb)
	}
	if stop && !s.Status().Broker.OK {
		return nil, KindBroker.Problem(
			"the stop reached no robot: fleetd is not connected to the broker; fleetd sends it if the connection is back within "+
				command.AnswerTimeout.String(), "stop the robots at the robots")
	}
	if !loaded && (o.Selector.All || o.Selector.NeedsView()) {
		return nil, s.stopIncomplete(len(x.Commands))
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

// heartbeatTimeout is a little more than the longest time from a change of a robot's state to its next heartbeat.
const heartbeatTimeout = 2500 * time.Millisecond

// needsSight reports whether robots carry out a verb only if its sender has seen them since
// they last stopped.
func needsSight(name string) bool {
	group, name, _ := strings.Cut(name, "/")
	v, _ := verb.Of(group, name)
	return v.Takes("seen_mono_ms")
}

// sighted waits until fleetd has of each target a heartbeat that is as new as its present
// state, so that a robot which has just been released does not refuse: people have seen its
// state, and fleetd sends the heartbeat as proof. It returns the targets as they are then.
func (s *server) sighted(ctx context.Context, sel selector.Selector, targets []command.Target) []command.Target {
	needed := map[string]int64{}
	for _, t := range targets {
		if t.Present && t.SeenSeq < t.StateSeq {
			needed[t.Robot] = t.StateSeq
		}
	}
	ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
	defer cancel()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for len(needed) > 0 {
		select {
		case <-ctx.Done():
			return targets // the robots decide
		case <-look.C:
		}
		targets, _ = s.View.Targets(sel, false)
		for _, t := range targets {
			if t.SeenSeq >= needed[t.Robot] || t.StateSeq == 0 { // 0: it has restarted meanwhile
				delete(needed, t.Robot)
			}
		}
	}
	return targets
}

// neverSeen returns the ids of robots that fleetd never saw.
func (s *server) neverSeen(ids []string) []string {
	var out []string
	for _, id := range ids {
		if _, seen := s.View.Robot(id); !seen {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// repeatedBatch answers a request whose Idempotency-Key was used before.
func (s *server) repeatedBatch(ctx context.Context, p auth.Principal, asked command.Batch) (*batchAnswer, error) {
	b, err := s.storedBatch(ctx, p, asked.ID)
	if err != nil {
		return nil, err
	}
	if b.Verb != asked.Verb || b.Selector != asked.Selector || b.By != asked.By || b.Why != asked.Why || !sameArgs(asked.Args, b.Args) {
		return nil, KindInvalid.Problem("this Idempotency-Key was used for another request", "use a new key")
	}
	audit.Written(ctx) // with the first request; this one sent nothing
	return &batchAnswer{Status: http.StatusAccepted, Location: Prefix + "/batches/" + b.ID, Body: b}, nil
}

// sameArgs reports whether the arguments of a request are those of a batch that was read, where every
// number is a float64.
func sameArgs(asked, stored map[string]any) bool {
	text, err := schema.Encode(asked)
	var read map[string]any
	return err == nil && json.Unmarshal(text, &read) == nil && reflect.DeepEqual(read, stored)
}

// keys is the UUID name space of batch ids that are derived from an Idempotency-Key.
var keys = uuid.MustParse("6f0f1d3e-5f0b-4f43-9f0c-6c1f2d0f7a11")

// ids returns a generator of ids. With a key the first id, that of the batch, is derived
// from it and from the account, so that the database detects a repetition. Accounts do not share keys.
func ids(p auth.Principal, key string, stop bool) func() string {
	first := key != "" && !stop
	return func() string {
		if first {
			first = false
			return uuid.NewSHA1(keys, []byte(p.ID+"\x00"+key)).String()
		}
		return uuid.Must(uuid.NewV7()).String()
	}
}

func onlyCounts(found []schema.Problem) bool {
	for _, p := range found {
		if p.Code != command.CodeCountChanged && p.Code != command.CodeNoRobot {
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
				out = append(out, schema.NewProblem(fmt.Sprintf("/ids/%d", i), string(schema.ReasonUnknownRobot), "no robot "+id+
					" belongs to this fleet", addingHint(id)))
			}
		}
	}
	return out
}

// maxWait bounds Prefer: wait.
const maxWait = 60 * time.Second

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

// await waits until every command of the batch is settled, or time is up.
func await(ctx context.Context, t *dispatch.Handle, wait time.Duration) {
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
