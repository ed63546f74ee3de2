package robot

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/page"
	"troupe/schema"
	"troupe/schema/verb"
)

const (
	// viewWithin bounds the wait for the loop, which makes several steps per second.
	viewWithin = time.Second
	// answerWithin bounds the wait for a final answer. A mode may take longer to start.
	answerWithin = 3 * time.Second
	// stopAnswerWithin is the same for a stop. The page gives one up after 2 s, so that people soon stop the robot
	// another way; that it was accepted is an answer, although the robot still brakes.
	stopAnswerWithin = 1500 * time.Millisecond
	// eventsShown is how many events the page shows, and routineShown how many of them at most are
	// routine: those of a fault stay while the robot performs.
	eventsShown  = 30
	routineShown = 8
	// eventsRead is how many of the events of earlier runs are looked at for the page.
	eventsRead = 10 * eventsShown
)

// local is the robot for the page at the robot. Its commands enter the loop as those of the
// broker's clients do.
type local struct {
	ctx  context.Context // ends when the loop does
	loop *loop

	mu      sync.Mutex
	asked   map[string]chan schema.Ack // by the ids of commands
	viewers []chan effect.Snapshot     // of the next snapshot
	events  []schema.Event             // the oldest first
}

func newLocal(ctx context.Context, l *loop) *local {
	return &local{ctx: ctx, loop: l, asked: map[string]chan schema.Ack{}}
}

// remember takes in the events of earlier runs.
func (l *local) remember(read func() ([][]byte, error)) {
	saved, err := read()
	if err != nil { // the page shows those of this run only
		return
	}
	for _, payload := range saved[max(0, len(saved)-eventsRead):] {
		l.happened(effect.SaveEvent{Payload: payload})
	}
}

// The effects that the page shows. None of them waits.

func (l *local) happened(e effect.Save) {
	saved, is := e.(effect.SaveEvent)
	if !is || l == nil {
		return
	}
	var ev schema.Event
	if json.Unmarshal(saved.Payload, &ev) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, ev)
	isRoutine := func(e schema.Event) bool { return schema.EventOf(e.Type).Routine }
	drop, of := 0, 0
	for _, e := range l.events {
		if isRoutine(e) {
			of++
		}
	}
	if of > routineShown {
		drop = slices.IndexFunc(l.events, isRoutine)
	}
	if of > routineShown || len(l.events) > eventsShown {
		l.events = slices.Delete(l.events, drop, drop+1)
	}
}

func (l *local) snapshot(s effect.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.viewers {
		one <- s // has room for it
	}
	l.viewers = nil
}

// forPage reports whether a publication is an answer to the page.
func forPage(p effect.Publish) bool {
	return p.Topic == schema.TopicAck && p.Param == schema.LocalClient
}

// answered takes an answer.
func (l *local) answered(p effect.Publish) {
	if l == nil {
		return
	}
	var a schema.Ack
	if json.Unmarshal(p.Payload, &a) != nil || a.ID == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if asked := l.asked[*a.ID]; asked != nil {
		select {
		case asked <- a:
		default: // nobody reads more of them
		}
	}
}

// View implements page.Robot.
func (l *local) View(ctx context.Context) (page.View, error) {
	ctx, cancel := context.WithTimeout(ctx, viewWithin)
	defer cancel()
	came := make(chan effect.Snapshot, 1)
	l.mu.Lock()
	l.viewers = append(l.viewers, came)
	l.mu.Unlock()
	l.send(ctx, event.Inspect{})
	select {
	case s := <-came:
		l.mu.Lock()
		defer l.mu.Unlock()
		v := page.View{Snapshot: s, Events: slices.Clone(l.events)}
		slices.Reverse(v.Events)
		return v, nil
	case <-ctx.Done():
	case <-l.ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.viewers = slices.DeleteFunc(l.viewers, func(one chan effect.Snapshot) bool { return one == came })
	return page.View{}, page.ErrSilent
}

// Ask implements page.Robot.
func (l *local) Ask(ctx context.Context, id string, args any) (schema.Ack, error) {
	group, name, v := verbOf(id)
	request := map[string]any{"id": uuid.NewString(), "args": args}
	payload, err := json.Marshal(request)
	if err != nil {
		return schema.Ack{}, err
	}
	within := answerWithin
	if v.Class == verb.ClassStop {
		within = stopAnswerWithin
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	answers := make(chan schema.Ack, 8)
	named := request["id"].(string)
	l.mu.Lock()
	l.asked[named] = answers
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.asked, named)
	}()
	ev := event.Command{Client: schema.LocalClient, Group: group, Verb: name, Payload: payload, Read: time.Since(l.loop.start)}
	if v.Class == verb.ClassStop {
		l.loop.stop(l.ctx, ev) // not ctx: a browser that is gone has pressed the button all the same
	} else {
		l.send(ctx, ev)
	}
	newest, any := schema.Ack{}, false
	for {
		select {
		case newest = <-answers:
			if any = true; newest.Status.Final() {
				return newest, nil
			}
			continue
		case <-ctx.Done():
		case <-l.ctx.Done():
		}
		if any {
			return newest, nil
		}
		return newest, page.ErrSilent
	}
}

// ReleaseStops implements page.Robot.
func (l *local) ReleaseStops(ctx context.Context) error {
	l.send(ctx, event.ReleaseStops{})
	return ctx.Err()
}

// Heartbeat implements page.Robot.
func (l *local) Heartbeat(ctx context.Context) {
	l.send(ctx, event.Heartbeat{Client: schema.LocalClient, FromConsole: true})
}

// send sends an event to the loop, until the caller or the loop has ended, or viewWithin is over.
func (l *local) send(ctx context.Context, ev event.Event) {
	ctx, cancel := context.WithTimeout(ctx, viewWithin)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	l.loop.send(ctx, ev)
}
