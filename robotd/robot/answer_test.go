package robot

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/bubble"
)

// asked is a robot whose body does nothing, with a disk, and a client that sends it
// commands and waits for their answers. There is no broker between them.
type asked struct {
	testing.TB
	loop *loop
	n    int
	disk *countingStore
	link *answerLink
}

// countingStore counts the commits.
type countingStore struct {
	store
	commits atomic.Int64
}

func (s *countingStore) save(saves []effect.Save) error {
	s.commits.Add(1)
	return s.store.save(saves)
}

// answerLink passes the final answers on and records the states.
type answerLink struct {
	answers chan schema.Ack

	mu     sync.Mutex
	states []schema.State
}

func (l *answerLink) stateCount() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.states))
}

// stateSeq is the number of the newest state.
func (l *answerLink) stateSeq() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.states[len(l.states)-1].StateSeq
}

func (l *answerLink) Publish(_ context.Context, m link.Message) error {
	switch topic := m.Topic; {
	case strings.Contains(topic, "/ack/"):
		if a, problems := schema.Decode[schema.Ack](m.Payload); len(problems) == 0 && a.Status.Final() {
			l.answers <- a
		}
	case strings.HasSuffix(topic, "/state"):
		l.mu.Lock()
		defer l.mu.Unlock()
		s, _ := schema.Decode[schema.State](m.Payload)
		l.states = append(l.states, s)
	}
	return nil
}

func (l *answerLink) PublishAsync(ctx context.Context, m link.Message) (func(context.Context) error, error) {
	return func(context.Context) error { return nil }, l.Publish(ctx, m)
}

// newAsked boots the robot into mnl, and leaves it alone until it has published that.
// The end waits until all of its goroutines have ended.
func newAsked(t testing.TB, disk store) (a *asked, end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	l, _ := bareLoop(t, twoMovers)
	l.log = log
	a = &asked{TB: t, loop: l, disk: &countingStore{store: disk}, link: &answerLink{answers: make(chan schema.Ack, 1)}}
	h := &effectRunner{ctx: ctx, log: log, loop: l, localLog: newLocalLog(t.TempDir(), logBytes, log)}
	h.mqtt = &mqttTranslator{ns: "troupe", id: "r1", loop: l, log: log, ctx: ctx}
	h.writer = newWriter(ctx, h.mqtt, a.disk, l, log)
	h.writer.link = a.link
	h.latches = newLatchWriter(ctx, a.disk, l, log)
	l.behind = h.writer.in.full
	l.carryOut = func(effects []effect.Effect, more bool) {
		for _, e := range effects {
			if e, ok := e.(effect.Calibrate); ok {
				h.work.Go(func() { l.send(ctx, event.Calibrated{Run: e.Run}) })
			}
		}
		h.carryOut(slices.DeleteFunc(slices.Clone(effects), func(e effect.Effect) bool {
			switch e.(type) {
			case effect.Order, effect.Start, effect.Stop, effect.Move, effect.Feed, effect.Calibrate, effect.EndCalibration:
				return true // there is no body
			}
			return false
		}), more)
	}
	go h.writer.run()
	go h.latches.run()
	asked, stop := context.WithCancel(ctx)
	over := make(chan error, 1)
	go func() { over <- l.run(asked, time.Second, nil) }()
	l.send(ctx, event.Connected{Session: "s1"})
	time.Sleep(500 * time.Millisecond)
	if got := a.ask("mode/set", "mnl"); got.Reason != schema.ReasonUnchanged {
		t.Fatalf("the robot did not boot into mnl: %+v", got)
	}
	time.Sleep(500 * time.Millisecond)
	return a, func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
		cancel()
		h.writer.in.close()
		h.latches.close()
		<-h.writer.done
		<-h.latches.done
		h.work.Wait()
	}
}

// ask sends a command and waits for its final answer.
func (a *asked) ask(verb, word string) schema.Ack {
	a.n++
	group, name, _ := strings.Cut(verb, "/")
	a.loop.send(context.Background(), event.Command{Client: "op1", Group: group, Verb: name, Payload: fmt.Appendf(nil, `{"id":"k%d","args":{"mode":%q}}`, a.n, word)})
	got := <-a.link.answers
	if want := fmt.Sprint("k", a.n); got.ID == nil || *got.ID != want {
		a.Fatalf("the answer to %s is %+v", want, got)
	}
	return got
}

