package e2e

import (
	"bytes"
	"io"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"troupe/broker/access"
	"troupe/schema"
)

// settle waits until background programs work and the effects of commands are
// complete, for which a reader's pace is enough.
func (now *playing) settle(mark int, grants int64, command string, lines []string) {
	now.t.Helper()
	words := strings.Fields(command)
	words[0] = filepath.Base(words[0])
	behind := words[len(words)-1] == "&"
	if behind {
		now.jobs = append(now.jobs, strings.Join(words, " "))
	}
	switch {
	case behind && strings.Contains(command, "mosquitto_sub "):
		now.until("the subscriptions of "+command, func() bool { return now.granted.Load() >= grants })
	case behind && words[0] == "mosquitto":
		bound := now.ports["1883"]
		now.until("mosquitto to listen", func() bool {
			c, err := net.Dial("tcp", "127.0.0.1:"+bound)
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		})
		now.post("1883", bound, false)
		now.terminal.export("TROUPE_ROBOTD_BROKER", now.tools.url())
	case behind && words[0] == "robotd" && !slices.Contains(words, "--id"): // the page itself waits for its presence
	case behind && words[0] == "robotd" && now.closed:
		awaitCalibrated(now.t, now.tools.listener.Addr().String())
	case behind && words[0] == "robotd":
		rid := words[slices.Index(words, "--id")+1]
		awaitDocumentAfter(now.world, mark, robotTopic(rid, "state"), rid+" to be in mnl and calibrated", func(s schema.State) bool {
			return s.Mode.Active == schema.ModeMnl && s.Mode.Phase == schema.PhaseRunning && s.Mode.Calibrated
		})
		if now.server != "" {
			now.until("fleetd to list "+rid, func() bool { return now.lists(rid) })
		}
	case words[0] == "kill" && !now.isRobot(words): // only a robot's end is published
	case words[0] == "kill":
		awaitDocumentAfter(now.world, mark, robotTopic("+", "presence"), "somebody to be missed", func(p schema.Presence) bool { return p.State != schema.PresenceOnline })
	case words[0] == "mosquitto_pub" && strings.Contains(command, "/desired/story "):
		awaitDocumentAfter(now.world, mark, robotTopic("+", "reported/story"), "the desired state to be answered for", func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployActive || r.Phase == schema.DeployRejected
		})
	case now.world != nil && strings.HasPrefix(command, "fleetd stop release "):
		now.isReleased(words[3])
	case now.world != nil && words[0] == "fleetd":
		for _, line := range lines {
			if row := strings.Fields(line); len(row) > 1 && row[1] == string(schema.StatusSucceeded) {
				now.rests(now.answer(mark, robotTopic(row[0], "ack/+"), "the answer of "+row[0], func(a schema.Ack) bool { return a.Status.Final() }))
				if words[1] == "stop" {
					now.isSeen(row[0])
				}
			}
		}
	case now.world != nil:
		for _, line := range lines {
			now.rests(strings.TrimPrefix(line, topicOf(line)+" "))
		}
	}
}

// rests waits until the robot of an answer has reached the resulting state, and
// after a stop until the commands that it ended are answered too.
func (now *playing) rests(line string) {
	now.t.Helper()
	a, problems := schema.Decode[schema.Ack]([]byte(line))
	if len(problems) > 0 || a.StateSeq == 0 {
		return
	}
	if !a.Status.Final() {
		now.begun = append(now.begun, a)
	} else if strings.HasSuffix(a.Verb, "stop") {
		for _, each := range now.begun {
			now.ended(0, *each.ID)
		}
		now.begun = nil
	}
	awaitDocumentAfter(now.world, 0, robotTopic("+", "state"), "rest after "+line, func(s schema.State) bool {
		return s.Session == a.Session && s.StateSeq >= a.StateSeq && s.Mode.Phase == schema.PhaseRunning &&
			(s.Safety.State == schema.SafetyEnabled || s.Safety.State == schema.SafetyDisabled || s.Safety.State == schema.SafetyEStop)
	})
}

// isReleased waits until no robot's newest state has a latch of that id.
func (now *playing) isReleased(id string) {
	now.t.Helper()
	eye := now.world.observer
	eye.await(now.t, "every robot to release "+id, func() bool {
		held := map[string]bool{}
		for _, m := range eye.messages {
			if s, problems := schema.Decode[schema.State]([]byte(m.Payload)); access.Matches(robotTopic("+", "state"), m.Topic) && len(problems) == 0 {
				held[m.Topic] = slices.ContainsFunc(s.Safety.Latches, func(l schema.StopLatch) bool { return l.ID == id })
			}
		}
		return !slices.Contains(slices.Collect(maps.Values(held)), true)
	})
}

// isSeen waits until fleetd knows the robot's present state: when the second
// heartbeat arrives, fleetd has processed the first.
func (now *playing) isSeen(rid string) {
	now.t.Helper()
	for range 2 {
		now.world.observer.awaitMessage(now.t, now.world.observer.mark(), robotTopic(rid, "heartbeat"), "a heartbeat of "+rid, func(message) bool { return true })
	}
}

// isRobot reports whether a kill names a job that is a robot.
func (now *playing) isRobot(kill []string) bool {
	for _, word := range kill {
		if n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSuffix(word, ";"), "%")); err == nil && n > 0 && n <= len(now.jobs) {
			return strings.HasPrefix(now.jobs[n-1], "robotd")
		}
	}
	return false
}

// lists reports whether a robot belongs to fleetd's fleet and is online there.
func (now *playing) lists(rid string) bool {
	now.t.Helper()
	client := http.Client{Timeout: waitLimit}
	defer client.CloseIdleConnections()
	answer, err := client.Get(now.server + "/api/v1/robots/" + rid)
	if err != nil {
		now.t.Fatalf("ask fleetd for %s: %v", rid, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return err == nil && bytes.Contains(text, []byte(`"adopted":true`)) && bytes.Contains(text, []byte(`"view":"online"`))
}

// ended waits for the final answer to a command, after a mark.
func (now *playing) ended(mark int, id string) string {
	now.t.Helper()
	return now.answer(mark, robotTopic("+", "ack/+"), "the final answer to "+id, func(a schema.Ack) bool {
		return a.ID != nil && *a.ID == id && a.Status.Final()
	})
}

// answer waits for an answer after a mark.
func (now *playing) answer(mark int, filter, what string, holds func(schema.Ack) bool) string {
	now.t.Helper()
	return now.world.observer.awaitMessage(now.t, mark, filter, what, func(m message) bool {
		a, problems := schema.Decode[schema.Ack]([]byte(m.Payload))
		return len(problems) == 0 && holds(a)
	}).Payload
}

func (now *playing) until(what string, holds func() bool) {
	now.t.Helper()
	for late := time.Now().Add(waitLimit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			now.t.Fatalf("waited %v for %s", waitLimit, what)
		}
	}
}
