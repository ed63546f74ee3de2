package brain

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/config"
	"troupe/robotd/delivery"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/robotd/mode/ato"
	"troupe/robotd/mode/follow"
	"troupe/robotd/mode/mnl"
	"troupe/robotd/mode/safe"
	"troupe/robotd/mode/str"
	"troupe/schema"
	"troupe/schema/sign"
)

// rig is a robot's whole world, made of values: a body that answers, a disk that
// keeps, a fleet that speaks. Its time is counted and its events are in order, so
// that a run is the same whenever it is made.
type rig struct {
	t   rapid.TB
	cfg config.Config
	s   *State
	now time.Duration // since the first boot
	old time.Duration // of boots before
	due time.Duration // of the next Tick, since boot

	memory Memory
	coming []coming // in order
	waited bool     // the newest event was a tick: nothing else has happened since
	n      int      // of events, to keep those of one time in order

	body     *timedBody
	beats    bool // a heartbeat of fleetd arrives once a second
	beatSeq  int64
	accepts  int64 // max_heartbeat_ms of them
	noBlobs  bool
	diskFull bool
	// diskDead: it takes not even latches, whose space is reserved.
	diskDead bool
	// diskStuck: nothing comes back of them.
	diskStuck bool
	// diskHangs: its results are reported together with the next one.
	diskHangs  bool
	unanswered []event.RequestsSaved
	calibBad   bool
	calibTime  time.Duration
	over       bool              // the robot has said Exit
	faults     map[string]string // of the next call of a mode, by its name
	found      []mode.Refusal    // by the guard, of each call
	failed     int               // calls of modes

	events [][]byte // the newest ring of them
	ring   int

	called  []effect.Call
	answers map[string]httpAnswer // by address

	blobs map[string][]byte
	watch func(ev event.Event, effects []effect.Effect) // sees every step
	sent  func(effect.Publish)                          // sees every message that goes out
}

// httpAnswer is what a server answers.
type httpAnswer struct {
	body    string
	refused schema.Reason
}

// coming is an event on its way.
type coming struct {
	at time.Duration
	n  int
	ev event.Event
	do func() // instead of an event: something in the world
}

// quiet is a mode that does nothing and needs nothing.
var quiet = mode.Installed{Settings: mode.Settings{ID: "quiet", LinkLoss: schema.LinkLossContinue}, Name: "quiet",
	New: func() mode.Mode { return mode.Plain{} }}

// modes are those of a robot, which its configuration has or not.
var modes = []mode.Installed{str.Mode, mnl.Mode, ato.Mode, safe.Mode, follow.Mode, askerMode, quiet}

// epoch is when the rig's first boot begins, on the wall.
const epoch schema.Time = 1_800_000_000_000

func newRig(t rapid.TB) *rig {
	r := &rig{t: t, cfg: config.Defaults("r1"), ring: 1000, calibTime: 100 * time.Millisecond, blobs: map[string][]byte{},
		memory: Memory{Values: map[string]string{}, Deliveries: map[sign.Kind]delivery.Persisted{}}, watch: func(event.Event, []effect.Effect) {},
		sent: func(effect.Publish) {}}
	r.body = newTimedBody(r)
	return r
}

func (r *rig) wall() clock.Now {
	return clock.Now{Mono: r.now - r.old, Wall: epoch.Add(r.now)}
}

// bootConnected starts the robot, which connects at once, and lets it settle for a second.
func (r *rig) bootConnected(session string) {
	r.boot()
	r.give(event.Connected{Session: session})
	r.until(time.Second)
}

// boot starts the robot from what its disk kept.
func (r *rig) boot() {
	r.old, r.over = r.now, false
	r.diskHangs, r.unanswered = false, nil
	r.memory.Boots++
	r.memory.Contents.Blobs = r.blobs
	r.coming = slices.DeleteFunc(r.coming, func(c coming) bool {
		_, beat := c.ev.(event.Heartbeat)
		return !beat // what was under way to the old process is gone
	})
	r.body.stand()
	var first []effect.Effect
	r.s, first = New(&r.cfg, "boot-"+string(rune('0'+r.memory.Boots)), r.body.about(), r.memory, mode.NewRunner(modes, r.guard), r.wall())
	r.done(nil, first)
	for _, u := range r.body.about().Units {
		r.soon(0, event.Reported{Event: driver.Event{Kind: driver.Unit, Unit: u.ID, State: driver.Idle}})
	}
	r.give(event.Begin{})
}

