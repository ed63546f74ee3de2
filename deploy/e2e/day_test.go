package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/schema"
	"troupe/schema/testlog"
)

// The clock of the day runs at daySpeed, and the robot at its own pace. Faster, the robot could
// not finish what an entry of the day causes before the next one.
const (
	daySpeed = "40"
	dayLimit = 6 * time.Minute
)

func TestDayOfTheDemoHoldsItsRules(t *testing.T) {
	t.Parallel()
	p := startDemo(t, "--robots", "2", "--data", t.TempDir(), "--scenario", "../demo/day.yaml", "--speed", daySpeed, "--story",
		"museum-welcome")
	w := worldAroundDemo(t, p)
	w.awaitPerforming("r1")
	p.log.awaitWithin(t, dayLimit, "demo", "the end of the day",
		func(line string) bool { return strings.Contains(line, "the scenario is over") })
	w.awaitState("r1", "at rest", func(s schema.State) bool { return s.Safety.State == schema.SafetyDisabled })

	for _, rid := range []string{"r1", "r2"} {
		log := w.logOf(rid)
		held := true
		for _, r := range dayRules {
			times, broken := r.check(log)
			if times == 0 && rid == "r1" { // the others have quieter days
				t.Errorf("%s: the day of r1 has no occasion for it", r.name)
			}
			for _, b := range broken {
				held = false
				t.Errorf("%s: %s, because %s: broken by %s", rid, r.name, r.why, b)
			}
			t.Logf("%s: %s: %d times", rid, r.name, times)
		}
		if !held {
			var lines strings.Builder
			for _, h := range log {
				fmt.Fprintln(&lines, h)
			}
			testlog.Show(t, "the day of "+rid, lines.String())
		}
	}
	w.interruptDemo(p, "r1", "r2")
}

// logOf returns the events of a robot in their order, as fleetd has stored them. Changes of
// its battery, which are not events, are among them.
func (w *world) logOf(rid string) (log []happened) {
	w.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: waitLimit}
	answer, err := client.Get(w.http + api.Prefix + "/events?limit=1000&robot=" + rid)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	var got struct {
		Events []api.Event `json:"events"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil || len(got.Events) == 1000 {
		w.t.Fatalf("%d events, %v", len(got.Events), err)
	}
	for _, e := range got.Events {
		log = append(log, happenedAt(e.Event))
	}
	battery := ""
	for _, m := range w.observer.since(0, robotTopic(rid, "state")) {
		s, _ := schema.Decode[schema.State]([]byte(m.Payload))
		now := unitOf(s, "battery").Detail
		if now == battery {
			continue
		}
		battery = now
		percent, _, _ := strings.Cut(now, " ")
		level, _ := strconv.ParseFloat(percent, 64)
		h := happened{at: s.TS, Event: schema.Event{TS: s.TS, Type: "battery", Source: "state", Cause: now}}
		h.data.Level, h.data.Charging = level/100, strings.Contains(now, "charging")
		log = append(log, h)
	}
	slices.SortStableFunc(log, func(a, b happened) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Seq, b.Seq)) })
	return log
}
