package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/view"
	"troupe/robotd/driver/sim"
	"troupe/robotd/robot"
	"troupe/schema"
)

// maxRobots is the number of robots that Mosquitto's access rules name, r1 and so
// on.
const maxRobots = 20

// runRobotsInProcess runs n robots in this process, where they need little memory.
// They share a proxy and end with the test.
func (w *world) runRobotsInProcess(n int, set ...func(*robot.Config)) (ids []string) {
	w.t.Helper()
	all := newProxy(w.t, w.address)
	w.robotProxies["all"] = all
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	w.t.Cleanup(func() { end(); running.Wait() })
	for i := range n {
		id := fmt.Sprintf("r%d", i+1)
		ids = append(ids, id)
		running.Go(func() {
			cfg := robot.Config{ID: id, Broker: all.url(), Engine: w.variant.engine(), Data: filepath.Join(w.folder, id),
				Driver: sim.New(sim.Config{}),
				Tick:   100 * time.Millisecond}
			for _, f := range set {
				f(&cfg)
			}
			if err := robot.Run(ctx, cfg); err != nil {
				w.t.Errorf("%s ended with %v", id, err)
			}
		})
	}
	return ids
}

// awaitAllRobots waits until fleetd shows exactly these robots and the condition
// holds for each.
func (w *world) awaitAllRobots(what string, ids []string, holds func(view.Robot) bool) {
	w.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: waitLimit}
	w.until(fmt.Sprintf("%d robots to be %s", len(ids), what), func() bool {
		answer, err := client.Get(w.http + api.Prefix + "/robots")
		if err != nil {
			w.t.Fatal(err)
		}
		defer answer.Body.Close()
		var list struct {
			Robots []view.Robot `json:"robots"`
		}
		if err := json.NewDecoder(answer.Body).Decode(&list); err != nil || answer.StatusCode != http.StatusOK {
			w.t.Fatalf("status %d: %v", answer.StatusCode, err)
		}
		return len(list.Robots) == len(ids) && !slices.ContainsFunc(list.Robots, func(r view.Robot) bool { return !holds(r) })
	})
}

// awaitStoryOnAll waits until each robot has published presence, state and a
// report that it has the story.
func (w *world) awaitStoryOnAll(mark int, story string, ids []string) {
	w.t.Helper()
	for _, id := range ids {
		awaitDocumentAfter(w, mark, robotTopic(id, "presence"), id+" to be online",
			func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		awaitDocumentAfter(w, mark, robotTopic(id, "state"), "the state of "+id, func(s schema.State) bool { return s.Mode.Calibrated })
		awaitDocumentAfter(w, mark, robotTopic(id, "reported/story"), id+" to have "+story, func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployActive && r.Active != nil && r.Active.ID == story
		})
	}
}

// The broker is killed with its retained messages, and every robot connects to the
// next one. Package soak tests our own broker with many more robots, in fake time: real
// robots miss the time that their units and their calibration have when a busy machine runs more.
func TestFleetReconnectsAfterBrokerRestartOnAnotherEngine(t *testing.T) {
	runIn(t, []variant{mosquitto, nats}, func(w *world) {
		w.startFleetd()
		ids := w.runRobotsInProcess(maxRobots)
		for _, id := range ids {
			w.awaitPresence(id, schema.PresenceOnline)
		}
		w.awaitAllRobots("online", ids, func(r view.Robot) bool { return r.Presence.Status == "online" && r.Adopted })
		w.publishStory("round", "nod", "smile")
		w.mustRunCLI("story", "assign", "round", "--all")
		w.awaitStoryOnAll(0, "round", ids)
		converged := func(r view.Robot) bool {
			return r.Presence.Status == "online" && r.Desired.Converged && r.Desired.Story != nil
		}
		w.awaitAllRobots("online and converged", ids, converged)

		w.killBroker()
		w.awaitAllRobots("unknown", ids, func(r view.Robot) bool { return r.Presence.Status == "unknown" })
		mark := w.observer.mark()
		w.startBroker()
		for _, id := range ids {
			w.observer.awaitMessage(w.t, mark, robotTopic(id, "desired/story"), "the desired story of "+id,
				func(m message) bool { return m.Payload != "" })
		}
		w.awaitStoryOnAll(mark, "round", ids)
		w.awaitAllRobots("online and converged again", ids, converged)
	})
}
