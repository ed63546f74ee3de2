package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
	"troupe/schema/verb"
)

// Request is a person's request to the robots of a selector.
type Request struct {
	Verb     string         // group/verb
	Args     jsontext.Value // JSON object; empty = no arguments
	Selector string         // as written, for the audit
	By       string
	Why      string
	TTL      time.Duration // 0 = that of the verb
	Expected *int          // number of robots that the person expects; nil = any
	// If is checked by each robot; it is ignored for stops.
	If schema.Precondition
}

// Target is one robot of the selector.
type Target struct {
	Robot   string
	Present bool
	Caps    *schema.Caps // nil = none received: the robot itself checks

	// For the sight of safety/enable and safety/reset (topics.md, Sight). While SeenSeq < StateSeq
	// no heartbeat has confirmed the newest state, and a request waits for one.
	SeenMonoMS int64  // mono_ms of the newest heartbeat that people could see; 0 = none
	SeenBoot   string // boot of the same heartbeat
	StateSeq   int64  // number of the newest state of that boot; 0 = none
	SeenSeq    int64  // number of the newest state when the heartbeat was sent
}

// Skip is a selected robot to which the command is not sent, with the reason.
type Skip struct {
	Robot  string        `json:"robot"`
	Reason schema.Reason `json:"reason"`
	Detail string        `json:"detail,omitempty"`
}

// Expansion is one request as a command for each robot. Nothing is sent or persisted yet,
// so a dry run can discard it.
type Expansion struct {
	Batch    Batch
	Commands []Command // by robot
	Waiting  []string  // robots of Commands that are offline: sent if they connect in time
	Skipped  []Skip
}

// Codes of problems of a request, besides those of its arguments.
const (
	CodeUnknownVerb  = "unknown_verb"
	CodeNoRobot      = "no_robot"
	CodeCountChanged = "count_changed" // another number of robots matches than expected
	CodeOutOfRange   = "out_of_range"
	CodeTooBig       = "too_big" // more bytes than a command may have
)

// Expand turns a request into a batch with one command per robot, or returns problems. It
// ignores Expected for a stop. id returns a new unique id.
func Expand(r Request, targets []Target, now time.Time, id func() string) (Expansion, []schema.Problem) {
	group, name, _ := strings.Cut(r.Verb, "/")
	v, ok := verb.Of(group, name)
	if !ok {
		return Expansion{}, []schema.Problem{schema.NewProblem("/verb", CodeUnknownVerb, fmt.Sprintf("there is no verb %q", r.Verb),
			"use one of "+strings.Join(verb.IDs(), ", "))}
	}
	if r.By, r.Why = strings.ToValidUTF8(r.By, "?"), strings.ToValidUTF8(r.Why, "?"); v.Class == verb.ClassStop {
		r.By, r.Why = schema.SanitizeText(r.By), schema.SanitizeText(r.Why) // a stop is never refused for its text
	}
	args, problems := arguments(v, r)
	ttl := r.TTL
	switch {
	case v.TTL == verb.NoTTL && v.Class == verb.ClassStop:
		ttl = 0 // a stop never expires, whatever the request says
	case ttl == 0:
		ttl = v.TTL
	case ttl < time.Millisecond || ttl > schema.MaxTTL:
		problems = append(problems, schema.NewProblem("/ttl_ms", CodeOutOfRange, fmt.Sprintf("the time to live must be 1 ms to %v",
			schema.MaxTTL), "leave it out to use that of the verb"))
	}
	if len(problems) > 0 {
		return Expansion{}, problems
	}
	if v.Class == verb.ClassStop {
		r.If = schema.Precondition{}
	}
	x := Expansion{Batch: Batch{ID: id(), Verb: r.Verb, Args: v.WithoutSecrets(args), Selector: r.Selector, CreatedAt: now, By: r.By,
		Why: r.Why}}
	targets = slices.SortedFunc(slices.Values(targets), func(a, b Target) int { return strings.Compare(a.Robot, b.Robot) })
	for _, t := range targets {
		if v.Class != verb.ClassStop && t.Caps != nil && !slices.Contains(t.Caps.Verbs, r.Verb) {
			x.Skipped = append(x.Skipped, Skip{t.Robot, schema.ReasonUnknownVerb, "its caps do not list " + r.Verb})
			continue
		}
		if name, ok := t.refuses(v, args); ok {
			x.Skipped = append(x.Skipped, Skip{t.Robot, schema.ReasonBadRequest, "its caps do not list the argument " + name + " of " + r.Verb})
			continue
		}
		c, err := x.Batch.command(v, args, r.If, t, ttl, id())
		if err != nil {
			return Expansion{}, []schema.Problem{schema.NewProblem("/args", string(schema.ReasonInternal), err.Error(), "")}
		}
		if most := schema.TopicOf(schema.TopicCmd).MaxBytes; len(c.Payload) > most {
			return Expansion{},
				[]schema.Problem{schema.NewProblem("/args", CodeTooBig, fmt.Sprintf("the command has %d bytes, robots accept at most %d",
					len(c.Payload), most), "split it into several commands")}
		}
		x.Commands = append(x.Commands, c)
		if !t.Present {
			x.Waiting = append(x.Waiting, t.Robot)
		}
	}
	x.Batch.Total = len(x.Commands)
	switch {
	case x.Batch.Total == 0:
		detail := fmt.Sprintf("no robot would get the command: %d are selected and skipped", len(x.Skipped))
		if len(x.Skipped) > 0 {
			detail += "; " + x.Skipped[0].Robot + ": " + x.Skipped[0].Detail
		}
		problems = append(problems, schema.NewProblem("/selector", CodeNoRobot, detail, "list the robots with the same selector"))
	case v.Class != verb.ClassStop && r.Expected != nil && *r.Expected != x.Batch.Total:
		problems = append(problems, schema.NewProblem("/expected_count", CodeCountChanged,
			fmt.Sprintf("%d robots would get the command, %d were expected", x.Batch.Total, *r.Expected), "check with a dry run"))
	}
	return x, problems
}

