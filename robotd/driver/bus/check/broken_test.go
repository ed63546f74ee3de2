package check_test

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/bus"
	"troupe/schema/score"
)

// The broken bodies: each breaks one rule.
type (
	noPermission struct{ *sim.Sim } // runs before it is enabled, and always again
	noError      struct{ *sim.Sim } // leaves error without a reset
	anyOrder     struct{ *sim.Sim } // goes on under an order that it does not know
	ownFeed      struct {           // feeds itself
		*sim.Sim
		quit chan struct{}
	}
	goesOn struct { // repeats the velocity for ever
		*sim.Sim
		newest atomic.Pointer[driver.Velocity]
	}
	silentBody   struct{ *sim.Sim } // answers nothing
	twiceBody    struct{ *sim.Sim } // answers twice
	deafToStop   struct{ *sim.Sim } // goes on after the stop of a start
	anyFace      struct{ *sim.Sim } // takes every face
	noHalt       struct{ *sim.Sim } // takes halt for idle
	wrongReason  struct{ *sim.Sim } // carries out what it may not
	unclampedCap struct{ *sim.Sim } // says that it is slower than it is
	needsColour  struct{ *sim.Sim } // refuses an led without a colour
	endsSpeech   struct {           // ends speech when a sound begins
		*sim.Sim
		speech atomic.Uint64
	}
	talksOn struct { // drops a speech that begins while one runs
		*sim.Sim
		last atomic.Int64
	}
	forgetful struct { // forgets the order in force without ticks
		*sim.Sim
		order *atomic.Value
		timer *time.Timer
	}
	homesAlways struct{ *sim.Sim } // homes without the permission to move
	nothingFits struct{ *sim.Sim } // face and led carry out nothing
	stiffNeck   struct{ *sim.Sim } // its head turns nowhere
	headAlways  struct {           // its head has a permission and a feed of its own
		ownFeed
	}
)

// impossible is an action that the simulated body refuses.
var impossible = score.Action{Do: score.Face{Face: "none"}}

func (b stiffNeck) Start(c driver.Command) {
	if head, is := c.Do.Do.(score.Head); is && (head.YawRad == nil || *head.YawRad != 0) {
		c.Do, c.Unit = &impossible, "face"
	}
	b.Sim.Start(c)
}

// It never leaves run, so that an order ends nothing.
func (b headAlways) Order(o driver.Order) {
	if o != driver.ToStop {
		b.ownFeed.Order(o)
	}
}

// tenfold spoils the angles of the head.
var tenfold = regexp.MustCompile(`"yaw_rad":(-?)0\.([0-9])`)

func (b needsColour) Start(c driver.Command) {
	if led, is := c.Do.Do.(score.LED); is && led.Colour == "" {
		c.Do, c.Unit = &impossible, "face"
	}
	b.Sim.Start(c)
}

func (b *endsSpeech) Start(c driver.Command) {
	switch c.Do.Type() {
	case score.TypeSay:
		b.speech.Store(c.Key)
	case score.TypeSound:
		b.Sim.Stop(b.speech.Load())
	}
	b.Sim.Start(c)
}

func (b *talksOn) Start(c driver.Command) {
	if c.Do.Type() == score.TypeSay {
		now := time.Now().UnixMilli()
		if now-b.last.Swap(now) < 1000 {
			return
		}
	}
	b.Sim.Start(c)
}

func newForgetful() forgetful {
	b := forgetful{Sim: fresh(), order: &atomic.Value{}}
	b.timer = time.AfterFunc(time.Hour, func() { b.Sim.Order(driver.ToIdle) })
	return b
}

func (b forgetful) Feed() {
	b.timer.Reset(bus.Watchdog)
	b.Sim.Feed()
}

func (b forgetful) Close() error {
	b.timer.Stop()
	return b.Sim.Close()
}

