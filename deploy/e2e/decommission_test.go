package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/vault"
	"troupe/fleetd/view"
	"troupe/schema"
)

// A robot that is online is decommissioned only on confirmation. Then the broker
// retains none of its documents, and commands for all robots no longer wait for
// it.
func TestOnlineRobotIsDecommissionedOnConfirmation(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	for _, rid := range []string{"r7", "r8"} {
		s.enrol(rid)
		s.runEnrolledRobot(rid)
		s.awaitPresenceStatus(rid, "online")
	}
	if refused := s.runCLI("robot", "decommission", "r7"); refused.code != 5 || !strings.Contains(refused.err, "--yes") {
		t.Errorf("without --yes: status %d: %s", refused.code, refused.err)
	}
	if out := s.mustRunCLI("robot", "decommission", "r7", "--yes", "--why", "worn out"); !strings.Contains(out,
		"r7 is removed from the fleet") {
		t.Errorf("decommission prints %s", out)
	}
	if out := s.mustRunCLI("robot", "list"); strings.Contains(out, "r7") || !strings.Contains(out, "r8") {
		t.Errorf("the list is\n%s", out)
	}
	if retained := s.retainedTopics("r7"); len(retained) > 0 {
		t.Errorf("the broker retains %v", retained)
	}
	if retained := s.retainedTopics("r8"); len(retained) == 0 {
		t.Error("the other robot's documents were removed too")
	}
	if out := s.mustRunCLI("stop", "--all"); strings.Contains(out, "r7") {
		t.Errorf("a stop for all still waits for it\n%s", out)
	}
}

// dialerAs connects with a certificate of that name, as fleetd instances have
// them.
func (s *secured) dialerAs(name string) brokertest.Dialer {
	s.t.Helper()
	v, err := vault.Open(s.keys, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	pair, err := v.IssueInstance(name, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(v.Root())
	own := tls.Certificate{PrivateKey: pair.Key}
	for _, c := range v.Chain(pair.Certificate) {
		own.Certificate = append(own.Certificate, c.Raw)
	}
	return brokertest.OverTLS(s.address, &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{own}})
}

// retainedTopics returns the retained topics of a robot, read as another fleetd
// instance.
func (s *secured) retainedTopics(rid string) (topics []string) {
	s.t.Helper()
	c := brokertest.Connect(s.t, s.dialerAs("fleetd2"), brokertest.ConnectPacket{Name: "fleetd2", ClientID: "fleetd2"})
	defer c.Close()
	c.Subscribe(robotTopic(rid, "#"))
	c.Ping()
	for _, m := range c.Inbox(robotTopic(rid, "#")) {
		if m.Retain {
			topics = append(topics, m.Topic)
		}
	}
	return topics
}

// After a restart in the middle of a decommission, fleetd continues it; the
// presence is removed first.
func TestDecommissionSurvivesRestartOfFleetdAndBroker(t *testing.T) {
	runIn(t, []variant{ownBroker, postgres}, func(w *world) {
		w.startFleet("", "r1")
		w.robots["r1"].terminate()
		w.awaitPresence("r1", schema.PresenceOffline)
		w.awaitRobot("r1", "offline", func(r view.Robot) bool { return r.Presence.Status == "offline" })
		w.killBroker()
		w.awaitRobot("r1", "unknown", func(r view.Robot) bool { return r.Presence.Status == "unknown" })
		if s := w.runCLI("robot", "decommission", "r1", "--why", "sold"); s.code != 5 || !strings.Contains(s.err, "may be online") {
			w.t.Errorf("without a broker and without --yes: status %d\n%s%s", s.code, s.out, s.err)
		}
		if s := w.runCLI("robot", "decommission", "r1", "--yes", "--why", "sold", "--wait", "1s"); s.code != 4 ||
			!strings.Contains(s.out, "does not know whether it is connected") {
			w.t.Errorf("without a broker: status %d\n%s%s", s.code, s.out, s.err)
		}
		w.fleetd.kill()
		mark := w.observer.mark() // the observer reconnects by itself
		w.startBroker()
		w.startFleetd()
		w.until("r1 to be archived", func() bool {
			return mustRunJSON[api.Decommission](w, "robot", "decommission", "r1", "--status").Step == "archived"
		})
		var order []string
		w.observer.await(w.t, "all documents of r1 to be removed", func() bool {
			order = nil
			for _, m := range w.observer.messages[mark:] {
				if strings.HasPrefix(m.Topic, robotTopic("r1", "")) && m.Payload == "" {
					order = append(order, strings.TrimPrefix(m.Topic, robotTopic("r1", "")))
				}
			}
			return strings.Contains(strings.Join(order, " "), "reported/story")
		})
		var own []string
		for _, topic := range order {
			if !strings.HasPrefix(topic, "desired/") {
				own = append(own, topic)
			} else if len(own) > 0 {
				w.t.Errorf("the desired document %s is removed after %v", topic, own)
			}
		}
		if own[0] != "presence" {
			w.t.Errorf("removed in this order: %v", order)
		}
		if out := w.mustRunCLI("robot", "list"); !strings.Contains(out, "no robots") {
			w.t.Errorf("the list is\n%s", out)
		}
		w.runRobot("r1", "") // the broker refuses its name until a person adopts it again
		w.broker.log.await(w.t, "broker", "the robot to be refused", func(line string) bool {
			return strings.Contains(line, "refused") && strings.Contains(line, "r1")
		})
		w.runCLI("adopt", "r1")
		w.awaitAdopted("r1")
	})
}

// Retained documents of a robot that this fleetd never knew are listed, and
// removed only on request.
func TestStrayRetainedDocumentsAreListedAndRemovedOnRequest(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.startFleetd("--dev=false") // which adopts no robot by itself
		w.signIn()
		w.runRobotsIn(schema.ModeMnl, "", "r9")
		w.awaitRobot("r9", "there", func(r view.Robot) bool { return r.Presence.Status == "online" && !r.Adopted })
		if s := w.runCLI("robot", "orphans", "r9", "--delete"); s.code != 5 {
			w.t.Errorf("documents of an online robot: status %d: %s", s.code, s.err)
		}
		w.robots["r9"].terminate()
		w.awaitPresence("r9", schema.PresenceOffline)
		w.awaitRobot("r9", "gone", func(r view.Robot) bool { return r.Presence.Status == "offline" })
		if out := w.mustRunCLI("robot", "orphans"); !strings.Contains(out, "r9") || !strings.Contains(out, "presence") {
			w.t.Errorf("the list is\n%s", out)
		}
		w.mustRunCLI("robot", "orphans", "r9", "--delete")
		w.until("nothing to be left", func() bool {
			return strings.Contains(w.mustRunCLI("robot", "orphans"), "no documents of unknown robots")
		})
		if out := w.mustRunCLI("robot", "list"); !strings.Contains(out, "no robots") {
			w.t.Errorf("the list is\n%s", out)
		}
	})
}
