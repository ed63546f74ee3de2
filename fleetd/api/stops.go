package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/latch"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
	"troupe/fleetd/stop"
	"troupe/schema"
)

// stopBodyTimeout bounds the time for the few bytes of a stop request. It allows for a
// radio link that is lost for seconds, and frees the connection for newer stops.
const stopBodyTimeout = 10 * time.Second

// levels maps the verb that carries out a stop to the level at which it is latched.
var levels = map[string]schema.StopLevel{
	"stop": schema.StopStop, "soft-stop": schema.StopSoft, "halt": schema.StopHalt, "estop": schema.StopHalt,
}

// levelOf returns the level at which POST /stops latches what a verb does; false if the verb is no stop of
// the whole robot.
func levelOf(name string) (level string, ok bool) {
	group, level, _ := strings.Cut(name, "/")
	return level, group == "safety" && levels[level] != ""
}

// StopPath is the path of stop requests.
const StopPath = Prefix + "/stops"

// LatchedList is the latched stops, the newest first.
type LatchedList struct {
	TS       schema.Time         `json:"ts"`
	Complete bool                `json:"complete" doc:"false: more stops may be latched, because the database was not read yet, or a robot reports one that is not persisted yet"`
	Broker   string              `json:"broker,omitempty" doc:"why fleetd is not connected to its broker; robots may then hold stops that fleetd does not know"`
	Stops    []latch.LatchedStop `json:"stops"`
}

func (s *server) stops(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "stop", Method: http.MethodPost, Path: "/stops", Tag: "stops", Right: auth.Stop,
		Summary: "Stop robots and latch the stop",
		Description: "Sent at once to every robot that matches the selector, before it is persisted; it does not wait for the " +
			"database." +
			" Each robot holds the stop, across restarts of any program, and cannot be enabled until it is released by " +
			"its id. It is not an emergency stop. Until fleetd has read its database, a selector with labels stops every " +
			"robot with these labels, whatever else it says." +
			" A page whose requests the browser may keep back sends the same body as the only message of the WebSocket " +
			StopSocketPath + ", whose answer is {status, body}." +
			" A stop that a client sends in both ways has an Idempotency-Key, in the query of the WebSocket as key. Its " +
			"repetition by the account within a minute is sent again too, but under the id of the first, so that one stop " +
			"is latched, and is answered with dup.",
		Audit:   audit.ActionStop,
		Use:     "stop ROBOT...",
		Example: "stop r1\nstop --all --why 'fire drill'\nstop r1 --level halt",
		Short:   "stop robots at once and latch the stop (software, not an emergency stop)",
		Long: "Stop robots at once and latch the stop. fleetd sends it before it persists it, also to robots\n" +
			"that seem offline, without waiting for the database or for a confirmation. Each robot stays\n" +
			"stopped under the id of the stop, across restarts of any program, until that id is released:\n\n" +
			"  fleetd stop list\n  fleetd stop release ID --why 'the stage is clear'\n\n" +
			"After the release robots do not move until fleetd safety enable allows it. After halt or estop\n" +
			"they are in E_STOP and need fleetd safety reset first.\n\n" +
			"A stop with --level estop latches as halt, and stop list and audit show it so.\n\n" +
			"This is not an emergency stop: it is software, and needs a working network, broker and robot\nprogram.",
		More: func(o *huma.Operation) { o.BodyReadTimeout = stopBodyTimeout },
	}, func(ctx context.Context, in *struct {
		caller
		Prefer string `header:"Prefer" doc:"wait=N"`
		Key    string `header:"Idempotency-Key"`
		Body   LatchStopRequest
	}) (*batchAnswer, error) {
		return s.stopAndLatch(ctx, in.principal, in.Body, in.Prefer, in.Key)
	})
	operation.Register(t, operation.Row{
		ID: "list-stops", Method: http.MethodGet, Path: "/stops", Tag: "stops", Right: auth.View,
		Summary: "List the latched stops, the newest first",
		Use:     "stop list",
		Long: "List the latched stops, the newest first. The list may be incomplete while fleetd cannot read\n" +
			"its database, or a robot reports a stop that is not persisted yet; the command then warns on\n" +
			"standard error and exits with 3. It also warns if fleetd is not connected to its broker.",
	}, func(_ context.Context, in *noInput) (*answer[LatchedList], error) {
		complete := s.Stops.Complete() // before Latched, so that a complete list is never reported for an incomplete one
		out := LatchedList{TS: schema.TimeOf(s.Now()), Complete: complete, Stops: s.visibleStops(in.principal, s.Stops.Latched())}
		if broker := s.Status().Broker; !broker.OK {
			out.Broker = orElse(broker.Why, "the connection is lost")
		}
		return &answer[LatchedList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "release-stops", Method: http.MethodPost, Path: "/stops/release", Tag: "stops", Right: auth.ReleaseStops,
		Summary: "Release stops by their ids",
		Description: "All of them or none. Robots that hold no other stop are then DISABLED, or in E_STOP until safety/reset, and " +
			"move only after safety/enable. Needs the database.",
		Audit:   audit.ActionRelease,
		Use:     "stop release ID...",
		Example: "stop release stop-260517-093000-1f0c --why clear",
		Long: "Release stops by their ids, all of them or none. Robots that hold no other stop then\n" +
			"move only after fleetd safety enable; those in E_STOP need fleetd safety reset first. A release\n" +
			"needs the database; the audit keeps who released the stop and why.",
	}, func(ctx context.Context, in *bodyOf[ReleaseRequest]) (*answer[Released], error) {
		b := in.Body
		if err := s.refuseRelease(in.principal, b.IDs); err != nil {
			return nil, err
		}
		problems, err := s.Stops.Release(ctx, in.principal, b.IDs, actingName(in.principal, b.By), b.Why)
		switch {
		case err != nil:
			return nil, s.fail(err, "the stops")
		case len(problems) > 0:
			return nil, refusal(inBody("", problems))
		}
		return &answer[Released]{Released{IDs: b.IDs, StillLatched: s.visibleStops(in.principal, s.Stops.Latched())}}, nil
	})
}

