package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"troupe/broker/link"
	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/spool"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// stopsLook is how often stops that wait for the database are tried again.
	stopsLook = time.Second
	// stopsWithin bounds one attempt to put stops on record.
	stopsWithin = 10 * time.Second
	// shownFor is how long a robot has to show a stop that the database does not
	// hold before it is written down: a release takes a moment to arrive.
	shownFor = 2 * time.Second
)

// stops are those that people hold. A stop is sent first, kept on this machine's
// disk next, and on record with its documents as soon as the database takes it;
// robots hold it by its id meanwhile. Live stops of others are written down, and
// so is what a robot holds that nobody here knows of.
//
// Each desk writes down what was asked of it. What every desk overhears is written
// down by the one that leads; the others keep it until they see it on record, for
// there may be nobody who leads.
type stops struct {
	f     *Fleet
	spool *spool.Spool
	wake  chan struct{}

	mu      sync.Mutex
	heard   []stop.Order                    // live, not kept yet
	waiting []spool.Entry                   // not on record yet; N = 0: not on the disk either
	back    []string                        // robots that came while something waits
	held    []stop.Latch                    // on record
	on      map[string]map[string]bool      // the same: ids by robot
	loaded  bool                            // held was read from the database
	shown   map[string]map[string]time.Time // by robot: what it holds and nobody here does, since when

	lettings []*letting // releases under way

	renewed bool       // what is held was told as it would be today; owned by run
	keeping sync.Mutex // held while what was heard goes to the disk
}

func newStops(f *Fleet) (*stops, error) {
	s := &stops{f: f, wake: make(chan struct{}, 1), on: map[string]map[string]bool{}, shown: map[string]map[string]time.Time{}}
	var err error
	s.spool, s.waiting, err = spool.Open(f.cfg.Spool)
	if errors.Is(err, spool.ErrDamaged) { // a desk that cannot read old stops must be able to give new ones
		aside := fmt.Sprintf("%s.damaged-%d", f.cfg.Spool, f.started.Unix())
		f.log.Error("stops that wait for the database cannot be read; the file was moved away, look at which robots hold stops", "error", err, "to", aside)
		if err := os.Rename(f.cfg.Spool, aside); err != nil {
			return nil, fmt.Errorf("move damaged stops away: %w", err)
		}
		s.spool, s.waiting, err = spool.Open(f.cfg.Spool)
	}
	if err != nil {
		return nil, err
	}
	if len(s.waiting) > 0 {
		f.log.Warn("stops wait to be put on record", "stops", len(s.waiting))
	}
	return s, nil
}

// Hold stops robots and holds the stop: the live message to all, if it is for all,
// and each robot's own command, then the disk, then the database.
func (f *Fleet) Hold(ctx context.Context, o stop.Order, batch command.Batch, commands []command.Command) (api.Ticket, error) {
	ctx = context.WithoutCancel(ctx) // who asked for a stop may hang up; it goes on
	if o.All || len(o.Labels) > 0 {
		f.call(ctx, o)
	}
	f.own(commands)
	t := f.sendStop(ctx, batch, commands)
	kept := f.stops.keep(o)
	t.awaitRecord()
	return t, kept
}

// call sends a live stop, which every robot holds that hears it.
func (f *Fleet) call(ctx context.Context, o stop.Order) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r := schema.StopRequest{ID: o.ID, Level: o.Level, Labels: o.Labels, By: o.By, Why: o.Why}
	payload, err := schema.Encode(r)
	if err == nil && len(payload) > schema.TopicOf(schema.TopicFleetStopCmd).MaxBytes {
		r.Why = ""
		payload, err = schema.Encode(r)
	}
	if err == nil {
		err = f.link.Publish(ctx, link.Message{Topic: f.ns.Topic(schema.TopicFleetStopCmd, f.cfg.Name), Payload: payload, QoS: 1})
	}
	if err != nil {
		f.log.Error("live stop not sent", "stop", o.ID, "error", err)
	}
}

// keep writes a stop to this machine's disk and has it put on record.
func (s *stops) keep(o stop.Order) error {
	e, err := s.spool.Append(o)
	if err != nil {
		e.N = 0
		s.f.log.Error("stop not kept on this machine; it is on record only if the database takes it before fleetd ends", "stop", o.ID, "error", err)
	}
	s.mu.Lock()
	s.waiting = append(s.waiting, e)
	s.mu.Unlock()
	signal(s.wake)
	return err
}

