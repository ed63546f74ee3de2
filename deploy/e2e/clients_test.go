package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"troupe/deploy/mosquittotest"
	"troupe/fleetd/latch"
	"troupe/schema"
)

// anyBroker: the robot has to keep its promises on our broker and on any other.
var anyBroker = []variant{ownBroker, mosquitto, nats}

// request sends a command with mosquitto_rr, as a person at a terminal does, and
// returns the first answer.
func (w *world) request(client, rid, verb, payload string) schema.Ack {
	w.t.Helper()
	args := append(publishArgs(client, robotTopic(rid, "cmd/"+client+"/"+verb), payload), "-e", robotTopic(rid, "ack/"+client), "-W", "20")
	r := mosquittotest.RR(w.t, w.toolsProxy.url(), args...)
	ack, problems := schema.Decode[schema.Ack]([]byte(strings.TrimSpace(r.Stdout)))
	if r.Code != 0 || len(problems) > 0 {
		w.t.Fatalf("%s %s %s %q: %+v %v", client, rid, verb, payload, r, problems)
	}
	return ack
}

// mustRequest is request for a command that has to succeed: it waits for the final
// answer.
func (w *world) mustRequest(client, rid, verb, payload string) schema.Ack {
	w.t.Helper()
	mark := w.observer.mark()
	ack := w.request(client, rid, verb, payload)
	if !ack.Status.Final() {
		ack = w.awaitFinalAck(mark, client, rid, *ack.ID)
	}
	if ack.Status != schema.StatusSucceeded {
		w.t.Fatalf("%s %s %s %q: %s", client, rid, verb, payload, jsonText(ack))
	}
	return ack
}

// awaitFinalAck waits for the final answer to a command after the mark.
func (w *world) awaitFinalAck(mark int, client, rid, id string) schema.Ack {
	w.t.Helper()
	return awaitDocumentAfter(w, mark, robotTopic(rid, "ack/"+client), "the final answer to "+id, func(a schema.Ack) bool {
		return a.ID != nil && *a.ID == id && a.Status.Final()
	})
}

// publish publishes with mosquitto_pub and does not wait for an answer.
func (w *world) publish(client, topic, payload string, more ...string) {
	w.t.Helper()
	args := append(publishArgs(client, topic, payload), more...)
	if r := mosquittotest.Pub(w.t, w.toolsProxy.url(), args...); r.Code != 0 {
		w.t.Fatalf("mosquitto_pub %s: %+v", strings.Join(args, " "), r)
	}
}

// publishArgs returns the arguments of mosquitto's clients for a message.
func publishArgs(client, topic, payload string) []string {
	args := []string{"-V", "mqttv311", "-i", client, "-u", client, "-q", "1", "-t", topic}
	if payload == "" {
		return append(args, "-n")
	}
	return append(args, "-m", payload)
}

// jsonText encodes v as on the wire, for a failing test.
func jsonText(v any) string {
	b, err := schema.Encode(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// A cliResult is the output and the exit status of fleetd's command line.
type cliResult struct {
	out, err string
	code     int
}

// runCLI runs a command of fleetd.
func (w *world) runCLI(args ...string) cliResult {
	w.t.Helper()
	var out, errOut bytes.Buffer
	cmd := exec.Command(program(w.t, "fleetd"), append(args, "--server", w.http, "--server-ca", w.ca)...)
	cmd.SysProcAttr, cmd.Env = killWithParent(), append(processEnv(), "TROUPE_TOKEN="+w.token, "XDG_CONFIG_HOME="+w.folder)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := onStarterThread(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("fleetd %s: %v", strings.Join(args, " "), err)
	}
	return cliResult{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// mustRunCLI is runCLI for a command that has to succeed; it returns the output.
func (w *world) mustRunCLI(args ...string) string {
	w.t.Helper()
	s := w.runCLI(args...)
	if s.code != 0 {
		w.t.Fatalf("fleetd %s: status %d\n%s%s", strings.Join(args, " "), s.code, s.out, s.err)
	}
	return s.out
}

// passwordFile is in the folder of a world: the password that fleetd made for admin.
const passwordFile = "password"

// signIn signs in with the password that fleetd wrote into a file at its first start, and makes a token for
// every command of the test.
func (w *world) signIn() {
	w.t.Helper()
	const before = "The password of the user admin is in the file  "
	line := w.fleetd.log.await(w.t, "fleetd", "the file with the password of admin",
		func(line string) bool { return strings.Contains(line, before) })
	_, written, _ := strings.Cut(line, before)
	password, err := os.ReadFile(strings.TrimSpace(written))
	if err != nil {
		w.t.Fatal(err)
	}
	file := filepath.Join(w.folder, passwordFile)
	if err := os.WriteFile(file, bytes.TrimSpace(password), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.mustRunCLI("login", "--user", "admin", "--password-file", file)
	w.token = strings.TrimSpace(w.mustRunCLI("token", "create", "end-to-end test"))
}

// mustRunJSON is mustRunCLI with -o json, decoded into a T.
func mustRunJSON[T any](w *world, args ...string) T {
	w.t.Helper()
	out := w.mustRunCLI(append(args, "-o", "json")...)
	var v T
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		w.t.Fatalf("fleetd %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return v
}

// latchedStops lists the latched stops, once fleetd has read its database: an
// earlier list may lack some, and says so.
func (w *world) latchedStops() (stops []latch.LatchedStop) {
	w.t.Helper()
	w.until("a complete list of stops", func() bool {
		var list struct {
			Complete bool
			Stops    []latch.LatchedStop
		}
		s := w.runCLI("stop", "list", "-o", "json")
		if err := json.Unmarshal([]byte(s.out), &list); err != nil {
			w.t.Fatalf("fleetd stop list: status %d: %v\n%s%s", s.code, err, s.out, s.err)
		}
		stops = list.Stops
		return s.code == 0 && list.Complete
	})
	return stops
}

// until polls until the condition holds.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(waitLimit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	w.t.Fatalf("waited %v for %s", waitLimit, what)
}
