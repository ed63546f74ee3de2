package api

import (
	"troupe/fleetd/command"
	"troupe/fleetd/presence"
)

// explainQueued sets the reason why commands were not sent yet. The reason depends on the
// present state, so it is computed per request and never stored.
func (s *server) explainQueued(commands []Command) {
	var fleetd *Status
	for i := range commands {
		c := &commands[i]
		if c.State != command.Queued || c.ID == "" {
			continue
		}
		if fleetd == nil {
			now := s.Instance.Status()
			fleetd = &now
		}
		c.Because = s.waitReason(c, fleetd)
	}
}

func (s *server) waitReason(c *Command, fleetd *Status) string {
	if c.Instance != "" && c.Instance != fleetd.Name {
		return "not sent: fleetd instance " + c.Instance + " received the request and has not sent it yet"
	}
	if !fleetd.Broker.OK {
		why := "not sent: fleetd is not connected to the broker; it is sent if the connection is back in time"
		if fleetd.Broker.Why != "" {
			why += " (" + fleetd.Broker.Why + ")"
		}
		return why
	}
	r, seen := s.Robots.Robot(c.Robot)
	if view := presence.View(r.Presence.View); !seen || !view.Reachable() {
		if !seen {
			view = presence.Unknown
		}
		return "not sent: the robot is " + string(view) + "; it is sent if the robot is back in time"
	}
	return "saved; fleetd sends it now, or when earlier commands to the robot are done"
}
