package robot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/link"
	"troupe/robotd/command"
	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/sign"
)

type requestKey = command.Key

// ledger is a disk and a link in one: it records every call in order.
type ledger struct {
	mu    sync.Mutex
	lines []string
	full  bool   // the disk refuses
	fits  []bool // whether the next commits fit; afterwards full decides
	kept  map[command.Key]command.Record
	slow  time.Duration // of each commit
	jam   int           // publications that find the send queue full
	hang  chan struct{} // commits return when it is closed
}

func (l *ledger) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *ledger) save(saves []effect.Save) error {
	time.Sleep(l.slow)
	l.mu.Lock()
	hang := l.hang
	l.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if l.refuses() {
		return errors.New("no space")
	}
	for _, e := range saves {
		if e, ok := e.(effect.SaveRequests); ok {
			l.record(e)
		}
	}
	l.add(fmt.Sprintf("kept %d", len(saves)))
	return nil
}

// refuses reports whether the next commit finds no space.
func (l *ledger) refuses() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.fits) == 0 {
		return l.full
	}
	fits := l.fits[0]
	l.fits = l.fits[1:]
	return !fits
}

func (l *ledger) record(s effect.SaveRequests) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil {
		l.kept = map[command.Key]command.Record{}
	}
	for _, k := range s.Forget {
		delete(l.kept, k)
	}
	for _, r := range s.Put {
		l.kept[r.Key()] = r
	}
}

func (l *ledger) events() ([][]byte, error) { return [][]byte{[]byte("e1")}, nil }

func (l *ledger) saveLatches([]byte) error { return nil }

// says reports whether a line has the text.
func (l *ledger) says(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.lines, func(line string) bool { return strings.Contains(line, text) })
}

func (l *ledger) why(error) schema.Reason { return schema.ReasonNoSpace }
func (l *ledger) close() error            { return nil }

func (l *ledger) Publish(ctx context.Context, m link.Message) error {
	if l.jam > 0 {
		l.jam--
		return fmt.Errorf("the send queue is full: %w", ctx.Err())
	}
	l.add(m.Topic[strings.LastIndex(m.Topic, "/")+1:] + " " + string(m.Payload))
	return nil
}

func (l *ledger) PublishAsync(ctx context.Context, m link.Message) (func(context.Context) error, error) {
	return func(context.Context) error { return nil }, l.Publish(ctx, m)
}

// newWriting starts a writer with a ledger.
func newWriting(t *testing.T) (*effectRunner, *ledger) {
	led := &ledger{}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	ctx, end := context.WithCancel(context.Background())
	h := &effectRunner{ctx: ctx, log: log, localLog: newLocalLog(t.TempDir(), logBytes, log)}
	h.loop = newLoop(nil, time.Now(), log)
	h.mqtt = &mqttTranslator{ns: "troupe", id: "r1", loop: h.loop, log: log, ctx: ctx}
	h.writer = newWriter(ctx, h.mqtt, led, h.loop, log)
	h.writer.link = led
	go h.writer.run()
	t.Cleanup(func() {
		end()
		h.writer.in.close()
		<-h.writer.done
	})
	return h, led
}

// step performs the effects of a step that no other follows at once.
func (h *effectRunner) step(effects []effect.Effect) { h.carryOut(effects, false) }

func state(n int) effect.Publish {
	return effect.Publish{Topic: schema.TopicState, Payload: []byte(fmt.Sprint(n))}
}

func first(p effect.Publish) effect.Publish { p.First = true; return p }

func answer(id string) effect.Publish {
	return effect.Publish{Topic: schema.TopicAck, Param: "op1", Payload: []byte(id), Confirm: command.KeyOf("op1", id)}
}

func record(id string) effect.Effect {
	return effect.SaveRequests{Put: []command.Record{{Client: "op1", ID: id}}}
}

func (l *ledger) want(t *testing.T, lines ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.lines, lines) {
		t.Errorf("recorded %q, want %q", l.lines, lines)
	}
}

