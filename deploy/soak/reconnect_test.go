package soak

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"troupe/broker/server"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/robotd/driver/sim"
	"troupe/robotd/robot"
	"troupe/schema/bubble"
)

// A largeFleet is many robots and fleetd around one broker.
type largeFleet struct {
	mu     sync.Mutex
	broker *server.Server
	dials  []time.Time // of robots, since the newest start of the broker
}

func (g *largeFleet) dial(ctx context.Context) (net.Conn, error) {
	g.mu.Lock()
	b := g.broker
	g.mu.Unlock()
	if b == nil {
		return nil, errCut
	}
	return b.Dial(ctx)
}

func (g *largeFleet) dialRobot(ctx context.Context) (net.Conn, error) {
	g.mu.Lock()
	g.dials = append(g.dials, time.Now())
	g.mu.Unlock()
	return g.dial(ctx)
}

func (g *largeFleet) startBroker(t *testing.T) {
	b, err := server.New(server.Config{Dev: true})
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	g.broker, g.dials = b, nil
	g.mu.Unlock()
}

func (g *largeFleet) stopBroker(t *testing.T) {
	g.mu.Lock()
	b := g.broker
	g.broker = nil
	g.mu.Unlock()
	if err := b.Close(); err != nil {
		t.Errorf("close broker: %v", err)
	}
}

func TestLargeFleetReconnectsSpreadOverTime(t *testing.T) {
	folder := t.TempDir()
	database := storetest.SQLite(t)
	bubble.Test(t, func(t *testing.T) {
		g := &largeFleet{}
		g.startBroker(t)
		fleetd, err := fleet.Start(context.Background(), fleet.Config{Dial: g.dial, Database: database, Dev: true})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, fleetd: fleetd}
		ctx, end := context.WithCancel(context.Background())
		var robots sync.WaitGroup
		for n := range fleetSize {
			id := fmt.Sprintf("r%d", n+1)
			robots.Go(func() {
				if err := robot.Run(ctx, robot.Config{ID: id, Dial: g.dialRobot, Data: filepath.Join(folder, id), Driver: sim.New(sim.Config{}),
					Tick: 100 * time.Millisecond}); err != nil {
					t.Errorf("%s ended with %v", id, err)
				}
			})
		}
		all := func(want string) func() (bool, string) {
			return func() (bool, string) {
				var list struct {
					Robots []view.Robot `json:"robots"`
				}
				w.get("/robots", &list)
				n := 0
				for _, r := range list.Robots {
					if string(r.Presence.Status) == want {
						n++
					}
				}
				return n == fleetSize, fmt.Sprintf("%d of %d are %s", n, fleetSize, want)
			}
		}
		w.until("all robots are online", all("online"))
		g.stopBroker(t)
		w.until("the presence of all robots is unknown", all("unknown"))
		time.Sleep(20 * time.Second) // by now each robot has reached its longest backoff
		g.startBroker(t)
		w.until("all robots are online again", all("online"))

		g.mu.Lock()
		dials := slices.Clone(g.dials)
		g.mu.Unlock()
		if most := maxWithin(dials, 100*time.Millisecond); most > fleetSize/4 {
			t.Errorf("%d of %d robots dial within 100 ms: their backoffs are not spread", most, fleetSize)
		}
		w.stopFleetd()
		end()
		robots.Wait()
		g.stopBroker(t)
	})
}

// maxWithin returns the largest number of times that lie within one span.
func maxWithin(at []time.Time, span time.Duration) (most int) {
	for i, j := 0, 0; i < len(at); i++ {
		for at[i].Sub(at[j]) > span {
			j++
		}
		most = max(most, i-j+1)
	}
	return most
}
