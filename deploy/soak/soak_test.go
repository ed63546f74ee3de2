package soak

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"troupe/deploy/shard"
	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/verb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seedRange returns the first seed and how many: TROUPE_SOAK=5000, or
// TROUPE_SOAK=17+1 for seed 17 alone. Without it the shards share the seeds.
func seedRange(t *testing.T) (first, count uint64) {
	text := os.Getenv("TROUPE_SOAK")
	if text == "" {
		mine, err := shard.Current()
		if err != nil {
			t.Fatal(err)
		}
		return mine.Seeds(seedsWithTheTests)
	}
	from, n, ok := strings.Cut(text, "+")
	if !ok {
		from, n = "1", text
	}
	first, err := strconv.ParseUint(from, 10, 63)
	if err == nil {
		count, err = strconv.ParseUint(n, 10, 63)
	}
	if err != nil {
		t.Fatalf("TROUPE_SOAK=%s: want a count, or FIRST+COUNT: %v", text, err)
	}
	return first, count
}

func TestRandomFaultsKeepEveryPromise(t *testing.T) {
	library := filepath.Join(t.TempDir(), "fleet.db")
	prepareDatabase(t, library)
	text, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	first, count := seedRange(t)
	run := func(t *testing.T, seed uint64) (digest string) {
		database := filepath.Join(t.TempDir(), "fleet.db")
		if err := os.WriteFile(database, text, 0o600); err != nil {
			t.Fatal(err)
		}
		bubble.Test(t, func(t *testing.T) { digest = runPlan(t, seed, database) })
		return digest
	}
	for seed := first; seed < first+count; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			digest := run(t, seed)
			if seed%rerunEvery != 0 {
				return
			}
			if second := run(t, seed); second != digest {
				t.Errorf("the digest is %s, and %s in a second run", digest, second)
			}
		})
	}
}

// rerunEvery: every so many seeds, one runs twice, to check that both runs are the
// same.
const rerunEvery = 20

// lateGap is the time between two incidents that are late.
const lateGap = 5300 * time.Microsecond

// runPlan runs the incidents of a seed, checks the promises, and returns the
// digest of the packet log.
func runPlan(t *testing.T, seed uint64, database string) string {
	incidents := plan(seed)
	w := newWorld(t, seed, database)
	began := time.Now()
	for _, d := range incidents {
		// A restart of the robot makes later incidents late. Each keeps an instant of its
		// own, so that the times of two stops have an order.
		time.Sleep(max(d.at-time.Since(began), lateGap))
		synctest.Wait()
		w.apply(d)
	}
	synctest.Wait() // for the last incident
	for _, each := range w.links {
		each.restore(true)
	}
	w.until("the desired state is fulfilled", func() (bool, string) {
		var r view.Robot
		w.get("/robots/r1", &r)
		reported := w.history.reportedStory()
		// While the story does not run, no act ends for which a new story waits.
		fulfilled := r.Desired.Story == nil || r.Desired.Converged || reported.Phase == schema.DeployWaiting
		return r.Presence.Status == "online" && fulfilled && r.Desired.Phase == reported.Phase && r.Desired.ReportedRev == reported.DesiredRev &&
				r.Desired.DesiredRev == reported.DesiredRev,
			fmt.Sprintf("presence %s, desired state %+v; the robot reports revision %d %s", r.Presence.Status, r.Desired, reported.DesiredRev,
				reported.Phase)
	})
	w.until("every other desired document is answered", func() (bool, string) {
		var list struct {
			Desired []api.DesiredState `json:"desired"`
		}
		w.get("/robots/r1/desired", &list)
		for _, each := range list.Desired {
			if documentNumber(each.Desired, "rev") != documentNumber(each.Reported, "desired_rev") {
				return false, fmt.Sprintf("%s: desired %s, reported %s", each.Topic, each.Desired, each.Reported)
			}
		}
		return true, ""
	})
	w.until("every command is answered", func() (bool, string) {
		open := w.history.unanswered()
		return len(open) == 0, strings.Join(open, ", ")
	})
	w.until("the robot holds the stops that fleetd holds, and no other", func() (bool, string) {
		fleetHolds, robotHolds := w.fleetLatches(), w.history.robotLatches()
		return slices.Equal(fleetHolds, robotHolds), fmt.Sprintf("fleetd holds %q, the robot %q", fleetHolds, robotHolds)
	})
	var list struct {
		Commands []api.Command `json:"commands"`
	}
	w.until("fleetd knows the result of every command", func() (bool, string) {
		w.get("/commands?limit=100", &list)
		for _, c := range list.Commands {
			if c.Ended == 0 && !(c.State == command.Unknown && (hasNoJournal(c.Verb) || !w.history.isAnswered("fleetd "+c.ID))) {
				return false, fmt.Sprintf("%s %s is %s", c.ID, c.Verb, c.State)
			}
		}
		return true, ""
	})
	for _, each := range w.history.failedStops() {
		t.Errorf("a stop that reached the robot did not stop it: %s", each)
	}
	for _, each := range w.history.contradictions() {
		t.Errorf("two final answers: %s", each)
	}
	for _, each := range w.history.repeatedEffects() {
		t.Errorf("a command had its effect twice: %s", each)
	}
	w.stopAll()
	if t.Failed() {
		t.Logf("repeat with TROUPE_SOAK=%d+1; the run is the same if its digest is %s; incidents:", seed, w.log.digest())
		for _, d := range incidents {
			t.Log(d)
		}
	}
	return w.log.digest()
}

// hasNoJournal reports whether robots keep no record of a verb. They answer each
// copy of such a command separately, and when the only answer is lost, the result
// stays unknown; fleetd reports it so.
func hasNoJournal(id string) bool {
	v, _ := verb.Of(splitVerb(id))
	return v.Journal == verb.JournalNever
}

func splitVerb(verb string) (string, string) {
	group, name, _ := strings.Cut(verb, "/")
	return group, name
}

// documentNumber returns a numeric member of a document, 0 if there is none.
func documentNumber(document []byte, name string) (n int64) {
	var all map[string]any
	if err := json.Unmarshal(document, &all); err == nil {
		f, _ := all[name].(float64)
		n = int64(f)
	}
	return n
}

func logger(t *testing.T, who string) *slog.Logger {
	if os.Getenv("TROUPE_SOAK_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("who", who)
}