func TestSavesPrecedePublications(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.slow = 10 * time.Millisecond
		h.step([]effect.Effect{state(1), record("k1"), answer("k1")})
		synctest.Wait()
		led.want(t)
		time.Sleep(20 * time.Millisecond)
		led.want(t, "kept 1", "state 1", "op1 k1")
		if ev := <-h.loop.events; fmt.Sprint(ev) != "{[op1/k1] }" {
			t.Errorf("the robot receives %+v of its record", ev)
		}
		if ev := <-h.loop.events; ev != (event.Delivered{Key: "op1/k1"}) {
			t.Errorf("the robot receives %+v of its answer", ev)
		}
	})
}

func TestStopAnswerWaitsForNoDiskAndNoOlderDocumentFollows(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.slow = time.Second
		h.step([]effect.Effect{record("k1"), state(1)})
		h.step([]effect.Effect{first(state(2)), first(effect.Publish{Topic: schema.TopicAck, Param: "op1", Payload: []byte("stop")})})
		led.want(t, "state 2", "op1 stop")
		time.Sleep(2 * time.Second)
		led.want(t, "state 2", "op1 stop", "kept 1")
		h.step([]effect.Effect{state(3)})
		synctest.Wait()
		led.want(t, "state 2", "op1 stop", "kept 1", "state 3")
	})
}

func TestUrgentAnswerIsConfirmed(t *testing.T) {
	for _, client := range []string{"op1", schema.LocalClient} {
		bubble.Test(t, func(t *testing.T) {
			h, _ := newWriting(t)
			for range eventQueue { // a loop that waited for its own queue would hang
				h.loop.events <- nil
			}
			stop := answer("stop")
			stop.Param, stop.Confirm = client, command.KeyOf(client, "stop")
			h.step([]effect.Effect{first(stop)})
			for range eventQueue {
				<-h.loop.events
			}
			synctest.Wait()
			select {
			case ev := <-h.loop.events:
				if ev != (event.Delivered{Key: stop.Confirm}) {
					t.Errorf("the robot receives %+v of its answer", ev)
				}
			default:
				t.Errorf("the answer to a stop of %s is not confirmed", client)
			}
		})
	}
}

func TestPublicationThatNeedsItsSaveIsDroppedIfTheDiskRefuses(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.full = true
		h.step([]effect.Effect{
			record("k1"), effect.SaveContent{Save: delivery.Save{Kind: sign.Story, Rev: 7, Blobs: []delivery.Blob{{Bytes: []byte("{}")}}}},
			state(1), answer("k1"), effect.Publish{Topic: schema.TopicReportedStory, Payload: []byte("active")},
		})
		synctest.Wait()
		led.want(t, "state 1")
		if ev := <-h.loop.events; ev != (event.ContentSaved{Kind: sign.Story, Rev: 7, Refused: schema.ReasonNoSpace}) {
			t.Errorf("the robot receives %+v of its story", ev)
		}
		if ev, ok := (<-h.loop.events).(event.RequestsSaved); !ok || ev.Refused != schema.ReasonNoSpace {
			t.Errorf("the robot receives %+v of its record", ev)
		}
	})
}

func TestWaitingBatchesShareACommit(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.slow = time.Second
		for i := range 5 {
			h.step([]effect.Effect{effect.SaveEvent{}, state(i)})
			synctest.Wait() // the first is at the disk when the others come
		}
		time.Sleep(3 * time.Second)
		led.want(t, "kept 1", "state 0", "kept 4", "state 1", "state 2", "state 3", "state 4")
	})
}

func TestAnswersArePublishedInOrder(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.jam = 3
		var want []string
		for n := range 20 {
			id := fmt.Sprint("c", n)
			h.step([]effect.Effect{record(id), answer(id)})
			want = append(want, "op1 "+id)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		var got []string
		led.mu.Lock()
		defer led.mu.Unlock()
		for _, line := range led.lines {
			if strings.HasPrefix(line, "op1 ") {
				got = append(got, line)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("published %q", got)
		}
	})
}

