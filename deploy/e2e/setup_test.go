package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"troupe/deploy/shard"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/envfile"
)

// freeAddress is a loopback address at which nothing listens, for settings that are written before a program runs.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// withSettings gives a program the environment of a file, as a service has it.
func withSettings(t *testing.T, file string) func(*exec.Cmd) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all, err := envfile.Read(string(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return func(cmd *exec.Cmd) {
		for name, value := range all {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
}

// A person writes a file of answers, sets the server up, starts both programs with the settings that were
// written, types the printed line on a robot, and the robot performs a story.
func TestServerThatWasSetUpFromAFileHasARobotThatPerforms(t *testing.T) {
	t.Parallel()
	mine, err := shard.Current()
	if err != nil {
		t.Fatal(err)
	}
	variants := []variant{ownBroker, postgres}
	for _, n := range mine.Variants(t.Name(), len(variants)) {
		t.Run(variants[n].String(), func(t *testing.T) { setUpAndPerform(t, variants[n]) })
	}
}

func setUpAndPerform(t *testing.T, k variant) {
	s := &secured{world: &world{t: t, variant: k, folder: t.TempDir(), robots: map[string]*process{}}}
	etc := filepath.Join(s.folder, "etc")
	s.keys, s.store, s.address = filepath.Join(etc, "ca"), "sqlite", freeAddress(t)
	if k.postgres {
		s.store = storetest.Postgres(t)
	}
	http := freeAddress(t)
	answers := filepath.Join(s.folder, "answers.yaml")
	text := fmt.Sprintf(`name: museum
hosts: [127.0.0.1]
sites: [lobby]
folders: {config: %s, data: %s}
database: {address: %q}
http: {listen: "%s"}
robots: {listen: "%s", first: r7}
broker: {listen: "%s", http: "%s"}
`, etc, filepath.Join(s.folder, "lib"), s.store, http, freeAddress(t), s.address, freeAddress(t))
	if err := os.WriteFile(answers, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := s.mustRunCLI("setup", "--file", answers, "--dry-run"); !strings.Contains(out, "nothing was made") {
		t.Errorf("the plan is\n%s", out)
	}
	if _, err := os.Stat(etc); err == nil {
		t.Error("--dry-run made something")
	}
	out := s.mustRunCLI("setup", "--file", answers)
	secrets, err := os.ReadFile(filepath.Join(etc, "first-secrets"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := regexp.MustCompile(`(?s)the user admin has the password  (\S+)\n.*\n  robotd (enrol --token (\S+) --server \S+) --data `).FindStringSubmatch(string(secrets))
	if found == nil || strings.Contains(out, found[1]) || strings.Contains(out, found[3]) {
		t.Fatalf("the secrets are\n%s\nand what is printed is\n%s", secrets, out)
	}

	s.broker = launch(t, "broker", program(t, "broker"), nil, nil, withSettings(t, filepath.Join(etc, "broker.env")))
	s.broker.ready()
	s.fleetd = launch(t, "fleetd", program(t, "fleetd"), []string{"serve"}, nil, withSettings(t, filepath.Join(etc, "fleetd.env")))
	s.http, s.ca = s.fleetd.ready()["http"], filepath.Join(s.keys, "root.pem")

	password := filepath.Join(s.folder, passwordFile)
	if err := os.WriteFile(password, []byte(found[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	s.mustRunCLI("login", "--user", "admin", "--password-file", password)
	s.token = strings.TrimSpace(s.mustRunCLI("token", "create", "end-to-end test"))
	if out, err := s.runRobotd(append(strings.Fields(found[2]), "--data", s.dataDir("r7"))...); err != nil {
		t.Fatalf("enrol: %v: %s", err, out)
	}
	s.runEnrolledRobot("r7")
	s.awaitPresenceStatus("r7", "online")
	s.publishStory("round", "nod", "smile")
	s.mustRunCLI("story", "assign", "round", "-l", "site=lobby", "--wait")
	s.mustRunCLI("safety", "enable", "r7", "--wait")
	s.mustRunCLI("mode", "set", "ato", "r7", "--wait")
	s.until("r7 to perform", func() bool {
		result := s.runCLI("robot", "get", "r7", "-o", "json")
		var d view.Detail
		return result.code == 0 && json.Unmarshal([]byte(result.out), &d) == nil && d.Auto == schema.AutoPerforming
	})

	examined := s.runCLI("doctor", "--env", filepath.Join(etc, "fleetd.env"))
	for _, want := range []string{"it is Troupe's broker", "(leads)", "no backup was ever made", "fleetd is at " + http, "schema version"} {
		if !strings.Contains(examined.out, want) {
			t.Errorf("doctor does not say %q:\n%s", want, examined.out)
		}
	}
	if examined.code != 0 || strings.Contains(examined.out, "fail ") {
		t.Errorf("doctor ends with %d:\n%s%s", examined.code, examined.out, examined.err)
	}
	if out := s.mustRunCLI("setup", "--file", answers); !strings.Contains(out, "no change: everything is set up already") {
		t.Errorf("a second time:\n%s", out)
	}
	if err := os.WriteFile(answers, []byte(strings.Replace(text, "name: museum", "name: The Museum", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if wrong := s.runCLI("setup", "--file", answers); wrong.code == 0 || !strings.Contains(wrong.err, "answers.yaml:1:1: /name: ") {
		t.Errorf("a wrong answer: %+v", wrong)
	}
}
