package bus_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/robotd/driver"
	"troupe/robotd/driver/bus"
	"troupe/robotd/driver/bus/bustest"
	"troupe/robotd/driver/sim"
	"troupe/schema"
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
		r.start("drive", score.Action{TimeoutMS: &limit, Do: score.Goto{XM: &x, YM: &x}})
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

// TestAdapterThatIsBackGetsNoRunBeforeAReset reads what an adapter is ordered that was killed while the robot was ENABLED.
// An adapter that ran at once would move before a person has looked at it.
func TestAdapterThatIsBackGetsNoRunBeforeAReset(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := newRobot(t)
		defer r.Close()
		r.order(driver.ToRun)
		r.pass(time.Second)
		_ = r.adapters.Kill()
		r.pass(time.Second)
		var mu sync.Mutex
		runs := 0
		l, err := link.Open(t.Context(), link.Config{
			Dial: r.broker.Dial, Subscribe: []link.Subscription{{Filter: contract.In("base", contract.InTick), QoS: 1}},
			OnMessage: func(m link.Message) {
				mu.Lock()
				defer mu.Unlock()
				if strings.Contains(string(m.Payload), `"order":"run"`) {
					runs++
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close(context.Background())
		ordered := func() int {
			mu.Lock()
			defer mu.Unlock()
			return runs
		}
		r.serveAgain(t)
		r.pass(2 * time.Second)
		for _, o := range []driver.Order{driver.ToIdle, driver.ToRun} {
			r.order(o)
			r.pass(200 * time.Millisecond)
		}
		if n := ordered(); n > 0 {
			t.Errorf("the adapter is back and was ordered to run %d times before a reset", n)
		}
		r.order(driver.ToReset)
		r.pass(time.Second)
		r.order(driver.ToRun)
		r.pass(200 * time.Millisecond)
		if ordered() == 0 {
			t.Error("after a reset the adapter is not ordered to run")
		}
	})
}

// BenchmarkStop measures, over the same broker on the loopback, the bare delivery of a message
// of this size, and a stop from the driver's method until the adapter gives the order to its
// motors. It also reports the median and the time of 99 %. BenchmarkStopAtTheAdapter of robotd/robot has
// the whole way from the stop of a client. -benchtime 500x takes half a minute.
func BenchmarkStop(b *testing.B) {
	broker := brokertest.Start(b, brokertest.AsBus)
	b.Run("bare-delivery", func(b *testing.B) {
		arrived := make(chan struct{}, 1)
		l, err := link.Open(b.Context(), link.Config{
			URL: broker.URL(), Subscribe: []link.Subscription{{Filter: contract.In("bench", contract.InTick), QoS: 1}},
			OnMessage: func(link.Message) { arrived <- struct{}{} },
		})
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close(context.Background())
		from, err := link.Open(b.Context(), link.Config{URL: broker.URL()})
		if err != nil {
			b.Fatal(err)
		}
		defer from.Close(context.Background())
		if err := errors.Join(l.WaitUp(b.Context()), from.WaitUp(b.Context())); err != nil {
			b.Fatal(err)
		}
		payload := []byte(`{"v":1,"seq":1,"order":"stop"}`)
		measure(b, func() {
			if err := from.Publish(b.Context(), link.Message{Topic: contract.In("bench", contract.InTick), Payload: payload, QoS: 1}); err != nil {
				b.Fatal(err)
			}
			<-arrived
		})
	})
	b.Run("order-to-adapter", func(b *testing.B) {
		body := bustest.ReportOrders(sim.New(sim.Config{}))
		adapters, err := bustest.Serve(b.Context(), bustest.Config{URL: broker.URL(), Body: body,
			Parts: map[string][]schema.UnitKind{"base": schema.UnitKinds}})
		if err != nil {
			b.Fatal(err)
		}
		defer adapters.Close()
		d := bus.New(bus.Config{URL: broker.URL(), Adapters: []string{"base"}})
		if err := d.Open(b.Context()); err != nil {
			b.Fatal(err)
		}
		defer d.Close()
		go func() {
			for range d.Events() {
			}
		}()
		order := func(o driver.Order) {
			d.Order(o)
			for o != <-body.Orders {
			}
		}
		measure(b, func() { order(driver.ToStop) }, func() { order(driver.ToRun) })
	})
}

// measure times do, and none of what comes before it. Between two runs it lets the connection
// rest, and the adapter stay below its rate of messages.
func measure(b *testing.B, do func(), before ...func()) {
	var took []time.Duration
	for b.Loop() {
		b.StopTimer()
		for _, f := range before {
			f()
		}
		<-time.After(25 * time.Millisecond)
		b.StartTimer()
		began := time.Now()
		do()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs/median")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs/99%")
}
