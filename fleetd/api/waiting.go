package api

import (
	"troupe/fleetd/command"
	"troupe/fleetd/presence"
)

// explain says of commands that were not sent yet what they wait for. It is a fact
// about now, so it is found when somebody asks and stored nowhere.
func (s *server) explain(commands []Command) {
	var desk *Status
	for i := range commands {
		c := &commands[i]
		if c.State != command.Queued || c.ID == "" {
			continue
		}
		if desk == nil {
			now := s.desk.Status()
			desk = &now
		}
		c.Because = s.waiting(c, desk)
	}
}

func (s *server) waiting(c *Command, desk *Status) string {
	if c.Desk != "" && c.Desk != desk.Name {
		return "not sent: the desk " + c.Desk + " was asked for it and has not sent it yet"
	}
	if !desk.Broker.OK {
		why := "not sent: the desk has no connection to the broker; it is sent if that comes back in time"
		if desk.Broker.Why != "" {
			why += " (" + desk.Broker.Why + ")"
		}
		return why
	}
	r, seen := s.desk.Robot(c.Robot)
	if view := presence.View(r.Presence.View); !seen || !view.Reachable() {
		if !seen {
			view = presence.Unknown
		}
		return "not sent: the robot is " + string(view) + "; it is sent if it comes in time"
	}
	return "not sent: it waits for its turn behind what the robot was asked before"
}
