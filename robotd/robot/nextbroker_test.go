package robot

import (
	"context"
	"strings"
	"testing"

	"troupe/broker/brokertest"
	"troupe/robotd/driver/sim"
)

// fleetd stays with the standby after the first broker came back: a robot that the first one gets goes there by itself.
func TestRobotLeavesABrokerWithoutFleetd(t *testing.T) {
	t.Parallel()
	first, second := brokertest.Start(t), brokertest.Start(t)
	presence := "troupe/v1/robots/r1/presence"
	watchers := []*brokertest.Client{first.Client(t, "obs"), second.Client(t, "obs")}
	for _, w := range watchers {
		w.Subscribe(presence)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Config{ID: "r1", Broker: first.URL(), FallbackBrokers: []string{second.URL()}, Data: t.TempDir(),
			Driver: sim.New(sim.Config{})})
	}()
	for _, w := range watchers {
		w.ExpectThat(presence, func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), `"state":"online"`) })
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
