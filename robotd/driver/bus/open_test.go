package bus_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/robotd/driver/bus"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/bubble"
	contract "troupe/schema/bus"
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
		if err == nil ||
			!strings.HasPrefix(err.Error(),
				"after 30s adapter led is not there: start it, or leave it out of --bus-adapters (on the bus: base, show)") {
			t.Errorf("after %v the error is %v", time.Since(began), err)
		}
		if n := strings.Count(log.String(), `msg="waiting for adapter: start it" on_the_bus=base,show adapter=led`); n != 6 {
			t.Errorf("the log says %d times that it waits:\n%s", n, log.String())
		}
		if strings.Contains(log.String(), "on_the_bus=base,show adapter=base") {
			t.Errorf("it waits for the adapter that is there:\n%s", log.String())
		}
		if err := b.Bus.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAdapterWithAWrongDescriptionIsSentWhatIsWrong: its author sees it in the adapter's log.
func TestAdapterWithAWrongDescriptionIsSentWhatIsWrong(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		broker := brokertest.NewBus(t)
		defer func() { _ = broker.Close() }()
		var newest atomic.Pointer[contract.Health]
		l, err := link.Open(t.Context(), link.Config{
			Dial: broker.Dial, Subscribe: []link.Subscription{{Filter: contract.In("neck", contract.InHealth)}},
			OnMessage: func(m link.Message) {
				h, _ := schema.DecodeStrict[contract.Health](m.Payload)
				newest.Store(&h)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close(context.Background()) }()
		if err = l.WaitUp(t.Context()); err == nil {
			err = l.PublishWait(t.Context(), link.Message{
				Topic: contract.Out("neck", contract.OutPresence), QoS: 1, Retain: true,
				Payload: []byte(`{"v":1,"present":true,"session":"a","describe":{"model":"m","state_ms":20,"units":[{"id":"head","kind":"head"}]}}`),
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		why := "unit head is a head and describes no angles that it reaches"
		err = bus.New(bus.Config{Dial: broker.Dial, Adapters: []string{"neck"}, Logger: slog.New(slog.DiscardHandler)}).Open(t.Context())
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("robotd ends with %v", err)
		}
		if h := newest.Load(); h == nil || h.Health != "bad-data" || !strings.Contains(h.Why, why) || h.WayOut == "" {
			t.Errorf("the adapter is sent %+v", h)
		}
	})
}
