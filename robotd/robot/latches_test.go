package robot

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/bubble"
)

// latchStore is a slow store that saves only latches.
type latchStore struct {
	ledger
	kept []string
}

func (s *latchStore) saveLatches(value []byte) error {
	time.Sleep(s.slow)
	if s.full {
		return errors.New("no space")
	}
	s.kept = append(s.kept, string(value))
	return nil
}

func TestNewestLatchesAreWrittenAndAnswered(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		log := slog.New(slog.NewTextHandler(t.Output(), nil))
		s, l := &latchStore{}, newLoop(nil, time.Now(), log)
		s.slow = 10 * time.Millisecond
		w := newLatchWriter(t.Context(), s, l, log)
		go w.run()
		want := func(n int64, refused schema.Reason) {
			t.Helper()
			if ev := <-l.stops; ev != (event.LatchesSaved{N: n, Refused: refused}) {
				t.Errorf("the robot receives %+v, want %d %s", ev, n, refused)
			}
		}
		w.put(effect.SaveLatches{N: 1, Value: []byte("a")})
		synctest.Wait() // it is at the disk
		w.put(effect.SaveLatches{N: 2, Value: []byte("b")})
		w.put(effect.SaveLatches{N: 3, Value: []byte("c")})
		want(1, "")
		want(3, "")
		s.full = true
		w.put(effect.SaveLatches{N: 4})
		want(4, schema.ReasonNoSpace)
		s.full = false
		w.put(effect.SaveLatches{N: 5, Value: []byte("last")})
		w.close()
		want(5, "")
		<-w.done
		if !slices.Equal(s.kept, []string{"a", "c", "last"}) {
			t.Errorf("kept %q", s.kept)
		}
	})
}

// TestStopIsNotAnsweredBeforeItsLatchIsPersisted has a latch file that hangs, and then
// one that refuses, beside a store that is full.
func TestStopIsNotAnsweredBeforeItsLatchIsPersisted(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		h, led := newWriting(t)
		led.full = true
		s := &latchStore{}
		l := newWriterWithRobot(t, h)
		w := newLatchWriter(t.Context(), s, l, h.log)
		l.stops = h.loop.stops
		w.loop = l
		h.latches = w
		go w.run()
		ctx, end := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- l.run(ctx, time.Second, nil) }()
		l.events <- event.Connected{Session: "s1"}
		time.Sleep(time.Second)

		called := func(id string) { l.stops <- event.LiveStop{Client: "op1", Payload: []byte(`{"id":"` + id + `"}`)} }
		s.slow = 100 * time.Millisecond
		called("z1")
		time.Sleep(90 * time.Millisecond)
		if n := led.finals(t)["op1/z1"]; n != 0 {
			t.Error("answered before it was on the disk")
		}
		time.Sleep(20 * time.Millisecond)
		if n := led.finals(t)["op1/z1"]; n != 1 || len(s.kept) == 0 {
			t.Errorf("%d answers once it was on the disk", n)
		}
		s.slow = 10 * time.Second
		called("z2")
		time.Sleep(time.Second)
		if n := led.finals(t)["op1/z2"]; n != 1 || !led.says("not_persisted") {
			t.Errorf("a disk that hangs: %d answers, %q", n, led.lines)
		}
		w.close()
		<-w.done
		end()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
}