// stopAndLatch stops robots and latches the stop. A repetition with the same key is sent again, because the first copy may have failed.
func (s *server) stopAndLatch(ctx context.Context, p auth.Principal, in LatchStopRequest, prefer, key string) (*batchAnswer, error) {
	wait, err := waitOf(prefer)
	if err != nil {
		return nil, err
	}
	if found := in.Selector.Problems(); len(found) > 0 {
		return nil, refusal(inBody("/selector", found))
	}
	if in.Selector, err = s.narrow(p, in.Selector, true); err != nil {
		return nil, err
	}
	in.By = actingName(p, in.By)
	level := orElse(in.Level, "stop")
	now := s.Now()
	o := stop.Request{
		Level: levels[level], By: orElse(in.By, s.Status().Name), Why: in.Why, At: now.Truncate(time.Microsecond),
		All: in.Selector.All, Selects: in.Selector.String(), Source: p.Source(),
	}
	var dup bool
	o.ID, dup = s.stopIDs.of(sentStop{p.ID, key, level, o.Selects}, now)
	// Before Targets: labels that are read in between must not count as known. Robots compare labels
	// only, so what else the selector says is left out: to stop more robots is the safe error.
	loaded := s.View.Loaded()
	if !loaded {
		o.Labels = labelsOf(in.Selector)
	}
	targets, _ := s.View.Targets(in.Selector, true)
	args, err := schema.Encode(map[string]string{"latch": o.ID, "why": in.Why})
	if err != nil {
		return nil, err
	}
	x, found := command.Expand(command.Request{Verb: "safety/" + level, Args: args, Selector: o.Selects, By: in.By, Why: in.Why}, targets, now,
		ids(p, "", true))
	live := o.All || len(o.Labels) > 0 // robots that are unknown here may receive it all the same
	if !loaded && !live && onlyCounts(found) && len(found) > 0 {
		return nil, s.stopIncomplete(0)
	}
	if len(found) > 0 && !(onlyCounts(found) && live) {
		return nil, refusal(inBody("", found))
	}
	for _, c := range x.Commands {
		o.Robots = append(o.Robots, c.Robot)
	}
	x.Batch.Source = p.Source()
	audit.Written(ctx) // when the stop is persisted
	var t *dispatch.Handle
	goesOn := context.WithoutCancel(ctx) // also if the client disconnects
	err = s.Stops.StopAndLatch(goesOn, o, func(live bool) {
		id := ""
		if live && o.All { // labels may have changed at a robot, which then does not answer
			id = o.ID
		}
		t = s.Dispatcher.SendStop(goesOn, x.Batch, x.Commands, id)
	})
	t.AwaitPersisted()
	unspooled := err != nil
	if others := s.Status().Others; !s.Status().Broker.OK {
		if len(others) == 0 || !s.connectedWithin(goesOn, reconnectWait) {
			return nil, unsent(o.ID, others, t.Persisted())
		}
		s.Stops.PublishAgain(goesOn, o)
	}
	if !loaded && !live && in.Selector.NeedsView() {
		return nil, s.stopIncomplete(len(x.Commands))
	}
	await(ctx, t, wait)
	out := batchOf(x.Batch, t.Commands())
	out.Waiting, out.Unpersisted, out.Unspooled, out.Latch = x.Waiting, !t.Persisted(), unspooled, o.ID
	out.Dup = dup
	out.NeverSeen = s.neverSeen(in.Selector.IDs)
	return &batchAnswer{Status: http.StatusAccepted, Location: Prefix + "/stops", Body: out}, nil
}

// reconnectWait is how long the answer to a stop waits for the connection to the broker if other instances of fleetd send the
// stop meanwhile. On another node of a cluster it is there again in a moment, and then the robots that they stopped answer.
const reconnectWait = 3 * time.Second

