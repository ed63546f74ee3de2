package robot

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/bubble"
)

// manager is a service manager that remembers what it was told.
type manager struct {
	mu   sync.Mutex
	told []string
}

func (m *manager) tell(state string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, state)
	return nil
}

// take returns what it was told since the last call.
func (m *manager) take() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	told := m.told
	m.told = nil
	return told
}

func count(told []string, what string) (n int) {
	for _, t := range told {
		if t == what {
			n++
		}
	}
	return n
}

func TestHungLoopIsNotFedToTheServiceManager(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var m manager
		s := newStand(t)
		hold := make(chan struct{})
		s.boot(func(c *Config) {
			c.Driver = &stuck{Driver: sim.New(sim.Config{}), until: hold}
			c.ServiceManager = ServiceManager{Tell: m.tell, Watchdog: 10 * time.Second}
		})
		s.mode(schema.ModeMnl)
		if told := m.take(); told[0] != tellReady {
			t.Errorf("the first notification is %q", told[0])
		}
		time.Sleep(time.Minute)
		told := m.take()
		if n := count(told, tellAlive); n < 55 || n > 61 {
			t.Errorf("fed %d times in a minute", n)
		}
		if !slices.ContainsFunc(told, func(t string) bool {
			return strings.HasPrefix(t, tellStatus+"mnl, DISABLED, connected to the broker, link never up")
		}) {
			t.Errorf("no status in %q", told)
		}
		s.op.Publish("troupe/v1/robots/r1/cmd/op1/safety/enable", `{}`)
		time.Sleep(time.Minute)
		if told = m.take(); count(told, tellAlive) > 1 || count(told, tellStatus+"the robot's control loop does not answer") != 1 {
			t.Errorf("while the loop hangs the notification %q is sent", told)
		}
		close(hold)
		time.Sleep(10 * time.Second)
		if told = m.take(); count(told, tellAlive) < 8 {
			t.Errorf("the notification %q follows", told)
		}
		s.shutDown()
		if told = m.take(); count(told, tellStopping) != 1 {
			t.Errorf("at the end the notifications are %q", told)
		}
	})
}

// TestServiceManagerSeesWhichAdapterIsMissing: until the body is there the robot has no page.
func TestServiceManagerSeesWhichAdapterIsMissing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		bus := brokertest.NewBus(t)
		defer func() { _ = bus.Close() }()
		var m manager
		err := Run(t.Context(), Config{
			ID: "r1", Data: t.TempDir(), Broker: "mqtt://broker", Dial: bus.Dial, ServiceManager: ServiceManager{Tell: m.tell},
			Body: Body{Adapters: []string{"base"}, Bus: "mqtt://bus", Dial: bus.Dial},
		})
		why := "adapter base is not there: start it, or leave it out of --bus-adapters (on the bus: no adapter)"
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("robotd ends with %v", err)
		}
		if told := m.take(); len(told) != 6 || told[0] != tellStatus+"starting: "+why {
			t.Errorf("the notifications are %q", told)
		}
	})
}

// TestRobotThatWaitsForItsAdaptersEndsWithoutAnError: systemctl stop would show a failure.
func TestRobotThatWaitsForItsAdaptersEndsWithoutAnError(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		bus := brokertest.NewBus(t)
		defer func() { _ = bus.Close() }()
		ctx, end := context.WithTimeout(t.Context(), 5*time.Second)
		defer end()
		if err := Run(ctx, Config{
			ID: "r1", Data: t.TempDir(), Broker: "mqtt://broker", Dial: bus.Dial,
			Body: Body{Adapters: []string{"base"}, Bus: "mqtt://bus", Dial: bus.Dial},
		}); err != nil {
			t.Error(err)
		}
	})
}

func TestRobotRunsWithoutServiceManager(t *testing.T) {
	ServiceManager{}.tell(tellReady)
	ServiceManager{}.notifyServiceManager(t.Context(), t.Context(), nil, nil)
}
