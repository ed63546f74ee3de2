package publish

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/store"
	"troupe/schema"
	"troupe/schema/bubble"
)

func TestRobotWithoutConfirmationDelaysNoOther(t *testing.T) {
	for _, robots := range []int{10, 10_000} {
		t.Run(fmt.Sprint(robots), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				stuck := inFleet.Topic(schema.TopicDesiredStory, "r0")
				o, db, conn := newFakes(stuck)
				for _, payload := range []string{"1", "2"} {
					for i := range robots {
						db.add(schema.TopicDesiredStory, fmt.Sprintf("r%d", i), payload)
					}
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { o.run(ctx, db); close(ended) }()
				o.wake <- struct{}{}

				began := time.Now()
				const slots = maxInFlight
				rounds := 2 + 2*robots/(slots-1) // one slot is taken by the stuck document
				time.Sleep(time.Duration(rounds)*ackLatency + outboxLook + 2*markEvery)
				synctest.Wait()
				if n := db.unsent(); n != 2 {
					t.Errorf("after %v %d documents are unconfirmed, want the 2 of r0", time.Since(began), n)
				}
				if want := min(robots, slots); conn.counts().most != want {
					t.Errorf("%d documents were in flight at once, want %d", conn.counts().most, want)
				}
				if limit := int(time.Since(began) / markEvery); db.counts().marks == 0 || db.counts().marks > limit {
					t.Errorf("%d statements mark rows, want 1 to %d", db.counts().marks, limit)
				}
				if got := conn.payloads(inFleet.Topic(schema.TopicDesiredStory, "r1")); !slices.Equal(got, []string{"1", "2"}) {
					t.Errorf("sent to r1: %v, want 1 and then 2", got)
				}
				if got := conn.payloads(stuck); !slices.Equal(got, []string{"1"}) {
					t.Errorf("sent to r0 within 5 s: %v, want 1", got)
				}

				began = time.Now()
				db.add(schema.TopicDesiredStop, "r0", "stop")
				o.wake <- struct{}{}
				time.Sleep(ackLatency)
				synctest.Wait()
				if got := conn.payloads(inFleet.Topic(schema.TopicDesiredStop, "r0")); len(got) != 1 {
					t.Errorf("the stop of r0 was not sent within %v", time.Since(began))
				}
				time.Sleep(ackTimeout + retryMin)
				synctest.Wait()
				if got := conn.payloads(stuck); !slices.Equal(got, []string{"1", "1"}) {
					t.Errorf("sent to r0: %v, want 1 twice", got)
				}
				if conn.counts().doubled > 0 {
					t.Errorf("%d documents were sent while another of their topic was in flight", conn.counts().doubled)
				}
				cancel()
				<-ended
			})
		})
	}
}

// The outbox is read in parts, and stops that were written last are sent first.
func TestFullOutboxIsReadInParts(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const waiting = 3 * maxRows
		o, db, conn := newFakes("")
		for i := range waiting {
			db.add(schema.TopicDesiredStory, fmt.Sprintf("r%d", i), "1")
		}
		var stops []string
		for i := range 5 * maxOfTarget {
			stops = append(stops, fmt.Sprint("stop ", i))
			db.add(schema.TopicDesiredStop, "r7", stops[i])
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { o.run(ctx, db); close(ended) }()
		o.wake <- struct{}{}
		synctest.Wait()
		if string(conn.messages()[0].Payload) != stops[0] {
			t.Errorf("the stop is not the first of %d documents", conn.count())
		}
		if db.counts().reads > maxRows+rowsAtOnce || db.counts().most > rowsAtOnce {
			t.Errorf("%d rows were read before any was confirmed, %d at once", db.counts().reads, db.counts().most)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := db.unsent(); n != 0 {
			t.Errorf("%d documents are unconfirmed after a minute", n)
		}
		if conn.counts().most > maxInFlight+1 { // the stops of r7 go one after the other
			t.Errorf("%d documents were in flight", conn.counts().most)
		}
		if got := conn.payloads(inFleet.Topic(schema.TopicDesiredStop, "r7")); !slices.Equal(got, stops) {
			t.Errorf("stops were sent as %v", got)
		}
		if db.counts().reads > waiting+waiting/10 || conn.count() != waiting+len(stops) {
			t.Errorf("%d rows were read and %d sent, want %d", db.counts().reads, conn.count(), waiting+len(stops))
		}
		cancel()
		<-ended
	})
}

