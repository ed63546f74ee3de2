package brain

import (
	"slices"

	"troupe/robotd/control"
	"troupe/schema"
	"troupe/schema/sign"
)

// strictest is how a robot behaves that was told how to by its fleet and cannot
// read it any more: it cannot have been told to be stricter. What was set on the
// robot itself no fleet could change. Where no key is trusted nobody can sign, and
// to require it would shut out the fleet for good.
func (c *Config) strictest() {
	free := func(key string) bool { return !slices.Contains(c.Pinned, key) }
	if free("signing") && c.Trust.Has(sign.SignsDesired) {
		c.Signing = sign.Require
	}
	if free("require_sight") {
		c.Safety.RequireSight = true
	}
	if free("on_link_return") {
		c.ContinueOnReturn = false
	}
	if free("control.required") && c.Control.Required == control.RequireNone {
		c.Control.Required = control.RequireManual
	}
	for _, m := range []schema.ModeID{schema.ModeStr, schema.ModeMnl, schema.ModeAto} {
		if free("link_loss." + string(m)) {
			c.linkLoss(m, schema.LinkLossSafe)
		}
	}
}

// configUnread is the alert of a robot that does not know how it was to behave.
const configUnread = "config_unreadable"

// tellUnread says that the configuration was lost, and what to do about it.
func (t *step) tellUnread() {
	if t.config.unread {
		t.raise(configUnread, schema.AlertError, string(sign.Config),
			"the configuration that the fleet desired cannot be read from the disk; until it is told again the strictest holds: signatures, where a key is trusted, and sight are required, and a lost link leads to safe",
			"have fleetd tell it again, signed; or set signing and require_sight on the robot's own command line")
	}
}
