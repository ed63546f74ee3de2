package bus_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/driver/bus"
	"troupe/robotd/driver/sim"
	"troupe/schema/bubble"
	contract "troupe/schema/bus"
)

// inputs returns what a body has reported of its stop inputs since the last call, such as "+rear".
func inputs(b *bus.Bus) (all []string) {
	for {
		synctest.Wait()
		select {
		case e := <-b.Events():
			if e.Kind == driver.Sensed && e.Signal == driver.EStopInput && e.On {
				all = append(all, "+"+e.Name)
			} else if e.Kind == driver.Sensed && e.Signal == driver.EStopInput {
				all = append(all, "-"+e.Name)
			}
		default:
			return all
		}
	}
}

func wantInputs(t *testing.T, when string, b *bus.Bus, want ...string) {
	t.Helper()
	if got := inputs(b); !slices.Equal(got, want) {
		t.Errorf("%s: the stop inputs are reported as %q, want %q", when, got, want)
	}
}

func TestStopInputPressedWhileAnAdapterIsMissingIsReported(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var ready atomic.Bool
		b := newBodySpoilt(t, sim.Config{}, two, func(adapter, what string, payload []byte) []byte {
			if adapter == "show" && what == contract.OutState && !ready.Load() {
				return nil
			}
			return payload
		})
		opened := make(chan error, 1)
		go func() { opened <- b.Open(t.Context()) }()
		time.Sleep(5 * time.Second)
		b.PressStop("rear", true)
		b.PressStop("front", true)
		b.PressStop("front", false) // its stop is latched all the same
		time.Sleep(time.Second)
		ready.Store(true)
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		wantInputs(t, "pressed before the body was open", b.Bus, "+rear", "+front", "-front")
	})
}

func TestPressedStopInputIsReportedToTheNextRobotd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBody(t, sim.Config{}, two)
		if err := b.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.PressStop("rear", true)
		wantInputs(t, "pressed", b.Bus, "+rear")
		if err := b.Bus.Close(); err != nil {
			t.Fatal(err)
		}
		b.Bus = bus.New(bus.Config{Dial: b.broker.Dial, Adapters: []string{"base", "show"}})
		if err := b.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		wantInputs(t, "after a restart", b.Bus, "+rear")
	})
}

// TestStopInputsOfALostAdapterCountAsTheyWere until it is back: then those are pressed that it
// reports again.
func TestStopInputsOfALostAdapterCountAsTheyWere(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBody(t, sim.Config{}, two)
		if err := b.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		b.PressStop("rear", true)
		b.PressStop("front", true)
		wantInputs(t, "pressed", b.Bus, "+rear", "+front")
		if err := b.adapters.Kill(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		wantInputs(t, "while the adapter is lost", b.Bus)
		b.serveAgain(t)
		time.Sleep(time.Second / 2)
		b.PressStop("front", true) // it is still pressed
		wantInputs(t, "the adapter is back", b.Bus)
		time.Sleep(time.Second)
		wantInputs(t, "the adapter has not reported the other one again", b.Bus, "-rear")
		time.Sleep(time.Minute)
		b.PressStop("front", false)
		wantInputs(t, "released", b.Bus, "-front")
	})
}

func TestStopInputIsPressedWhileAnyAdapterReportsIt(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBody(t, sim.Config{}, two)
		if err := b.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		report := func(adapter, on string) {
			payload := `{"v":1,"session":"s1","kind":"sensed","signal":"estop-input","name":"rear","on":` + on + `}`
			if err := b.adapters.Publish(adapter, contract.OutEvent, []byte(payload)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond) // each adapter has a connection of its own
		}
		report("base", "true")
		report("show", "true")
		report("base", "false")
		wantInputs(t, "one adapter reports it as pressed", b.Bus, "+rear")
		report("show", "false")
		wantInputs(t, "no adapter reports it as pressed", b.Bus, "-rear")
	})
}
