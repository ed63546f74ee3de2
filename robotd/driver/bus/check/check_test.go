package check_test

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"troupe/broker/brokertest"
	"troupe/deploy/shard"
	"troupe/robotd/driver"
	"troupe/robotd/driver/bus/bustest"
	"troupe/robotd/driver/bus/check"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/bus"
)

// try checks an adapter that serves a body, in a bubble.
func try(t *testing.T, body func() driver.Driver, spoil func(adapter, what string, payload []byte) []byte) (results []check.Result) {
	return tryWith(t, check.Config{Move: true}, body, spoil)
}

func tryWith(t *testing.T, config check.Config, body func() driver.Driver, spoil func(adapter, what string,
	payload []byte) []byte) (results []check.Result) {
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
		config.Dial = broker.Dial
		report, err := check.Run(t.Context(), config)
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
		if r.Rule == "actions" && (!strings.Contains(r.Why, "face failed") || !strings.Contains(r.Why, "led failed") ||
			strings.Contains(r.Why, "screen")) {
			t.Errorf("%s", r.Why)
		}
	}
}

func TestRulesThatMakeUnitsMoveAreNotTriedUnasked(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		broker := brokertest.NewBus(t)
		defer broker.Close()
		body := fresh()
		adapters, err := bustest.Serve(context.Background(), bustest.Config{Dial: broker.Dial, Body: body,
			Parts: map[string][]schema.UnitKind{"all": schema.UnitKinds}})
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

func TestTopicThatIsNoneOfTheBusBreaksTheContract(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		broker := brokertest.NewBus(t)
		defer broker.Close()
		adapters, err := bustest.Serve(context.Background(), bustest.Config{Dial: broker.Dial, Body: fresh(),
			Parts: map[string][]schema.UnitKind{"all": schema.UnitKinds}})
		if err != nil {
			t.Fatal(err)
		}
		defer adapters.Close()
		begin := func(check.Report) { _ = adapters.Publish("all", "telemetry", []byte(`{}`)) }
		report, err := check.Run(t.Context(), check.Config{Dial: broker.Dial, Begin: begin})
		if err != nil {
			t.Fatal(err)
		}
		if r := report.Results[0]; r.Rule != "contract" || r.Verdict != check.Breaks || !strings.Contains(r.Why, "bus/all/out/telemetry") {
			t.Errorf("%+v", r)
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
		adapters, err := bustest.Serve(context.Background(), bustest.Config{Dial: broker.Dial, Body: fresh(),
			Parts: map[string][]schema.UnitKind{"all": schema.UnitKinds}})
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
		adapters, err := bustest.Serve(context.Background(), bustest.Config{Dial: broker.Dial, Body: fresh(),
			Parts: map[string][]schema.UnitKind{"all": schema.UnitKinds}, Spoil: withoutReach})
		if err != nil {
			t.Fatal(err)
		}
		defer adapters.Close()
		if _, err = check.Run(t.Context(), check.Config{Dial: broker.Dial}); err == nil ||
			!strings.Contains(err.Error(), "adapter all is wrong") || !strings.Contains(err.Error(), "describes no angles that it reaches") {
			t.Error(err)
		}
	})
}

