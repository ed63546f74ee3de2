package robot

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/robotd/effect"
	"troupe/robotd/page"
	"troupe/schema"
	"troupe/schema/finding"
)

// shownRobot is a robot that a page shows.
type shownRobot struct {
	page.Robot
	view page.View
	err  error
}

func (r *shownRobot) View(context.Context) (page.View, error) { return r.view, r.err }

// standing is a robot at rest that nothing holds, with a session.
func standing() *shownRobot {
	return &shownRobot{view: page.View{Snapshot: effect.Snapshot{State: &schema.State{
		Session: "s1", Mode: schema.StateMode{Active: schema.ModeMnl}, Safety: schema.StateSafety{State: schema.SafetyDisabled},
	}}}}
}

// serve makes robotd run, with its page.
func (p *patient) serve(r *shownRobot) {
	own, err := page.New(page.Config{ID: "r1", Data: p.c.Data, Robot: r, Now: time.Now})
	if err != nil {
		p.t.Fatal(err)
	}
	server := httptest.NewServer(own)
	p.t.Cleanup(server.Close)
	p.c.Page.Listen = strings.TrimPrefix(server.URL, "http://")
}

// The page of this robot is no other program that has its address, and the connection of a
// robot that runs is not taken.
func TestDoctorFindsNoFaultInARunningRobot(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.serve(standing())
	p.c.Broker = "mqtts://127.0.0.1:1" // nobody tries it
	for _, f := range Examine(t.Context(), p.c, nil, p.on) {
		if f.Severity != finding.OK || f.Part == "page" && !strings.Contains(f.Detail, "robotd serves it") {
			t.Errorf("found %+v", f)
		}
	}
}

// Also without a page that says that robotd runs.
func TestDoctorLeavesTheRobotsConnectionForBlobs(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.anonymous()
	blobs := brokertest.Connect(t, p.plain.Dial, brokertest.ConnectPacket{Name: "r1", ClientID: "r1.blob"})
	for _, f := range Examine(t.Context(), p.c, nil, p.on) {
		if f.Part == "broker" && f.Severity != finding.OK {
			t.Errorf("found %+v", f)
		}
	}
	blobs.Ping()
}