func TestOnlyTheWriterWaitsForAFullSendQueue(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.jam = 3
		h.step([]effect.Effect{state(1)})
		time.Sleep(100 * time.Millisecond)
		led.want(t, "state 1")
	})
}

func TestLoopContinuesWhileTheDiskHangs(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.slow = time.Hour
		records := 4 * batchesMost
		for i := range records {
			h.step([]effect.Effect{record(fmt.Sprint("k", i)), state(i)})
		}
		h.step([]effect.Effect{first(state(5000))})
		led.want(t, "state 5000")
		if !h.writer.in.full() {
			t.Error("the robot would take more commands")
		}
		reported := map[command.Key]bool{}
		for len(reported) < records { // the result of every save is reported
			for _, k := range (<-h.loop.events).(event.RequestsSaved).Keys {
				reported[k] = true
			}
		}
	})
}

// The disk hangs for a very long time.
func TestBacklogIsBoundedByNewerValues(t *testing.T) {
	l := newSaveQueue()
	const steps = 8 * unsavedMost
	saveOf := func(i int) effect.SaveRequests { // fifty names repeatedly, and names that come and go
		put := func(id string) command.Record { return command.Record{Client: "op1", ID: id, N: int64(i)} }
		return effect.SaveRequests{
			Put:    []command.Record{put(fmt.Sprint("k", i%50)), put(fmt.Sprint("once", i))},
			Forget: []command.Key{command.KeyOf("op1", fmt.Sprint("once", i-100))},
		}
	}
	for i := range steps {
		k, save := fmt.Sprint("k", i%50), saveOf(i)
		b := batch{
			saves: []effect.Save{save, effect.SaveEvent{Payload: []byte(fmt.Sprint(i))}, effect.SaveValue{Name: "mode.ato", Value: fmt.Sprint(i)}},
			publish: []numberedPublish{{Publish: state(i), n: int64(i)}, {Publish: answer(k)},
				{Publish: effect.Publish{Topic: schema.TopicAck, Param: "op1", Payload: []byte("again")}}},
		}
		b.markNeedsSave()
		l.put(b)
	}
	var held int
	onDisk, want := map[command.Key]int64{}, map[command.Key]int64{}
	keep := func(into map[command.Key]int64, s effect.SaveRequests) {
		for _, k := range s.Forget {
			delete(into, k)
		}
		for _, r := range s.Put {
			into[r.Key()] = r.N
		}
	}
	var event, setting, state string
	l.close()
	for l.wait(nil) {
		for _, b := range l.take(batchesAtOnce) {
			held += len(b.saves) + len(b.publish)
			for _, e := range b.saves {
				switch e := e.(type) {
				case effect.SaveRequests:
					keep(onDisk, e)
				case effect.SaveEvent:
					event = string(e.Payload)
				case effect.SaveValue:
					setting = e.Value
				}
			}
			for _, p := range b.publish {
				if p.needsSave != (p.Confirm != "") {
					t.Fatalf("an answer needs the save of its record, and nothing else does: %+v", p)
				}
				if p.Topic == schema.TopicState {
					state = string(p.Payload)
				}
			}
		}
	}
	for i := range steps {
		keep(want, saveOf(i))
	}
	if held > 12*unsavedMost {
		t.Errorf("%d things wait after %d steps", held, steps)
	}
	if !maps.Equal(onDisk, want) {
		t.Errorf("the journal is %v, want %v", onDisk, want)
	}
	if newest := fmt.Sprint(steps - 1); event != newest || setting != newest || state != newest {
		t.Errorf("the newest event is %s, setting %s, state %s; want %s", event, setting, state, newest)
	}
}

