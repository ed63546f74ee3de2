package config

import (
	"slices"

	"troupe/robotd/control"
	"troupe/schema"
	"troupe/schema/sign"
)

// MakeStrictest makes the robot as strict as its fleet can have wanted it, when the fleet's
// configuration cannot be read any more. What was set on the robot itself no fleet could
// change. Where no key is trusted nobody can sign, and to require signatures would shut
// out the fleet for good.
func (c *Config) MakeStrictest() {
	free := func(key string) bool { return !slices.Contains(c.LocalOnly, key) }
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
	for _, m := range c.Mode.Selectable() {
		if free("link_loss." + string(m)) {
			c.SetLinkLoss(m, schema.LinkLossSafe)
		}
	}
}
