package stage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/selector"
	"troupe/fleetd/view"
	"troupe/robotd/mode"
	"troupe/robotd/robot"
	"troupe/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runStage runs a stage until do has returned, which is called when the stage is
// ready. It returns the lines that the stage printed and its error.
func runStage(t *testing.T, cfg Config, do func(o *operatorSetup)) ([]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cfg.MQTT, cfg.HTTP, cfg.Database = "127.0.0.1:0", "127.0.0.1:0", "sqlite"
	var mu sync.Mutex
	var lines []string
	cfg.Say = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}
	ready := false
	cfg.Ready = func(at Addresses) {
		ready = true
		o := &operatorSetup{cfg: cfg, fleetd: newFleetdClient(at.HTTP), refused: map[string]bool{}}
		defer o.fleetd.close()
		if do != nil {
			do(o)
		}
		cancel()
	}
	err := Run(ctx, cfg)
	if err == nil && !ready {
		t.Fatalf("the stage ended before it was ready; it printed\n%s", strings.Join(lines, "\n"))
	}
	return lines, err
}

func (o *operatorSetup) mustListRobots(t *testing.T) []view.Robot {
	t.Helper()
	robots, err := o.listRobots(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return robots
}

func TestEveryRobotPerformsItsStory(t *testing.T) {
	_, err := runStage(t, Config{Robots: 4, Data: t.TempDir()}, func(o *operatorSetup) {
		robots := o.mustListRobots(t)
		if len(robots) != 4 {
			t.Fatalf("%d robots", len(robots))
		}
		shipped, err := stories("")
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range robots {
			want := shipped[i%len(shipped)]
			if r.Story == nil || r.Story.ID != want.ID || r.Auto != "idle" || r.Mode != "ato" || r.Safety != "ENABLED" {
				t.Errorf("%s: mode %s, auto %s, safety %s, story %v, want %s", r.ID, r.Mode, r.Auto, r.Safety, r.Story, want.ID)
			}
			activities := 5
			if want.Labels["site"] == "museum" {
				activities++ // invites people to the tour
			}
			if a := r.Activities; a == nil || !a.Converged || len(a.Assigned) != activities {
				t.Errorf("%s has the activities %+v, want %d", r.ID, a, activities)
			}
			labels := maps.Clone(want.Labels)
			labels["name"], labels["colour"] = looks[i].name, looks[i].colour
			if !maps.Equal(r.Labels, labels) {
				t.Errorf("%s has labels %v, want %v", r.ID, r.Labels, labels)
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestStageIsEndedWhileItStarts(t *testing.T) {
	for _, c := range []struct{ body, line string }{
		{BodySim, "the broker listens"},
		{BodySim, "fleetd serves"},
		{BodyLaptop, "fleetd serves"},
	} {
		t.Run(c.body+" after "+c.line, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := Run(ctx, Config{
				Robots: 1, MQTT: "127.0.0.1:0", HTTP: "127.0.0.1:0", Database: "sqlite", Data: t.TempDir(), Body: c.body, Adapters: "../adapters",
				Say: func(line string) {
					if strings.HasPrefix(line, c.line) {
						cancel()
					}
				},
				Ready: func(Addresses) { t.Error("the stage became ready") },
			})
			if err != nil || ctx.Err() == nil {
				t.Errorf("%v; ended: %v", err, ctx.Err())
			}
		})
	}
}

func TestChangesByAPersonSurviveARestart(t *testing.T) {
	data := t.TempDir()
	var story string
	if _, err := runStage(t, Config{Robots: 2, Data: data}, func(o *operatorSetup) {
		robots := o.mustListRobots(t)
		story = robots[1].Desired.Story.ID
		// A person takes r1's story away and changes its labels; r2 is left alone.
		if _, err := request[api.Assigned](t.Context(), o.fleetd, "POST", "/assignments", nil,
			api.Assignment{Selector: selector.IDs("r1"), Attribution: audit.Attribution{Who: "ann"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := request[view.Robot](t.Context(), o.fleetd, "PUT", "/robots/r1/labels", nil,
			map[string]any{"labels": map[string]string{"site": "attic"}, "by": "ann"}); err != nil {
			t.Fatal(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	printed, err := runStage(t, Config{Robots: 2, Data: data}, func(o *operatorSetup) {
		robots := o.mustListRobots(t)
		if r := robots[0]; r.Desired.Story != nil || r.Labels["site"] != "attic" {
			t.Errorf("r1 was given %v, labels %v", r.Desired.Story, r.Labels)
		}
		if r := robots[1]; r.Story == nil || r.Story.ID != story || r.Auto != "idle" {
			t.Errorf("r2 performs %v, auto %s, want %s", r.Story, r.Auto, story)
		}
	})
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{"the library is unchanged", "r1 has no default story: somebody removed it", "by starting it you allowed"} {
		if !slices.ContainsFunc(printed, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("the stage does not print %q, but\n%s", want, strings.Join(printed, "\n"))
		}
	}
}

func TestLatchedStopDoesNotDelayOtherRequests(t *testing.T) {
	data := t.TempDir()
	if _, err := runStage(t, Config{Robots: 1, Data: data}, func(o *operatorSetup) {
		order := map[string]any{"selector": selector.IDs("r1"), "level": "stop", "by": "ann", "why": "fire drill"}
		if _, err := request[api.Batch](t.Context(), o.fleetd, "POST", "/stops", nil, order); err != nil {
			t.Error(err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	printed, err := runStage(t, Config{Robots: 1, Data: data}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took >= setupTimeout {
		t.Errorf("it took %v", took)
	}
	all := strings.Join(printed, "\n")
	for _, part := range []string{"safety/enable to r1: REJECTED latched: ", "by ann: fire drill", "fleetd stop release"} {
		if !strings.Contains(all, part) {
			t.Errorf("the stage does not print %q, but\n%s", part, all)
		}
	}
}

func TestRobotThatCannotStartEndsTheStageAndIsNamed(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "r2"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := runStage(t, Config{Robots: 2, Data: data}, nil); err == nil || !strings.Contains(err.Error(), "r2: ") {
		t.Errorf("got %v", err)
	}
}

func (o *operatorSetup) mustSeeBoot(t *testing.T, id string) string {
	t.Helper()
	d, err := request[view.Detail](t.Context(), o.fleetd, "GET", "/robots/"+id, nil, nil)
	if err != nil || d.State == nil {
		t.Fatalf("%s: %+v, %v", id, d, err)
	}
	return d.State.Boot
}

func TestRobotThatRebootsIsStartedAgain(t *testing.T) {
	printed, err := runStage(t, Config{Robots: 2, Data: t.TempDir()}, func(o *operatorSetup) {
		before := o.mustListRobots(t)
		boots := []string{o.mustSeeBoot(t, "r1"), o.mustSeeBoot(t, "r2")}
		for _, verb := range []string{"safety/stop", "sys/reboot"} {
			batch, err := request[api.Batch](t.Context(), o.fleetd, "POST", "/commands", nil,
				map[string]any{"verb": verb, "selector": selector.IDs("r1"), "by": "ann"})
			if err != nil {
				t.Fatal(err)
			}
			if c := batch.Commands[0]; c.State != "SUCCEEDED" {
				t.Fatalf("%s: %s %s", verb, c.State, c.Because)
			}
			if verb == "safety/stop" { // it brakes; a reboot is refused meanwhile
				if _, err := o.awaitEach(t.Context(),
					func(r view.Robot) bool { return r.ID != "r1" || r.Safety == schema.SafetyDisabled }); err != nil {
					t.Fatal(err)
				}
			}
		}
		again, err := o.awaitEach(t.Context(), func(r view.Robot) bool {
			return r.Presence.Status == "online" && r.Story != nil && (r.ID != "r1" || o.mustSeeBoot(t, "r1") != boots[0])
		})
		if err != nil || len(again) != 2 {
			t.Fatalf("online are %v, %v", ids(again), err)
		}
		if r := again[0]; r.Story.ID != before[0].Story.ID || r.Safety != schema.SafetyDisabled {
			t.Errorf("r1 has story %s and is %s", r.Story.ID, r.Safety)
		}
		if o.mustSeeBoot(t, "r2") != boots[1] {
			t.Error("r2 was started again too")
		}
	})
	if err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(printed, func(line string) bool { return strings.HasPrefix(line, "r1 ended by sys/reboot") }) {
		t.Errorf("the stage does not print that r1 was started again, but\n%s", strings.Join(printed, "\n"))
	}
}

func TestRobotWhoseModeHangsIsStartedAgainAndTheOthersGoOn(t *testing.T) {
	release := make(chan struct{})
	defer close(release) // then the goroutine of the loop ends
	hangs := mode.Installed{
		Settings: mode.Settings{ID: "hangs", LinkLoss: schema.LinkLossContinue}, Name: "hangs",
		New: func() mode.Mode { return hanging{release: release} },
	}
	cfg := Config{Robots: 2, Data: t.TempDir(), Adjust: func(c *robot.Config) { c.Modes = []mode.Installed{hangs} }}
	printed, err := runStage(t, cfg, func(o *operatorSetup) {
		boots := []string{o.mustSeeBoot(t, "r1"), o.mustSeeBoot(t, "r2")}
		body := map[string]any{"verb": "mode/set", "args": map[string]string{"mode": "hangs"}, "selector": selector.IDs("r1"), "by": "ann"}
		if _, err := request[api.Batch](t.Context(), o.fleetd, "POST", "/commands", nil, body); err != nil {
			t.Fatal(err)
		}
		again, err := o.awaitEach(t.Context(), func(r view.Robot) bool {
			return r.Presence.Status == "online" && r.Calibrated && (r.ID != "r1" || o.mustSeeBoot(t, "r1") != boots[0])
		})
		if err != nil || len(again) != 2 {
			t.Fatalf("online are %v, %v", ids(again), err)
		}
		if o.mustSeeBoot(t, "r2") != boots[1] || again[1].Safety != schema.SafetyEnabled {
			t.Errorf("r2 did not go on: it is %s", again[1].Safety)
		}
		if again[0].Safety == schema.SafetyEnabled {
			t.Error("r1 may move after its start")
		}
	})
	if err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(printed, func(line string) bool {
		return strings.HasPrefix(line, "r1 ended: start of hangs did not return within 1s") && strings.Contains(line, "started again")
	}) {
		t.Errorf("the stage does not print that r1 was started again, but\n%s", strings.Join(printed, "\n"))
	}
}

// hanging is a mode whose start does not return.
type hanging struct {
	mode.Plain
	release <-chan struct{}
}

func (m hanging) Start(*mode.Host) { <-m.release }

func TestRobotConfigurationCanBeChangedBeforeItStarts(t *testing.T) {
	_, err := runStage(t, Config{Robots: 2, Data: t.TempDir(), Adjust: func(c *robot.Config) {
		if c.ID == "r2" {
			c.BootMode = "mnl"
		}
	}}, func(o *operatorSetup) {
		for _, r := range o.mustListRobots(t) {
			if r.Mode != "ato" {
				t.Errorf("%s is in %s", r.ID, r.Mode)
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAddressThatCannotBeServedIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	busy := l.Addr().String()
	for _, c := range []struct {
		mqtt, http string
		of         string
		taken      bool
	}{
		{busy, "127.0.0.1:0", "mqtt", true},
		{"127.0.0.1:0", busy, "http", true},
		{"0.0.0.0:0", "127.0.0.1:0", "mqtt", false},
		{"127.0.0.1:0", ":0", "http", false},
		{"[::]:0", "127.0.0.1:0", "mqtt", false},
		{"127.0.0.1", "127.0.0.1:0", "mqtt", false},
		{"127.0.0.1:0", "192.0.2.1:0", "http", false},
	} {
		var a *AddressError
		err := checkAddresses(c.mqtt, c.http)
		if !errors.As(err, &a) || a.Of != c.of || a.Taken != c.taken {
			t.Errorf("%s and %s: %v", c.mqtt, c.http, err)
		}
	}
	for _, host := range []string{"127.0.0.1:0", "localhost:0"} {
		if err := checkAddress("mqtt", host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestDataDirectoryIsLockedUntilReleased(t *testing.T) {
	folder := t.TempDir()
	unlock, err := lock(folder)
	if err != nil {
		t.Fatal(err)
	}
	var used *InUseError
	if _, err := lock(folder); !errors.As(err, &used) || used.Process == "" {
		t.Errorf("locked twice: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	again, err := lock(folder)
	if err != nil {
		t.Fatalf("lock after unlock: %v", err)
	}
	if err := again(); err != nil {
		t.Error(err)
	}
}

func TestDatabaseIsShownWithoutPassword(t *testing.T) {
	for in, want := range map[string]string{
		"sqlite:./.demo/fleet.db":                     "sqlite:./.demo/fleet.db",
		"postgres://troupe:secret@db.example/troupe":  "postgres://db.example/troupe",
		"postgres:///troupe?host=/run&password=other": "postgres:///troupe",
		"host=/run password=other":                    "the database that was given",
		"postgres:troupe:other@db.example":            "the database that was given",
	} {
		if got := withoutPassword(in); got != want {
			t.Errorf("%s is shown as %s, want %s", in, got, want)
		}
	}
}

func TestUnreachableDatabaseIsReportedWithoutPassword(t *testing.T) {
	for _, address := range []string{
		"postgres://troupe:secret@127.0.0.1:1/troupe", "postgres://127.0.0.1:1/troupe?user=troupe&password=secret",
		"host=127.0.0.1 password=secret", "postgres:troupe:secret@x", "postgres://x/troupe?password=secret&port=none",
		"postgres://u:secret%zz@x/troupe",
	} {
		var log strings.Builder
		began := time.Now()
		err := Run(t.Context(), Config{
			Robots: 1, MQTT: "127.0.0.1:0", HTTP: "127.0.0.1:0", Data: t.TempDir(), Database: address,
			Logger: slog.New(slog.NewTextHandler(&log, nil)), Say: func(line string) { t.Errorf("%s: the stage prints %s", address, line) },
		})
		var missing *DatabaseError
		if !errors.As(err, &missing) || time.Since(began) > databaseTimeout+5*time.Second {
			t.Errorf("%s: after %v: %v", address, time.Since(began), err)
		}
		if shown := fmt.Sprint(err) + log.String(); strings.Contains(shown, "secret") {
			t.Errorf("%s: the password is shown: %s", address, shown)
		}
	}
}

func TestStageWithoutRobotsIsRefused(t *testing.T) {
	if _, err := runStage(t, Config{Data: t.TempDir()}, nil); err == nil || !strings.Contains(err.Error(), "1 to") {
		t.Errorf("got %v", err)
	}
}

func TestLongListOfRobotsIsShortened(t *testing.T) {
	many := make([]string, MaxRobots)
	for i := range many {
		many[i] = robotID(i)
	}
	if got := joinIDs(many); got != "200 robots: r1 ... r200" {
		t.Error(got)
	}
	if got := joinIDs(many[:3]); got != "r1 r2 r3" {
		t.Error(got)
	}
}

func TestRobotsWithOneStorySpeakItsLanguagesInTurn(t *testing.T) {
	shipped, err := stories("")
	if err != nil {
		t.Fatal(err)
	}
	first, next := languagesFor(shipped, 0), languagesFor(shipped, len(shipped))
	if len(first) < 2 || first[0] == next[0] || !slices.Contains(next, first[0]) {
		t.Errorf("%v, then %v", first, next)
	}
}
