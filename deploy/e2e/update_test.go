package e2e

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"troupe/schema"
)

// updated is how many robots perform while a fleet is updated.
const updated = 20

// TestUpdateFromEarlierReleaseWhileRobotsPerform updates a fleet in the order of docs/update.md, and goes back as the
// page says. No robot begins anew before its own program is replaced, and then it does once; none loses its story, and
// the stop that was latched stays latched until a person releases it.
func TestUpdateFromEarlierReleaseWhileRobotsPerform(t *testing.T) {
	t.Parallel()
	earlier, current := earlierRelease(t), currentRelease(t)
	m := newMixedReleases(t)
	var ids []string
	for n := range updated {
		id := fmt.Sprintf("r%d", n+1)
		ids = append(ids, id)
		m.robotProxies[id] = newProxy(t, "")
	}
	stopped, performing := ids[updated-1], ids[:updated-1]

	m.fleet, m.robot = earlier, earlier
	m.startBroker()
	m.mustStartFleetd()
	for _, id := range ids {
		m.startRobotNamed(id)
	}
	m.mustRun(earlier.commands.acts)
	m.mustRun(earlier.commands.story)
	m.retryUntilDone(of(earlier.commands.assign, ids...)) // refused until fleetd has adopted them
	m.awaitStoryOn(ids...)
	m.perform(ids...)
	m.mustRun(of(earlier.commands.stop, stopped))
	latch := m.awaitState(stopped, "stopped", func(s schema.State) bool { return len(s.Safety.Latches) == 1 }).Safety.Latches[0].ID
	m.awaitStopInFleetd(latch)
	booted := map[string]string{}
	for _, id := range ids {
		booted[id] = m.boot(id)
	}

	// The broker and then fleetd are replaced while the robots perform on.
	mark := m.observer.mark()
	m.broker.terminate()
	m.fleet = current
	m.startBroker()
	m.fleetd.terminate()
	backup := filepath.Join(m.folder, "backup.db")
	copyFile(t, filepath.Join(m.folder, "fleet.db"), backup)
	m.mustStartFleetd()
	m.awaitOnlineInFleetd(ids...)
	replaced := m.observer.mark()
	for _, id := range performing {
		awaitDocumentAfter(m.world, replaced, robotTopic(id, "state"), id+" to perform on", isPerforming)
	}
	for _, id := range ids {
		if boot := m.boot(id); boot != booted[id] {
			t.Errorf("%s began anew when broker and fleetd were replaced", id)
		}
	}
	for _, id := range performing {
		for _, said := range m.observer.since(mark, robotTopic(id, "state")) {
			if s, problems := schema.Decode[schema.State]([]byte(said.Payload)); len(problems) == 0 && s.Mode.Active != schema.ModeAto {
				t.Fatalf("%s left its performance when broker and fleetd were replaced: %s", id, said.Payload)
			}
		}
	}
	m.awaitLatches(stopped, latch)
	m.awaitStopInFleetd(latch)

	// Then each robot, one after the other.
	m.robot = current
	mark = m.observer.mark()
	for _, id := range ids {
		m.robots[id].terminate()
		m.startRobotNamed(id)
	}
	m.awaitOnlineInFleetd(ids...)
	m.awaitStoryOn(ids...)
	m.perform(performing...)
	m.awaitLatches(stopped, latch)
	for _, id := range ids {
		if boots := m.bootsSince(mark, id); boots != 1 {
			t.Errorf("%s began anew %d times when its program was replaced", id, boots)
		}
	}

	// The way back: an earlier fleetd refuses the database and changes nothing; with the backup it runs.
	m.fleetd.terminate()
	migrated := filepath.Join(m.folder, "migrated.db")
	copyFile(t, filepath.Join(m.folder, "fleet.db"), migrated)
	m.fleet = earlier
	refusal := m.startFleetd()
	for _, part := range []string{"the database is newer than this fleetd", "restore the backup from before the upgrade"} {
		if !strings.Contains(refusal, part) {
			t.Fatalf("the earlier fleetd does not say %q of a migrated database:\n%s", part, refusal)
		}
	}
	if !sameFile(t, migrated, filepath.Join(m.folder, "fleet.db")) {
		t.Error("the earlier fleetd changed a database that it refused")
	}
	for _, name := range []string{"fleet.db-wal", "fleet.db-shm"} {
		if err := os.Remove(filepath.Join(m.folder, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	copyFile(t, backup, filepath.Join(m.folder, "fleet.db"))
	m.mustStartFleetd()
	m.robot = earlier
	for _, id := range ids {
		m.robots[id].terminate()
		m.startRobotNamed(id)
	}
	m.awaitOnlineInFleetd(ids...)
	m.awaitStoryOn(ids...)
	m.perform(performing...)
	m.awaitLatches(stopped, latch)
	m.awaitStopInFleetd(latch)
	m.mustRun(m.fleet.commands.release, "STOP", latch)
	m.awaitLatches(stopped)
	m.perform(stopped)
}

// of is a command of r1 for other robots.
func of(line string, ids ...string) string {
	var words []string
	for word := range strings.FieldsSeq(line) {
		if word == "r1" {
			words = append(words, ids...)
		} else {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

func (m *mixedReleases) mustStartFleetd() {
	m.t.Helper()
	if refusal := m.startFleetd(); refusal != "" {
		m.t.Fatalf("fleetd refused its database:\n%s", refusal)
	}
}

func (m *mixedReleases) startRobotNamed(id string) {
	m.t.Helper()
	args := m.expand(m.robot, of(m.robot.commands.robotd, id))
	for i, arg := range args { // each has data of its own
		if arg == filepath.Join(m.folder, "r1") {
			args[i] = filepath.Join(m.folder, id)
		}
	}
	args = append(args, "--link-loss-ato", "continue") // how long the broker and fleetd are away depends on this machine
	p := launch(m.t, id+" ("+m.robot.name+")", m.robot.program(m.t, "robotd"), args, nil)
	m.robots[id] = p
	if refusal := p.awaitReadyOrRefusal(); refusal != "" {
		m.t.Fatalf("%s refused its data:\n%s", id, refusal)
	}
}

func (m *mixedReleases) perform(ids ...string) {
	m.t.Helper()
	m.retryUntilDone(of(m.fleet.commands.enable, ids...)) // refused until a heartbeat came
	m.retryUntilDone(of(m.fleet.commands.perform, ids...))
	for _, id := range ids {
		m.awaitPerforming(id)
	}
}

func (m *mixedReleases) awaitStoryOn(ids ...string) {
	m.t.Helper()
	for _, id := range ids {
		m.awaitReportedStory(id, "active with round", func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployActive && r.Active != nil && r.Active.ID == "round"
		})
	}
}

func (m *mixedReleases) awaitOnlineInFleetd(ids ...string) {
	m.t.Helper()
	m.until("fleetd shows "+strings.Join(ids, ", ")+" online", func() bool {
		online := 0
		for line := range strings.Lines(m.runCLIOf(m.fleet.commands.robots).out) {
			if id, _, _ := strings.Cut(line, " "); slices.Contains(ids, id) && strings.Contains(line, "online") {
				online++
			}
		}
		return online == len(ids)
	})
}

// boot is the start of robotd that the robot's newest presence names.
func (m *mixedReleases) boot(id string) string {
	m.t.Helper()
	return awaitDocument(m.world, robotTopic(id, "presence"), id+" online",
		func(p schema.Presence) bool { return p.State == schema.PresenceOnline }).Boot
}

// bootsSince counts the starts of robotd that a robot has reported since then.
func (m *mixedReleases) bootsSince(mark int, id string) int {
	m.t.Helper()
	boots := map[string]bool{}
	for _, said := range m.observer.since(mark, robotTopic(id, "presence")) {
		if p, problems := schema.Decode[schema.Presence]([]byte(said.Payload)); len(problems) == 0 && p.State == schema.PresenceOnline {
			boots[p.Boot] = true
		}
	}
	return len(boots)
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err == nil {
		_, err = io.Copy(out, in)
	}
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func sameFile(t testing.TB, a, b string) bool {
	t.Helper()
	one, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(one) == string(other)
}