// connectedWithin waits until fleetd is connected to the broker, and reports whether it is.
func (s *server) connectedWithin(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for !s.Status().Broker.OK {
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// unsent answers a stop that this instance could not send. It says what is known of its way over the other instances, from which
// this one heard until it lost its connection: they read stops from the database.
func unsent(id string, others []string, persisted bool) *Problem {
	const lost = "fleetd is not connected to the broker"
	const later = "when the connection is back, robots are stopped with the latched stop "
	names := strings.Join(others, " and ")
	switch {
	case len(others) == 0:
		return KindBroker.Problem("the stop reached no robot: "+lost+"; "+later+id, "stop the robots at the robots")
	case persisted:
		return KindBroker.Problem("it is not known here which robots stopped: "+lost+". The stop "+id+" is in the database, from which "+names+
			" sends it if it is connected", "look at the robots, or at "+names+"; stop those that still move at the robots")
	}
	return KindBroker.Problem("it is not known here whether any robot stopped: "+lost+", and the database, from which "+names+
		" would send the stop, does not have it yet; "+later+id, "stop the robots at the robots, and give the stop to "+names+", too")
}

// stopIncomplete answers a stop by the state of robots, which fleetd does not know before it has read its
// robots, or of all robots without a latch, which reaches only those that it has seen. sent is the number
// of robots to which it was sent, because they match already.
func (s *server) stopIncomplete(sent int) *Problem {
	detail := "the stop reached no robot"
	if sent > 0 {
		detail = fmt.Sprintf("the stop was sent to %d robots, and more may match", sent)
		if sent == 1 {
			detail = "the stop was sent to 1 robot, and more may match"
		}
	}
	p := KindLoading.Problem(detail+": fleetd has not read its robots from the database yet",
		"stop them with fleetd stop and their names, with -l and a label, or with --all: these stops work")
	p.retryAfter = 1
	return p
}

// stopID makes an id that a person can read aloud: the time and four hex digits.
func stopID(now time.Time) string {
	random := strings.ReplaceAll(uuid.NewString(), "-", "")
	return "stop-" + now.UTC().Format("060102-150405") + "-" + random[:4]
}

// sentStop is what a repetition of a stop has in common with it.
type sentStop struct{ account, key, level, selects string }

const (
	// stopRepeatedWithin is how long a stop with the same key is a repetition. A page sends a stop for 15 s at most.
	stopRepeatedWithin = time.Minute
	// maxStopKey is the length of the longest key that is remembered. A longer one refuses no stop.
	maxStopKey = 64
	// maxSentStops bounds the stops that are remembered. A repetition of one beyond it is latched by itself.
	maxSentStops = 1000
)

// stopIDs remembers the ids of the stops that were sent with a key.
type stopIDs struct {
	mu   sync.Mutex
	sent map[sentStop]stopIDAt
}

type stopIDAt struct {
	id string
	at time.Time
}

// of returns the id under which a stop is latched, and whether it is that of an earlier request.
func (s *stopIDs) of(o sentStop, now time.Time) (id string, dup bool) {
	id = stopID(now)
	if o.key == "" || len(o.key) > maxStopKey {
		return id, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.sent, func(_ sentStop, first stopIDAt) bool { return now.Sub(first.at) > stopRepeatedWithin })
	if first, repeated := s.sent[o]; repeated {
		return first.id, true
	}
	if s.sent == nil {
		s.sent = map[sentStop]stopIDAt{}
	}
	if len(s.sent) < maxSentStops {
		s.sent[o] = stopIDAt{id, now}
	}
	return id, false
}

func labelsOf(s selector.Selector) map[string]string {
	if len(s.Labels) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, l := range s.Labels {
		out[l.Key] = l.Value
	}
	return out
}

// LatchStopRequest asks to stop robots and latch the stop.
type LatchStopRequest struct {
	Selector selector.Selector `json:"selector"`
	Level    string            `json:"level,omitempty" enum:"stop,soft-stop,halt,estop" doc:"how to stop; default stop. estop is latched as halt, and also needs a reset" cli:"level,choice,stop"`
	By       string            `json:"by,omitempty" maxLength:"63" doc:"the person, if nobody is signed in; else it is the account's name"`
	Why      string            `json:"why,omitempty" maxLength:"256" doc:"the reason, for the audit"`
}

// ReleaseRequest names the stops to release, and who releases them.
type ReleaseRequest struct {
	IDs []string `json:"ids" minItems:"1" maxItems:"100"`
	By  string   `json:"by,omitempty" maxLength:"63" doc:"the person, if nobody is signed in; else it is the account's name"`
	Why string   `json:"why" maxLength:"256" pattern:"\\S" patternDescription:"a reason" doc:"why robots may move again"`
}

// Released is the result of a release.
type Released struct {
	IDs          []string            `json:"ids"`
	StillLatched []latch.LatchedStop `json:"latched" doc:"stops that are still latched"`
}
