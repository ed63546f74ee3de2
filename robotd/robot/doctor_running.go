package robot

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strings"

	"troupe/robotd/page"
	"troupe/robotd/safety"
	"troupe/schema"
)

// running looks whether robotd runs, by its page, and what keeps the robot at rest.
func (x *examination) running(ctx context.Context) {
	at := cmp.Or(x.c.Page.Listen, noPage)
	if _, port, err := net.SplitHostPort(at); err != nil || port == "0" {
		return // there is no page, or nobody knows where
	}
	if !page.IsServedAt(ctx, at, x.c.ID) {
		if x.pageAddressUsable(ctx, at) {
			x.warn("robotd", "it does not run: nothing is at http://"+at, "start it; its log says why it ended")
		}
		return // otherwise another program has the address, which the page's finding says
	}
	x.robotdRuns = true
	s, err := page.StatusAt(ctx, at, x.c.dir())
	switch {
	case err != nil:
		x.warn("robotd", "it runs, and does not say what it does: "+err.Error(),
			"run this as the user of robotd and with its --data; if its control loop hangs, restart it")
	case s.Waiting != "":
		x.warn("robotd", s.Waiting, "robotd begins when its body is there")
	default:
		x.connected = s.Connected
		x.ok("robotd", "it runs, in mode "+string(s.Mode))
		x.safety(s)
	}
}

// safety reports what keeps the robot at rest, with the way out.
func (x *examination) safety(s page.Status) {
	// first is what the page cannot do; what comes after it is done with fleetd or on the page.
	var first, steps, buttons []string
	if s.Safety.LocalReset { // that releases the stops which fleetd has not recorded, too
		first = append(first, "press the button reset on the robot's body")
	}
	for _, l := range s.Safety.Latches {
		release := "fleetd stop release " + l.ID + " --why REASON"
		if slices.Contains(s.FleetStops, l.ID) {
			first = append(first, release)
		} else if !s.Safety.LocalReset {
			steps = append(steps, release)
		}
	}
	if len(steps) > 0 {
		buttons = append(buttons, "Release the stop")
	}
	if safety.Halts(s.Safety.State) && !s.Safety.LocalReset {
		steps, buttons = append(steps, "fleetd safety reset "+x.c.ID), append(buttons, "Reset")
	}
	if s.Safety.State != schema.SafetyEnabled {
		steps, buttons = append(steps, "fleetd safety enable "+x.c.ID), append(buttons, "Let it move")
	}
	if s.Continue {
		steps, buttons = append(steps, "fleetd auto continue "+x.c.ID), append(buttons, "Continue the story")
	}
	help := strings.Join(steps, ", then ") + "; or on the robot's page, http://" + x.c.Page.Listen + ": " + strings.Join(buttons, ", ")
	if len(first) > 0 {
		help = strings.Join(first, ", then ") + "; after that " + help
	}
	repair := "repair that"
	if len(steps) > 0 {
		repair += " first; then " + help
	}
	switch detail := string(s.Safety.State); {
	case s.Safety.EStopInput:
		x.warn("safety", detail+": a stop input at the robot is pressed", "release it, and press the button reset on the robot's body")
	case len(s.Faults) > 0:
		x.warn("safety", detail+": "+strings.Join(s.Faults, "; "), repair)
	case safety.NeedsReset(s.Safety.State):
		x.warn("safety", detail+": it waits for a reset; the cause is gone: "+cmp.Or(s.Safety.CauseDetail, string(s.Safety.Cause)), help)
	case len(s.Safety.Latches) > 0:
		x.warn("safety", detail+": a stop is latched", help)
	case s.Continue && s.Safety.State == schema.SafetyEnabled:
		x.warn("safety", detail+", and the story is paused until somebody continues it", help)
	default:
		x.ok("safety", detail)
	}
}