// arguments decodes the arguments, by and why as the robot will, so that fleetd refuses
// what the robot would refuse.
func arguments(v verb.Verb, r Request) (verb.Args, []schema.Problem) {
	args := r.Args
	if len(args) == 0 {
		args = jsontext.Value("{}")
	}
	payload, err := json.Marshal(struct {
		By   string         `json:"by,omitempty"`
		Why  string         `json:"why,omitempty"`
		Args jsontext.Value `json:"args"`
	}{r.By, r.Why, args})
	if err != nil {
		return nil, []schema.Problem{schema.NewProblem("/args", "syntax", "the arguments are not JSON", "send an object")}
	}
	as, problems := verb.Decode(v, payload)
	if len(problems) > 0 {
		return as.Args, problems
	}
	switch a := as.Args.(type) {
	case verb.Perform:
		_, problems = a.PerformRequest()
	case verb.PostIntent:
		_, problems = a.Utterance()
	}
	return as.Args, schema.Errors(problems)
}

// refuses returns the first given argument that the robot does not support. fleetd must
// not leave it out, because the robot would then do something else than requested. A stop
// is always sent: robots obey it whatever its arguments.
func (t Target) refuses(v verb.Verb, args verb.Args) (name string, refuses bool) {
	if v.Class == verb.ClassStop || t.Caps == nil {
		return "", false
	}
	for _, name := range slices.Sorted(maps.Keys(v.Given(args))) {
		if takes, known := t.Caps.Takes(v.ID(), name); known && !takes {
			return name, true
		}
	}
	return "", false
}

// mayAdd reports whether fleetd may add an argument by itself: not if the robot's caps are known and do
// not list it, because robots refuse commands with unknown arguments.
func (t Target) mayAdd(v verb.Verb, name string) bool {
	if t.Caps == nil {
		return true
	}
	takes, _ := t.Caps.Takes(v.ID(), name)
	return takes
}

func (b Batch) command(v verb.Verb, args verb.Args, when schema.Precondition, t Target, ttl time.Duration, id string) (Command, error) {
	// safety/enable and safety/reset: fleetd adds the newest heartbeat (sight).
	if a, ok := args.(verb.EnableOrReset); ok && a.SeenMonoMS == 0 && t.mayAdd(v, "seen_mono_ms") {
		a.SeenMonoMS = t.SeenMonoMS
		if t.mayAdd(v, "seen_boot") {
			a.SeenBoot = t.SeenBoot
		}
		args = a
	}
	payload, err := verb.Encode(v, verb.Request{Args: args, Envelope: schema.Envelope{
		ID: id, TS: schema.TimeOf(b.CreatedAt), TTLMS: ttl.Milliseconds(), By: b.By, Why: b.Why, Batch: b.ID, If: when,
	}})
	if err != nil {
		return Command{}, err
	}
	c := Command{ID: id, Batch: b.ID, Robot: t.Robot, Verb: b.Verb, Payload: payload, CreatedAt: b.CreatedAt, State: Queued, Because: "made"}
	if ttl > 0 {
		c.ExpiresAt = b.CreatedAt.Add(ttl)
	}
	return c, nil
}

// Outcome is the result of a batch.
type Outcome string

const (
	OutcomeRunning    Outcome = "running"    // some commands are not settled
	OutcomeSucceeded  Outcome = "succeeded"  // all succeeded
	OutcomePartial    Outcome = "partial"    // some succeeded
	OutcomeFailed     Outcome = "failed"     // none succeeded, and all were answered
	OutcomeUnanswered Outcome = "unanswered" // none succeeded, and some were not answered, not delivered or expired
)

// Summary counts the commands of a batch by state.
type Summary struct {
	Total   int
	By      map[State]int
	Outcome Outcome
}

// Summarise counts states and determines the outcome.
func Summarise(states []State) Summary {
	s := Summary{Total: len(states), By: map[State]int{}}
	settled := 0
	for _, state := range states {
		s.By[state]++
		if state.Settled() {
			settled++
		}
	}
	switch {
	case settled < s.Total:
		s.Outcome = OutcomeRunning
	case s.By[Succeeded] == s.Total:
		s.Outcome = OutcomeSucceeded
	case s.By[Succeeded] > 0:
		s.Outcome = OutcomePartial
	case s.By[Unknown]+s.By[Undelivered]+s.By[Expired] > 0:
		s.Outcome = OutcomeUnanswered
	default:
		s.Outcome = OutcomeFailed
	}
	return s
}
