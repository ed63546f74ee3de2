package config

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/control"
	"troupe/robotd/mode"
	"troupe/schema"
	"troupe/schema/intents"
	"troupe/schema/interrupts"
	"troupe/schema/sign"
)

// setters say what each key of schema.ConfigKeys does to a configuration. The
// values were checked against the key before.
var setters = map[string]func(*Config, jsontext.Value) error{
	"labels":    into(func(c *Config, v map[string]string) { c.Labels = v }),
	"languages": into(func(c *Config, v []string) { c.Languages = v }),
	"time_zone": func(c *Config, v jsontext.Value) (err error) {
		var name string
		if err = json.Unmarshal(v, &name); err == nil {
			c.Zone, err = schema.ZoneOf(name)
		}
		return err
	},
	"boot_mode":        into(func(c *Config, v schema.ModeID) { c.Mode.Boot = v }),
	"calibration_mode": into(func(c *Config, v schema.ModeID) { c.Mode.Calibration = v }),
	"default_mode":     into(func(c *Config, v schema.ModeID) { c.Mode.Default = v }),
	"safe_mode":        into(func(c *Config, v schema.ModeID) { c.Mode.Safe = v }),
	"on_link_return":   into(func(c *Config, v string) { c.ContinueOnReturn = v == "continue" }),
	"require_sight":    into(func(c *Config, v bool) { c.Safety.RequireSight = v }),
	"control.required": into(func(c *Config, v control.Required) { c.Control.Required = v }),
	"clients": into(func(c *Config, v map[string]string) {
		c.Ranks = map[string]control.Rank{}
		for client, word := range v {
			c.Ranks[client], _ = control.RankOf(word)
		}
	}),
	"signing":                     into(func(c *Config, v sign.Policy) { c.Signing = v }),
	"probation_ms":                into(func(c *Config, v int64) { c.Probation = time.Duration(v) * time.Millisecond }),
	"estop_text":                  into(func(c *Config, v map[string]string) { c.EStopText = v }),
	"low_battery":                 into(func(c *Config, v float64) { c.LowBattery = v }),
	"charged":                     into(func(c *Config, v float64) { c.Charged = v }),
	"life.enabled":                into(func(c *Config, v bool) { c.Life.Enabled = v }),
	"life.humans_lost_timeout_ms": into(func(c *Config, v int64) { c.Life.HumansLost = time.Duration(v) * time.Millisecond }),
	"heartbeat_ms":                into(func(c *Config, v int64) { c.Heartbeat = time.Duration(v) * time.Millisecond }),
	"event_rate":                  into(func(c *Config, v int64) { c.EventRate = float64(v) }),
}

func init() {
	setters["diagnosis.severity"] = into(func(c *Config, v map[string]schema.DeviceSeverity) { c.Diagnosis.Severity = v })
	setters["diagnosis.temperatures"] = into(func(c *Config, v map[string]schema.Thresholds) { c.Diagnosis.Temperatures = v })
	setters["safeguards"] = into(func(c *Config, v map[schema.Safeguard]bool) { c.Diagnosis.Safeguards = v })
	setters[interrupts.HandlersSetting] = (*Config).setHandlers
	setters[interrupts.RulesSetting] = (*Config).setRules
	setters[intents.TableSetting] = (*Config).setIntents
	setters[intents.ConfidenceSetting] = into(func(c *Config, v float64) { c.Intents.Confidence = v })
	rules := mode.Defaults()
	for _, m := range rules.Selectable() {
		setters["link_loss."+string(m)] = into(func(c *Config, v schema.LinkLoss) { c.SetLinkLoss(m, v) })
		setters["link_timeout_ms."+string(m)] = into(func(c *Config, v int64) { c.SetLinkTimeout(m, time.Duration(v)*time.Millisecond) })
	}
}

func into[T any](set func(*Config, T)) func(*Config, jsontext.Value) error {
	return func(c *Config, v jsontext.Value) error {
		var got T
		if err := json.Unmarshal(v, &got); err != nil {
			return err
		}
		set(c, got)
		return nil
	}
}

// Set gives a key its value, which Check of its row has passed.
func (c *Config) Set(key string, v jsontext.Value) error { return setters[key](c, v) }

// SetLinkLoss sets what a mode does when the link is lost.
func (c *Config) SetLinkLoss(m schema.ModeID, v schema.LinkLoss) {
	for i := range c.Mode.Modes {
		if c.Mode.Modes[i].ID == m {
			c.Mode.Modes[i].LinkLoss = v
		}
	}
}

// SetLinkTimeout sets the time without a heartbeat of fleetd or of a panel after which a mode ends.
func (c *Config) SetLinkTimeout(m schema.ModeID, v time.Duration) {
	for i := range c.Mode.Modes {
		if c.Mode.Modes[i].ID == m {
			c.Mode.Modes[i].LostAfter = v
		}
	}
}

// Clone is a copy that shares nothing that a setter changes.
func (c *Config) Clone() *Config {
	o := *c
	o.Mode.Modes = slices.Clone(c.Mode.Modes)
	return &o
}

// Applied is what became of the values of a desired configuration.
type Applied struct {
	Taken    map[string]jsontext.Value
	Rejected []schema.RejectedKey
}

// together are keys that can only be judged with another.
var together = map[string]string{"low_battery": "charged"}

// ApplyValues puts values into c, one key after another in the order of the table,
// and leaves out those that would make the configuration invalid. verified says
// whether somebody whom the robot trusts signed them.
func ApplyValues(c *Config, values map[string]jsontext.Value, verified bool) Applied {
	j := Applied{Taken: map[string]jsontext.Value{}, Rejected: []schema.RejectedKey{}}
	reject := func(key string, why schema.Reason, detail string) {
		j.Rejected = append(j.Rejected, schema.RejectedKey{Key: key, Reason: why, Detail: schema.SanitizeText(detail)})
	}
	was := c.Signing
	done := map[string]bool{}
	for _, k := range schema.ConfigKeys {
		group := []string{k.Name}
		if with := together[k.Name]; with != "" {
			group = append(group, with)
		}
		before := c.Clone()
		var set []string
		for _, name := range group {
			v, given := values[name]
			if !given || done[name] {
				continue
			}
			done[name] = true
			row, _ := schema.ConfigKeyOf(name)
			switch why := row.Check(v); {
			case slices.Contains(c.LocalOnly, name):
				reject(name, schema.ReasonForbidden, "it is set on the robot's command line or in its environment")
				continue
			case why != "":
				reject(name, schema.ReasonBadRequest, why)
				continue
			}
			if err := c.Set(name, v); err != nil {
				reject(name, schema.ReasonBadRequest, err.Error())
				continue
			}
			set = append(set, name)
		}
		switch faults := c.Check(); {
		case len(set) == 0:
		case k.Name == "signing" && !verified && was.Stricter(c.Signing):
			*c = *before
			reject("signing", schema.ReasonForbidden, "a configuration without a valid signature cannot make `signing` less strict")
		case len(faults) > 0:
			*c = *before
			for _, name := range set {
				reject(name, schema.ReasonOutOfRange, faults[0])
			}
		default:
			for _, name := range set {
				j.Taken[name] = values[name]
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !done[name] {
			reject(name, schema.ReasonBadRequest, "there is no key "+name)
		}
	}
	return j
}

// SameValue compares two values as JSON; both absent are the same.
func SameValue(a, b jsontext.Value) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	a, b = slices.Clone(a), slices.Clone(b)
	return cmp.Or(a.Canonicalize(), b.Canonicalize()) == nil && string(a) == string(b)
}
