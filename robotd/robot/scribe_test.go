package robot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/link"
	"troupe/robotd/brain"
	"troupe/robotd/delivery"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/sign"
)

type requestKey = request.Key

// ledger is a disk and a link in one: it writes down what comes, in order.
type ledger struct {
	mu    sync.Mutex
	lines []string
	full  bool          // the disk refuses
	slow  time.Duration // of each commit
	jam   int           // publications that find the outbox full
}

func (l *ledger) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *ledger) keep(saves []brain.Effect) error {
	time.Sleep(l.slow)
	if l.full {
		return errors.New("no space")
	}
	l.add(fmt.Sprintf("kept %d", len(saves)))
	return nil
}

func (l *ledger) events() ([][]byte, error) { return [][]byte{[]byte("e1")}, nil }

func (l *ledger) why(error) schema.Reason { return schema.ReasonNoSpace }
func (l *ledger) close() error            { return nil }

func (l *ledger) Publish(ctx context.Context, m link.Message) error {
	if l.jam > 0 {
		l.jam--
		return fmt.Errorf("the outbox is full: %w", ctx.Err())
	}
	l.add(m.Topic[strings.LastIndex(m.Topic, "/")+1:] + " " + string(m.Payload))
	return nil
}

func (l *ledger) PublishWait(ctx context.Context, m link.Message) error { return l.Publish(ctx, m) }

// newWriting starts a scribe with a ledger.
func newWriting(t *testing.T) (*hands, *ledger) {
	led := &ledger{}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	ctx, end := context.WithCancel(context.Background())
	h := &hands{ctx: ctx, log: log}
	h.loop = newLoop(nil, time.Now(), log)
	h.post = &post{ns: "troupe", id: "r1", loop: h.loop, log: log, ctx: ctx}
	h.scribe = newScribe(ctx, h.post, led, h.loop, log)
	h.scribe.link = led
	go h.scribe.run()
	t.Cleanup(func() {
		end()
		close(h.scribe.in)
		<-h.scribe.done
	})
	return h, led
}

func state(n int) brain.Publish {
	return brain.Publish{Topic: schema.TopicState, Payload: []byte(fmt.Sprint(n))}
}

func first(p brain.Publish) brain.Publish { p.First = true; return p }

func answer(id string) brain.Publish {
	return brain.Publish{Topic: schema.TopicAck, Param: "op1", Payload: []byte(id), Confirm: request.KeyOf("op1", id)}
}

func record(id string) brain.Effect {
	return brain.SaveRequests{Save: request.Save{Put: []request.Record{{Client: "op1", ID: id}}}}
}

func (l *ledger) want(t *testing.T, lines ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.lines, lines) {
		t.Errorf("done: %q, want %q", l.lines, lines)
	}
}

func TestWhatIsPromisedIsKeptFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.slow = 10 * time.Millisecond
		h.perform([]brain.Effect{state(1), record("k1"), answer("k1")})
		synctest.Wait()
		led.want(t)
		time.Sleep(20 * time.Millisecond)
		led.want(t, "kept 1", "state 1", "op1 k1")
		if ev := <-h.loop.events; fmt.Sprint(ev) != "{[op1/k1] }" {
			t.Errorf("the robot hears %+v of its record", ev)
		}
		if ev := <-h.loop.events; ev != (brain.Delivered{Key: "op1/k1"}) {
			t.Errorf("the robot hears %+v of its answer", ev)
		}
	})
}

func TestAStopWaitsForNoDiskAndNothingOlderFollowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.slow = time.Second
		h.perform([]brain.Effect{record("k1"), state(1)})
		h.perform([]brain.Effect{first(state(2)), first(brain.Publish{Topic: schema.TopicAck, Param: "op1", Payload: []byte("stop")})})
		led.want(t, "state 2", "op1 stop")
		time.Sleep(2 * time.Second)
		led.want(t, "state 2", "op1 stop", "kept 1")
		h.perform([]brain.Effect{state(3)})
		synctest.Wait()
		led.want(t, "state 2", "op1 stop", "kept 1", "state 3")
	})
}

func TestWhatTheDiskRefusesIsNotPromised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.full = true
		h.perform([]brain.Effect{
			record("k1"), brain.SaveContent{Save: delivery.Save{Kind: sign.Story, Rev: 7, Blobs: []delivery.Blob{{Bytes: []byte("{}")}}}},
			state(1), answer("k1"), brain.Publish{Topic: schema.TopicReportedStory, Payload: []byte("active")},
		})
		synctest.Wait()
		led.want(t, "state 1")
		if ev := <-h.loop.events; ev != (brain.ContentSaved{Kind: sign.Story, Rev: 7, Refused: schema.ReasonNoSpace}) {
			t.Errorf("the robot hears %+v of its story", ev)
		}
		if ev, ok := (<-h.loop.events).(brain.RequestsSaved); !ok || ev.Refused != schema.ReasonNoSpace {
			t.Errorf("the robot hears %+v of its record", ev)
		}
	})
}

func TestBatchesThatWaitShareACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.slow = time.Second
		for i := range 5 {
			h.perform([]brain.Effect{brain.SaveEvent{}, state(i)})
			synctest.Wait() // the first is at the disk when the others come
		}
		time.Sleep(3 * time.Second)
		led.want(t, "kept 1", "state 0", "kept 4", "state 1", "state 2", "state 3", "state 4")
	})
}

func TestAFullOutboxIsWaitedForByTheScribeAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.jam = 3
		h.perform([]brain.Effect{state(1)})
		time.Sleep(100 * time.Millisecond)
		led.want(t, "state 1")
	})
}

func TestWhenTheDiskIsStuckTheLoopGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.slow = time.Hour
		for i := range 2 * batchQueue {
			h.perform([]brain.Effect{record(fmt.Sprint("k", i)), state(i)})
		}
		h.perform([]brain.Effect{first(state(1000))})
		led.want(t, "state 1000")
		if ev, ok := (<-h.loop.events).(brain.RequestsSaved); !ok || ev.Refused != schema.ReasonOverloaded {
			t.Errorf("the robot hears %+v of what was lost", ev)
		}
		for len(h.loop.events) > 0 {
			<-h.loop.events
		}
	})
}

func TestAnUrgentMessageThatFindsTheOutboxFullWaitsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.jam = 2
		h.perform([]brain.Effect{first(state(1)), first(brain.Publish{Topic: schema.TopicAck, Param: "op1", Payload: []byte("stop")})})
		time.Sleep(time.Second)
		led.want(t, "state 1", "op1 stop")
	})
}

func TestAFullDiskKeepsBackNoAnswerThatPromisesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.full, led.slow = true, time.Second
		h.perform([]brain.Effect{record("k0")}) // the others gather behind it
		synctest.Wait()
		h.perform([]brain.Effect{record("k1"), answer("k1")})
		h.perform([]brain.Effect{answer("k2")})
		time.Sleep(3 * time.Second)
		led.want(t, "op1 k2")
	})
}

func TestAHeartbeatWaitsForNoDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.slow = time.Hour
		h.perform([]brain.Effect{record("k1"), answer("k1")})
		synctest.Wait()
		h.perform([]brain.Effect{first(brain.Publish{Topic: schema.TopicHeartbeat, Payload: []byte("1")})})
		led.want(t, "heartbeat 1")
		time.Sleep(2 * time.Hour)
	})
}