// A fifth of the adapters is tried with every rule, another fifth in each shard; a short run tries none so. Of the others only the
// rules are tried that they break, and states, during which the rules without a trial of their own are watched.
func TestEachBrokenAdapterIsFound(t *testing.T) {
	mine, err := shard.Current()
	if err != nil {
		t.Fatal(err)
	}
	adapters := map[string]struct {
		body  func() driver.Driver
		spoil func(adapter, what string, payload []byte) []byte
		rules []string // that it breaks, at least
	}{
		"runs before it is enabled":      {func() driver.Driver { return noPermission{fresh()} }, nil, []string{"starts-idle", "disabled"}},
		"leaves error without a reset":   {func() driver.Driver { return noError{fresh()} }, nil, []string{"error-stays"}},
		"goes on under an unknown order": {func() driver.Driver { return anyOrder{fresh()} }, nil, []string{"unknown-order"}},
		"has no watchdog": {func() driver.Driver { return ownFeed{fresh(), make(chan struct{})} }, nil,
			[]string{"watchdog"}},
		"takes a velocity for ever":           {func() driver.Driver { return &goesOn{Sim: fresh()} }, nil, []string{"ttl"}},
		"never answers":                       {func() driver.Driver { return silentBody{fresh()} }, nil, []string{"actions"}},
		"answers twice":                       {func() driver.Driver { return twiceBody{fresh()} }, nil, []string{"answers-once"}},
		"answers what was stopped":            {func() driver.Driver { return deafToStop{fresh()} }, nil, []string{"stopped"}},
		"takes every face":                    {func() driver.Driver { return anyFace{fresh()} }, nil, []string{"refuses"}},
		"takes halt for idle":                 {func() driver.Driver { return noHalt{fresh()} }, nil, []string{"orders"}},
		"carries out what is not enabled":     {func() driver.Driver { return wrongReason{fresh()} }, nil, []string{"disabled"}},
		"is faster than it says":              {func() driver.Driver { return unclampedCap{fresh()} }, nil, []string{"clamped"}},
		"sends percent":                       {func() driver.Driver { return fresh() }, replace(`"level":1`, `"level":100`), []string{"units-of-measure"}},
		"misspells a field":                   {func() driver.Driver { return fresh() }, replace(`"wz_radps"`, `"turning"`), []string{"contract"}},
		"sends every hundredth state":         {func() driver.Driver { return fresh() }, everyHundredth(), []string{"states"}},
		"has a clock that goes back":          {func() driver.Driver { return fresh() }, replace(`"t_ms":2`, `"t_ms":1`), []string{"time"}},
		"has another session than it said":    {func() driver.Driver { return fresh() }, replace(`"session":"s1"`, `"session":"s9"`), []string{"session"}},
		"says nothing about its own watchdog": {func() driver.Driver { return fresh() }, replace(`"fault":"robotd did not feed it while it moved",`, ``), []string{"watchdog"}},
		"refuses an led without a colour":     {func() driver.Driver { return needsColour{fresh()} }, nil, []string{"led-colour"}},
		"has a head that turns nowhere":       {func() driver.Driver { return stiffNeck{fresh()} }, nil, []string{"turns"}},
		"turns its head on": {func() driver.Driver { return headAlways{ownFeed{fresh(), make(chan struct{})}} }, nil,
			[]string{"head-stops", "head-watchdog"}},
		"turns its head further than asked":  {func() driver.Driver { return fresh() }, yawTenfold, []string{"turns"}},
		"ends speech when a sound begins":    {func() driver.Driver { return &endsSpeech{Sim: fresh()} }, nil, []string{"sound-beside-speech"}},
		"talks on when a newer speech comes": {func() driver.Driver { return &talksOn{Sim: fresh()} }, nil, []string{"supersedes"}},
		"forgets its order without ticks":    {func() driver.Driver { return newForgetful() }, nil, []string{"order-stays"}},
		"homes before it is enabled": {func() driver.Driver {
			return homesAlways{sim.New(sim.Config{At: "entrance", Homing: true})}
		}, nil, []string{"homes-in-run"}},
		"keeps the fault of its watchdog":      {func() driver.Driver { return fresh() }, keepsFault(), []string{"watchdog-ends"}},
		"goes on at the start of an action":    {func() driver.Driver { return &goesOn{Sim: fresh()} }, nil, []string{"start-ends-velocity"}},
		"refuses what it does not know":        {strict, nil, []string{"later-release"}},
		"reports a set-point that is not zero": {func() driver.Driver { return fresh() }, replace(`"state":"idle","vx_mps":0`, `"state":"idle","set_vx_mps":0.1,"vx_mps":0`), []string{"permission"}},
	}
	for n, what := range slices.Sorted(maps.Keys(adapters)) {
		c := adapters[what]
		t.Run(what, func(t *testing.T) {
			config := check.Config{Move: true}
			if testing.Short() || !mine.Has(n) {
				config = config.Only(append(c.rules, "states")...)
			}
			broken := map[string]string{}
			for _, r := range tryWith(t, config, c.body, c.spoil) {
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
	if len(adapters) < 10 {
		t.Errorf("%d broken adapters", len(adapters))
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

func yawTenfold(_, what string, payload []byte) []byte {
	if what == bus.OutState {
		return tenfold.ReplaceAll(payload, []byte(`"yaw_rad":$1$2.`))
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

func TestHeadWithoutAnglesLeavesItsStandstillUntried(t *testing.T) {
	silent := func(_, what string, payload []byte) []byte {
		if what == bus.OutState {
			return angles.ReplaceAll(payload, nil)
		}
		return payload
	}
	n := 0
	for _, r := range try(t, func() driver.Driver { return fresh() }, silent) {
		if strings.HasPrefix(r.Rule, "head-") {
			if n++; r.Verdict != check.Untried || !strings.Contains(r.Why, "look at it") {
				t.Errorf("%s %s: %s", r.Verdict, r.Rule, r.Why)
			}
		}
	}
	if n != 2 {
		t.Errorf("%d rules", n)
	}
}

// angles are those of a head in a state.
var angles = regexp.MustCompile(`,"(yaw|pitch|roll)_rad":-?[0-9.e-]+`)
