package diagnosis

import (
	"cmp"

	"troupe/schema"
)

// Config is what is configured of the diagnosis. The zero value is that of a robot without
// configuration.
type Config struct {
	Severity     map[string]schema.DeviceSeverity // of units; without one, that of their kind
	Temperatures map[string]schema.Thresholds     // of units; without some, those of their kind
	Safeguards   map[schema.Safeguard]bool        // those that are not listed are on
}

// SeverityOf is what a fault of a unit means.
func (c *Config) SeverityOf(u schema.Unit) schema.DeviceSeverity {
	if s, set := c.Severity[u.ID]; set {
		return s
	}
	return cmp.Or(u.Kind.Row().Severity, schema.SeveritySerious)
}

// ThresholdsOf are the temperatures that count for a unit.
func (c *Config) ThresholdsOf(u schema.Unit) schema.Thresholds {
	if t, set := c.Temperatures[u.ID]; set {
		return t
	}
	return cmp.Or(u.Kind.Row().Temperatures, schema.UsualTemperatures)
}

// SafeguardOn reports whether a safeguard is switched on.
func (c *Config) SafeguardOn(s schema.Safeguard) bool {
	on, set := c.Safeguards[s]
	return on || !set
}
