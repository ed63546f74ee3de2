package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"troupe/schema"
)

const topics = schema.DefaultNamespace

// answerLimit is after how long a command without an answer is lost.
const answerLimit = 5 * time.Second

// operators is from how many clients a requester sends, in turn: the broker takes 20 commands a second of one client
// to one robot, and refuses those beyond.
const operators = 100

func operator(i int) string { return fmt.Sprintf("op%d", i+1) }

// operatorUsers are the lines of a users file for the clients of requesters and for robots.
func operatorUsers(robots ...string) (lines []string) {
	for i := range operators {
		lines = append(lines, operator(i)+" "+string(schema.RoleOperator))
	}
	for _, id := range robots {
		lines = append(lines, id+" "+string(schema.RoleRobot))
	}
	return lines
}

// A requester sends commands to one robot, one after the other, and waits for the answer to each.
type requester struct {
	robot    string
	clients  []*client
	received chan received
	sent     int
	answered map[string]bool // by id, of commands that are not far in the past
}

// received is one answer.
type received struct {
	at      time.Time
	payload []byte
}

// newRequester connects so many operators to the broker. The suffix of their client ids differs between requesters.
func (r *run) newRequester(addr, robot, suffix string, clients int) (*requester, error) {
	q := &requester{robot: robot, received: make(chan received, 64), answered: map[string]bool{}}
	for i := range clients {
		c, err := dial(addr, clientOptions{id: operator(i) + "." + suffix, user: operator(i), from: i,
			on: func(_ *client, m message) { q.received <- received{time.Now(), bytes.Clone(m.Payload)} }})
		if err != nil {
			return nil, err
		}
		r.atEnd(c.close)
		q.clients = append(q.clients, c)
		if err := c.subscribe(1, topics.Topic(schema.TopicAck, robot, operator(i))); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// ask sends one command and waits for its final answer, which has to be a success.
func (q *requester) ask(ctx context.Context, verb, args string) (sample, error) {
	op := q.sent % len(q.clients)
	q.sent++
	id := fmt.Sprintf("bench-%d-%s-%d", os.Getpid(), q.robot, q.sent)
	payload := []byte(`{"id":"` + id + `"}`)
	if args != "" {
		payload = []byte(`{"id":"` + id + `","args":` + args + `}`)
	}
	group, name, _ := strings.Cut(verb, "/")
	topic := topics.Topic(schema.TopicCmd, q.robot, operator(op), group, name)
	began := time.Now()
	if err := q.clients[op].publish(topic, payload, 1, false); err != nil {
		return sample{}, err
	}
	late := time.NewTimer(answerLimit)
	defer late.Stop()
	var s sample
	for {
		select {
		case a := <-q.received:
			final, err := q.take(a, id, &s)
			if err != nil || final {
				s.took = a.at.Sub(began)
				return s, err
			}
		case <-late.C:
			s.lost++
			return s, nil
		case <-ctx.Done():
			return s, context.Cause(ctx)
		}
	}
}

// take reads one answer and reports whether it is the final one to the command with the id.
func (q *requester) take(a received, id string, s *sample) (final bool, err error) {
	var ack schema.Ack
	if err := json.Unmarshal(a.payload, &ack); err != nil {
		return false, fmt.Errorf("read an answer: %w: %.200s", err, a.payload)
	}
	switch {
	case ack.ID == nil:
		return false, fmt.Errorf("an answer without an id: %.200s", a.payload)
	case ack.Status == schema.StatusAccepted || ack.Status == schema.StatusInProgress:
		return false, nil
	case q.answered[*ack.ID]:
		s.doubled++
		return false, nil
	}
	if len(q.answered) > 1000 {
		clear(q.answered)
	}
	q.answered[*ack.ID] = true
	if *ack.ID != id {
		return false, nil // of a command that is counted as lost
	}
	if ack.Status != schema.StatusSucceeded {
		return false, fmt.Errorf("%w: %.300s", errRefused, a.payload)
	}
	return true, nil
}

var errRefused = errors.New("the robot refuses a command")

// echoAnswer is an answer as a robot gives it, for robots that do nothing else.
const echoAnswer = `{"ts":"2026-01-01T00:00:00.000Z","session":"2e43ee4d-55a7-45c3-a478-e48fb797e11a","id":"%s","verb":"%s/%s",` +
	`"status":"SUCCEEDED","result":"ok","state_seq":8,"current":{"mode":"mnl","safety":"ENABLED","auto":"halt"}}`

// echo answers a command at once.
func echo(c *client, m message) error {
	levels := strings.Split(string(m.Topic), "/") // NAMESPACE/v1/robots/ID/cmd/CLIENT/GROUP/VERB
	const begin = `"id":"`
	at := bytes.Index(m.Payload, []byte(begin))
	if len(levels) != 8 || at < 0 {
		return fmt.Errorf("no command: %s %.100s", m.Topic, m.Payload)
	}
	id, _, _ := bytes.Cut(m.Payload[at+len(begin):], []byte{'"'})
	return c.publish(topics.Topic(schema.TopicAck, levels[3], levels[5]), fmt.Appendf(nil, echoAnswer, id, levels[6], levels[7]), 1, false)
}

// startEcho connects a robot that answers every command at once. With file, it first appends the command there and
// syncs the file, as a robot does that persists a command before it answers.
func (r *run) startEcho(addr, robot string, file *os.File) error {
	c, err := dial(addr, clientOptions{id: robot, user: robot, on: func(c *client, m message) {
		if file != nil {
			if _, err := file.Write(m.Payload); err != nil {
				r.say(fmt.Sprintf("the echo cannot write: %v", err)) // its answer is missing, and counted as lost
				return
			}
			if err := fdatasync(file); err != nil {
				r.say(fmt.Sprintf("the echo cannot sync: %v", err))
				return
			}
		}
		_ = echo(c, m) // if it fails, the answer is lost, and counted
	}})
	if err != nil {
		return err
	}
	r.atEnd(c.close)
	return c.subscribe(1, topics.Topic(schema.TopicCmd, robot, "+", "+", "+"))
}