// listen takes in a client's live stop; it runs on the link's own goroutine.
func (s *stops) listen(client string, payload []byte, now time.Time) {
	if client == s.f.cfg.Name {
		return // its own: it was kept when it was sent
	}
	o := stop.OrderOf(client, payload, now)
	s.f.log.Warn("live stop heard", "stop", o.ID, "client", client, "by", o.By, "why", o.Why)
	s.mu.Lock()
	s.heard = append(s.heard, o)
	s.mu.Unlock()
	signal(s.wake)
	s.f.sweeper.soon()
}

// came notes that a robot is there: it may have missed what was sent meanwhile.
func (s *stops) came(robot string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) > 0 {
		s.back = append(s.back, robot)
		signal(s.wake)
	}
}

// shows compares what a robot says that it holds with what is on record. What it
// goes on showing although nobody here holds it was asked for while the desk did
// not hear it, and is written down.
func (s *stops) shows(robot string, latches []schema.StopLatch, now time.Time) {
	adopted := len(latches) > 0 && s.f.hub.adopted(robot) && s.f.leadership.leads()
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.shown[robot]
	delete(s.shown, robot)
	if !s.loaded || !adopted {
		return
	}
	for _, l := range latches {
		o, named := stop.Learned(robot, l, now)
		if !named || s.on[robot][l.ID] || slices.ContainsFunc(s.waiting, func(e spool.Entry) bool { return e.Order.ID == l.ID }) {
			continue
		}
		since, before := was[l.ID]
		if !before {
			since = now
		}
		if s.shown[robot] == nil {
			s.shown[robot] = map[string]time.Time{}
		}
		s.shown[robot][l.ID] = since
		if before && now.Sub(since) >= shownFor {
			s.waiting = append(s.waiting, spool.Entry{Order: o})
			s.f.log.Warn("a robot holds a stop that is not on record; it is written down", "robot", robot, "stop", l.ID, "by", l.By)
			signal(s.wake)
		}
	}
}

func (s *stops) run(ctx context.Context) {
	look := time.NewTicker(stopsLook)
	defer look.Stop()
	for {
		s.keepHeard(ctx)
		s.repeat(ctx)
		s.record(ctx)
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-look.C:
		}
	}
}

// keepHeard keeps the live stops that were heard, and tells their senders. When it
// returns, all that was heard before is kept.
func (s *stops) keepHeard(ctx context.Context) {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	s.mu.Lock()
	heard := s.heard
	s.heard = nil
	s.mu.Unlock()
	followed := s.f.leadership.followed()
	for _, o := range heard {
		err := s.keep(o)
		if followed {
			continue // the desk that leads answers
		}
		a := schema.Ack{Status: schema.StatusAccepted, Detail: "the desk has it, and holds it until it is released"}
		if err != nil {
			a.Detail = "the desk has it, and could not keep it on its disk"
		}
		s.answer(ctx, o, a)
	}
}

// repeat sends the stops that wait to robots that came.
func (s *stops) repeat(ctx context.Context) {
	s.mu.Lock()
	back, waiting := s.back, slices.Clone(s.waiting)
	s.back = nil
	s.mu.Unlock()
	for _, robot := range back {
		d, _ := s.f.hub.detail(robot)
		for _, e := range waiting {
			if o := e.Order; !o.Held && o.Means(robot, d.Labels) {
				s.sendTo(ctx, robot, e)
			}
		}
	}
}

// sendTo sends a stop that waits, unless it was released meanwhile.
func (s *stops) sendTo(ctx context.Context, robot string, e spool.Entry) {
	o := e.Order
	verb, _ := schema.VerbOf("safety", verbOf(o.Level))
	payload, err := schema.EncodeRequest(verb, schema.Request{ID: uuid.NewString(), By: o.By, Why: o.Why, Args: schema.Args{Latch: o.ID, Why: o.Why}})
	if err != nil {
		s.f.log.Error("stop not encoded", "stop", o.ID, "error", err)
		return
	}
	c := command.Command{Robot: robot, Verb: verb.ID(), Payload: payload, CreatedAt: o.At}
	if !s.putsOff(c) && s.waits(e) { // in this order: a release that is over has forgotten it
		s.f.publish(ctx, c)
	}
}

func verbOf(l schema.StopLevel) string {
	switch l {
	case schema.StopSoft:
		return "soft-stop"
	case schema.StopHalt:
		return "halt"
	}
	return "stop"
}