// Clients send many commands while the disk hangs: refusals are answered at once, a stop is
// obeyed and answered, and in the end each command has exactly one final answer.
func TestHangingDiskLosesNoAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, led, end := startWriterWithRobot(t)

		led.mu.Lock()
		led.hang = make(chan struct{})
		led.mu.Unlock()
		verbs := []string{"auto/pause", "mode/set", "mode/kill", "sys/ping", "interrupter/stop", "mode/sing"}
		sent := 0
		for round := range 3 { // waiting commands expire between the rounds
			for i := range 100 {
				group, verb, _ := strings.Cut(verbs[i%len(verbs)], "/")
				args := map[string]string{"set": `"mode":"mnl"`, "stop": `"interrupter":"ai"`}[verb]
				l.events <- event.Command{Client: fmt.Sprint("op", i%5), Group: group, Verb: verb, Payload: fmt.Appendf(nil, `{"id":"k%d","args":{%s}}`, sent, args)}
				sent++
			}
			time.Sleep(time.Second)
			if n := led.finals(t)["op0/k0"]; round == 0 && n != 0 {
				t.Error("a command was answered for good while its record was not on the disk")
			}
			time.Sleep(40 * time.Second)
		}
		if early := len(led.finals(t)); early < 30 {
			t.Errorf("%d commands were refused at once", early)
		}
		l.stops <- event.Command{Client: "op1", Group: "safety", Verb: "stop", Payload: []byte(`{"id":"stop"}`)}
		time.Sleep(time.Second)
		if led.finals(t)["op1/stop"] != 1 {
			t.Error("the stop was not answered while the disk hangs")
		}
		close(led.hang)
		time.Sleep(time.Minute)
		finals := led.finals(t)
		for i := range sent {
			if k := fmt.Sprintf("op%d/k%d", i%100%5, i); finals[k] != 1 {
				t.Errorf("%s got %d final answers", k, finals[k])
			}
		}
		end()
	})
}

// Commits are refused in every pattern while commands are carried out: each is answered
// once, also while the disk is full, and saved when there is space.
func TestDiskThatIsSometimesFullLosesNoAnswer(t *testing.T) {
	const long = 6 // commits of a pattern
	for pattern := range 1 << long {
		bubble.Test(t, func(t *testing.T) {
			l, led, end := startWriterWithRobot(t)

			led.mu.Lock()
			led.full, led.lines = true, nil
			for i := range long {
				led.fits = append(led.fits, pattern>>i&1 == 1)
			}
			led.mu.Unlock()
			for i, verb := range []string{"auto/pause", "mode/disable", "auto/pause"} {
				group, verb, _ := strings.Cut(verb, "/")
				args := map[string]string{"disable": `"mode":"ato"`}[verb]
				l.events <- event.Command{Client: "op1", Group: group, Verb: verb, Payload: fmt.Appendf(nil, `{"id":"k%d","args":{%s}}`, i, args)}
				time.Sleep(900 * time.Millisecond)
				if k := fmt.Sprintf("op1/k%d", i); led.finals(t)[k] != 1 {
					t.Errorf("%06b: %s got %d final answers while the disk was full", pattern, k, led.finals(t)[k])
				}
			}
			led.mu.Lock()
			led.full = false
			led.mu.Unlock()
			time.Sleep(10 * time.Second)
			led.mu.Lock()
			for k, r := range led.kept {
				if !r.Answer.Status.Final() {
					t.Errorf("%06b: after a restart %s would be reported as unfinished", pattern, k)
				}
			}
			led.mu.Unlock()
			end()
		})
	}
}

// startWriterWithRobot starts such a robot with a session. end ends it.
func startWriterWithRobot(t *testing.T) (l *loop, led *ledger, end func()) {
	h, led := newWriting(t)
	l = newWriterWithRobot(t, h)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	go func() { over <- l.run(ctx, time.Second, nil) }()
	l.events <- event.Connected{Session: "s1"}
	time.Sleep(time.Second)
	return l, led, func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	}
}

