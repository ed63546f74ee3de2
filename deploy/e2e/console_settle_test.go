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
// complete, as they are when a person types the next line.
func (r *sessionRun) settle(mark int, grants int64, command string, lines []string) {
	r.t.Helper()
	words := strings.Fields(command)
	words[0] = filepath.Base(words[0])
	inBackground := words[len(words)-1] == "&"
	if inBackground {
		r.jobs = append(r.jobs, strings.Join(words, " "))
	}
	switch {
	case inBackground && strings.Contains(command, "mosquitto_sub "):
		r.await("the subscriptions of "+command, func() bool { return r.granted.Load() >= grants })
	case inBackground && words[0] == "mosquitto":
		bound := r.ports["1883"]
		r.await("mosquitto to listen", func() bool {
			c, err := net.Dial("tcp", "127.0.0.1:"+bound)
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		})
		r.connectClients("1883", bound, false)
		r.terminal.export("TROUPE_ROBOTD_BROKER", r.tools.url())
	case inBackground && words[0] == "robotd" && !slices.Contains(words, "--id"): // the page itself waits for its presence
	case inBackground && words[0] == "robotd" && r.closed:
		awaitCalibrated(r.t, r.tools.listener.Addr().String())
	case inBackground && words[0] == "robotd":
		rid := words[slices.Index(words, "--id")+1]
		awaitDocumentAfter(r.world, mark, robotTopic(rid, "state"), rid+" to be in mnl and calibrated", func(s schema.State) bool {
			return s.Mode.Active == schema.ModeMnl && s.Mode.Phase == schema.PhaseRunning && s.Mode.Calibrated
		})
		if r.server != "" {
			r.await("fleetd to list "+rid, func() bool { return r.isListed(rid) })
		}
	case words[0] == "kill" && !r.isRobot(words): // only a robot's end is published
	case words[0] == "kill":
		awaitDocumentAfter(r.world, mark, robotTopic("+", "presence"), "a robot that is no longer online",
			func(p schema.Presence) bool { return p.State != schema.PresenceOnline })
	case words[0] == "mosquitto_pub" && strings.Contains(command, "/desired/story "):
		awaitDocumentAfter(r.world, mark, robotTopic("+", "reported/story"), "the robot's report on the desired state",
			func(r schema.ReportedStory) bool {
				return r.Phase == schema.DeployActive || r.Phase == schema.DeployRejected
			})
	case r.world != nil && strings.HasPrefix(command, "fleetd stop release "):
		r.awaitReleased(words[3])
	case r.world != nil && words[0] == "fleetd":
		for _, line := range lines {
			if row := strings.Fields(line); len(row) > 1 && row[1] == string(schema.StatusSucceeded) {
				r.awaitRest(r.awaitAnswer(mark, robotTopic(row[0], "ack/+"), "the answer of "+row[0],
					func(a schema.Ack) bool { return a.Status.Final() }))
				if words[1] == "stop" {
					r.awaitSeen(row[0])
				}
			}
		}
	case r.world != nil:
		for _, line := range lines {
			r.awaitRest(strings.TrimPrefix(line, topicOf(line)+" "))
		}
	}
}

// awaitRest waits until the robot of an answer has reached the resulting state, and
// after a stop until the commands that it ended are answered too.
func (r *sessionRun) awaitRest(line string) {
	r.t.Helper()
	a, problems := schema.Decode[schema.Ack]([]byte(line))
	if len(problems) > 0 || a.StateSeq == 0 {
		return
	}
	if !a.Status.Final() {
		r.begun = append(r.begun, a)
	} else if strings.HasSuffix(a.Verb, "stop") {
		for _, each := range r.begun {
			r.awaitFinal(0, *each.ID)
		}
		r.begun = nil
	}
	awaitDocumentAfter(r.world, 0, robotTopic("+", "state"), "rest after "+line, func(s schema.State) bool {
		return s.Session == a.Session && s.StateSeq >= a.StateSeq && s.Mode.Phase == schema.PhaseRunning &&
			(s.Safety.State == schema.SafetyEnabled || s.Safety.State == schema.SafetyDisabled || s.Safety.State == schema.SafetyEStop)
	})
}

// awaitReleased waits until no robot's newest state has a latch of that id.
func (r *sessionRun) awaitReleased(id string) {
	r.t.Helper()
	eye := r.world.observer
	eye.await(r.t, "every robot to release "+id, func() bool {
		held := map[string]bool{}
		for _, m := range eye.messages {
			if s, problems := schema.Decode[schema.State]([]byte(m.Payload)); access.Matches(robotTopic("+", "state"), m.Topic) &&
				len(problems) == 0 {
				held[m.Topic] = slices.ContainsFunc(s.Safety.Latches, func(l schema.StopLatch) bool { return l.ID == id })
			}
		}
		return !slices.Contains(slices.Collect(maps.Values(held)), true)
	})
}

// awaitSeen waits until fleetd knows the robot's present state: when the second
// heartbeat arrives, fleetd has processed the first.
func (r *sessionRun) awaitSeen(rid string) {
	r.t.Helper()
	for range 2 {
		r.world.observer.awaitMessage(r.t, r.world.observer.mark(), robotTopic(rid, "heartbeat"), "a heartbeat of "+rid,
			func(message) bool { return true })
	}
}

// isRobot reports whether a kill names a job that is a robot.
func (r *sessionRun) isRobot(kill []string) bool {
	for _, word := range kill {
		if n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSuffix(word, ";"), "%")); err == nil && n > 0 && n <= len(r.jobs) {
			return strings.HasPrefix(r.jobs[n-1], "robotd")
		}
	}
	return false
}

// isListed reports whether a robot belongs to fleetd's fleet and is online there.
func (r *sessionRun) isListed(rid string) bool {
	r.t.Helper()
	client := http.Client{Timeout: waitLimit}
	defer client.CloseIdleConnections()
	answer, err := client.Get(r.server + "/api/v1/robots/" + rid)
	if err != nil {
		r.t.Fatalf("ask fleetd for %s: %v", rid, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return err == nil && bytes.Contains(text, []byte(`"adopted":true`)) && bytes.Contains(text, []byte(`"status":"online"`))
}

// awaitFinal waits for the final answer to a command, after mark.
func (r *sessionRun) awaitFinal(mark int, id string) string {
	r.t.Helper()
	return r.awaitAnswer(mark, robotTopic("+", "ack/+"), "the final answer to "+id, func(a schema.Ack) bool {
		return a.ID != nil && *a.ID == id && a.Status.Final()
	})
}

// awaitAnswer waits for an answer after mark.
func (r *sessionRun) awaitAnswer(mark int, filter, what string, holds func(schema.Ack) bool) string {
	r.t.Helper()
	return r.world.observer.awaitMessage(r.t, mark, filter, what, func(m message) bool {
		a, problems := schema.Decode[schema.Ack]([]byte(m.Payload))
		return len(problems) == 0 && holds(a)
	}).Payload
}

func (r *sessionRun) await(what string, holds func() bool) {
	r.t.Helper()
	for late := time.Now().Add(waitLimit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			r.t.Fatalf("waited %v for %s", waitLimit, what)
		}
	}
}