// record puts what waits on record, and reads what is held.
func (s *stops) record(ctx context.Context) {
	leads := s.f.leadership.leads()
	var write, watch []spool.Entry
	s.mu.Lock()
	loaded := s.loaded
	for _, e := range s.waiting {
		if leads || !e.Order.Overheard() {
			write = append(write, e)
		} else {
			watch = append(watch, e)
		}
	}
	s.mu.Unlock()
	if len(write)+len(watch) == 0 && loaded && s.renewed {
		return
	}
	db, err := s.f.Store()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stopsWithin)
	defer cancel()
	if err := s.write(ctx, db, write); err != nil {
		s.f.databaseFailed("stops not put on record", err)
		return
	}
	if !s.renewed {
		if err := s.renew(ctx, db); err != nil {
			s.f.databaseFailed("stops not signed", err)
			return
		}
		s.renewed = true
	}
	recorded, err := s.recorded(ctx, db, watch)
	if err != nil {
		s.f.databaseFailed("stops not read", err)
	}
	if done := append(write, recorded...); len(done) > 0 || !loaded {
		if err := s.read(ctx, db); err != nil { // first: at no moment is a stop in neither list
			s.f.databaseFailed("stops not read", err)
			return
		}
		s.settled(done)
	}
	for _, e := range write {
		s.answer(ctx, e.Order, schema.Ack{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "held; fleetd stop release " + e.Order.ID + " --why REASON lets go of it"})
	}
}

// letGo forgets what was put on record by its release.
func (s *stops) letGo(ctx context.Context, ended []spool.Entry) {
	s.settled(ended)
	for _, e := range ended {
		s.answer(ctx, e.Order, schema.Ack{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "held, and released since"})
	}
}