// newWriterWithRobot is a robot without a body whose effects h carries out.
func newWriterWithRobot(t *testing.T, h *effectRunner) *loop {
	l, _ := bareLoop(t, twoMovers)
	l.behind = h.writer.in.full
	l.events = h.loop.events
	l.carryOut = func(effects []effect.Effect, more bool) {
		h.carryOut(slices.DeleteFunc(slices.Clone(effects), func(e effect.Effect) bool {
			switch e.(type) {
			case effect.SaveRequests, effect.SaveEvent, effect.SaveValue, effect.Publish:
				return false
			case effect.SaveLatches:
				return h.latches == nil
			}
			return true // there is no body
		}), more)
	}
	return l
}

// finals counts the final answers of each command that are no repetitions.
func (l *ledger) finals(t *testing.T) map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := map[string]int{}
	for _, line := range l.lines {
		client, payload, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(client, "op") {
			continue
		}
		a, problems := schema.DecodeStrict[schema.Ack]([]byte(payload))
		if len(problems) > 0 {
			t.Fatalf("%s: %v", line, problems)
		}
		if a.Status.Final() && !a.Dup {
			n[client+"/"+*a.ID]++
		}
	}
	return n
}

func TestUrgentMessageWaitsForAFullSendQueue(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.jam = 2
		h.step([]effect.Effect{first(state(1)), first(effect.Publish{Topic: schema.TopicAck, Param: "op1", Payload: []byte("stop")})})
		time.Sleep(time.Second)
		led.want(t, "state 1", "op1 stop")
	})
}

func TestFullDiskDelaysNoAnswerThatNeedsNoSave(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.full, led.slow = true, time.Second
		h.step([]effect.Effect{record("k0")}) // the others gather behind it
		synctest.Wait()
		h.step([]effect.Effect{record("k1"), answer("k1")})
		h.step([]effect.Effect{answer("k2")})
		time.Sleep(3 * time.Second)
		led.want(t, "op1 k2")
	})
}

func TestHeartbeatWaitsForNoDisk(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.slow = time.Hour
		h.step([]effect.Effect{record("k1"), answer("k1")})
		synctest.Wait()
		h.step([]effect.Effect{first(effect.Publish{Topic: schema.TopicHeartbeat, Payload: []byte("1")})})
		led.want(t, "heartbeat 1")
		time.Sleep(2 * time.Hour)
	})
}

func TestRoutineEventsShareACommit(t *testing.T) {
	routine := effect.SaveEvent{Payload: []byte("act_started"), Routine: true}
	for _, c := range []struct {
		name string
		then func(*effectRunner)
		want []string
	}{
		{"nothing else is saved", func(*effectRunner) { time.Sleep(routineWait - time.Second) }, []string{"state 1", "state 2"}},
		{"their time is over", func(*effectRunner) { time.Sleep(routineWait) }, []string{"state 1", "state 2", "kept 2"}},
		{"a command is saved", func(h *effectRunner) { h.step([]effect.Effect{record("k1"), answer("k1")}) },
			[]string{"state 1", "state 2", "kept 3", "op1 k1"}},
		{"another event is saved", func(h *effectRunner) { h.step([]effect.Effect{effect.SaveEvent{}}) },
			[]string{"state 1", "state 2", "kept 3"}},
		{"events are read", func(h *effectRunner) {
			h.step([]effect.Effect{effect.ReadHistory{Key: "op1/k1"}})
		}, []string{"state 1", "state 2", "kept 2"}},
		{"they are many", func(h *effectRunner) {
			for range routineMost {
				h.step([]effect.Effect{routine})
			}
		}, []string{"state 1", "state 2", fmt.Sprintf("kept %d", routineMost+2)}},
		{"robotd ends", func(h *effectRunner) { h.writer.in.close() }, []string{"state 1", "state 2", "kept 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				h, led := newWriting(t)
				led.slow = time.Millisecond
				h.step([]effect.Effect{routine, state(1)})
				synctest.Wait()
				h.step([]effect.Effect{routine, state(2)})
				synctest.Wait()
				c.then(h)
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				led.want(t, c.want...)
			})
		})
	}
}
