package latch_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/auth"
	"troupe/fleetd/command"
	"troupe/fleetd/latch"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
	"troupe/schema/bubble"
)

// gate is a database that answers only while the gate is open.
type gate struct {
	latch.Store
	mu   sync.Mutex
	open chan struct{} // closed while it is
}

func (g *gate) pass(ctx context.Context) error {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *gate) isOpen() bool {
	select {
	case <-g.open:
		return true
	default:
		return false
	}
}

func (g *gate) set(open bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case open == g.isOpen():
	case open:
		close(g.open)
	default:
		g.open = make(chan struct{})
	}
}

func (g *gate) Tx(ctx context.Context, do func(tx *store.Tx) error) error {
	if err := g.pass(ctx); err != nil {
		return err
	}
	return g.Store.Tx(ctx, do)
}

func (g *gate) LatchedStops(ctx context.Context) ([]stop.Latch, error) {
	if err := g.pass(ctx); err != nil {
		return nil, err
	}
	return g.Store.LatchedStops(ctx)
}

// robots are the robots of the fleet, and what each of them reports.
type robots struct {
	mu      sync.Mutex
	latches map[string][]schema.StopLatch
	away    map[string]bool
}

func (*robots) Adopted(string) bool             { return true }
func (*robots) Labels(string) map[string]string { return nil }

func (r *robots) Reachable(robot string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.away[robot]
}

func (r *robots) ReportedStops(ids []string, now time.Time) (ours []stop.Request, elsewhere stop.Elsewhere) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for robot, all := range r.latches {
		for _, l := range all {
			if o, _ := stop.RequestFromRobot(robot, l, 0, now); slices.Contains(ids, o.ID) && !r.away[robot] {
				o.All = false
				ours = append(ours, o)
			}
		}
	}
	return ours, elsewhere
}

func (r *robots) NotHeld(map[string]map[string]schema.StopLevel, time.Time) []string { return nil }

// nobody is a dispatcher that has nothing to do with stops. It calls released when a release is persisted.
type nobody struct{ released func() }

func (nobody) Send(context.Context, command.Command)    {}
func (nobody) SendNow(context.Context, command.Command) {}

func (n nobody) EndReleased(_ func(command.Command) bool, done func()) {
	if n.released != nil {
		n.released()
	}
	done()
}

// world is one instance that holds stops.
type world struct {
	*testing.T
	*latch.Stops
	db     *gate
	spool  string
	robots robots
	nobody nobody
	end    func() // ends the instance

	mu   sync.Mutex
	acks []schema.Ack // to the clients of live stops
}

func (w *world) start() {
	yes, no := func() bool { return true }, func() bool { return false }
	s, err := latch.New(latch.Deps{
		Log: slog.New(slog.DiscardHandler), Namespace: schema.DefaultNamespace, Name: "fleetd", Spool: w.spool, Now: time.Now,
		Leads: yes, AnotherLeads: no, Instance: func(name string) bool { return name == "fleetd-b" },
		Store: func() (latch.Store, error) { return w.db, nil }, Failed: func(string, error) {},
		Session: func() string { return "s" }, Publish: w.answered, PublishStop: w.answered,
		Dispatcher: &w.nobody, Robots: &w.robots, Releases: &latch.Releases{}, WakeOutbox: func() {}, LiveStopArrived: func() {},
	})
	if err != nil {
		w.Fatal(err)
	}
	w.Stops = s
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { s.Run(ctx); close(over) }()
	w.end = func() {
		cancel()
		<-over
		if err := s.Close(); err != nil {
			w.Error(err)
		}
	}
}

func (w *world) answered(_ context.Context, m link.Message) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	a, _ := schema.Decode[schema.Ack](m.Payload)
	w.acks = append(w.acks, a)
	return nil
}

// releasing is a release under way.
type releasing struct {
	ids      []string
	released bool
	problems []schema.Problem
	err      error
	over     chan struct{}
}

func (w *world) release(ctx context.Context, ids ...string) *releasing {
	r := &releasing{ids: ids, over: make(chan struct{})}
	go func() {
		defer close(r.over)
		r.problems, r.err = w.Release(ctx, auth.Principal{ID: "local"}, ids, "anna", "the model")
		r.released = r.err == nil && len(r.problems) == 0
	}()
	return r
}

