package robot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/robotd/driver"
	"troupe/robotd/driver/bus/bustest"
	"troupe/robotd/driver/sim"
	"troupe/schema"
)

// BenchmarkStopAtTheAdapter measures a stop from a client's publication, over the broker of the
// fleet, the robot's loop and the bus, until the adapter gives the order to its motors. Beside it
// is the bare delivery of that message over the same broker. The robot's own steps are counted in
// robotd/brain (TestStopCutsOffTheShutdownActInTwoSteps), the delivery on the bus in
// robotd/driver/bus (TestStopIsOneDeliveryToTheAdapter).
func BenchmarkStopAtTheAdapter(b *testing.B) {
	broker := brokertest.Start(b)
	client := brokertest.TCP(broker.URL())
	from, err := link.Open(b.Context(), link.Config{Dial: client, ClientID: "op1.bench", Name: "op1"})
	if err != nil {
		b.Fatal(err)
	}
	defer from.Close(context.Background())
	n := 0
	send := func(rid, verb string) {
		n++
		m := link.Message{Topic: fmt.Sprintf("troupe/v1/robots/%s/cmd/op1/safety/%s", rid, verb), Payload: fmt.Appendf(nil, `{"id":"k%d"}`, n), QoS: 1}
		if err := from.Publish(b.Context(), m); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("bare-delivery", func(b *testing.B) {
		arrived := make(chan struct{}, 1)
		robot, err := link.Open(b.Context(), link.Config{
			Dial: client, ClientID: "r9", Name: "r9", Subscribe: []link.Subscription{{Filter: "troupe/v1/robots/r9/cmd/#", QoS: 1}},
			OnMessage: func(link.Message) { arrived <- struct{}{} },
		})
		if err != nil {
			b.Fatal(err)
		}
		defer robot.Close(context.Background())
		if err := errors.Join(robot.WaitUp(b.Context()), from.WaitUp(b.Context())); err != nil {
			b.Fatal(err)
		}
		measure(b, func() { send("r9", "stop"); <-arrived }, func() {})
	})
	b.Run("stop-to-adapter", func(b *testing.B) {
		onRobot := brokertest.Start(b, brokertest.AsBus)
		body := bustest.ReportOrders(sim.New(sim.Config{}))
		adapters, err := bustest.Serve(b.Context(), bustest.Config{URL: onRobot.URL(), Body: body,
			Parts: map[string][]schema.UnitKind{"base": schema.UnitKinds}})
		if err != nil {
			b.Fatal(err)
		}
		defer adapters.Close()
		ctx, end := context.WithCancel(b.Context())
		var runs sync.WaitGroup
		runs.Go(func() {
			stays := map[schema.ModeID]schema.LinkLoss{schema.ModeMnl: schema.LinkLossContinue, schema.ModeStr: schema.LinkLossContinue}
			err := Run(ctx, Config{
				ID: "r1", Broker: broker.URL(), Data: b.TempDir(), Link: LinkRules{Loss: stays}, Body: Body{Adapters: []string{"base"},
					Bus: onRobot.URL()},
			})
			if err != nil {
				b.Error(err)
			}
		})
		defer runs.Wait()
		defer end()
		// enable asks until the robot is there and enabled.
		enable := func() {
			for again := time.NewTicker(250 * time.Millisecond); ; {
				send("r1", "enable")
				for waits := true; waits; {
					select {
					case o := <-body.Orders:
						if o == driver.ToRun {
							again.Stop()
							return
						}
					case <-again.C:
						waits = false
					}
				}
			}
		}
		measure(b, func() {
			send("r1", "stop")
			for o := range body.Orders {
				if o == driver.ToStop {
					return
				}
			}
		}, enable)
	})
}

// measure times do, and none of what comes before it. Between two runs it lets the connections
// rest, and clients and adapter stay below their rates of messages.
func measure(b *testing.B, do, before func()) {
	var took []time.Duration
	for b.Loop() {
		b.StopTimer()
		before()
		<-time.After(50 * time.Millisecond)
		b.StartTimer()
		began := time.Now()
		do()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs/median")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs/99%")
}