// The rows of one robot that confirms nothing neither fill the memory nor keep the rows of
// others waiting in the database.
func TestLongBacklogOfOneRobotDelaysNoOther(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		const backlog, others = 3 * maxRows, 1000
		stuck := inFleet.Topic(schema.TopicDesiredStory, "r0")
		o, db, conn := newFakes(stuck)
		for i := range backlog {
			db.add(schema.TopicDesiredStory, "r0", fmt.Sprint(i))
		}
		for i := range others {
			db.add(schema.TopicDesiredStory, fmt.Sprintf("r%d", i+1), "1")
		}
		db.add(schema.TopicDesiredStop, "r0", "stop")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { o.run(ctx, db); close(ended) }()
		o.wake <- struct{}{}
		time.Sleep(outboxLook / 2)
		synctest.Wait()
		if n := db.unsent(); n != backlog {
			t.Errorf("%d documents are unconfirmed, want the %d of r0", n, backlog)
		}
		if db.counts().reads > backlog+2*others || db.counts().most > rowsAtOnce {
			t.Errorf("%d rows were read, %d at once", db.counts().reads, db.counts().most)
		}
		conn.confirm(stuck)
		time.Sleep(ackTimeout + retryMin + 2*backlog*ackLatency) // one at a time
		synctest.Wait()
		if n := db.unsent(); n != 0 {
			t.Errorf("%d documents are unconfirmed after r0 confirms", n)
		}
		got := slices.Compact(conn.payloads(stuck)) // the first one was sent twice
		for i, payload := range got {
			if payload != fmt.Sprint(i) {
				t.Fatalf("document %d to r0 is %s", i, payload)
			}
		}
		if len(got) != backlog || db.counts().reads > 2*backlog+3*others {
			t.Errorf("%d documents were sent to r0, and %d rows read", len(got), db.counts().reads)
		}
		cancel()
		<-ended
	})
}

// Rows of few robots, many more than the window takes of each, are sent once, and in order:
// the stops of a robot, and its other documents.
func TestRowsOfATargetAreSentOnceAndInOrder(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 1))
				o, db, conn := newFakes("")
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { o.run(ctx, db); close(ended) }()
				kinds := []schema.TopicKind{schema.TopicDesiredStory, schema.TopicDesiredStop, schema.TopicDesiredConfig, schema.TopicFleetStop}
				const rows = 600
				for i := range rows {
					kind, robot := kinds[random.IntN(4)], fmt.Sprint("r", random.IntN(2))
					if kind == schema.TopicFleetStop {
						robot = ""
					}
					db.add(kind, robot, fmt.Sprint(i))
					if random.IntN(40) == 0 {
						signal(o.wake)
					}
					if random.IntN(40) == 0 {
						time.Sleep(time.Duration(random.IntN(30)) * ackLatency)
					}
				}
				time.Sleep(outboxLook + rows*ackLatency)
				synctest.Wait()
				if db.unsent() > 0 || conn.count() != rows {
					t.Errorf("%d documents are unconfirmed, %d were sent for %d rows", db.unsent(), conn.count(), rows)
				}
				last := map[string]int{}
				for _, m := range conn.messages() {
					row, params, _ := inFleet.Match(m.Topic)
					at := fmt.Sprint(params.RID, isStop(row.Kind))
					i, err := strconv.Atoi(string(m.Payload))
					if err != nil || i < last[at] {
						t.Fatalf("row %d of %s was sent after row %d", i, at, last[at])
					}
					last[at] = i
				}
				cancel()
				<-ended
			})
		})
	}
}

// A lead that is lost while many documents wait sends none of them, and the next connection
// sends those that were not marked, in order.
func TestLostLeadStopsSendingAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o, db, conn := newFakes("")
		var mu sync.Mutex
		leads, asked := true, 0
		o.deps.Writer = func() Writer {
			mu.Lock()
			defer mu.Unlock()
			if asked++; !leads || asked > 8 {
				leads = false
				return nil
			}
			return conn
		}
		for i := range 100 {
			db.add(schema.TopicDesiredStory, fmt.Sprintf("r%d", i), "1")
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { o.run(ctx, db); close(ended) }()
		o.wake <- struct{}{}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := conn.count(); n != 7 { // the first question was before all documents
			t.Errorf("%d documents were sent, want the 7 before the lead was lost", n)
		}
		mu.Lock()
		leads, asked = true, -1_000_000
		mu.Unlock()
		time.Sleep(3 * outboxLook)
		synctest.Wait()
		if n := db.unsent(); n != 0 {
			t.Errorf("%d documents are unconfirmed after the lead came back", n)
		}
		cancel()
		<-ended
	})
}

