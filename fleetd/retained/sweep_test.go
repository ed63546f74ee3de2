package retained_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/retained"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

const (
	button = "troupe/v1/fleet/cmd/op1/stop"
	halt   = "troupe/v1/robots/r1/cmd/op1/safety/halt"
)

// world is a sweeper with a broker that retains every message with the flag.
type world struct {
	*storetest.World
	*retained.Sweeper
	kept    map[string]string // by topic
	sweeps  []time.Duration   // when, since the test began
	removed []string
	notices []string
	details []string // of the notices
	session string
	broken  error             // of looking at the broker
	failing map[string]error  // by what fails: remove, notify
	log     bytes.Buffer      // synctest.Wait orders the writes before its reads
	why     map[string]string // by client or robot: why its message must stay
	alarms  int               // new alerts of robots
}

func (w *world) NewRetainedAlert(map[string]bool) (some bool) {
	w.Locked(func() { some, w.alarms = w.alarms > 0, 0 })
	return some
}

func (w *world) WhyNotRemove(at schema.TopicParams) (why string) {
	w.Locked(func() { why = w.why[at.RID] })
	return why
}

func (w *world) Remove(ctx context.Context, client string, _ []byte, remove func(context.Context) error) (why string, err error) {
	w.Locked(func() { why = w.why[client] })
	if why != "" {
		return why, nil
	}
	return "", remove(ctx)
}

// inWorld runs a test with a sweeper that leads.
func inWorld(t *testing.T, test func(w *world)) {
	storetest.InWorld(t, func(in *storetest.World) {
		began := time.Now()
		w := &world{World: in, kept: map[string]string{}, session: "s1", why: map[string]string{}}
		w.Sweeper = retained.New(retained.Deps{
			Log: slog.New(slog.NewTextHandler(&w.log, nil)), Namespace: schema.DefaultNamespace, Name: "fleetd", Now: time.Now, Robots: w, Stops: w,
			Leads:   w.Leads,
			Session: func() (s string) { w.Locked(func() { s = w.session }); return s },
			Collect: func(context.Context) (all []link.Message, err error) {
				w.Locked(func() {
					w.sweeps = append(w.sweeps, time.Since(began).Round(time.Second))
					for topic, payload := range w.kept {
						all = append(all, link.Message{Topic: topic, Payload: []byte(payload), Retain: true})
					}
					err = w.broken
				})
				return all, err
			},
			PublishWait: func(_ context.Context, m link.Message) (err error) {
				w.Locked(func() {
					if err = w.failing["remove"]; err == nil && m.Retain && len(m.Payload) == 0 {
						delete(w.kept, m.Topic)
						w.removed = append(w.removed, m.Topic)
					}
				})
				return err
			},
			Publish: func(_ context.Context, m link.Message) (err error) {
				w.Locked(func() {
					if err = w.failing["notify"]; err == nil {
						n, _ := schema.Decode[schema.Notice](m.Payload)
						w.notices, w.details = append(w.notices, m.Topic), append(w.details, n.Detail)
					}
				})
				return err
			},
		})
		defer w.Start(func(ctx context.Context) { w.Sweeper.Run(ctx, w.DB) })()
		test(w)
	})
}

// gone are the topics of which messages were removed.
func (w *world) gone() (topics []string) {
	w.Locked(func() { topics = slices.Clone(w.removed) })
	return topics
}

// told are the sentences of the notices.
func (w *world) told() (details []string) {
	w.Locked(func() { details = slices.Clone(w.details) })
	return details
}

// noticed are the topics of the notices.
func (w *world) noticed() (topics []string) {
	w.Locked(func() { topics = slices.Clone(w.notices) })
	return topics
}

// looks is the number of sweeps.
func (w *world) looks() (n int) {
	w.Locked(func() { n = len(w.sweeps) })
	return n
}

// keep has the broker keep messages.
func (w *world) keep(topics ...string) {
	w.Locked(func() {
		for _, topic := range topics {
			w.kept[topic] = "now!"
		}
	})
}

// stay forbids to remove the commands of r1.
func (w *world) stay() { w.Locked(func() { w.why["r1"] = "r1 is not halted" }) }

// swept requires when sweeps were, in seconds since the test began.
func (w *world) swept(want ...int) {
	w.Helper()
	var all []int
	w.Locked(func() {
		for _, at := range w.sweeps {
			all = append(all, int(at.Seconds()))
		}
	})
	if !slices.Equal(all, want) {
		w.Errorf("sweeps were at %v s, want %v", all, want)
	}
}

func TestRetainedMessagesAreRemovedAndReported(t *testing.T) {
	inWorld(t, func(w *world) {
		w.keep(button, halt, "elsewhere/x")
		w.Sleep(2 * time.Second)
		got := w.gone()
		slices.Sort(got)
		if want := []string{button, halt}; !slices.Equal(got, want) {
			t.Errorf("removed is %v, want %v", got, want)
		}
		if want := schema.DefaultNamespace.Topic(schema.TopicNotice, "op1"); !slices.Equal(w.noticed(), []string{want, want}) {
			t.Errorf("notices went to %v, want %s twice", w.noticed(), want)
		}
		notes, err := w.DB.Audit(context.Background(), store.AuditQuery{})
		if err != nil || len(notes) != 2 || notes[0].What != "remove retained" || notes[0].Detail != "sent by op1" {
			t.Errorf("the audit has %+v, %v", notes, err)
		}
		for _, m := range w.List(time.Now()) {
			if m.Why != "" || m.Client != "op1" || strings.HasPrefix(m.Topic, "troupe/") {
				t.Errorf("listed is %+v", m)
			}
		}
		if n := len(w.List(time.Now())); n != 2 {
			t.Errorf("%d are listed", n)
		}
		w.Sleep(time.Hour)
		if n := len(w.List(time.Now())); n != 0 {
			t.Errorf("%d are listed after an hour", n)
		}
		w.swept(1)
	})
}