// idsOf are the ids of orders, each once.
func idsOf(entries []spool.Entry) []string {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Order.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (s *stops) write(ctx context.Context, db *store.Store, waiting []spool.Entry) error {
	if len(waiting) == 0 {
		return nil
	}
	var orders []stop.Order
	for _, e := range waiting {
		orders = append(orders, e.Order)
	}
	err := db.Tx(ctx, func(tx *store.Tx) error {
		rows, err := tx.Stops(ctx, idsOf(waiting)...)
		if err != nil {
			return err
		}
		now := time.Now()
		c, err := stop.Hold(rows, orders, now)
		if err != nil || c.Empty() {
			return err
		}
		return tx.ApplyStops(ctx, c, now)
	})
	if err != nil {
		return err
	}
	signal(s.f.outbox.wake)
	return nil
}

// recorded are those that another desk has put on record.
func (s *stops) recorded(ctx context.Context, db *store.Store, watch []spool.Entry) (out []spool.Entry, err error) {
	if len(watch) == 0 {
		return nil, nil
	}
	err = db.Tx(ctx, func(tx *store.Tx) error {
		out = nil
		rows, err := tx.Stops(ctx, idsOf(watch)...)
		for _, e := range watch {
			if err == nil && stop.Recorded(rows, e.Order) {
				out = append(out, e)
			}
		}
		return err
	})
	return out, err
}

// settled forgets what is on record.
func (s *stops) settled(done []spool.Entry) {
	if err := s.spool.Done(done...); err != nil {
		s.f.log.Error("stops on record not forgotten on this machine", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range done {
		if i := s.place(e); i >= 0 {
			s.waiting = slices.Delete(s.waiting, i, i+1)
		}
	}
}

// place is where an entry waits; -1 if it does no more. It is called under the lock.
func (s *stops) place(e spool.Entry) int {
	return slices.IndexFunc(s.waiting, func(w spool.Entry) bool {
		return w.N == e.N && w.Order.ID == e.Order.ID && w.Order.At.Equal(e.Order.At)
	})
}

func (s *stops) waits(e spool.Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place(e) >= 0
}

// renew tells again, signed, what is held and was told unsigned or by another key.
func (s *stops) renew(ctx context.Context, db *store.Store) error {
	told := 0
	err := db.Tx(ctx, func(tx *store.Tx) error {
		rows, err := tx.Stops(ctx)
		if err != nil {
			return err
		}
		documents, err := tx.ToldStops(ctx)
		if err != nil {
			return err
		}
		now := time.Now()
		c, err := stop.Renew(rows, documents, now)
		if told = len(c.Documents); err != nil || told == 0 {
			return err
		}
		return tx.ApplyStops(ctx, c, now)
	})
	if err != nil || told == 0 {
		return err
	}
	s.f.log.Info("stops that are held are told again, signed", "documents", told)
	signal(s.f.outbox.wake)
	return nil
}

// read learns what is held.
func (s *stops) read(ctx context.Context, db *store.Store) error {
	held, err := db.HeldStops(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.loaded, s.on = held, true, map[string]map[string]bool{}
	for _, l := range held {
		if s.on[l.Robot] == nil {
			s.on[l.Robot] = map[string]bool{}
		}
		s.on[l.Robot][l.ID] = true
	}
	return nil
}

// answer tells the sender of a live stop what became of it here; robots answer for
// themselves.
func (s *stops) answer(ctx context.Context, o stop.Order, a schema.Ack) {
	if o.Client == "" {
		return
	}
	a.TS, a.Session, a.ID, a.Verb = schema.TimeOf(time.Now()), s.f.link.Session(), &o.ID, "fleet/stop"
	payload, err := schema.Encode(&a)
	if err != nil {
		s.f.log.Error("answer not encoded", "error", err)
		return
	}
	m := link.Message{Topic: s.f.ns.Topic(schema.TopicFleetAck, o.Client), Payload: payload, QoS: 1}
	if err := s.f.link.Publish(ctx, m); err != nil {
		s.f.log.Debug("answer not sent", "client", o.Client, "error", err)
	}
}

// Release lets go of stops by their ids. What waits is put on record first, and so is
// where robots show that they hold what is released: a robot lets go only of what it
// was told, and nothing that was released comes back.
func (f *Fleet) Release(ctx context.Context, ids []string, by, why string) ([]schema.Problem, error) {
	db, err := f.Store()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	f.stops.keepHeard(ctx) // what was heard before is before
	let := f.stops.letting(ids, began)
	settled := false
	defer func() {
		if !settled {
			f.stops.stand(context.WithoutCancel(ctx), let)
		}
	}()
	f.stops.mu.Lock()
	waiting := slices.Clone(f.stops.waiting)
	f.stops.mu.Unlock()
	all := append(slices.Clone(ids), idsOf(waiting)...)
	slices.Sort(all)
	all = slices.Compact(all)
	var problems []schema.Problem
	err = db.Tx(ctx, func(tx *store.Tx) error {
		problems = nil
		now := time.Now()
		rows, err := tx.Stops(ctx, all...)
		if err != nil {
			return err
		}
		var orders []stop.Order
		for _, e := range waiting {
			if !e.Order.Overheard() || !stop.Recorded(rows, e.Order) {
				orders = append(orders, e.Order)
			}
		}
		for _, o := range f.hub.showing(ids, now) {
			if onSome(rows.Latches, o.ID) {
				orders = append(orders, o)
			}
		}
		c, err := stop.Hold(rows, orders, now)
		if err != nil {
			return err
		}
		if !c.Empty() {
			if err := tx.ApplyStops(ctx, c, now); err != nil {
				return err
			}
			if rows, err = tx.Stops(ctx, all...); err != nil {
				return err
			}
		}
		if c, problems, err = stop.Release(rows, ids, by, why, now); err != nil || len(problems) > 0 {
			return err
		}
		return tx.ApplyStops(ctx, c, now)
	})
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	settled = true
	f.stops.letGo(ctx, slices.DeleteFunc(waiting, func(e spool.Entry) bool { return !slices.Contains(ids, e.Order.ID) }))
	f.driver.post(post{kind: postLet, let: let})
	f.log.Warn("stops released", "stops", strings.Join(ids, " "), "by", by, "why", why)
	f.stops.mu.Lock()
	f.stops.shown = map[string]map[string]time.Time{}
	f.stops.mu.Unlock()
	if err := f.stops.read(ctx, db); err != nil {
		f.databaseFailed("stops not read", err)
	}
	signal(f.outbox.wake)
	return nil, nil
}

// Held lists the stops that are held, the newest first, and those that wait to be
// put on record.
func (f *Fleet) Held() []api.HeldStop {
	s := f.stops
	s.mu.Lock()
	defer s.mu.Unlock()
	byID := map[string]*api.HeldStop{}
	of := func(id string) *api.HeldStop {
		if byID[id] == nil {
			byID[id] = &api.HeldStop{ID: id, Robots: []string{}}
		}
		return byID[id]
	}
	for _, l := range s.held {
		h := of(l.ID)
		h.Level, h.By, h.Why, h.Since, h.OnRecord = l.Level, l.By, l.Why, max(h.Since, schema.TimeOf(l.AskedAt)), true
		if l.Robot == "" {
			h.All = true
		} else {
			h.Robots = append(h.Robots, l.Robot)
		}
	}
	for _, e := range s.waiting {
		if o := e.Order; byID[o.ID] == nil {
			h := of(o.ID)
			h.Level, h.By, h.Why, h.Since, h.All, h.Robots = o.Level, o.By, o.Why, schema.TimeOf(o.At), o.All, append(h.Robots, o.Robots...)
		}
	}
	out := make([]api.HeldStop, 0, len(byID))
	for _, h := range byID {
		h.Count = len(h.Robots)
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b api.HeldStop) int {
		return cmp.Or(cmp.Compare(b.Since, a.Since), strings.Compare(a.ID, b.ID))
	})
	return out
}
