package check_test

import (
	"bytes"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/robotd/driver"
	"troupe/robotd/driver/bus/bustest"
	"troupe/robotd/driver/bus/check"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/bus"
	"troupe/schema/score"
)

// try checks an adapter that serves a body, in a bubble.
func try(t *testing.T, body func() driver.Driver, spoil func(adapter, what string, payload []byte) []byte) (results []check.Result) {
	bubble.Test(t, func(t *testing.T) {
		broker := brokertest.NewBus(t)
		defer broker.Close()
		served := body()
		_, strict := served.(strictBody)
		adapters, err := bustest.Serve(context.Background(), bustest.Config{
			Dial: broker.Dial, Body: served, Parts: map[string][]schema.UnitKind{"all": schema.UnitKinds}, Spoil: spoil, Strict: strict,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer adapters.Close()
		report, err := check.Run(t.Context(), check.Config{Dial: broker.Dial, Move: true})
		if err != nil {
			t.Fatal(err)
		}
		results = report.Results
	})
	return results
}

func fresh() *sim.Sim { return sim.New(sim.Config{At: "entrance"}) }

func TestAdapterOfTheSimulatedBodyKeepsEveryRule(t *testing.T) {
	for _, r := range try(t, func() driver.Driver { return fresh() }, nil) {
		if r.Verdict != check.Keeps && r.Rule != "homes-in-run" { // of the body below
			t.Errorf("%s %s: %s", r.Verdict, r.Rule, r.Why)
		}
	}
}

func TestAdapterThatHomesKeepsEveryRule(t *testing.T) {
	for _, r := range try(t, func() driver.Driver { return sim.New(sim.Config{At: "entrance", Homing: true}) }, nil) {
		if r.Verdict != check.Keeps {
			t.Errorf("%s %s: %s", r.Verdict, r.Rule, r.Why)
		}
	}
}

func TestOneFailingUnitDoesNotHideTheOthers(t *testing.T) {
	for _, r := range try(t, func() driver.Driver { return nothingFits{fresh()} }, nil) {
		if r.Rule == "actions" && (!strings.Contains(r.Why, "face failed") || !strings.Contains(r.Why, "led failed") || strings.Contains(r.Why, "screen")) {
			t.Errorf("%s", r.Why)
		}
	}
}

func TestRulesThatMakeUnitsMoveAreNotTriedUnasked(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		broker := brokertest.NewBus(t)
		defer broker.Close()
		body := fresh()
		adapters, err := bustest.Serve(context.Background(), bustest.Config{Dial: broker.Dial, Body: body, Parts: map[string][]schema.UnitKind{"all": schema.UnitKinds}})
		if err != nil {
			t.Fatal(err)
		}
		defer adapters.Close()
		report, err := check.Run(t.Context(), check.Config{Dial: broker.Dial, Adapter: "all"})
		if err != nil {
			t.Fatal(err)
		}
		untried := 0
		for _, r := range report.Results {
			if r.Verdict == check.Untried && strings.Contains(r.Why, "--move") {
				untried++
			}
		}
		if at := body.Snapshot(); untried < 6 || at.X != 0 || at.Y != 0 || at.Theta != 0 || at.Yaw != 0 {
			t.Errorf("%d rules were not tried, and the body is at %g, %g, heading %g, looking %g", untried, at.X, at.Y, at.Theta, at.Yaw)
		}
	})
}

func TestErrorNamesTheAdapterAndTheAddress(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		broker := brokertest.NewBus(t)
		defer broker.Close()
		said := func(adapter string) string {
			_, err := check.Run(t.Context(), check.Config{URL: "mqtt://127.0.0.1:1884", Dial: broker.Dial, Adapter: adapter})
			if err == nil {
				t.Fatal("an adapter that is not there was tried")
			}
			return err.Error()
		}
		if text := said(""); !strings.Contains(text, "no adapter is on the bus mqtt://127.0.0.1:1884: start it") {
			t.Error(text)
		}
		adapters, err := bustest.Serve(context.Background(), bustest.Config{Dial: broker.Dial, Body: fresh(), Parts: map[string][]schema.UnitKind{"all": schema.UnitKinds}})
		if err != nil {
			t.Fatal(err)
		}
		defer adapters.Close()
		if text := said("base"); !strings.Contains(text, "adapter base is not on the bus mqtt://127.0.0.1:1884, but all: start it") {
			t.Error(text)
		}
	})
}

