package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/view"
	"troupe/robotd/robot"
	"troupe/schema"
)

// maxDelay is the latest that a robot is back, or obeys a stop, after the broker
// or the connection works again.
const maxDelay = 15 * time.Second

// pressStop has fleetd stop all robots, as the page does. While fleetd is not
// connected to a broker it answers so, and sends the stop when it is.
func (w *world) pressStop() {
	w.t.Helper()
	answer, err := http.Post(w.http+api.Prefix+"/stops", "application/json",
		strings.NewReader(`{"selector":{"all":true},"by":"anna","why":"children on the stage"}`))
	if err != nil {
		w.t.Fatal(err)
	}
	var reply bytes.Buffer
	_, _ = reply.ReadFrom(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusAccepted && answer.StatusCode != http.StatusServiceUnavailable {
		w.t.Fatalf("stop: status %d: %s", answer.StatusCode, &reply)
	}
}

// A broker is killed ten times in a row. To its clients that looks as if other
// clients had taken their names over; none of them may back off for long because
// of it.
func TestFleetIsBackAfterTenBrokerKills(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		random := rand.New(rand.NewPCG(8, 10))
		between := func(least, most time.Duration) time.Duration {
			return least + time.Duration(random.Int64N(int64(most-least)))
		}
		onLinkLoss := map[schema.ModeID]schema.LinkLoss{schema.ModeMnl: schema.LinkLossContinue, schema.ModeAto: schema.LinkLossContinue}
		ids := w.runRobotsInProcess(18, func(c *robot.Config) { c.Link.Loss = onLinkLoss })
		for _, id := range []string{"r19", "r20"} {
			w.runRobot(id, "robot.yaml")
			ids = append(ids, id)
		}
		w.startFleetd()
		w.awaitAllRobots("online", ids, func(r view.Robot) bool { return r.Presence.Status == "online" && r.Adopted })
		w.until("all robots enabled", func() bool { return w.runCLI("safety", "enable", "--all", "--wait").code == 0 })

		for range 10 {
			// The test waits for nothing here: kills come at any time.
			time.Sleep(between(200*time.Millisecond, 4*time.Second))
			w.recorderScope.end()
			w.broker.kill()
			time.Sleep(between(0, time.Second))
			w.startBroker()
		}
		returned := time.Now()
		w.pressStop()
		watcher := brokertest.Connect(w.t, brokertest.TCP(w.address), brokertest.ConnectPacket{Name: "admin", ClientID: "admin_watch"})
		watcher.Subscribe(robotTopic("+", "presence"), robotTopic("+", "state"))
		back, stopped := map[string]time.Duration{}, map[string]time.Duration{}
		for deadline := returned.Add(2 * maxDelay); time.Now().Before(deadline) &&
			(len(back) < len(ids) || len(stopped) < len(ids)); time.Sleep(20 * time.Millisecond) {
			watcher.Ping()
			after := time.Since(returned)
			for _, m := range watcher.Inbox("#") {
				rid := strings.Split(m.Topic, "/")[3]
				if strings.HasSuffix(m.Topic, "/presence") {
					p, _ := schema.Decode[schema.Presence](m.Payload)
					if _, there := back[rid]; !there && p.State == schema.PresenceOnline {
						back[rid] = after
					}
					continue
				}
				s, _ := schema.Decode[schema.State](m.Payload)
				if _, known := stopped[rid]; !known && len(s.Safety.Latches) > 0 && s.Safety.State != schema.SafetyEnabled {
					stopped[rid] = after
				}
			}
		}
		for what, at := range map[string]map[string]time.Duration{"connected": back, "stopped": stopped} {
			var all []time.Duration
			for _, id := range ids {
				d, ok := at[id]
				if !ok {
					d = 2 * maxDelay
				}
				all = append(all, d)
			}
			w.t.Logf("%s after the broker's last return: %s", what, quantiles(all))
			if late := countAbove(all, maxDelay); late*100 > len(all) {
				w.t.Errorf("%d of %d robots were not %s within %v", late, len(all), what, maxDelay)
			}
		}
		w.awaitAllRobots("undisputed", ids, func(r view.Robot) bool {
			return !r.Presence.Disputed && !slices.Contains(alertTypes(r), "duplicate_identity")
		})
		if s := w.runCLI("version"); strings.Contains(s.out, "DISPUTED") {
			w.t.Errorf("fleetd reports a second fleetd of its name:\n%s", s.out)
		}
	})
}

