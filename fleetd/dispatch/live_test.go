package dispatch_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/store"
	"troupe/schema"
	"troupe/schema/verb"
)

// stopAll adds robots, and sends a stop to all of them, to which a live stop with that id was published before; empty = none was.
func (w *world) stopAll(robots int, what, live string) *dispatch.Handle {
	w.Helper()
	ids := make([]string, robots)
	commands := make([]command.Command, robots)
	for i := range ids {
		ids[i] = fmt.Sprintf("f%04d", i)
		commands[i] = w.made(ids[i], what)
		commands[i].Batch = "all"
	}
	w.Tx(func(tx *store.Tx) error {
		_, err := tx.AddRobots(context.Background(), ids, time.Now())
		return err
	})
	w.began = time.Now()
	h := w.SendStop(context.Background(), command.Batch{ID: "all", Verb: what, Selector: "all", Total: robots, CreatedAt: w.began, By: "ann"},
		commands, live)
	synctest.Wait()
	return h
}

// answersLive posts a robot's answer to a live stop.
func (w *world) answersLive(robot, id string) {
	w.ReceiveAnswer(robot, schema.Ack{ID: &id, Status: schema.StatusSucceeded, Session: "s", Verb: verb.LiveStop,
		TS: schema.TimeOf(time.Now())})
	synctest.Wait()
}

// states are those of the commands of a batch, by robot.
func states(h *dispatch.Handle) map[string]command.State {
	all := map[string]command.State{}
	for _, c := range h.Commands() {
		all[c.Robot] = c.State
	}
	return all
}

// sentTo lists when a robot was sent a command.
func (w *world) sentTo(robot string) (at []time.Duration) {
	for _, m := range w.sents("") {
		if m.robot == robot {
			at = append(at, m.after)
		}
	}
	return at
}

func TestLiveStopIsTheFirstSendingInALargeFleet(t *testing.T) {
	for _, c := range []struct {
		name   string
		robots int
		verb   string
		live   string
		atOnce int // commands that are sent at once, beside that to a robot that is not reachable
	}{
		{"stop", 256, "safety/stop", "stop-1", 0},
		{"halt", 256, "safety/halt", "stop-1", 0},
		{"soft stop, which is answered when the shutdown act has ended", 256, "safety/soft-stop", "stop-1", 255},
		{"few robots", 255, "safety/stop", "stop-1", 254},
		{"no live stop was published", 256, "safety/stop", "", 255},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				const away = "f0007"
				w.Locked(func() { w.away[away] = true })
				h := w.stopAll(c.robots, c.verb, c.live)
				if got := w.sentTo(away); !slices.Equal(got, []time.Duration{0}) {
					t.Errorf("the robot that is not reachable was sent a command at %v, want at once", got)
				}
				if got := len(w.sents(c.verb)) - 1; got != c.atOnce {
					t.Errorf("%d other robots were sent one at once, want %d", got, c.atOnce)
				}
				for robot, s := range states(h) {
					if s != command.Sent {
						t.Errorf("the command to %s is %s", robot, s)
					}
				}
			})
		})
	}
}

// The first robots answer while fleetd still makes the commands.
func TestAnswerToTheLiveStopEndsTheCommand(t *testing.T) {
	inWorld(t, func(w *world) {
		const early, silent = "f0000", "f0299"
		w.answersLive(early, "stop-1")
		w.Sleep(500 * time.Millisecond)
		h := w.stopAll(300, "safety/stop", "stop-1")
		for i := 1; i < 299; i++ {
			w.answersLive(fmt.Sprintf("f%04d", i), "stop-1")
		}
		for robot, s := range states(h) {
			if want := map[bool]command.State{true: command.Sent, false: command.Succeeded}[robot == silent]; s != want {
				t.Errorf("the command to %s is %s, want %s", robot, s, want)
			}
		}
		w.Sleep(3 * time.Second)
		if sent := w.sents(""); len(sent) != 1 || sent[0].robot != silent {
			t.Errorf("commands were sent: %+v", sent)
		}
		last := h.Commands()[299]
		w.answers(silent, last.ID, schema.StatusSucceeded)
		select {
		case <-h.Settled():
		default:
			t.Error("all robots have answered, and the batch is not settled")
		}
		w.Sleep(time.Second)
		w.is(h.Commands()[1].ID, command.Succeeded)
		w.is(last.ID, command.Succeeded)
	})
}

func TestRobotThatDoesNotAnswerALiveStopGetsTheCommand(t *testing.T) {
	const every = 100 * time.Millisecond
	for _, c := range []struct {
		name     string
		until    time.Duration // when the last answer comes
		robot    string        // that answers; empty = one of the batch after the other
		live     string        // the live stop that it answers
		from, by time.Duration
	}{
		{"nobody answers", 0, "", "stop-1", 2 * time.Second, 2100 * time.Millisecond},
		{"answers stop soon", time.Second, "", "stop-1", 2 * time.Second, 2100 * time.Millisecond},
		{"answers come for longer", 3 * time.Second, "", "stop-1", 3500 * time.Millisecond, 3800 * time.Millisecond},
		{"answers come on and on", 25 * time.Second, "", "stop-1", 20 * time.Second, 20300 * time.Millisecond},
		{"robots answer another live stop", 20 * time.Second, "", "stop-2", 2 * time.Second, 2100 * time.Millisecond},
		{"a robot that is not among them answers", 20 * time.Second, "r1", "stop-1", 2 * time.Second, 2100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				const silent = "f0299"
				other := w.issue("r1", "mode/set")
				w.stopAll(300, "safety/stop", "stop-1")
				for i := range int(c.until / every) {
					w.Sleep(every)
					w.answersLive(cmp.Or(c.robot, fmt.Sprintf("f%04d", i)), c.live)
				}
				w.Sleep(max(time.Second, 20*time.Second-c.until))
				if at := w.sentTo(silent); len(at) == 0 || at[0] < c.from || at[0] > c.by {
					t.Errorf("a command was sent at %v, want first between %v and %v", at, c.from, c.by)
				}
				w.is(other, command.Sent)
			})
		})
	}
}
