package soak

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/server"
	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
	"troupe/robotd/driver/sim"
	"troupe/robotd/robot"
)

// crowd is how many robots lose their broker in one moment.
const crowd = 300

// A gathering is many robots and a fleetd instance around one broker.
type gathering struct {
	mu     sync.Mutex
	broker *server.Server
	knocks []time.Time // of robots, since the broker came back
}

func (g *gathering) dial(ctx context.Context) (net.Conn, error) {
	g.mu.Lock()
	b := g.broker
	g.mu.Unlock()
	if b == nil {
		return nil, errParted
	}
	return b.Dial(ctx)
}

func (g *gathering) knock(ctx context.Context) (net.Conn, error) {
	g.mu.Lock()
	g.knocks = append(g.knocks, time.Now())
	g.mu.Unlock()
	return g.dial(ctx)
}

func (g *gathering) open(t *testing.T) {
	b, err := server.New(server.Config{Dev: true})
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	g.broker, g.knocks = b, nil
	g.mu.Unlock()
}

func (g *gathering) close(t *testing.T) {
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
	synctest.Test(t, func(t *testing.T) {
		g := &gathering{}
		g.open(t)
		fleetd, err := fleet.Start(context.Background(), fleet.Config{Dial: g.dial, Database: "sqlite:" + filepath.Join(folder, "fleet.db"), Dev: true})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, fleetd: fleetd}
		ctx, end := context.WithCancel(context.Background())
		var robots sync.WaitGroup
		for n := range crowd {
			id := fmt.Sprintf("r%d", n+1)
			robots.Go(func() {
				if err := robot.Run(ctx, robot.Config{ID: id, Dial: g.knock, Data: filepath.Join(folder, id), Driver: sim.New(sim.Config{}), Tick: 100 * time.Millisecond}); err != nil {
					t.Errorf("%s ended with %v", id, err)
				}
			})
		}
		everybody := func(view string) func() (bool, string) {
			return func() (bool, string) {
				var list struct {
					Robots []api.Robot `json:"robots"`
				}
				w.get("/robots", &list)
				n := 0
				for _, r := range list.Robots {
					if string(r.Presence.View) == view {
						n++
					}
				}
				return n == crowd, fmt.Sprintf("%d of %d are %s", n, crowd, view)
			}
		}
		w.until("everybody is there", everybody("online"))
		g.close(t)
		w.until("nobody is known to be there", everybody("unknown"))
		time.Sleep(20 * time.Second) // by now each waits for as long as it ever does
		g.open(t)
		w.until("everybody is back", everybody("online"))

		g.mu.Lock()
		knocks := slices.Clone(g.knocks)
		g.mu.Unlock()
		if most := busiest(knocks, 100*time.Millisecond); most > crowd/4 {
			t.Errorf("%d of %d knock within 100 ms: their waits are not spread", most, crowd)
		}
		w.stopFleetd()
		end()
		robots.Wait()
		g.close(t)
	})
}

// busiest is the most moments that lie within one span.
func busiest(at []time.Time, span time.Duration) (most int) {
	for i, j := 0, 0; i < len(at); i++ {
		for at[i].Sub(at[j]) > span {
			j++
		}
		most = max(most, i-j+1)
	}
	return most
}
