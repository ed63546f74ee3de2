package stage

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/drive"
	"troupe/fleetd/store"
	"troupe/fleetd/teleop"
	"troupe/schema"
)

// Whatever breaks between a person who drives and the robot, the robot's speed is zero 400 ms
// after the last frame with a velocity: also when it drives and turns as fast as it can.
func TestDrivenRobotStandsWithin400msWhateverBreaks(t *testing.T) {
	for _, c := range []struct {
		what   string
		breaks func(p *driveTest, d *device)
		cause  drive.Cause // that the device is told; empty = it cannot be
		free   bool        // the robot is not controlled afterwards
	}{
		{"the frames cease, as from a hidden tab", func(_ *driveTest, d *device) { d.holds.Store(false) }, drive.NoFrames, true},
		{"the stick is released", func(_ *driveTest, d *device) { d.vx.Store(0); d.wz.Store(0) }, "", false},
		{"the socket closes", func(_ *driveTest, d *device) { d.holds.Store(false); _ = d.conn.Close() }, "", true},
		{"the socket is dead and never closes", func(p *driveTest, d *device) { d.holds.Store(false); p.web.freeze() }, "", true},
		{"the lease is given back", func(p *driveTest, _ *device) { p.mustOrder("ann", "control/release", nil) }, drive.LeaseOver, true},
		{"another operator takes over", func(p *driveTest, _ *device) { p.mustOrder("bob", "control/takeover", nil) }, drive.LeaseOver, false},
		{"the robot is stopped", func(p *driveTest, _ *device) { p.order("bob", "safety/stop", nil) }, "", false},
		{"the connection is slow", func(_ *driveTest, d *device) { d.slowMS.Store(900) }, drive.Latency, false},
		{"fleetd shuts down", func(p *driveTest, _ *device) { p.closeFleetd() }, drive.FleetdEnding, false},
		{"fleetd loses the broker", func(p *driveTest, _ *device) { p.fleetds.Cut() }, drive.NoBroker, false},
		{"fleetd is dead and its connections never close", func(p *driveTest, d *device) { p.fleetds.Swallow(); d.holds.Store(false) }, "",
			false},
		{"the robot loses the broker", func(p *driveTest, _ *device) { p.cable.Cut() }, "", false},
		{"the robot's connection is dead and never closes", func(p *driveTest, _ *device) {
			p.cable.DropExisting(brokertest.Everything)
			p.cable.Swallow()
		}, drive.RobotSilent, false},
		{"the broker is gone", func(p *driveTest, _ *device) { p.fleetds.Cut(); p.cable.Cut() }, drive.NoBroker, false},
	} {
		for _, v := range []struct{ vx, wz float64 }{{vx: 0.2}, {vx: 0.6}, {0.6, 1.5}} {
			t.Run(fmt.Sprintf("%s, at %v m/s and %v rad/s", c.what, v.vx, v.wz), func(t *testing.T) {
				inDriveTest(t, func(p *driveTest) {
					d := p.takeControl()
					d.turns(v.vx, v.wz)
					broke := time.Now()
					c.breaks(p, d)
					if last := d.lastFrame(); last.Before(broke) {
						broke = last
					}
					p.mustStandWithin(drive.StandsWithin, broke) // no later frame reaches the robot, whatever the device still sends
					if c.cause != "" {
						d.mustHaveStopped(c.cause)
					}
					if holder := p.robotHolder(); c.free && holder != "" {
						t.Errorf("%s still has control", holder)
					}
				})
			})
		}
	}
}

// After each cause that stops the robot the stick has to be released before it counts.
func TestStickMustBeReleasedAfterARobotWasStopped(t *testing.T) {
	inDriveTest(t, func(p *driveTest) {
		d := p.takeControl()
		d.drives(0.2)
		d.slowMS.Store(900)
		p.pass(time.Second)
		d.slowMS.Store(0)
		p.pass(time.Second)
		if v := p.body.speed(); v.vx != 0 {
			t.Errorf("the robot drives at %v m/s, and the stick was not released", v.vx)
		}
		d.vx.Store(0)
		d.drives(0.2)
	})
}

// fleetd says why a robot does not follow, with the way out, also while the stick is at rest.
func TestPersonIsToldWhyTheRobotDoesNotFollow(t *testing.T) {
	for _, c := range []struct{ verb, mode, want string }{
		{"safety/stop", "", "safety/enable"},
		{"mode/set", "str", "the robot is in str; mode/set mnl starts mnl"},
	} {
		t.Run(c.verb, func(t *testing.T) {
			inDriveTest(t, func(p *driveTest) {
				d := p.takeControl()
				d.drives(0.2)
				if all := d.received(teleop.TypeRefused); len(all) > 0 {
					t.Errorf("the robot follows, and the device was told %+v", all)
				}
				var args map[string]any
				if c.mode != "" {
					args = map[string]any{"mode": c.mode}
				}
				p.order("ann", c.verb, args)
				d.vx.Store(0)
				p.pass(3 * time.Second)
				all := d.received(teleop.TypeRefused)
				if len(all) < 2 || len(all) > 4 || !strings.HasSuffix(all[len(all)-1].Detail, c.want) {
					t.Errorf("in 3 s the device was told %+v, want %q", all, c.want)
				}
			})
		})
	}
}

