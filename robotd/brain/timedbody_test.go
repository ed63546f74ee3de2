package brain

import (
	"cmp"
	"slices"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/score"
)

// timedBody is a body that carries out commands in fixed times.
type timedBody struct {
	r       *rig
	state   map[string]driver.State // of units that move
	fault   map[string]string
	hung    bool          // no unit leaves error
	mute    bool          // no command is ever answered
	trip    time.Duration // that a goto takes; 0 = 2 s
	fixed   bool          // it has no drive
	lost    bool          // it has no map
	lists   bool          // it lists its sounds and faces
	ordered driver.Order
	since   int               // orders so far: what an earlier one set going does not come about
	busy    map[uint64]string // commands by key: their unit
	want    driver.Velocity   // of the drive
	over    time.Duration     // when that ends
	v       float64           // m/s
	rolls   bool
}

func newTimedBody(r *rig) *timedBody {
	return &timedBody{r: r, state: map[string]driver.State{"drive": driver.Idle, "head": driver.Idle}, fault: map[string]string{},
		busy: map[uint64]string{}}
}

// stand is what a body does whose robotd has gone.
func (b *timedBody) stand() {
	b.since++
	clear(b.busy)
	for u := range b.state {
		b.state[u] = driver.Idle
	}
	b.ordered = driver.ToIdle
}

func (b *timedBody) about() driver.Body {
	points := []string{"dock", "entrance"}
	if b.lost {
		points = nil
	}
	body := driver.Body{Model: "bench", Driver: "bench", Points: points, Units: []schema.Unit{
		{ID: "speaker", Kind: schema.UnitSpeaker}, {ID: "face", Kind: schema.UnitFace}, {ID: "led", Kind: schema.UnitLED},
		{ID: "head", Kind: schema.UnitHead, Motions: []string{"look-around", "nod"}}, {ID: "drive", Kind: schema.UnitDrive},
		{ID: "battery", Kind: schema.UnitBattery}, {ID: "screen", Kind: schema.UnitScreen},
	}}
	if _, second := b.state["head-2"]; second {
		body.Units = append(body.Units, schema.Unit{ID: "face-2", Kind: schema.UnitFace}, schema.Unit{ID: "head-2", Kind: schema.UnitHead})
	}
	if b.lists {
		body.Units[0].Sounds, body.Units[1].Faces = []string{"bell"}, []string{"smile"}
	}
	if b.fixed {
		body.Units = slices.DeleteFunc(body.Units, func(u schema.Unit) bool { return u.Kind == schema.UnitDrive })
	}
	return body
}

// addSeconds gives the body a second head and a second face.
func (b *timedBody) addSeconds() { b.state["head-2"] = driver.Idle }

// order moves the units as their table says, each in its own time.
func (b *timedBody) order(o driver.Order) {
	b.ordered = o
	b.since++
	for _, u := range []string{"drive", "head", "head-2"} {
		switch s := b.state[u]; {
		case s == "": // the body has no such unit
		case o == driver.ToRun && s == driver.Idle:
			b.set(u, driver.Run, 0)
		case (o == driver.ToStop || o == driver.ToIdle) && s == driver.Run:
			b.set(u, driver.Idle, 60*time.Millisecond)
		case o == driver.ToHalt && s == driver.Run:
			b.set(u, driver.Halt, 0)
			b.set(u, driver.Error, 200*time.Millisecond)
		case o == driver.ToError && s != driver.Error:
			b.set(u, driver.Error, 0)
		case o == driver.ToReset && s == driver.Error && b.fault[u] == "" && !b.hung:
			b.set(u, driver.Idle, 300*time.Millisecond)
		}
	}
}

// set brings a unit to a state in a while, unless another order comes first.
func (b *timedBody) set(unit string, s driver.State, in time.Duration) {
	if in > 0 {
		since := b.since
		b.r.come(coming{at: b.r.now + in, do: func() {
			if b.since == since {
				b.set(unit, s, 0)
			}
		}})
		return
	}
	b.state[unit] = s
	if s != driver.Run {
		for key, u := range b.busy {
			if u == unit {
				delete(b.busy, key)
				b.r.soon(0, event.Reported{Event: driver.Event{Kind: driver.Failed, Key: key, Reason: schema.ReasonStopped}})
			}
		}
	}
	b.r.soon(0, event.Reported{Event: driver.Event{Kind: driver.Unit, Unit: unit, State: s, Detail: b.fault[unit]}})
}

func (b *timedBody) start(c driver.Command) {
	if _, moves := b.state[c.Unit]; moves && (b.state[c.Unit] != driver.Run || b.ordered != driver.ToRun) {
		b.r.soon(0, event.Reported{Event: driver.Event{Kind: driver.Failed, Key: c.Key, Reason: schema.ReasonSafetyDisabled}})
		return
	}
	b.busy[c.Key] = c.Unit
	if b.mute || len(c.Choices) > 0 {
		return
	}
	took := map[score.ActionType]time.Duration{
		score.TypeSay: time.Second, score.TypeSound: time.Second, score.TypeHead: 500 * time.Millisecond, score.TypeMotion: time.Second,
		score.TypeGoto: cmp.Or(b.trip, 2*time.Second), score.TypeDrive: time.Hour,
	}[c.Do.Type()]
	b.r.soon(max(took-c.From, 0), event.Reported{Event: driver.Event{Kind: driver.Done, Key: c.Key}})
}