// give lets the robot take an event, and all steps that follow from it. A robot that has ended takes none.
func (r *rig) give(ev event.Event) {
	if r.over {
		return
	}
	_, r.waited = ev.(event.Tick)
	for range 100 {
		out := Step(r.s, r.wall(), ev, nil)
		r.done(ev, out)
		if !r.s.Pending() {
			return
		}
		ev = event.Follow{}
	}
	r.t.Fatalf("after %T the robot does not come to rest", ev)
}

// guard makes a call of a mode, and finds the fault in it that the script wants.
func (r *rig) guard(c mode.Call) mode.Refusal {
	c.Run()
	var fault mode.Refusal
	if why, ok := r.faults[c.String()]; ok {
		if c.Do != mode.DoReady { // it is asked in every step
			delete(r.faults, c.String())
		}
		r.failed++
		fault = mode.Refusal{Reason: schema.ReasonModeFailed, Detail: c.String() + " " + why}
	}
	r.found = append(r.found, fault)
	return fault
}

// soon sends an event after d.
func (r *rig) soon(d time.Duration, ev event.Event) { r.come(coming{at: r.now + d, ev: ev}) }

func (r *rig) come(c coming) {
	r.n++
	c.n = r.n
	i, _ := slices.BinarySearchFunc(r.coming, c, func(a, b coming) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.n, b.n))
	})
	r.coming = slices.Insert(r.coming, i, c)
}

// until lets time pass up to at.
func (r *rig) until(at time.Duration) {
	for {
		next, ev, do := at+1, event.Event(nil), func() {}
		if r.s != nil && !r.over {
			r.due = NextTick(r.s, r.due, r.now-r.old)
			next = max(r.now, r.old+r.due)
			ev = event.Tick{Late: next - r.old - r.due}
		}
		first := len(r.coming) > 0 && r.coming[0].at <= next
		if first {
			next, ev, do = r.coming[0].at, r.coming[0].ev, r.coming[0].do
		}
		if next > at {
			r.now = at
			return
		}
		if !first && r.waited && r.s.ticked == next-r.old && next > r.old {
			r.t.Fatalf("at %v the robot wants a tick at once, again and again", r.now)
		}
		r.now = next
		if first {
			r.coming = r.coming[1:]
		}
		if ev == nil {
			do()
			continue
		}
		if _, beat := ev.(event.Heartbeat); beat && !r.beats || r.over || r.s == nil {
			continue
		}
		if !first {
			r.due = r.now - r.old
		}
		r.give(ev)
		if _, beat := ev.(event.Heartbeat); beat {
			r.beat(time.Second)
		}
	}
}

func (r *rig) beat(in time.Duration) {
	r.beatSeq++
	r.soon(in, event.Heartbeat{Client: "fleetd", Beat: schema.FleetHeartbeat{TS: epoch.Add(r.now + in), Session: "fleetd", Seq: r.beatSeq,
		MaxHeartbeatMS: r.accepts}})
}

