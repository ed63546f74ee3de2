package body

import (
	"troupe/robotd/config"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
	"troupe/schema/verb"
)

// Capabilities are what a story is measured against.
func (b *State) Capabilities(languages []string) schema.Caps {
	return schema.Caps{Units: b.units, Points: b.Points(), Languages: languages}
}

// Caps is what the robot is and can do: with this body, under a configuration, and with
// these verbs.
func (b *State) Caps(c *config.Config, verbs []string) *schema.Caps {
	d := &schema.Caps{
		Robot:    schema.CapsRobot{Model: b.driver.Model, Serial: b.driver.Serial, HW: b.driver.Hardware, Driver: b.driver.Driver},
		Software: schema.CapsSoftware{Robotd: c.Version, Protocol: []string{schema.Protocol}},
		Limits: schema.CapsLimits{MaxCmdBytes: schema.TopicOf(schema.TopicCmd).MaxBytes, MaxBlobBytes: schema.TopicOf(schema.TopicBlob).
			MaxBytes, DedupeWindow: request.MaxPerClient},
		Verbs: verbs, Arguments: verb.ArgumentsOf(verbs), Actions: score.Types(),
		Units: append([]schema.Unit{}, b.units...), Points: append([]string{}, b.Points()...),
		TaughtPoints: b.taughtPoints(),
		Languages:    c.Languages, TimeZone: c.Zone.String(), Labels: c.Labels, Handlers: []string{}, Interrupters: c.Interrupts.Interrupters,
		Features: b.features(c),
		Notes: []string{
			"No stop that is sent over a network or decided by software is an emergency stop. Use the device on the robot.",
		},
	}
	if len(d.TaughtPoints) > 0 {
		d.TaughtMap = b.inForce().SHA256
	}
	for _, h := range c.Interrupts.Handlers {
		d.Handlers = append(d.Handlers, h.ID)
	}
	return d
}

// features are what this release can do, and what of the rest this body and this
// configuration allow.
func (b *State) features(c *config.Config) []schema.Feature {
	all := []schema.Feature{schema.FeatureInlineActions, schema.FeatureReplay, schema.FeatureAssets}
	_, drives := b.First(schema.UnitDrive)
	for _, f := range []struct {
		feature schema.Feature
		has     bool
	}{
		{schema.FeatureSigning, c.Signing != sign.Off},
		{schema.FeatureTeleop, drives},
		{schema.FeatureMap, drives && len(b.Points()) > 0},
		{schema.FeatureHoming, len(b.driver.Homing) > 0},
		{schema.FeatureRequireSight, c.Safety.RequireSight},
	} {
		if f.has {
			all = append(all, f.feature)
		}
	}
	return all
}
