package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"troupe/broker/link"
	"troupe/fleetd/trace"
	"troupe/schema"
	"troupe/schema/verb"
)

// Why there is no answer to a question.
var (
	ErrNoAnswer = errors.New("no answer") // the robot did not answer in time
	ErrNotSent  = errors.New("not sent")  // the question was not published
)

// Questions asks robots what they know, by commands that change nothing. A question belongs to no
// batch and is not persisted: the request that asks waits for the answer, and can be repeated.
type Questions struct {
	deps Deps

	mu   sync.Mutex
	open map[string]question // by id
}

type question struct {
	robot  string
	answer chan schema.Ack // capacity 1
}

// NewQuestions returns Questions without an open question.
func NewQuestions(d Deps) *Questions { return &Questions{deps: d, open: map[string]question{}} }

// Ask sends a robot a command and waits for its final answer, as long as the command is valid.
func (q *Questions) Ask(ctx context.Context, robot string, v verb.Verb, args verb.Args) (schema.Ack, error) {
	ctx, cancel := context.WithTimeout(ctx, v.TTL)
	defer cancel()
	id := "question:" + uuid.NewString()
	payload, err := verb.Encode(v, verb.Request{Args: args, Envelope: schema.Envelope{ID: id, TS: schema.TimeOf(q.deps.Now()),
		TTLMS: v.TTL.Milliseconds()}})
	if err != nil {
		return schema.Ack{}, err
	}
	one := question{robot, make(chan schema.Ack, 1)}
	q.mu.Lock()
	q.open[id] = one
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.open, id)
	}()
	ctx, span := trace.Start(ctx, trace.Client, "command "+v.ID(), trace.String("messaging.system", "mqtt"),
		trace.String("troupe.robot", robot),
		trace.String("troupe.verb", v.ID()), trace.String("troupe.command", id))
	defer span.End()
	if err := q.deps.Publish(ctx, link.Message{Topic: q.deps.Namespace.Topic(schema.TopicCmd, robot, q.deps.Name, v.Group, v.Name),
		Payload: payload, QoS: 1}); err != nil {
		span.Fail()
		return schema.Ack{}, fmt.Errorf("%s to %s: %w: %w", v.ID(), robot, ErrNotSent, err)
	}
	select {
	case a := <-one.answer:
		traceAnswer(span, v.ID(), a)
		return a, nil
	case <-ctx.Done():
		span.Fail()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return schema.Ack{}, fmt.Errorf("%s to %s: %w within %v", v.ID(), robot, ErrNoAnswer, v.TTL)
		}
		return schema.Ack{}, ctx.Err()
	}
}

// Answered receives a robot's answer to a command of this instance; it does not block.
func (q *Questions) Answered(robot string, a schema.Ack) {
	if a.ID == nil || !a.Status.Final() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if one, asked := q.open[*a.ID]; asked && one.robot == robot {
		delete(q.open, *a.ID)
		one.answer <- a
	}
}