// A command is answered with the state that shows its effect, however recently another
// state was published; one that changes nothing waits for no disk.
func TestAnswerWaitsForNothingButItsCommits(t *testing.T) {
	for _, c := range []struct {
		name          string
		verb          string
		modes         []string
		commits, docs int64 // of each command
	}{
		{"unchanged", "mode/set", []string{"mnl"}, 0, 0},
		{"changed", "mode/disable mode/enable", []string{"ato"}, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				a, end := newAsked(t, &ledger{})
				defer end()
				verbs := strings.Fields(c.verb)
				const commands = 20
				began, commits, docs := time.Now(), a.disk.commits.Load(), a.link.stateCount()
				for i := range commands {
					got := a.ask(verbs[i%len(verbs)], c.modes[i%len(c.modes)])
					if got.Status != schema.StatusSucceeded || (got.Reason == schema.ReasonUnchanged) != (c.docs == 0) {
						t.Fatalf("%+v", got)
					}
					if seq := a.link.stateSeq(); c.docs > 0 && got.StateSeq != seq {
						t.Errorf("the answer names state %d, the newest published is %d", got.StateSeq, seq)
					}
				}
				if waited := time.Since(began); waited > 0 {
					t.Errorf("%d commands waited %v", commands, waited)
				}
				if n := a.disk.commits.Load() - commits; n != c.commits*commands {
					t.Errorf("%d commands made %d commits, want %d each", commands, n, c.commits)
				}
				if n := a.link.stateCount() - docs; n > commands*c.docs+1 {
					t.Errorf("%d commands published %d states, want %d each", commands, n, c.docs)
				}
			})
		})
	}
}

func TestPingWritesAndPublishesOnlyItsAnswer(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, end := newAsked(t, &ledger{})
		defer end()
		commits, docs := a.disk.commits.Load(), a.link.stateCount()
		for i := range 20 {
			a.loop.send(context.Background(), event.Command{Client: "op1", Group: "sys", Verb: "ping", Payload: fmt.Appendf(nil, `{"id":"p%d"}`, i)})
			if got := <-a.link.answers; got.Status != schema.StatusSucceeded {
				t.Fatalf("%+v", got)
			}
		}
		if c, d := a.disk.commits.Load()-commits, a.link.stateCount()-docs; c > 0 || d > 1 {
			t.Errorf("20 pings made %d commits and %d states", c, d)
		}
	})
}

// The states that answers wait for come at most at the rate of gathered ones when there
// are many: the broker drops what exceeds a robot's rate.
func TestManyAnswersShareAState(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, end := newAsked(t, &ledger{})
		defer end()
		verbs := []string{"mode/disable", "mode/enable"}
		began, docs := time.Now(), a.link.stateCount()
		const commands = 100
		for i := range commands {
			a.ask(verbs[i%2], "ato")
		}
		const most, gather = 20, 100 * time.Millisecond
		n, took := a.link.stateCount()-docs, time.Since(began)
		if n > most+int64(took/gather)+1 {
			t.Errorf("%d states within %v", n, took)
		}
		if took > commands*gather {
			t.Errorf("%d commands took %v", commands, took)
		}
	})
}

// BenchmarkModeSet measures mode/set from its arrival to its answer, on a disk, back to
// back and with a pause before each that lets the robot publish what has changed.
func BenchmarkModeSet(b *testing.B) {
	for _, c := range []struct {
		name  string
		modes []string
	}{{"unchanged", []string{"mnl"}}, {"changed", []string{"str", "mnl"}}} {
		for _, paced := range []bool{false, true} {
			name := c.name + "/back-to-back"
			if paced {
				name = c.name + "/paced"
			}
			b.Run(name, func(b *testing.B) {
				disk, _, _, err := openStore(b.TempDir(), slog.New(slog.DiscardHandler))
				if err != nil {
					b.Fatal(err)
				}
				a, end := newAsked(b, disk)
				commits, n := a.disk.commits.Load(), 0
				for b.Loop() {
					if paced {
						b.StopTimer()
						time.Sleep(150 * time.Millisecond)
						b.StartTimer()
					}
					if got := a.ask("mode/set", c.modes[n%len(c.modes)]); got.Status != schema.StatusSucceeded {
						b.Fatalf("%+v", got)
					}
					n++
				}
				b.ReportMetric(float64(a.disk.commits.Load()-commits)/float64(n), "commits/op")
				end()
				if err := disk.close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