func alertTypes(r view.Robot) (types []string) {
	for _, a := range r.Alerts {
		types = append(types, a.Type)
	}
	return types
}

func countAbove(all []time.Duration, above time.Duration) (n int) {
	for _, d := range all {
		if d > above {
			n++
		}
	}
	return n
}

func quantiles(all []time.Duration) string {
	all = slices.Sorted(slices.Values(all))
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))].Round(time.Millisecond) }
	return fmt.Sprintf("p50 %v, p99 %v, max %v (%d)", at(0.5), at(0.99), at(1), len(all))
}

// A flakyLine breaks a proxy every 0.5 to 20 s, for up to 2 s, until its context
// ends.
type flakyLine struct {
	wire    *proxy
	mu      sync.Mutex
	outages [][2]time.Time // start and end of each outage, the newest last; the end is zero during it
}

func (f *flakyLine) run(ctx context.Context, address string, random *rand.Rand) {
	wait := func(least, most time.Duration) bool {
		t := time.NewTimer(least + time.Duration(random.Int64N(int64(most-least))))
		defer t.Stop()
		select {
		case <-t.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for wait(500*time.Millisecond, 20*time.Second) {
		f.mu.Lock()
		f.outages = append(f.outages, [2]time.Time{time.Now(), {}})
		f.mu.Unlock()
		f.wire.connectTo("")
		wait(0, 2*time.Second)
		f.wire.connectTo(address)
		f.mu.Lock()
		f.outages[len(f.outages)-1][1] = time.Now()
		f.mu.Unlock()
	}
}

func (f *flakyLine) wasGood(at time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.outages {
		if !at.Before(b[0]) && (b[1].IsZero() || at.Before(b[1])) {
			return false
		}
	}
	return true
}

func (f *flakyLine) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.outages)
}

// bothGoodFor returns for how long, in total, both connections worked between two
// times.
func bothGoodFor(a, b *flakyLine, from, to time.Time) (d time.Duration) {
	const step = 5 * time.Millisecond
	for at := from; at.Before(to); at = at.Add(step) {
		if a.wasGood(at) && b.wasGood(at) {
			d += min(step, to.Sub(at))
		}
	}
	return d
}

// safetyBecame returns when the robot's safety core, by its log, last changed to
// that state after a time.
func (p *process) safetyBecame(to schema.SafetyState, after time.Time) (time.Time, bool) {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	var found time.Time
	for _, line := range slices.Backward(p.log.lines) {
		text, ok := strings.CutPrefix(line, "time=")
		if !ok {
			continue
		}
		stamp, rest, _ := strings.Cut(text, " ")
		at, err := time.Parse(time.RFC3339, stamp)
		if err != nil || at.Before(after) {
			break
		}
		if strings.Contains(rest, `msg="safety: `) && strings.Contains(rest, " -> "+string(to)+`"`) {
			found = at
		}
	}
	return found, !found.IsZero()
}

// flakyDuration is for how long TestStopOverFlakyLines breaks connections:
// TROUPE_FLAKY=10m.
func flakyDuration(t *testing.T) time.Duration {
	text := os.Getenv("TROUPE_FLAKY")
	if text == "" {
		return 30 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("TROUPE_FLAKY=%s: want a duration such as 10m: %v", text, err)
	}
	return d
}