// done does what a step wants done.
func (r *rig) done(ev event.Event, effects []effect.Effect) {
	r.watch(ev, effects)
	refused := schema.Reason("")
	if r.diskFull {
		refused = schema.ReasonNoSpace
	}
	for _, e := range effects {
		switch e := e.(type) {
		case effect.Order:
			r.body.order(e.Order)
		case effect.Start:
			r.body.start(e.Command)
		case effect.Stop:
			delete(r.body.busy, e.Key)
		case effect.Move:
			r.body.move(e.Velocity)
		case effect.Calibrate:
			c := event.Calibrated{Run: e.Run, Map: e.Map}
			if r.calibBad {
				c.Reason, c.Detail = schema.ReasonBadMap, "the map cannot be read"
				c.Result = driver.MapResult{Reason: c.Reason, Detail: c.Detail}
			}
			r.soon(r.calibTime, c)
		case effect.SaveRequests:
			if !r.diskFull {
				r.keep(e)
			}
			var keys []command.Key
			for _, rec := range e.Put {
				keys = append(keys, rec.Key())
			}
			switch {
			case r.diskHangs:
				r.hang(event.RequestsSaved{Keys: keys, Refused: refused})
			case len(keys) > 0:
				r.soon(0, event.RequestsSaved{Keys: keys, Refused: refused})
			}
		case effect.SaveContent:
			if !r.diskFull {
				r.memory.Deliveries[e.Kind] = e.Persisted
				for _, b := range e.Blobs {
					r.blobs[b.SHA256] = b.Bytes
				}
			}
			if len(e.Blobs) > 0 || r.diskFull {
				r.soon(0, event.ContentSaved{Kind: e.Kind, Rev: e.Rev, Refused: refused})
			}
		case effect.SaveLatches:
			refused := schema.Reason("")
			if r.diskDead {
				refused = schema.ReasonInternal
			}
			switch {
			case refused == "" && !r.diskStuck:
				r.memory.Latches = e.Value
				fallthrough
			case refused != "":
				r.soon(0, event.LatchesSaved{N: e.N, Refused: refused})
			}
		case effect.SaveValue:
			if !r.diskFull {
				r.memory.Values[e.Name] = e.Value
			}
			r.soon(0, event.ValuesSaved{Names: []string{e.Name}, Refused: refused})
		case effect.SaveEvent:
			if r.events = append(r.events, e.Payload); len(r.events) > r.ring {
				r.events = r.events[1:]
			}
		case effect.ReadHistory:
			r.soon(0, event.HistoryRead{Key: e.Key, Events: slices.Clone(r.events), Refused: refused})
		case effect.Publish:
			if r.diskFull && !e.First && slices.ContainsFunc(effects, func(save effect.Effect) bool { return binds(save, e) }) {
				continue // what depends on a save that the disk refused is not published
			}
			r.sent(e)
			if e.Confirm != "" {
				r.soon(time.Millisecond, event.Delivered{Key: e.Confirm})
			}
		case effect.Fetch:
			if b, ok := published[e.SHA256]; ok && !r.noBlobs {
				r.soon(20*time.Millisecond, event.Fetched{SHA256: e.SHA256, Bytes: b})
			}
		case effect.Call:
			r.called = append(r.called, e)
			if answer, known := r.answers[e.URL]; known {
				r.soon(300*time.Millisecond, event.Called{ID: e.ID, Body: []byte(answer.body), Reason: answer.refused, Detail: "as the script says"})
			}
		case effect.ExportRecord:
			r.soon(300*time.Millisecond, event.RecordExported{Records: 43, Bytes: 5 << 10})
		case effect.Exit:
			r.over = true
		}
	}
}

// hang keeps back what the disk has to say; what it says of several commits it
// says at once.
func (r *rig) hang(ev event.RequestsSaved) {
	if last := len(r.unanswered) - 1; last >= 0 && r.unanswered[last].Refused == ev.Refused {
		r.unanswered[last].Keys = append(r.unanswered[last].Keys, ev.Keys...)
		return
	}
	r.unanswered = append(r.unanswered, ev)
}

// answer lets the disk say it.
func (r *rig) answer() {
	r.diskHangs = false
	said := r.unanswered
	r.unanswered = nil
	for _, ev := range said {
		r.give(ev)
	}
}

// binds reports whether a publication of the same step depends on save: a report on a
// desired document on any, an answer on that of its own record.
func binds(save effect.Effect, p effect.Publish) bool {
	if strings.HasPrefix(string(p.Topic), "reported_") {
		return isSave(save)
	}
	records, ok := save.(effect.SaveRequests)
	return ok && slices.ContainsFunc(records.Put, func(rec command.Record) bool { return rec.Key() == p.Confirm })
}

func isSave(e effect.Effect) bool {
	switch e.(type) {
	case effect.SaveRequests, effect.SaveContent, effect.SaveEvent, effect.SaveValue:
		return true
	}
	return false
}

// keep is the disk's journal.
func (r *rig) keep(save effect.SaveRequests) {
	drop := func(k command.Key) {
		r.memory.Requests = slices.DeleteFunc(r.memory.Requests, func(rec command.Record) bool { return rec.Key() == k })
	}
	for _, k := range save.Forget {
		drop(k)
	}
	for _, rec := range save.Put {
		drop(rec.Key())
		r.memory.Requests = append(r.memory.Requests, rec)
	}
}
