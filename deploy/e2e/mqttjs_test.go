package e2e

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
)

// findNodeAndScript returns the path of node and of the script that uses MQTT.js.
func findNodeAndScript(t *testing.T) (node, script string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v: run make setup", err)
	}
	folder := filepath.Join("..", "mqttjs")
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "mqtt")); err != nil {
		t.Fatalf("%v: run make setup", err)
	}
	return node, filepath.Join(folder, "ask.mjs")
}

// A client that shares no code with ours, in the language of web pages, uses
// WebSocket with and without TLS. It sends commands, receives answers and
// refusals, and stops the robot.
func TestJavaScriptClientGetsAnAnswer(t *testing.T) {
	t.Parallel()
	node, script := findNodeAndScript(t)
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	broker, fleetd, robotd := program(t, "broker"), program(t, "fleetd"), program(t, "robotd")
	runProgram(t, "", fleetd, "ca", "init", "--dir", in("ca"))
	runProgram(t, "", fleetd, "ca", "server", "--dir", in("ca"), "--ip", "127.0.0.1", "--out", in("broker"))
	root := in("ca/root.pem")
	hash := strings.TrimSpace(runProgram(t, "please", broker, "hash-password"))
	var users strings.Builder
	for _, who := range []string{"op1 operator", "obs observer", "r1 robot"} {
		users.WriteString(who + " " + hash + "\n")
	}
	write("users", users.String())
	write("password", "please\n")

	brokerProcess := launch(t, "broker", broker, []string{
		"--mqtt", "127.0.0.1:0", "--http", "", "--ws", "127.0.0.1:0", "--wss", "127.0.0.1:0",
		"--tls-cert", in("broker.pem"), "--tls-key", in("broker.key.pem"), "--users", in("users"),
	}, nil)
	addresses := brokerProcess.ready()
	robot := launch(t, "r1", robotd, []string{
		"--id", "r1", "--data", in("r1"), "--broker", "wss://" + addresses["wss"], "--broker-ca", root, "--password-file", in("password"),
	}, nil)
	awaitCalibrated(t, addresses["mqtt"])

	run := func(environs []string, args ...string) cliResult {
		t.Helper()
		var out, errOut strings.Builder
		cmd := exec.Command(node, append([]string{script}, args...)...)
		cmd.Env = append(processEnv(), environs...)
		cmd.Stdout, cmd.Stderr = &out, &errOut
		err := cmd.Run()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatalf("node ask.mjs %s: %v", strings.Join(args, " "), err)
		}
		return cliResult{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
	}
	for _, endpoint := range []struct {
		url      string
		environs []string
	}{
		{"wss://" + addresses["wss"] + "/mqtt", []string{"CA=" + root, "PASSWORD=please"}},
		{"ws://" + addresses["ws"] + "/mqtt", []string{"PASSWORD=please"}},
	} {
		answer := func(verb, request string) schema.Ack {
			t.Helper()
			s := run(endpoint.environs, endpoint.url, "op1", "r1", verb, request)
			var a schema.Ack
			if err := json.Unmarshal([]byte(s.out), &a); err != nil {
				t.Fatalf("%s: %s %s: status %d, %v\n%s%s", endpoint.url, verb, request, s.code, err, s.out, s.err)
			}
			if done := a.Status == schema.StatusSucceeded; done != (s.code == 0) {
				t.Errorf("%s: %s is %s, and the program ends with %d", endpoint.url, verb, a.Status, s.code)
			}
			return a
		}
		if a := answer("mode/set", `{"args":{"mode":"mnl"}}`); a.Status != schema.StatusSucceeded {
			t.Errorf("%s: mnl: %s", endpoint.url, jsonText(a))
		}
		if a := answer("mode/set", `{"args":{"mode":"dance"}}`); a.Status != schema.StatusRejected || a.Reason != schema.ReasonUnknownMode {
			t.Errorf("%s: dance: %s", endpoint.url, jsonText(a))
		}
		if a := answer("safety/stop", ""); a.Status != schema.StatusSucceeded {
			t.Errorf("%s: stop: %s", endpoint.url, jsonText(a))
		}
		for what, c := range map[string]struct {
			s    cliResult
			says string
		}{
			"a verb of administrators": {run(endpoint.environs, endpoint.url, "op1", "r1", "sys/adopt"),
				"the broker: " + string(schema.ReasonForbidden)},
			"an observer": {run(endpoint.environs, endpoint.url, "obs", "r1", "mode/set", `{"args":{"mode":"mnl"}}`),
				"may only observe"},
			"a wrong password": {run(append(endpoint.environs, "PASSWORD=pleas"), endpoint.url, "op1", "r1", "safety/stop"),
				"does not take op1"},
		} {
			if c.s.code != 1 || c.s.out != "" || !strings.Contains(c.s.err, c.says) || strings.Contains(c.s.err, "    at ") {
				t.Errorf("%s: %s: status %d\n%s%s", endpoint.url, what, c.s.code, c.s.out, c.s.err)
			}
		}
	}
	s := run([]string{"PASSWORD=please"}, "wss://"+addresses["wss"], "op1", "r1", "safety/stop")
	if s.code != 1 || !strings.Contains(s.err, "certificate") {
		t.Errorf("without the CA certificate: status %d\n%s%s", s.code, s.out, s.err)
	}
	robot.terminate()
	brokerProcess.terminate()
}

// The broker sends a notice to every client of a user name, so also one about another client's command.
func TestJavaScriptClientIgnoresNoticesOfOtherCommands(t *testing.T) {
	t.Parallel()
	node, script := findNodeAndScript(t)
	b := brokertest.Start(t, func(c *server.Config) { c.WS = "127.0.0.1:0" })
	robot, other := b.Client(t, "r1"), b.Client(t, "op1")
	robot.Subscribe(robotTopic("r1", "cmd/#"))
	other.Subscribe("troupe/v1/clients/op1/notice")
	var out, errOut strings.Builder
	cmd := exec.Command(node, script, "ws://"+b.AddrOf("ws")+"/mqtt", "op1", "r1", "safety/stop")
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var command struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(robot.Expect(robotTopic("r1", "cmd/op1/safety/stop")).Payload, &command); err != nil {
		t.Error(err)
	}
	other.Publish(robotTopic("r2", "cmd/op1/safety/stop"), "{}") // r2 is not connected
	other.Expect("troupe/v1/clients/op1/notice")
	robot.Publish(robotTopic("r1", "ack/op1"), `{"id":"`+command.ID+`","status":"SUCCEEDED"}`)
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "SUCCEEDED") || errOut.String() != "" {
		t.Errorf("%v\n%s%s", err, out.String(), errOut.String())
	}
}

// awaitCalibrated waits until r1 is calibrated and in mnl, so that it accepts
// every mode.
func awaitCalibrated(t *testing.T, address string) {
	t.Helper()
	sub, err := exec.LookPath("mosquitto_sub")
	if err != nil {
		t.Fatalf("%v: run make setup", err)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	observer := launch(t, "the observer", sub,
		[]string{"-h", host, "-p", port, "-u", "obs", "-i", "obs.observer", "-P", "please", "-t", robotTopic("r1", "state")}, nil)
	observer.log.await(t, "the observer", "r1 to be in mnl and calibrated", func(line string) bool {
		var s schema.State
		return json.Unmarshal([]byte(line), &s) == nil && s.Mode.Active == schema.ModeMnl && s.Mode.Phase == schema.PhaseRunning &&
			s.Mode.Calibrated
	})
	observer.terminate()
}
