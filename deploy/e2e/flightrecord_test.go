package e2e

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"troupe/robotd/recorder"
	"troupe/schema"
)

// readRecord returns the messages of a flight record by topic, in their order.
func (w *world) readRecord(file string) map[string][][]byte {
	w.t.Helper()
	if c, err := recorder.Verify(file); err != nil || !c.Closed {
		w.t.Fatalf("%s: %+v, %v", file, c, err)
	}
	all := map[string][][]byte{}
	if err := recorder.Read(file, func(topic string, _ time.Time, m []byte) { all[topic] = append(all[topic], bytes.Clone(m)) }); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// readAsFoxglove reads a flight record with Foxglove's own reader library, which shares no code
// with ours: it finds the same messages, in the order of their times, and each is described by
// a schema in the file.
func (w *world) readAsFoxglove(file string, want map[string][][]byte) {
	w.t.Helper()
	if _, err := os.Stat(filepath.Join("..", "mcapjs", "node_modules", "@mcap", "core")); err != nil {
		w.t.Fatalf("%v: run make setup", err)
	}
	out, err := exec.Command("node", filepath.Join("..", "mcapjs", "read.mjs"), file).Output()
	if err != nil {
		w.t.Fatalf("node read.mjs: %v: %s", err, out)
	}
	var got struct {
		Messages, Backwards int
		Topics              map[string]struct {
			Encoding      string
			Messages      int
			WithoutSchema int `json:"without_schema"`
		}
	}
	if err := json.Unmarshal(out, &got, json.MatchCaseInsensitiveNames(true)); err != nil {
		w.t.Fatal(err)
	}
	all := 0
	for topic, messages := range want {
		all += len(messages)
		if t := got.Topics[topic]; t.Messages != len(messages) || t.Encoding != "json jsonschema" || t.WithoutSchema != 0 {
			w.t.Errorf("Foxglove's library finds %+v of %s, want %d messages", t, topic, len(messages))
		}
	}
	if got.Messages != all || got.Backwards != 0 || len(got.Topics) != len(want) {
		w.t.Errorf("Foxglove's library finds %s, want %d messages of %d topics", out, all, len(want))
	}
}

// A person gets the record of a robot that performed and was stopped: it has the robot's state,
// each set-point before and after the limits, how long steps took, begin and end of actions,
// the stop and its answer.
func TestPersonGetsWhatARobotDid(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.startFleetd()
		w.runRobot("r1", "", "--fleetd", w.http)
		w.awaitAdopted("r1")
		w.publishStory("round", "nod", "smile")
		w.mustRunCLI("story", "assign", "round", "r1", "--wait")
		w.mustRunCLI("safety", "enable", "r1", "--wait")
		w.mustRunCLI("mode", "set", "ato", "r1", "--wait")
		w.awaitState("r1", "after a round", func(s schema.State) bool { return len(s.Queue.Completed) > 3 })
		w.stopRobots("r1", "--why", "a child came close")
		w.awaitState("r1", "stopped", func(s schema.State) bool { return s.Safety.State != schema.SafetyEnabled })
		file := filepath.Join(w.folder, "fall.mcap")
		out := w.mustRunCLI("robot", "record", "r1", "--last", "5m", "--out", file, "--why", "why did it stop")
		if !strings.Contains(out, "fall.mcap: ") || !strings.Contains(out, " messages, ") {
			w.t.Errorf("record prints\n%s", out)
		}
		has := w.readRecord(file)
		w.readAsFoxglove(file, has)
		for topic, part := range map[string]string{
			"/transition": `"to":"ENABLED"`, "/order": `"order":"stop"`, "/command": `stop`, "/answer": `"client":"fleetd"`,
			"/event": `"act_started"`,
		} {
			found := false
			for _, m := range has[topic] {
				found = found || bytes.Contains(m, []byte(part))
			}
			if !found {
				w.t.Errorf("no %s with %s among %d", topic, part, len(has[topic]))
			}
		}
		begun, ended := map[uint64]bool{}, 0
		for _, m := range has["/action"] {
			var a recorder.Action
			if err := json.Unmarshal(m, &a); err != nil {
				w.t.Fatal(err)
			}
			if a.What == "start" && a.Demanded != nil {
				begun[a.Key] = true
			}
			if a.What == "done" && begun[a.Key] {
				ended++
			}
		}
		if ended == 0 {
			w.t.Errorf("no action has a begin and an end: %d actions", len(has["/action"]))
		}
		enabled, last := 0, recorder.Sample{}
		for _, m := range has["/sample"] {
			last = recorder.Sample{}
			if err := json.Unmarshal(m, &last); err != nil {
				w.t.Fatal(err)
			}
			if last.Safety == schema.SafetyEnabled && last.Mode == schema.ModeAto && last.Demanded != nil && last.Sent != nil && last.StepUS > 0 {
				enabled++
			}
		}
		if enabled < 50 || last.Safety == schema.SafetyEnabled {
			w.t.Errorf("%d samples while it performed; the last one is %+v", enabled, last)
		}

		if list := w.mustRunCLI("robot", "records", "r1"); !strings.Contains(list, "done") {
			w.t.Errorf("records prints\n%s", list)
		}
		for _, what := range []string{"flight record", "download a flight record"} {
			w.until("the audit has "+what, func() bool {
				return strings.Contains(w.mustRunCLI("audit", "list", "--what", what), "robot r1")
			})
		}

		w.robots["r1"].kill()
		w.until("a refusal for a robot that is away", func() bool {
			s := w.runCLI("robot", "record", "r1", "--last", "1m", "--out", filepath.Join(w.folder, "none.mcap"))
			return s.code != 0 && strings.Contains(s.err, "cannot be asked for its record")
		})
		if _, err := os.Stat(filepath.Join(w.folder, "none.mcap")); err == nil {
			w.t.Error("it leaves a file")
		}
	})
}

// Over TLS a robot sends its record with its certificate; no robot can use a key that it was
// not given, and nobody without a certificate any key.
func TestEnrolledRobotSendsItsRecord(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	s.enrol("r7")
	s.runEnrolledRobot("r7")
	s.awaitPresenceStatus("r7", "online")
	file := filepath.Join(s.folder, "r7.mcap")
	s.until("a record with samples", func() bool { // the first ones come a moment after the start
		if out := s.mustRunCLI("robot", "record", "r7", "--out", file); !strings.Contains(out, "r7.mcap: ") {
			t.Errorf("record prints\n%s", out)
		}
		return len(s.readRecord(file)["/sample"]) > 0
	})

	own, err := tls.LoadX509KeyPair(filepath.Join(s.dataDir("r7"), "identity", "cert.pem"),
		filepath.Join(s.dataDir("r7"), "identity", "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		certificates []tls.Certificate
		status       int
	}{"with a certificate": {[]tls.Certificate{own}, http.StatusNotFound}, "without one": {nil, http.StatusForbidden}} {
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{Certificates: c.certificates, InsecureSkipVerify: true}}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut,
			"https://"+s.enrolAddress+schema.RecordsPath+"5f3c0e9a7b1d4c2e8f6a9b0c1d2e3f40", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if _ = answer.Body.Close(); answer.StatusCode != c.status {
			t.Errorf("%s: %s", what, answer.Status)
		}
	}
}
