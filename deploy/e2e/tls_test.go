package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"troupe/schema"
)

// runProgram runs a program to its end, as a person does who sets a fleet up.
func runProgram(t testing.TB, stdin, path string, args ...string) string {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Env = strings.NewReader(stdin), processEnv()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(path), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// A fleet on more than one machine: all connections use TLS. fleetd has a
// certificate, a robot and a person have passwords, each uses another listener,
// and a revocation takes effect at once.
func TestFleetRunsBehindTLS(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) {
		if err := os.WriteFile(in(name+".new"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(in(name+".new"), in(name)); err != nil {
			t.Fatal(err)
		}
	}
	broker, fleetd, robotd := program(t, "broker"), program(t, "fleetd"), program(t, "robotd")
	runProgram(t, "", fleetd, "ca", "init", "--dir", in("ca"))
	runProgram(t, "", fleetd, "ca", "server", "--dir", in("ca"), "--dns", "localhost", "--out", in("broker"))
	op1 := "op1 operator " + strings.TrimSpace(runProgram(t, "please", broker, "hash-password")) + "\n"
	write("users", op1+"r1 robot "+strings.TrimSpace(runProgram(t, "robots-own", broker, "hash-password"))+"\n")
	write("password", "robots-own\n")

	brokerProcess := launch(t, "broker", broker, []string{
		"--mqtt", "", "--http", "", "--mqtts", "127.0.0.1:0", "--wss", "127.0.0.1:0", "--tls-cert", in("broker.pem"), "--tls-key",
		in("broker.key.pem"),
		"--client-ca", in("ca/ca.pem"), "--crl", in("ca/crl.pem"), "--users", in("users"),
	}, nil)
	port := func(kind string) string {
		_, port, err := net.SplitHostPort(brokerProcess.ready()[kind])
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		return port
	}
	sub, err := exec.LookPath("mosquitto_sub")
	if err != nil {
		t.Fatalf("%v: run deploy/setup/debian.sh", err)
	}
	observer := launch(t, "the observer", sub, []string{
		"-h", "localhost", "-p", port("mqtts"), "--cafile", in("ca/root.pem"), "-u", "op1", "-i", "op1.observer", "-P", "please",
		"-q", "1", "-t", string(schema.DefaultNamespace) + "/v1/#", "-F", "%t %p",
	}, nil)
	awaitPresence := func(topic, what string, holds func(schema.Presence) bool) {
		t.Helper()
		observer.log.await(t, "the observer", what, func(line string) bool {
			seen, text, _ := strings.Cut(line, " ")
			var p schema.Presence
			return seen == topic && json.Unmarshal([]byte(text), &p) == nil && holds(p)
		})
	}
	server := launch(t, "fleetd", fleetd, []string{
		"serve", "--dev", "--http", "127.0.0.1:0", "--ca", in("ca"), "--broker", "mqtts://localhost:" + port("mqtts"),
		"--database", "sqlite:" + in("fleet.db"), "--spool", in("fleetd.stops"),
	}, nil)
	server.ready()
	awaitPresence(schema.DefaultNamespace.Topic(schema.TopicFleetPresence), "fleetd to be online", func(p schema.Presence) bool {
		return p.State == schema.PresenceOnline
	})
	launch(t, "r1", robotd, []string{
		"--id", "r1", "--data", in("r1"), "--broker", "wss://localhost:" + port("wss"), "--broker-ca", in("ca/root.pem"), "--password-file",
		in("password"),
	}, nil)
	awaitPresence(robotTopic("r1", "presence"), "r1 to be online", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })

	write("users", op1)
	awaitPresence(robotTopic("r1", "presence"), "r1 to be lost because it was revoked", func(p schema.Presence) bool {
		return p.State == schema.PresenceLost && p.Reason == "revoked"
	})
	observer.terminate()
	server.terminate()
	brokerProcess.terminate()
}