func TestDoctorSaysWhyTheRobotStands(t *testing.T) {
	for name, row := range map[string]struct {
		change                     func(*shownRobot)
		part, detail, help, broker string
	}{
		"E_STOP whose cause is over": {func(r *shownRobot) {
			r.view.State.Safety = schema.StateSafety{State: schema.SafetyEStop, CauseDetail: "unit head: parrot: the adapter is gone"}
			r.view.State.Auto.PauseHolders = []schema.Pause{{Token: "safety", NeedsContinue: true}}
		}, "safety", "E_STOP: it waits for a reset; the cause is gone: unit head: parrot: the adapter is gone",
			"fleetd safety reset r1, then fleetd safety enable r1, then fleetd auto continue r1; or on the robot's page", ""},
		"E_STOP after a stop input": {func(r *shownRobot) {
			r.view.State.Safety = schema.StateSafety{State: schema.SafetyEStop, Cause: schema.ReasonEStopInput, LocalReset: true}
		}, "safety", "E_STOP: it waits for a reset; the cause is gone: estop_input",
			"press the button reset on the robot's body; after that fleetd safety enable r1; or on the robot's page, " +
				"http://ADDRESS: Let it move", ""},
		"E_STOP with a fault": {func(r *shownRobot) {
			r.view.State.Safety.State = schema.SafetyEStop
			r.view.State.Units = []schema.UnitState{{ID: "head", State: "error", Detail: "it is jammed"}}
		}, "safety", "E_STOP: unit head: it is jammed", "repair that first; then fleetd safety reset r1", ""},
		"a fault with which it may move": {func(r *shownRobot) {
			r.view.State.Safety.State = schema.SafetyEnabled
			r.view.State.Units = []schema.UnitState{{ID: "face", State: "error", Detail: "its cable is loose"}}
		}, "safety", "ENABLED: unit face: its cable is loose", "repair that", ""},
		"a latched stop": {func(r *shownRobot) {
			r.view.State.Safety.Latches = []schema.StopLatch{{ID: "k1"}}
		}, "safety", "a stop is latched",
			"fleetd stop release k1 --why REASON, then fleetd safety enable r1; or on the robot's page, " +
				"http://ADDRESS: Release the stop, Let it move",
			""},
		"a stop that fleetd has recorded": {func(r *shownRobot) {
			r.view.State.Safety.Latches, r.view.FleetStops = []schema.StopLatch{{ID: "k1"}}, []string{"k1"}
		}, "safety", "a stop is latched",
			"fleetd stop release k1 --why REASON; after that fleetd safety enable r1; or on the robot's page, " +
				"http://ADDRESS: Let it move", ""},
		"a stop that fleetd has recorded, and another one": {func(r *shownRobot) {
			r.view.State.Safety.Latches, r.view.FleetStops = []schema.StopLatch{{ID: "k1"}, {ID: "k2"}}, []string{"k1"}
		}, "safety", "a stop is latched", "fleetd stop release k1 --why REASON; after that fleetd stop release k2 --why REASON, then fleetd " +
			"safety enable r1; or on the robot's page, http://ADDRESS: Release the stop, Let it move", ""},
		"latched stops after a stop input": {func(r *shownRobot) {
			r.view.State.Safety = schema.StateSafety{State: schema.SafetyEStop, LocalReset: true, Latches: []schema.StopLatch{{ID: "k1"},
				{ID: "k2"}}}
			r.view.FleetStops = []string{"k1"}
		}, "safety", "E_STOP: it waits for a reset", "press the button reset on the robot's body, then fleetd stop release k1 --why REASON; " +
			"after that fleetd safety enable r1; or on the robot's page, http://ADDRESS: Let it move", ""},
		"a loop that hangs": {func(r *shownRobot) { r.err = page.ErrSilent }, "robotd", "does not say what it does", "restart it", ""},
		"a body that is not there": {func(r *shownRobot) {
			r.view = page.View{Waiting: &page.Waiting{For: "adapter led is not there"}}
		}, "robotd", "it waits for its body: adapter led is not there", "when its body is there", ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			p, r := newPatient(t), standing()
			row.change(r)
			p.serve(r)
			for _, f := range Examine(t.Context(), p.c, nil, p.on) {
				if f.Part == row.part && f.Severity == finding.Warn && strings.Contains(f.Detail, row.detail) &&
					strings.Contains(f.Help, strings.ReplaceAll(row.help, "ADDRESS", p.c.Page.Listen)) && !strings.Contains(f.Help, "then ;") {
					return
				}
			}
			t.Errorf("not found in %+v", Examine(t.Context(), p.c, nil, p.on))
		})
	}
}

func TestDoctorSaysThatRobotdDoesNotRun(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.c.Page.Listen = freeAddress(t)
	found := map[string]finding.Finding{}
	for _, f := range Examine(t.Context(), p.c, nil, p.on) {
		found[f.Part] = f
	}
	if f := found["robotd"]; f.Severity != finding.Warn || !strings.Contains(f.Detail, "it does not run") || f.Help == "" {
		t.Errorf("found %+v", f)
	}
	if f := found["page"]; !strings.Contains(f.Detail, "is free for robotd") {
		t.Errorf("found %+v", f)
	}
}

// freeAddress returns an address on which nobody listens, and which stays free: a socket is bound to it without listening, so
// the kernel gives its port to nobody who asks for any port, and lets those listen who ask for this one.
func freeAddress(t *testing.T) string {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(socket) })
	err = errors.Join(syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", bound.(*syscall.SockaddrInet4).Port)
}