func held(all []latch.LatchedStop) (ids []string) {
	for _, h := range all {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return ids
}

// TestReleasedStopsStayReleasedAndOthersStayHeld tries every sequence of up to four events,
// in a short run of up to three: a live stop, a stop of this instance, a release of both, the
// database that hangs or goes on, and a restart.
func TestReleasedStopsStayReleasedAndOthersStayHeld(t *testing.T) {
	const events = "LHRGX"
	most := 4
	if testing.Short() {
		most = 3
	}
	for _, first := range events {
		t.Run(string(first), func(t *testing.T) {
			t.Parallel()
			dir, path := t.TempDir(), storetest.SQLite(t)
			bubble.Test(t, func(t *testing.T) {
				db, err := store.Open(t.Context(), path, time.Now(), slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				g := &gate{Store: db, open: make(chan struct{})}
				g.set(true)
				n := 0
				var try func(sequence string)
				try = func(sequence string) {
					if len(sequence) == most {
						// shorter sequences need no run of their own: R as the first event releases nothing, so R followed by a sequence is that sequence
						n++
						(&world{T: t, db: g, spool: filepath.Join(dir, fmt.Sprint(n))}).try(sequence, n)
						return
					}
					for _, e := range events {
						try(sequence + string(e))
					}
				}
				try(string(first))
				t.Logf("%d sequences", n)
			})
		})
	}
}

func (w *world) try(sequence string, n int) {
	w.start()
	client := fmt.Sprintf("button%d", n)
	ids := []string{client}
	asked := map[string]int{} // by id: the newest event that asked for it, from 1
	var releases []*releasing
	began := map[*releasing]int{}
	over := map[*releasing]int{}
	atOnce := map[*releasing]bool{} // begun when it was asked for
	mustBe := map[*releasing]bool{} // it succeeds: all of its stops are held, on the disk or in the database
	idle := true                    // nothing waits for the database
	ctx, hangUp := context.WithCancel(context.Background())
	for i, e := range sequence {
		time.Sleep(10 * time.Millisecond)
		switch e {
		case 'L':
			w.ReceiveLiveStop(client, nil, time.Now())
			asked[client] = i + 1
		case 'H':
			own := fmt.Sprintf("own%d-%d", n, i) // each is another one, unlike those of a button
			ids = append(ids, own)
			o := stop.Request{ID: own, Level: schema.StopStop, By: "ben", At: time.Now().Truncate(time.Microsecond), All: true}
			if err := w.StopAndLatch(context.Background(), o, func(bool) {}); err != nil {
				w.Error(err)
			}
			asked[own] = i + 1
			if !slices.Contains(held(w.Latched()), own) {
				w.Errorf("%s: a stop is not listed when it was held", sequence)
			}
		case 'R':
			var of []string
			for _, id := range ids {
				if asked[id] > 0 {
					of = append(of, id)
				}
			}
			if len(of) == 0 {
				continue
			}
			r := w.release(ctx, of...)
			began[r], atOnce[r] = i+1, idle
			mustBe[r] = !slices.ContainsFunc(releases, func(earlier *releasing) bool {
				return over[earlier] == 0 || slices.ContainsFunc(earlier.ids, func(id string) bool { return asked[id] <= over[earlier] })
			})
			releases = append(releases, r)
		case 'G':
			w.db.set(!w.db.isOpen())
		case 'X':
			hangUp()
			ctx, hangUp = context.WithCancel(context.Background())
			for _, r := range releases {
				mustBe[r] = mustBe[r] && over[r] > 0
			}
			w.end()
			w.start()
		}
		synctest.Wait()
		idle = w.db.isOpen() || idle && e == 'G'
		for _, r := range releases {
			select {
			case <-r.over:
				if over[r] == 0 {
					over[r] = i + 1
				}
			default:
			}
		}
	}
	w.db.set(true)
	time.Sleep(5 * time.Second)
	synctest.Wait()
	for _, r := range releases {
		if <-r.over; mustBe[r] && !r.released {
			w.Errorf("%s: the release of %v, which are latched, returned %v, %v", sequence, r.ids, r.problems, r.err)
		}
	}
	now := held(w.Latched())
	for _, id := range ids {
		must, may := asked[id] > 0, asked[id] > 0
		for _, r := range releases {
			if !r.released || !slices.Contains(r.ids, id) {
				continue
			}
			if asked[id] < began[r] {
				must, may = false, false
			} else if !atOnce[r] && (over[r] == 0 || asked[id] <= over[r]) { // asked for while the release waited
				must = false
			}
		}
		if is := slices.Contains(now, id); is && !may || !is && must {
			w.Errorf("%s: %s is held: %v", sequence, id, is)
		}
	}
	if !w.Complete() {
		w.Errorf("%s: the list is incomplete although the database answers", sequence)
	}
	persisted, err := w.db.LatchedStops(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	var inDatabase []string
	for _, l := range persisted {
		inDatabase = append(inDatabase, l.ID)
	}
	slices.Sort(inDatabase)
	if inDatabase = slices.Compact(inDatabase); !slices.Equal(inDatabase, now) {
		w.Errorf("%s: the database holds %v, and listed are %v", sequence, inDatabase, now)
	}
	if len(now) > 0 {
		if r := w.release(context.Background(), now...); true {
			if <-r.over; !r.released {
				w.Errorf("%s: not released in the end", sequence)
			}
		}
	}
	hangUp()
	w.end()
}

func TestReleaseIncludesEveryLiveStopThatArrivedBefore(t *testing.T) {
	inWorld(t, func(w *world) {
		time.Sleep(time.Second)
		var ids []string
		for i := range 100 {
			ids = append(ids, fmt.Sprintf("button%d", i))
			w.ReceiveLiveStop(ids[i], nil, time.Now())
		}
		problems, err := w.Release(context.Background(), auth.Principal{ID: "local"}, ids, "anna", "the test")
		if err != nil || len(problems) > 0 {
			t.Fatal(problems, err)
		}
		time.Sleep(5 * time.Second)
		if all := held(w.Latched()); len(all) > 0 {
			t.Errorf("held are still %v", all)
		}
	})
}
