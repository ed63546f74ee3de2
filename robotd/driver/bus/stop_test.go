package bus_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/link"
	"troupe/robotd/driver"
	"troupe/schema/bubble"
	contract "troupe/schema/bus"
	"troupe/schema/score"
)

// TestStopIsOneDeliveryToTheAdapter counts what lies between the order of the loop and the
// adapter: one step of the driver and one message, and no wait for a tick.
func TestStopIsOneDeliveryToTheAdapter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := newRobot(t)
		defer r.Close()
		var mu sync.Mutex
		var ticks []string
		l, err := link.Open(t.Context(), link.Config{
			Dial: r.broker.Dial, Subscribe: []link.Subscription{{Filter: contract.In("base", "#"), QoS: 1}},
			OnMessage: func(m link.Message) {
				mu.Lock()
				defer mu.Unlock()
				ticks = append(ticks, m.Topic+" "+string(m.Payload))
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close(context.Background())
		x, limit := 3.0, int64(60_000)
		r.order(driver.ToRun)
		r.start("drive", score.Action{Type: score.TypeGoto, XM: &x, YM: &x, TimeoutMS: &limit})
		r.pass(2 * time.Second)
		mu.Lock()
		ticks = nil
		mu.Unlock()
		began := time.Now()
		r.Order(driver.ToStop)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(ticks) != 1 || !strings.HasPrefix(ticks[0], contract.In("base", contract.InTick)) || !strings.Contains(ticks[0], `"order":"stop"`) || time.Since(began) != 0 {
			t.Errorf("after %v the stop took the messages %q", time.Since(began), ticks)
		}
	})
}
