package bus_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"troupe/robotd/driver/bus"
	"troupe/robotd/driver/sim"
	"troupe/schema/bubble"
)

// TestMissingAdapterIsLoggedAgainAndAgain waits for an adapter that does not come: robotd says
// which one at once and every few seconds, what is on the bus, and at its end what to do.
func TestMissingAdapterIsLoggedAgainAndAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := newBody(t, sim.Config{}, two)
		defer func() {
			_ = b.adapters.Close()
			_ = b.broker.Close()
		}()
		var log bytes.Buffer // written by the goroutine of the body, which has ended when Open fails
		waiting := bus.New(bus.Config{Dial: b.broker.Dial, Adapters: []string{"base", "led"}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		began := time.Now()
		err := waiting.Open(t.Context())
		if err == nil || !strings.Contains(err.Error(), "after 30s adapter led is not there: start it, or leave it out of --bus-adapters (on the bus: base, show)") {
			t.Errorf("after %v the error is %v", time.Since(began), err)
		}
		if n := strings.Count(log.String(), `msg="waiting for adapter: start it" on_the_bus=base,show name=led`); n != 6 {
			t.Errorf("the log says %d times that it waits:\n%s", n, log.String())
		}
		if strings.Contains(log.String(), "name=base") {
			t.Errorf("it waits for the adapter that is there:\n%s", log.String())
		}
		if err := b.Bus.Close(); err != nil {
			t.Error(err)
		}
	})
}