func TestDescriptionWithoutTheAnglesOfAHeadIsRefused(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		broker := brokertest.NewBus(t)
		defer broker.Close()
		adapters, err := bustest.Serve(context.Background(), bustest.Config{Dial: broker.Dial, Body: fresh(), Parts: map[string][]schema.UnitKind{"all": schema.UnitKinds}, Spoil: withoutReach})
		if err != nil {
			t.Fatal(err)
		}
		defer adapters.Close()
		if _, err = check.Run(t.Context(), check.Config{Dial: broker.Dial}); err == nil || !strings.Contains(err.Error(), "adapter all is wrong") || !strings.Contains(err.Error(), "describes no angles that it reaches") {
			t.Error(err)
		}
	})
}

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
)

// impossible is an action that the simulated body refuses.
var impossible = score.Action{Type: score.TypeFace, Face: "none"}

func (b stiffNeck) Start(c driver.Command) {
	if c.Do.Type == score.TypeHead && (c.Do.YawRad == nil || *c.Do.YawRad != 0) {
		c.Do, c.Unit = &impossible, "face"
	}
	b.Sim.Start(c)
}

func (b needsColour) Start(c driver.Command) {
	if c.Do.Type == score.TypeLED && c.Do.Colour == "" {
		c.Do, c.Unit = &impossible, "face"
	}
	b.Sim.Start(c)
}

func (b *endsSpeech) Start(c driver.Command) {
	switch c.Do.Type {
	case score.TypeSay:
		b.speech.Store(c.Key)
	case score.TypeSound:
		b.Sim.Stop(b.speech.Load())
	}
	b.Sim.Start(c)
}

