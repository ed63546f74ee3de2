package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"troupe/deploy/natstest"
	"troupe/fleetd/store/pgtest"
)

// severalFleets are fleets on one nats-server and one PostgreSQL server, each with a fleetd and a robot.
type severalFleets struct {
	*world
	names []string
}

func startSeveralFleets(t *testing.T, names ...string) *severalFleets {
	t.Helper()
	f := &severalFleets{world: &world{t: t, folder: t.TempDir()}, names: names}
	var accounts strings.Builder
	for _, name := range names {
		users := filepath.Join(f.folder, name+".users")
		if err := os.WriteFile(users, []byte("fleetd-"+name+" fleetd\n"+name+"-r1 robot\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := exec.Command(program(t, "broker"), "acl", "--for", "nats", "--open", "--own-account", "--namespace", name, "--users",
			users).Output()
		if err != nil {
			t.Fatal(err)
		}
		accounts.Write(text)
	}
	broker, database := "mqtt://"+natstest.Start(t, "accounts {\n"+accounts.String()+"}\n", "").Address, pgtest.Start(t)
	for _, name := range names {
		fleetd := launch(t, "fleetd-"+name, program(t, "fleetd"), []string{"serve", "--dev", "--http", "127.0.0.1:0", "--engine", "nats",
			"--broker", broker,
			"--namespace", name, "--name", "fleetd-" + name, "--database", database + "&search_path=" + name, "--spool",
			filepath.Join(f.folder, name+".stops")}, nil)
		launch(t, name+"-r1", program(t, "robotd"), []string{"--id", name + "-r1", "--engine", "nats", "--broker", broker, "--namespace", name,
			"--data", filepath.Join(f.folder, name+"-r1"), "--config", scenarioFile("robot.yaml")}, nil)
		f.fleetd = fleetd // the last one
		f.run(0, "context", "add", name, "--server", fleetd.ready()["http"])
	}
	return f
}

// run runs a command of fleetd, which has to end with that code.
func (f *severalFleets) run(code int, args ...string) string {
	f.t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(program(f.t, "fleetd"), args...)
	cmd.SysProcAttr, cmd.Env = killWithParent(), append(processEnv(), "XDG_CONFIG_HOME="+f.folder)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := onStarterThread(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
		f.t.Fatalf("fleetd %s: %v, want exit code %d\n%s", strings.Join(args, " "), cmd.ProcessState, code, out.String())
	}
	return out.String()
}

// latched are the stops that a fleet has latched.
func (f *severalFleets) latched(name string) []string {
	return strings.Fields(f.run(0, "stop", "list", "--context", name, "-o", "name"))
}

// Two fleets on one NATS and one Postgres see and stop only their own robots, each has its own leader, and a stop goes to both
// unless one is not there, which the answer says.
func TestTwoFleetsOnOneNATSAndOnePostgres(t *testing.T) {
	t.Parallel()
	f := startSeveralFleets(t, "museum", "lobby")
	for _, name := range f.names {
		var robots []struct {
			ID       string `json:"id"`
			Presence struct{ Status string }
		}
		f.until(name+"-r1 to be online in its fleet alone", func() bool {
			var list struct{ Robots json.RawMessage }
			if err := json.Unmarshal([]byte(f.run(0, "robot", "list", "--context", name, "-o", "json")), &list); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(list.Robots, &robots); err != nil {
				t.Fatal(err)
			}
			return len(robots) == 1 && robots[0].ID == name+"-r1" && robots[0].Presence.Status == "online"
		})
		if says := f.run(0, "version", "--context", name); !strings.Contains(says, "leader: this instance") {
			t.Errorf("%s is not led by its own fleetd:\n%s", name, says)
		}
	}
	f.run(0, "stop", "--all", "--context", "museum", "--why", "drill")
	if stops := f.latched("lobby"); len(stops) != 0 {
		t.Errorf("the stop of the museum is latched in the lobby: %v", stops)
	}
	both := f.run(0, "stop", "--all", "--context", "museum,lobby", "--why", "drill")
	museum, lobby := f.latched("museum"), f.latched("lobby")
	if len(museum) != 2 || len(lobby) != 1 || slices.Contains(museum, lobby[0]) {
		t.Fatalf("latched in the museum %v, in the lobby %v:\n%s", museum, lobby, both)
	}
	f.run(0, append(append([]string{"stop", "release", "--context", "museum,lobby", "--why", "clear"}, museum...), lobby...)...)
	f.fleetd.kill()
	if says := f.run(3, "stop", "--all", "--context", "museum,lobby"); !strings.Contains(says, "museum: done at ") ||
		!strings.Contains(says, "lobby: NOT DONE: cannot reach fleetd at") {
		t.Errorf("with the lobby's fleetd gone:\n%s", says)
	}
	if stops := f.latched("museum"); len(stops) != 1 {
		t.Errorf("latched in the museum: %v", stops)
	}
}
