package e2e

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/schema"
)

// mixedReleases is a broker and a fleetd of one release and a robot of the same or
// another one. Their data stays when programs of another release replace them.
type mixedReleases struct {
	*world
	fleet, robot release
}

func newMixedReleases(t *testing.T) *mixedReleases {
	w := &world{
		t: t, folder: t.TempDir(), toolsProxy: newProxy(t, ""), fleetdProxy: newProxy(t, ""),
		robotProxies: map[string]*proxy{"r1": newProxy(t, "")}, robots: map[string]*process{},
	}
	return &mixedReleases{world: w}
}

// expand replaces the names in capitals.
func (m *mixedReleases) expand(r release, line string, more ...string) []string {
	names := append([]string{
		"BROKER", m.fleetdProxy.url(), "DATABASE", "sqlite:" + filepath.Join(m.folder, "fleet.db"), "SPOOL", filepath.Join(m.folder, "stops"),
		"DATA", filepath.Join(m.folder, "r1"), "STORIES", r.stories,
	}, more...)
	args := strings.Fields(line)
	for i := range args {
		args[i] = strings.NewReplacer(names...).Replace(args[i])
	}
	return args
}

func (m *mixedReleases) startBroker() {
	m.t.Helper()
	m.broker = launch(m.t, "broker ("+m.fleet.name+")", m.fleet.program(m.t, "broker"), m.expand(m.fleet, m.fleet.commands.broker), nil)
	m.address = m.broker.ready()["mqtt"]
	for _, each := range m.allProxies() {
		each.connectTo(m.address)
	}
	if m.observer == nil {
		m.observer = startObserverAs(m.t, m.toolsProxy.url(), "admin.observer") // the earlier release refuses an underscore
	}
}

// startFleetd and startRobot report whether the program runs, or else how it refused
// its data.
func (m *mixedReleases) startFleetd() (refusal string) {
	m.t.Helper()
	m.fleetd = launch(m.t, "fleetd ("+m.fleet.name+")", m.fleet.program(m.t, "fleetd"), m.expand(m.fleet, m.fleet.commands.fleetd), nil)
	if refusal = m.fleetd.awaitReadyOrRefusal(); refusal == "" {
		m.http = "http://" + strings.TrimPrefix(m.fleetd.ready()["http"], "http://")
	}
	return refusal
}

func (m *mixedReleases) startRobot() (refusal string) {
	m.t.Helper()
	mark := m.observer.mark()
	p := launch(m.t, "r1 ("+m.robot.name+")", m.robot.program(m.t, "robotd"), m.expand(m.robot, m.robot.commands.robotd), nil)
	m.robots["r1"] = p
	if refusal = p.awaitReadyOrRefusal(); refusal == "" {
		awaitDocumentAfter(m.world, mark, robotTopic("r1", "state"), "r1 to be calibrated", func(s schema.State) bool {
			return s.Mode.Active == schema.ModeMnl && s.Mode.Phase == schema.PhaseRunning && s.Mode.Calibrated
		})
	}
	return refusal
}

// awaitReadyOrRefusal waits until the program is ready and returns "", or until it
// has ended and returns its log. The log has to say that the data is of another
// release.
func (p *process) awaitReadyOrRefusal() string {
	p.t.Helper()
	for deadline := time.Now().Add(waitLimit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		switch {
		case p.log.contains("ready "):
			return ""
		case p.running():
			continue
		}
		p.ignoreExit = true // how it ended is looked at here
		output := p.log.String()
		for _, sign := range []string{"panic", "SIG", "goroutine ", "fatal error", "core dumped"} {
			if strings.Contains(output, sign) {
				p.t.Fatalf("%s crashed:\n%s", p.name, output)
			}
		}
		if p.code <= 0 || !strings.Contains(output, "release") && !strings.Contains(output, "version") {
			p.t.Fatalf("%s ended with status %d and does not say that its data is of another release:\n%s", p.name, p.code, output)
		}
		return output
	}
	p.t.Fatalf("%s was neither ready nor did it end within %v", p.name, waitLimit)
	return ""
}

// startAll starts the three programs, which must accept their data.
func (m *mixedReleases) startAll(fleet, robot release) {
	m.t.Helper()
	m.fleet, m.robot = fleet, robot
	m.startBroker()
	for _, refusal := range []string{m.startFleetd(), m.startRobot()} {
		if refusal != "" {
			m.t.Fatalf("the data was refused:\n%s", refusal)
		}
	}
	m.until("fleetd shows r1 online", func() bool {
		for line := range strings.Lines(m.runCLIOf(m.fleet.commands.robots).out) {
			if strings.HasPrefix(line, "r1 ") && strings.Contains(line, "online") {
				return true
			}
		}
		return false
	})
}

func (m *mixedReleases) stopAll() {
	m.t.Helper()
	for _, p := range []*process{m.robots["r1"], m.fleetd, m.broker} {
		if p.running() {
			p.terminate()
		}
	}
}