func (b *talksOn) Start(c driver.Command) {
	if c.Do.Type == score.TypeSay {
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
	b.timer.Reset(bus.DeadMan)
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
	if c.Do.Type == score.TypeFace || c.Do.Type == score.TypeLED {
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
	if do := *c.Do; do.Type == score.TypeFace {
		do.Face = "smile"
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
	if do := *c.Do; do.Type == score.TypeHead {
		do = score.Action{Type: score.TypeFace, Face: "smile"}
		c.Do, c.Unit, c.Holds = &do, "face", false
	}
	b.Sim.Start(c)
}

func (b unclampedCap) Body() driver.Body {
	body := b.Sim.Body()
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

func TestEachBrokenAdapterIsFound(t *testing.T) {
	n := 0
	for what, c := range map[string]struct {
		body  func() driver.Driver
		spoil func(adapter, what string, payload []byte) []byte
		rules []string // that it breaks, at least
	}{
		"runs before it is enabled":            {func() driver.Driver { return noPermission{fresh()} }, nil, []string{"starts-idle", "disabled"}},
		"leaves error without a reset":         {func() driver.Driver { return noError{fresh()} }, nil, []string{"error-stays"}},
		"goes on under an unknown order":       {func() driver.Driver { return anyOrder{fresh()} }, nil, []string{"unknown-order"}},
		"has no dead man":                      {func() driver.Driver { return ownFeed{fresh(), make(chan struct{})} }, nil, []string{"dead-man"}},
		"takes a velocity for ever":            {func() driver.Driver { return &goesOn{Sim: fresh()} }, nil, []string{"ttl"}},
		"never answers":                        {func() driver.Driver { return silentBody{fresh()} }, nil, []string{"actions"}},
		"answers twice":                        {func() driver.Driver { return twiceBody{fresh()} }, nil, []string{"answers-once"}},
		"answers what was stopped":             {func() driver.Driver { return deafToStop{fresh()} }, nil, []string{"stopped"}},
		"takes every face":                     {func() driver.Driver { return anyFace{fresh()} }, nil, []string{"refuses"}},
		"takes halt for idle":                  {func() driver.Driver { return noHalt{fresh()} }, nil, []string{"orders"}},
		"carries out what is not enabled":      {func() driver.Driver { return wrongReason{fresh()} }, nil, []string{"disabled"}},
		"is faster than it says":               {func() driver.Driver { return unclampedCap{fresh()} }, nil, []string{"clamped"}},
		"sends percent":                        {func() driver.Driver { return fresh() }, replace(`"level":1`, `"level":100`), []string{"units-of-measure"}},
		"misspells a field":                    {func() driver.Driver { return fresh() }, replace(`"wz_radps"`, `"turning"`), []string{"contract"}},
		"sends every hundredth state":          {func() driver.Driver { return fresh() }, everyHundredth(), []string{"states"}},
		"has a clock that goes back":           {func() driver.Driver { return fresh() }, replace(`"t_ms":2`, `"t_ms":1`), []string{"time"}},
		"has another session than it said":     {func() driver.Driver { return fresh() }, replace(`"session":"s1"`, `"session":"s9"`), []string{"session"}},
		"says nothing about its own dead man":  {func() driver.Driver { return fresh() }, replace(`"fault":"robotd did not feed it while it moved",`, ``), []string{"dead-man"}},
		"refuses an led without a colour":      {func() driver.Driver { return needsColour{fresh()} }, nil, []string{"led-colour"}},
		"has a head that turns nowhere":        {func() driver.Driver { return stiffNeck{fresh()} }, nil, []string{"turns"}},
		"ends speech when a sound begins":      {func() driver.Driver { return &endsSpeech{Sim: fresh()} }, nil, []string{"sound-beside-speech"}},
		"talks on when a newer speech comes":   {func() driver.Driver { return &talksOn{Sim: fresh()} }, nil, []string{"supersedes"}},
		"forgets its order without ticks":      {func() driver.Driver { return newForgetful() }, nil, []string{"order-stays"}},
		"homes before it is enabled":           {func() driver.Driver { return homesAlways{sim.New(sim.Config{At: "entrance", Homing: true})} }, nil, []string{"homes-in-run"}},
		"keeps the fault of its dead man":      {func() driver.Driver { return fresh() }, keepsFault(), []string{"dead-man-ends"}},
		"goes on at the start of an action":    {func() driver.Driver { return &goesOn{Sim: fresh()} }, nil, []string{"start-ends-velocity"}},
		"refuses what it does not know":        {strict, nil, []string{"later-release"}},
		"reports a set-point that is not zero": {func() driver.Driver { return fresh() }, replace(`"state":"idle","vx_mps":0`, `"state":"idle","set_vx_mps":0.1,"vx_mps":0`), []string{"permission"}},
	} {
		n++
		t.Run(what, func(t *testing.T) {
			broken := map[string]string{}
			for _, r := range try(t, c.body, c.spoil) {
				if r.Verdict == check.Breaks {
					broken[r.Rule] = r.Why
				}
			}
			for _, rule := range c.rules {
				if broken[rule] == "" {
					t.Errorf("%s was not found; found were %v", rule, slices.Sorted(maps.Keys(broken)))
				}
			}
			t.Log(broken)
		})
	}
	if n < 10 {
		t.Errorf("%d broken adapters", n)
	}
}

// reach is what a description says of the angles of a head.
var reach = regexp.MustCompile(`,"(yaw|pitch|roll)_rad":\{[^}]*\}`)

func withoutReach(_, what string, payload []byte) []byte {
	if what == bus.OutPresence {
		return reach.ReplaceAll(payload, nil)
	}
	return payload
}

func everyHundredth() func(string, string, []byte) []byte {
	n := 0
	return func(_, what string, payload []byte) []byte {
		if what != bus.OutState {
			return payload
		}
		if n++; n%100 != 0 {
			return nil
		}
		return payload
	}
}