// A confirmation of an earlier connection that comes late, with the number that a document of the present
// one has, confirms nothing: the broker may have lost what it confirmed.
func TestConfirmationOfAnEarlierConnectionConfirmsNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		o, db, conn := newFakes(inFleet.Topic(schema.TopicDesiredStory, "r1")) // which confirms nothing
		o.ctx, o.abandon = context.WithCancel(t.Context())
		defer func() { o.abandon() }()
		sent := func() result {
			o.read(t.Context(), db)
			o.send(db)
			for _, q := range o.window.inFlight {
				return result{document: q.pending[0], window: o.window}
			}
			return result{}
		}
		db.add(schema.TopicDesiredStory, "r1", "old")
		late := sent()
		o.reset(t.Context())
		now := sent()
		if late.document.id != now.document.id || conn.count() != 2 {
			t.Fatalf("documents %d and %d, %d were sent", late.document.id, now.document.id, conn.count())
		}
		o.takeResult(late)
		if o.mark(t.Context(), db); db.unsent() != 1 || len(o.window.inFlight) != 1 {
			t.Errorf("%d rows are unconfirmed, %d documents are in flight", db.unsent(), len(o.window.inFlight))
		}
		o.takeResult(now)
		if o.mark(t.Context(), db); db.unsent() != 0 {
			t.Errorf("%d rows are unconfirmed after the confirmation", db.unsent())
		}
	})
}

// A document that the broker left unanswered is sent again soon after the broker confirms again, or after the connection is a
// new one, however long that took. Only a document that fails while others are confirmed waits for longer and longer.
func TestUnansweredDocumentIsSentSoonAfterTheBrokerAnswersAgain(t *testing.T) {
	for name, c := range map[string]struct {
		others, reconnects bool
		within             time.Duration
	}{
		"on the same connection":            {within: ackTimeout + silentMax},
		"on a new connection":               {reconnects: true, within: 2 * ackLatency},
		"that others were confirmed beside": {others: true, within: ackTimeout + retryMax},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				stuck := inFleet.Topic(schema.TopicDesiredStory, "r1")
				o, db, conn := newFakes(stuck)
				db.add(schema.TopicDesiredStory, "r1", "1")
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { o.run(ctx, db); close(ended) }()
				o.wake <- struct{}{}
				for silent := time.Now(); time.Since(silent) < 5*time.Minute; time.Sleep(time.Second) {
					if c.others {
						db.add(schema.TopicDesiredStory, "r2", "1")
						o.wake <- struct{}{}
					}
				}
				synctest.Wait()
				before := len(conn.payloads(stuck))
				most := int(5*time.Minute/(ackTimeout+silentMax)) + 3 // the first pauses are shorter
				if c.others {
					most = int(5*time.Minute/(ackTimeout+retryMax)) + 5
				}
				if before > most || before < most-3 {
					t.Errorf("sent %d times in five minutes without an answer, want %d to %d", before, most-3, most)
				}
				if conn.confirm(stuck); c.reconnects {
					o.reconnected <- struct{}{}
				}
				time.Sleep(c.within)
				synctest.Wait()
				if n := len(conn.payloads(stuck)); n != before+1 {
					t.Errorf("sent %d times within %v after the broker answers again, want once", n-before, c.within)
				}
				cancel()
				<-ended
			})
		})
	}
}

func TestMessageOutsideTheOutboxIsSentOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		topic := inFleet.Topic(schema.TopicDesiredStory, "r1")
		o, db, conn := newFakes(topic)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { o.run(ctx, db); close(ended) }()
		o.enqueue(link.Message{Topic: topic, Payload: []byte("1"), QoS: 1, Retain: true})
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := conn.payloads(topic); !slices.Equal(got, []string{"1"}) {
			t.Errorf("sent %v, want 1 once", got)
		}
		cancel()
		<-ended
	})
}

// BenchmarkOutbox compares the window with one document at a time, at a broker that
// acknowledges after 1 ms.
func BenchmarkOutbox(b *testing.B) {
	report := func(b *testing.B) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "documents/s") }
	b.Run("one at a time", func(b *testing.B) {
		o, _, conn := newFakes("")
		for i := range b.N {
			wait, err := conn.PublishAsync(b.Context(), o.message(store.Outgoing{Topic: schema.TopicDesiredStory, Target: fmt.Sprintf("r%d", i),
				Payload: []byte("1")}))
			if err == nil {
				err = wait(b.Context())
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		report(b)
	})
	b.Run("window", func(b *testing.B) {
		o, db, _ := newFakes("")
		for i := range b.N {
			db.add(schema.TopicDesiredStory, fmt.Sprintf("r%d", i), "1")
		}
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan struct{})
		b.ResetTimer()
		go func() { o.run(ctx, db); close(ended) }()
		o.wake <- struct{}{}
		for db.unsent() > 0 {
			time.Sleep(ackLatency)
		}
		report(b)
		cancel()
		<-ended
	})
}
