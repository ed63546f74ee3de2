package brain

import (
	"troupe/schema"
	"troupe/schema/sign"
)

// features are what this release can do, and what of the rest this body and this
// configuration allow.
func (s *State) features() []schema.Feature {
	all := []schema.Feature{schema.FeatureInlineActions, schema.FeatureReplay, schema.FeatureAssets}
	_, drives := s.body.Of(schema.UnitDrive)
	for _, f := range []struct {
		feature schema.Feature
		has     bool
	}{
		{schema.FeatureSigning, s.cfg.Signing != sign.Off},
		{schema.FeatureTeleop, drives},
		{schema.FeatureMap, drives && len(s.body.Points()) > 0},
		{schema.FeatureHoming, len(s.body.About().Homing) > 0},
		{schema.FeatureRequireSight, s.cfg.Safety.RequireSight},
	} {
		if f.has {
			all = append(all, f.feature)
		}
	}
	return all
}