// Every connection breaks again and again, fleetd's too, while robots perform that
// go on without a link. Stops are sent at random times.
func TestStopOverFlakyLines(t *testing.T) {
	span := flakyDuration(t)
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.startFleetd()
		ids := []string{"r1", "r2", "r3", "r4", "r5", "r6"}
		w.runRobotsIn(schema.ModeMnl, "robot.yaml", ids...)
		w.awaitAdopted(ids...)
		w.mustRunCLI("story", "publish", "-f", "../library")
		w.mustRunCLI("story", "assign", "museum-welcome", "--all", "--wait")
		w.mustRunCLI("mode", "set", "ato", "--all", "--wait")
		op := brokertest.Connect(w.t, brokertest.TCP(w.address), brokertest.ConnectPacket{Name: "op1", ClientID: "op1_enable"})
		// enable releases every stop and enables the robots. A robot that was disconnected
		// at a release still holds the stop, and fleetd records it again.
		enable := func(since time.Time) {
			w.t.Helper()
			limiter := rate.Sometimes{Interval: time.Second / 2}
			w.until("all robots enabled", func() bool {
				var still []string
				for _, id := range ids {
					if _, is := w.robots[id].safetyBecame(schema.SafetyEnabled, since); !is {
						still = append(still, id)
					}
				}
				limiter.Do(func() {
					for _, s := range w.latchedStops() {
						if s.Persisted {
							w.mustRunCLI("stop", "release", s.ID, "--why", "the stage is clear")
						}
					}
					for _, id := range still {
						op.Publish(robotTopic(id, "cmd/op1/safety/enable"), "")
					}
				})
				return len(still) == 0
			})
		}
		enable(time.Time{})

		ctx, endOutages := context.WithCancel(context.Background())
		var breaking sync.WaitGroup
		lines := map[string]*flakyLine{"": {wire: w.fleetdProxy}}
		for _, id := range ids {
			lines[id] = &flakyLine{wire: w.robotProxies[id]}
		}
		for i, id := range append([]string{""}, ids...) {
			breaking.Go(func() { lines[id].run(ctx, w.address, rand.New(rand.NewPCG(8, uint64(i)))) })
		}
		w.t.Cleanup(func() { endOutages(); breaking.Wait() })

		random := rand.New(rand.NewPCG(8, 100))
		var delays, total []time.Duration // for each stop of each robot: the time while both connections worked, and the total time
		for began := time.Now(); time.Since(began) < span; {
			// The test waits for nothing here: stops come at any time.
			time.Sleep(time.Duration(random.Int64N(int64(3 * time.Second))))
			pressed := time.Now().Truncate(time.Millisecond)
			w.pressStop()
			stoppedAt := map[string]time.Time{}
			w.until("all robots to be stopped", func() bool {
				for _, id := range ids {
					if at, is := w.robots[id].safetyBecame(schema.SafetyDisabled, pressed); is {
						stoppedAt[id] = at
					}
				}
				return len(stoppedAt) == len(ids)
			})
			for _, id := range ids {
				delays = append(delays, bothGoodFor(lines[""], lines[id], pressed, stoppedAt[id]))
				total = append(total, stoppedAt[id].Sub(pressed))
				if d := delays[len(delays)-1]; d > maxDelay {
					w.t.Errorf("%s stopped %v after the request, and for %v of that both connections worked", id, total[len(total)-1], d)
				}
			}
			enable(time.Now().Truncate(time.Millisecond))
		}
		breaks := 0
		for _, l := range lines {
			breaks += l.count()
		}
		w.t.Logf("%v, %d connections that broke %d times", span, len(lines), breaks)
		w.t.Logf("from request to stop, while both connections worked: %s", quantiles(delays))
		w.t.Logf("from request to stop, in total: %s", quantiles(total))
		if n := countAbove(delays, time.Second); 2*n > len(delays) {
			w.t.Errorf("%d of %d stops took longer than 1 s", n, len(delays))
		}
		for id, p := range w.robots {
			if p.log.contains("contested=true") {
				w.t.Errorf("%s takes its own reconnects for a second robot of its name", id)
			}
		}
	})
}
