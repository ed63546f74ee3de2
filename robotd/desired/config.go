package desired

import (
	"fmt"
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/config"
	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/sign"
)

// ConfigKey is the key on the disk of the accepted configuration.
const ConfigKey = "config"

// keptConfig is the last accepted configuration, as it is persisted.
type keptConfig struct {
	Rev      int64                     `json:"rev"`
	FleetID  string                    `json:"fleet_id"`
	Values   map[string]jsontext.Value `json:"values"`
	Verified bool                      `json:"vouched"` // its signature was verified; the disk keeps the word of the first release
	// AtLeast is the policy at the time when an unsigned configuration was accepted: such a
	// configuration cannot make the robot less strict.
	AtLeast sign.Policy `json:"at_least,omitempty"`
}

// configState is the state of the desired configuration.
type configState struct {
	intake
	config.Applied
	kept       keptConfig
	booted     map[string]jsontext.Value // values at the start, of keys that apply at the next start
	restart    []string
	unreadable bool // it was saved, but could not be read
	dirty      bool
}

// restoreConfig returns the configuration of a robot that has just started: its own,
// overridden by the saved configuration of the fleet.
func restoreConfig(own *config.Config, saved map[string]string) (*config.Config, configState) {
	c, w := own.Clone(), configState{Applied: config.Applied{Taken: map[string]jsontext.Value{}}, restart: []string{}}
	var kept keptConfig
	switch text := saved[ConfigKey]; {
	case text == "":
	case json.Unmarshal([]byte(text), &kept) != nil || kept.Rev < 1:
		w.unreadable = true
		c.MakeStrictest()
	default:
		w.rev, w.kept = kept.Rev, kept
		w.Applied = kept.applyTo(c)
	}
	w.booted = w.Taken
	return c, w
}

// applyTo applies the configuration to c.
func (k keptConfig) applyTo(c *config.Config) config.Applied {
	if k.AtLeast.Stricter(c.Signing) {
		c.Signing = k.AtLeast
	}
	return config.ApplyValues(c, k.Values, k.Verified)
}

// takeConfig takes a desired configuration.
func (t Step) takeConfig(ev event.DesiredConfig, v Verification) {
	d := &ev.Document
	t.config.dirty = true
	if t.admit(&t.config.intake, v, ev, maps.EqualFunc(d.Values, t.config.kept.Values, config.SameValue)) {
		k := keptConfig{Rev: d.Rev, FleetID: d.FleetID, Values: d.Values, Verified: v.verified}
		if !k.Verified {
			k.AtLeast = t.cfg.Signing
		}
		t.configure(k)
	}
}

// configure saves a configuration and applies it: at once where possible, the rest at the next
// start.
func (t Step) configure(k keptConfig) {
	next := t.base.Clone()
	w := k.applyTo(next)
	t.config.Applied, t.config.kept, t.config.restart, t.config.unreadable = w, k, []string{}, false
	t.Out.Clear(ConfigUnreadable, string(sign.Config))
	t.Out.Do(effect.SaveValue{Name: ConfigKey, Value: string(effect.Encode(k))})

	live := t.base.Clone()
	live.Signing = next.Signing // also if no key sets it
	for _, row := range schema.ConfigKeys {
		v, given := w.Taken[row.Name]
		if row.Restart {
			if was := t.config.booted[row.Name]; !config.SameValue(v, was) {
				t.config.restart = append(t.config.restart, row.Name)
				delete(w.Taken, row.Name)
			}
			v, given = t.config.booted[row.Name], t.config.booted[row.Name] != nil
		}
		if given {
			// ApplyValues accepted it before, so it cannot fail.
			_ = live.Set(row.Name, v)
		}
	}
	live.Mode.Boot = t.cfg.Mode.Boot // a desired mode may have set it; the loop set the value of the start
	*t.cfg = *live
	t.story.config.Probation = live.Probation
	t.Out.Changed(effect.FlushSoon)
	t.Out.LogTransition("config", "", fmt.Sprintf("revision %d", k.Rev), "the fleet's newest configuration is in force", "")
	t.Out.Event("config_applied", "config", "", "",
		effect.Described{Detail: fmt.Sprintf("%d keys applied, %d wait for the next start, %d rejected", len(w.Taken), len(t.config.restart),
			len(w.Rejected))})
	t.Out.Do(effect.CapsChanged{})
	t.stepStory(delivery.Tick{})
}

// reportConfig publishes the report on the desired configuration.
func (t Step) reportConfig() {
	if t.config.dirty = false; t.Session == "" {
		return
	}
	w := &t.config
	d := schema.ReportedConfig{TS: t.Now.Wall, Session: t.Session, FleetID: t.fleetID, DesiredRev: w.rev,
		Phase: schema.DeployIdle, Applied: w.Taken, Rejected: w.Rejected, RestartNeeded: w.restart}
	if w.rev > 0 {
		d.Phase = schema.DeployActive
	}
	if d.Rejected == nil {
		d.Rejected = []schema.RejectedKey{}
	}
	w.reportRefused(&d.DesiredRev, &d.Phase, &d.Reason, &d.Retry, &d.Detail)
	t.Out.Do(effect.Document{Topic: schema.TopicReportedConfig, Value: &d})
}

// ConfigUnreadable is the alert of a robot that cannot read its saved configuration.
const ConfigUnreadable = "config_unreadable"

// raiseUnreadable raises an alert if the saved configuration cannot be read, with what to do.
func (t Step) raiseUnreadable() {
	if t.config.unreadable {
		t.Out.Raise(ConfigUnreadable, schema.AlertError, string(sign.Config),
			"the configuration that the fleet desired cannot be read from the disk; until it is published again the strictest settings apply: "+
				"signatures, where a key is trusted, and sight are required, a lost link leads to safe, ato waits for auto/continue, and manual "+
				"commands need control",
			"connect the robot to the broker: it receives the configuration again, which has to be signed if the robot trusts a key; or set "+
				"signing and require_sight on the robot's own command line")
	}
}