// runCLIOf runs a command of the release's fleetd.
func (m *mixedReleases) runCLIOf(line string, more ...string) cliResult {
	m.t.Helper()
	var out, errOut bytes.Buffer
	cmd := exec.Command(m.fleet.program(m.t, "fleetd"), append(m.expand(m.fleet, line, more...), "--server", m.http)...)
	cmd.SysProcAttr, cmd.Env = killWithParent(), processEnv()
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := onStarterThread(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		m.t.Fatalf("fleetd %s: %v", line, err)
	}
	return cliResult{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

func (m *mixedReleases) mustRun(line string, more ...string) {
	m.t.Helper()
	if s := m.runCLIOf(line, more...); s.code != 0 {
		m.t.Fatalf("fleetd (%s) %s: status %d\n%s%s", m.fleet.name, line, s.code, s.out, s.err)
	}
}

// retryUntilDone is mustRun for a command that may be refused for a moment.
func (m *mixedReleases) retryUntilDone(line string) {
	m.t.Helper()
	var s cliResult
	for deadline := time.Now().Add(waitLimit); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if s = m.runCLIOf(line); s.code == 0 {
			return
		}
	}
	m.t.Fatalf("fleetd (%s) %s: after %v status %d\n%s%s", m.fleet.name, line, waitLimit, s.code, s.out, s.err)
}

func (m *mixedReleases) assignStory() {
	m.t.Helper()
	m.mustRun(m.fleet.commands.acts)
	m.mustRun(m.fleet.commands.story)
	m.retryUntilDone(m.fleet.commands.assign) // refused until fleetd has adopted r1
	m.awaitStory()
}

func (m *mixedReleases) awaitStory() {
	m.t.Helper()
	m.awaitReportedStory("r1", "active with round", func(r schema.ReportedStory) bool {
		return r.Phase == schema.DeployActive && r.Active != nil && r.Active.ID == "round"
	})
}

// enableAndPerform enables the robot and has it perform its story.
func (m *mixedReleases) enableAndPerform() {
	m.t.Helper()
	m.retryUntilDone(m.fleet.commands.enable) // refused until a heartbeat came after the stop
	m.awaitState("r1", "ENABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyEnabled })
	m.mustRun(m.fleet.commands.perform)
	m.awaitPerforming("r1")
}

// stopRobot stops the robot and returns the id of the latched stop.
func (m *mixedReleases) stopRobot() string {
	m.t.Helper()
	m.mustRun(m.fleet.commands.stop)
	s := m.awaitState("r1", "stopped", func(s schema.State) bool {
		return s.Safety.State == schema.SafetyDisabled && len(s.Safety.Latches) == 1
	})
	if result := m.runCLIOf(m.fleet.commands.enable); result.code == 0 {
		m.t.Fatalf("r1 was enabled while a stop is latched:\n%s%s", result.out, result.err)
	}
	return s.Safety.Latches[0].ID
}

func (m *mixedReleases) releaseStop(stop string) {
	m.t.Helper()
	m.mustRun(m.fleet.commands.release, "STOP", stop)
	m.awaitLatches("r1")
}

func (m *mixedReleases) awaitStopInFleetd(stop string) {
	m.t.Helper()
	m.until("fleetd keeps "+stop, func() bool { return strings.Contains(m.runCLIOf(m.fleet.commands.stops).out, stop) })
}

func TestEarlierRobotWorksUnderCurrentFleetd(t *testing.T) {
	t.Parallel()
	testTogether(t, currentRelease(t), earlierRelease(t))
}

func TestCurrentRobotWorksUnderEarlierFleetd(t *testing.T) {
	t.Parallel()
	testTogether(t, earlierRelease(t), currentRelease(t))
}

func testTogether(t *testing.T, fleet, robot release) {
	m := newMixedReleases(t)
	m.startAll(fleet, robot)
	m.assignStory()
	m.enableAndPerform()
	stop := m.stopRobot()
	m.awaitStopInFleetd(stop)
	m.releaseStop(stop)
	m.enableAndPerform()
}

// After an update everything continues with the data of the earlier release. An
// earlier program accepts the data of the current one, or refuses it and changes
// nothing.
func TestDataIsKeptByUpdateAndByReturnToEarlierRelease(t *testing.T) {
	t.Parallel()
	earlier, current := earlierRelease(t), currentRelease(t)
	m := newMixedReleases(t)
	m.startAll(earlier, earlier)
	m.assignStory()
	m.enableAndPerform()
	stop := m.stopRobot()
	m.awaitStopInFleetd(stop)
	m.stopAll()

	m.startAll(current, current)
	m.awaitLatches("r1", stop)
	m.awaitStory()
	m.awaitStopInFleetd(stop)
	m.releaseStop(stop)
	m.enableAndPerform()
	stop = m.stopRobot()
	m.awaitStopInFleetd(stop)
	m.stopAll()

	// The robot alone, then fleetd alone: neither learns from the other what it lost.
	m.fleet, m.robot = earlier, earlier
	m.startBroker()
	if refusal := m.startRobot(); refusal == "" {
		m.awaitLatches("r1", stop)
		m.awaitStory()
		m.robots["r1"].terminate()
	} else {
		t.Logf("the earlier robotd refuses the data of the current one:\n%s", refusal)
	}
	if refusal := m.startFleetd(); refusal == "" {
		m.awaitStopInFleetd(stop)
		m.fleetd.terminate()
	} else {
		t.Logf("the earlier fleetd refuses the database of the current one:\n%s", refusal)
	}
	m.stopAll()

	m.startAll(current, current)
	m.awaitLatches("r1", stop)
	m.awaitStory()
	m.awaitStopInFleetd(stop)
	m.releaseStop(stop)
	m.enableAndPerform()
}