// A second operator gets neither control nor a session, and learns who has control; a takeover
// is a command like every other and names both.
func TestSecondOperatorIsRefusedAndTakeoverIsLogged(t *testing.T) {
	inDriveTest(t, func(p *driveTest) {
		ann := p.takeControl()
		ann.drives(0.2)
		if a := p.order("bob", "control/acquire", nil); a.Status != schema.StatusRejected || a.Reason != schema.ReasonNotInControl ||
			a.Lease == nil || a.Lease.By != "ann" {
			t.Errorf("bob was answered %+v", a)
		}
		second := p.connect(ann.lease)
		<-second.over
		if all := second.received(teleop.TypeEnded); len(all) != 1 || all[0].Cause != teleop.Refused ||
			!strings.Contains(all[0].Detail, "another window") {
			t.Errorf("a second connection was told %+v", all)
		}
		if v := p.body.speed(); v.vx != 0.2 {
			t.Errorf("ann drives at %v m/s", v.vx)
		}
		p.mustOrder("bob", "control/takeover", nil)
		<-ann.over
		ended := ann.received(teleop.TypeEnded)
		if len(ended) != 1 || !strings.Contains(ended[0].Detail, "bob") {
			t.Errorf("ann was told %+v", ended)
		}
		p.mustStandWithin(drive.StandsWithin, ann.lastFrame())
		p.pass(2 * time.Second) // commands are written behind
		db, err := p.fleetd.Store()
		if err != nil {
			t.Fatal(err)
		}
		batches, err := db.Batches(context.Background(), store.BatchQuery{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(batches, func(b command.Batch) bool { return b.Verb == "control/takeover" && b.By == "bob" && b.Why == "test" }) {
			t.Errorf("the takeover is not among %+v", batches)
		}
		if !p.hasEvent("control_lost") {
			t.Error("the robot has not reported that control was lost")
		}
	})
}

// A device that sends frames keeps its session, also before its stick is released.
func TestSecondDeviceIsRefusedWhileTheStickMustBeReleased(t *testing.T) {
	inDriveTest(t, func(p *driveTest) {
		first := p.takeControl()
		first.drives(0.2)
		first.slowMS.Store(900)
		p.pass(time.Second)
		first.slowMS.Store(0)
		p.pass(time.Second)
		second := p.connect(first.lease)
		p.pass(time.Second)
		if all := second.received(teleop.TypeEnded); len(all) != 1 || all[0].Cause != teleop.Refused {
			t.Errorf("the second device was told %+v", all)
		}
		if all := first.received(teleop.TypeEnded); len(all) > 0 {
			t.Errorf("the first device was told %+v", all)
		}
	})
}

// A device whose connection broke goes on with the same lease, and starts with the stick
// released.
func TestDeviceConnectsAgainWithTheSameLease(t *testing.T) {
	inDriveTest(t, func(p *driveTest) {
		first := p.takeControl()
		first.drives(0.2)
		_ = first.conn.Close()
		<-first.over
		p.pass(time.Second)
		second := p.connect(first.lease)
		second.drives(0.2)
		p.pass(5 * time.Second)
		if holder := p.robotHolder(); holder != "ann" {
			t.Errorf("%q has control", holder)
		}
		if v := p.body.speed(); v.vx != 0.2 {
			t.Errorf("the robot has %v m/s", v.vx)
		}
	})
}

// Control belongs to the account, whatever name a request gives, and ends with the sign-in.
func TestPersonWhoIsSignedOutDrivesNoMore(t *testing.T) {
	inDriveTest(t, func(p *driveTest) {
		p.signIn()
		d := p.takeControl()
		if holder := p.robotHolder(); holder != "admin" {
			t.Errorf("%q has control", holder)
		}
		d.drives(0.2)
		p.signOut()
		p.pass(2 * time.Second) // fleetd asks once a second who drives
		d.mustHaveStopped(drive.RightLost)
		if v := p.body.speed(); v.vx != 0 {
			t.Errorf("the robot has %v m/s", v.vx)
		}
		if holder := p.robotHolder(); holder != "" {
			t.Errorf("%s still has control", holder)
		}
	})
}

// A person drives robots of their sites only, also one that leaves them while it is driven.
func TestPersonWhoLosesTheSiteOfARobotDrivesItNoMore(t *testing.T) {
	for what, lose := range map[string]func(p *driveTest){
		"the robot gets another site": func(p *driveTest) {
			p.mustChange(http.MethodPut, "/robots/r1/labels", `{"labels":{"site":"hall"}}`)
		},
		"the person gets another site": func(p *driveTest) {
			p.mustChange(http.MethodPatch, "/users/anna", `{"sites":["hall"]}`)
		},
	} {
		t.Run(what, func(t *testing.T) {
			inDriveTest(t, func(p *driveTest) {
				p.mustChange(http.MethodPut, "/robots/r1/labels", `{"labels":{"site":"lobby"}}`)
				p.mustChange(http.MethodPost, "/users", `{"name":"anna","roles":["operator"],"sites":["lobby"],"password":"a long password"}`)
				p.signInAs("anna", "a long password")
				d := p.takeControl()
				d.drives(0.2)
				p.cookie = "" // of the device, which has it
				lose(p)
				p.pass(2 * time.Second) // fleetd asks once a second who drives
				d.mustHaveStopped(drive.RightLost)
				if holder := p.robotHolder(); holder != "" {
					t.Errorf("%s still has control", holder)
				}
			})
		})
	}
}

func TestPageOfAnotherSiteCannotDrive(t *testing.T) {
	inDriveTest(t, func(p *driveTest) {
		p.mustOrder("ann", "control/acquire", nil)
		dialer := websocket.Dialer{NetDialContext: p.web.dial}
		for _, h := range []http.Header{{"Origin": {"http://evil.example"}}, {"Sec-Fetch-Site": {"cross-site"}}} {
			_, answer, err := dialer.Dial("ws://localhost"+api.Prefix+"/robots/r1/teleop", h)
			if err == nil || answer == nil || answer.StatusCode != http.StatusForbidden {
				t.Errorf("%v: %v %+v", h, err, answer)
			}
		}
	})
}
