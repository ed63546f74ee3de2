package server

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/broker/access"
	"troupe/schema"
	"troupe/schema/bubble"
)

// flurry is a burst of commands of one sender to a number of robots in turn.
type flurry struct {
	pause                   time.Duration // before
	fleetd                  bool
	first, robots, messages int
}

// For any sequence of bursts: the number of remembered robots is bounded, so is the number
// of commands to each robot, and a sender is forgotten once it was quiet.
func TestSenderRatesAreBoundedAndForgotten(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) flurry {
		return flurry{
			time.Duration(rapid.IntRange(0, 400).Draw(t, "pause_ms")) * time.Millisecond, rapid.Bool().Draw(t, "fleetd"),
			rapid.IntRange(0, 1000).Draw(t, "first"), rapid.IntRange(1, 600).Draw(t, "robots"), rapid.IntRange(1, 1200).Draw(t, "messages"),
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		said, wrong := rapid.SliceOfN(draw, 1, 40).Draw(rt, "said"), ""
		bubble.Test(t, func(*testing.T) { wrong = checkRates(said) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

func checkRates(said []flurry) string {
	const each, fleet = 20, 400
	p := &senderRates{rates: rates{command: each, frame: each, fleet: fleet}}
	op := &client{Identity: access.Identity{Name: "op1", Role: schema.RoleOperator}}
	fleetd := &client{Identity: access.Identity{Name: "fleetd", Role: schema.RoleFleetd}}
	began, allowed := time.Now(), map[string]int{}
	for _, f := range said {
		time.Sleep(f.pause)
		c := op
		if f.fleetd {
			c = fleetd
		}
		for i := range f.messages {
			robot := fmt.Sprint("r", f.first+i%f.robots)
			if p.command(c, robot) {
				allowed[c.Name+" to "+robot]++
			}
			p.frame(c, robot)
		}
		for name, most := range map[string]int{"op1": maxRobotsPerSender, "fleetd": fleet} {
			if one := p.bySender[name]; one != nil && (len(one.commands.byKey) > most || len(one.frames.byKey) > most) {
				return fmt.Sprintf("%s: %d and %d robots are remembered", name, len(one.commands.byKey), len(one.frames.byKey))
			}
		}
	}
	most := 2 * (2*each + int(each*time.Since(began).Seconds()) + 1) // its own limit, and the shared one while it was beyond the maximum
	for who, n := range allowed {
		if n > most {
			return fmt.Sprintf("%s: %d commands, at most %d", who, n, most)
		}
	}
	time.Sleep(5 * time.Second)
	for i := range 2 * pruneThreshold {
		p.sender(&client{Identity: access.Identity{Name: fmt.Sprint("fleetd-", i), Role: schema.RoleFleetd}})
	}
	if p.bySender["op1"] != nil || p.bySender["fleetd"] != nil || len(p.bySender) > pruneThreshold {
		return fmt.Sprintf("%d senders are remembered", len(p.bySender))
	}
	return ""
}