func (b homesAlways) Calibrate(context.Context, driver.Map) (driver.Calibration, error) {
	return driver.Calibration{}, nil
}

func (b nothingFits) Start(c driver.Command) {
	if t := c.Do.Type(); t == score.TypeFace || t == score.TypeLED {
		c.Do, c.Unit = &impossible, "face"
	}
	b.Sim.Start(c)
}

// keepsFault repeats the first fault of the drive in every later state.
func keepsFault() func(string, string, []byte) []byte {
	fault := regexp.MustCompile(`"state":"error","fault":"[^"]*"`)
	var seen atomic.Pointer[[]byte]
	return func(_, what string, payload []byte) []byte {
		if what != bus.OutState {
			return payload
		}
		if f := fault.Find(payload); f != nil {
			seen.Store(&f)
		} else if f := seen.Load(); f != nil {
			return bytes.Replace(payload, []byte(`"state":"error"`), *f, 1)
		}
		return payload
	}
}

func (b noPermission) Order(o driver.Order) {
	if o == driver.ToIdle || o == driver.ToStop {
		o = driver.ToRun
	}
	b.Sim.Order(o)
}

func (b noError) Order(o driver.Order) {
	if o == driver.ToRun {
		b.Sim.Order(driver.ToReset)
		time.AfterFunc(300*time.Millisecond, func() { b.Sim.Order(driver.ToRun) })
		return
	}
	b.Sim.Order(o)
}

func (b anyOrder) Order(o driver.Order) {
	if o != "dance" {
		b.Sim.Order(o)
	}
}

func (b ownFeed) Open(ctx context.Context) error {
	go func() {
		for ticker := time.NewTicker(driver.Tick); ; {
			select {
			case <-ticker.C:
				b.Sim.Feed()
			case <-b.quit:
				ticker.Stop()
				return
			}
		}
	}()
	return b.Sim.Open(ctx)
}

func (b ownFeed) Close() error {
	close(b.quit)
	return b.Sim.Close()
}

func (b *goesOn) Move(v driver.Velocity) {
	b.newest.Store(&v)
	b.Sim.Move(v)
}

func (b *goesOn) Feed() {
	if v := b.newest.Load(); v != nil {
		b.Sim.Move(*v)
	}
	b.Sim.Feed()
}

func (b silentBody) Start(driver.Command) {}

func (b twiceBody) Start(c driver.Command) {
	b.Sim.Start(c)
	b.Sim.Start(c)
}

func (b deafToStop) Stop(uint64) {}

func (b anyFace) Start(c driver.Command) {
	if do := *c.Do; do.Type() == score.TypeFace {
		do.Do = score.Face{Face: "smile"}
		c.Do = &do
	}
	b.Sim.Start(c)
}

func (b noHalt) Order(o driver.Order) {
	if o == driver.ToHalt {
		o = driver.ToIdle
	}
	b.Sim.Order(o)
}

func (b wrongReason) Start(c driver.Command) {
	if do := *c.Do; do.Type() == score.TypeHead {
		do = score.Action{Do: score.Face{Face: "smile"}}
		c.Do, c.Unit, c.Holds = &do, "face", false
	}
	b.Sim.Start(c)
}

func (b unclampedCap) Body() driver.Body {
	body := b.Sim.Body()
	body.Units = slices.Clone(body.Units) // all simulated bodies share them
	for i := range body.Units {
		if body.Units[i].Kind == schema.UnitDrive {
			body.Units[i].MaxSpeedMPS = 0.35
		}
	}
	return body
}

// replace spoils a state.
func replace(old, by string) func(string, string, []byte) []byte {
	return func(_, what string, payload []byte) []byte {
		if what == bus.OutState {
			return []byte(strings.ReplaceAll(string(payload), old, by))
		}
		return payload
	}
}

// strictBody is a body whose adapter refuses fields that it does not know.
type strictBody struct{ *sim.Sim }

func strict() driver.Driver { return strictBody{fresh()} }
