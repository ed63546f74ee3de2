package api

import (
	"troupe/fleetd/command"
	"troupe/fleetd/presence"
)

// explain says of commands that were not sent yet what they wait for. It is a fact
// about now, so it is found when somebody asks and stored nowhere.
func (s *server) explain(commands []Command) {
	var fleetd *Status
	for i := range commands {
		c := &commands[i]
		if c.State != command.Queued || c.ID == "" {
			continue
		}
		if fleetd == nil {
			now := s.fleet.Status()
			fleetd = &now
		}
		c.Because = s.waiting(c, fleetd)
	}
}

func (s *server) waiting(c *Command, fleetd *Status) string {
	if c.Instance != "" && c.Instance != fleetd.Name {
		return "not sent: fleetd " + c.Instance + " was asked for it and has not sent it yet"
	}
	if !fleetd.Broker.OK {
		why := "not sent: fleetd has no connection to the broker; it is sent if that comes back in time"
		if fleetd.Broker.Why != "" {
			why += " (" + fleetd.Broker.Why + ")"
		}
		return why
	}
	r, seen := s.fleet.Robot(c.Robot)
	if view := presence.View(r.Presence.View); !seen || !view.Reachable() {
		if !seen {
			view = presence.Unknown
		}
		return "not sent: the robot is " + string(view) + "; it is sent if it comes in time"
	}
	return "not sent: it waits for its turn behind what the robot was asked before"
}