// The empty message that removes a stop latches one under the client's name.
func TestRemovalOfAStopWithAnIDOfItsOwnNamesTheOtherStop(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Locked(func() { w.kept[button] = `{"id":"fire-1"}` })
		w.Sleep(2 * time.Second)
		const want = "under the id op1, too: release both stops"
		notes, err := w.DB.Audit(context.Background(), store.AuditQuery{})
		if err != nil || len(notes) != 1 || !strings.Contains(notes[0].Detail, want) {
			t.Errorf("the audit has %+v, %v", notes, err)
		}
		if told := w.told(); len(told) != 1 || !strings.Contains(told[0], want) {
			t.Errorf("op1 was told %q", told)
		}
	})
}

func TestLogSaysWhatASweepFailedAt(t *testing.T) {
	for what, want := range map[string]string{
		"collect": `msg="retained messages not collected" error="no answer"`,
		"remove":  `msg="retained message not removed" topic=` + halt + ` error="publish the empty message: no answer"`,
		"notify":  `msg="removal of a retained message not reported to its client" topic=` + halt + ` client=op1 error="no answer"`,
		"audit":   `msg="removal of a retained message not audited" topic=` + halt + ` error="`,
	} {
		t.Run(what, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.keep(halt)
				switch err := errors.New("no answer"); what {
				case "collect":
					w.Locked(func() { w.broken = err })
				case "audit":
					_ = w.DB.Close()
				default:
					w.Locked(func() { w.failing = map[string]error{what: err} })
				}
				w.Sleep(2 * time.Second)
				if log := w.log.String(); !strings.Contains(log, want) || strings.Count(log, " not ") != 1 {
					t.Errorf("the log has\n%swant only %s", log, want)
				}
			})
		})
	}
}

func TestMessageThatMustStayIsLookedAtAgainMoreAndMoreRarely(t *testing.T) {
	inWorld(t, func(w *world) {
		w.keep(halt)
		w.stay()
		w.Sleep(40 * time.Second)
		w.swept(1, 3, 7, 15, 31)
		if l := w.List(time.Now()); len(l) != 1 || l[0].Why != "r1 is not halted" || len(w.gone()) != 0 {
			t.Errorf("listed is %+v, removed %v", l, w.gone())
		}
		w.Sleep(time.Hour)
		before := w.looks()
		w.Sleep(time.Hour)
		if n := w.looks() - before; n != 12 {
			t.Errorf("later it is looked at %d times an hour", n)
		}
		w.Locked(func() { w.why = nil; w.alarms++ }) // the robot's alert is new
		w.Sleep(2 * time.Second)
		if l := w.List(time.Now()); len(l) != 1 || l[0].Why != "" || !slices.Equal(w.gone(), []string{halt}) {
			t.Errorf("listed is %+v, removed %v", l, w.gone())
		}
	})
}

func TestSweepsAreMadeWhenSomethingMayBeRetained(t *testing.T) {
	inWorld(t, func(w *world) {
		w.Sleep(10 * time.Second)
		w.swept(1)       // it began to lead
		w.RequestSweep() // a live stop
		w.RequestSweep()
		w.Sleep(5 * time.Second)
		w.swept(1, 11)
		w.Locked(func() { w.session = "" })
		w.RequestSweep()
		w.Sleep(5 * time.Second)
		w.swept(1, 11)
		w.Locked(func() { w.session = "s2" })
		w.Sleep(5 * time.Second)
		w.swept(1, 11, 21)
	})
}

func TestFollowerSweepsAndListsNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.keep(halt)
		w.stay()
		w.Sleep(2 * time.Second)
		if n := len(w.List(time.Now())); n != 1 {
			t.Errorf("%d are listed", n)
		}
		w.Locked(func() { w.Leading = false })
		w.RequestSweep()
		w.Sleep(time.Minute)
		if n := len(w.List(time.Now())); n != 0 {
			t.Errorf("a follower lists %d", n)
		}
		w.swept(1)
		w.Locked(func() { w.Leading = true })
		w.Sleep(2 * time.Second)
		if n := len(w.List(time.Now())); n != 1 {
			t.Errorf("%d are listed by the new leader", n)
		}
	})
}

func TestSweepIsRepeatedAfterAnError(t *testing.T) {
	inWorld(t, func(w *world) {
		w.keep(button)
		w.Locked(func() { w.broken = errors.New("no connection") })
		w.Sleep(8 * time.Second)
		w.swept(1, 3, 7)
		w.Locked(func() { w.broken = nil })
		w.Sleep(10 * time.Second)
		w.swept(1, 3, 7, 15)
		if !slices.Equal(w.gone(), []string{button}) {
			t.Errorf("removed is %v", w.gone())
		}
	})
}

func TestListIsBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		for n := range 50 {
			w.keep(fmt.Sprintf("troupe/v1/fleet/cmd/op%d/stop", n))
		}
		w.keep(halt)
		w.stay()
		w.Sleep(2 * time.Second)
		if l := w.List(time.Now()); len(l) != 21 || l[0].Why == "" || len(w.gone()) != 50 {
			t.Errorf("%d are listed, the first is %+v, removed are %d", len(l), l[0], len(w.gone()))
		}
	})
}
