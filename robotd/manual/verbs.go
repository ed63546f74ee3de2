package manual

import (
	"cmp"
	"slices"

	"troupe/robotd/config"
	"troupe/schema"
	"troupe/schema/score"
)

// verb is what a verb manually does.
type verb struct {
	kind    schema.UnitKind // of the unit that it needs; empty = what the act needs
	patient int64           // ms that the unit may take; 0 = it takes effect at once
	action  func(schema.Args, *config.Config) score.Action
}

var verbs = map[string]verb{
	"manual/goto": {schema.UnitDrive, 300_000, func(a schema.Args, _ *config.Config) score.Action {
		return score.Action{Type: score.TypeGoto, Point: a.Point, XM: given(a.XM), YM: given(a.YM), ThetaRad: given(a.ThetaRad), SpeedMPS: given(a.SpeedMPS)}
	}},
	"manual/head": {schema.UnitHead, 10_000, func(a schema.Args, _ *config.Config) score.Action {
		return score.Action{Type: score.TypeHead, YawRad: given(a.YawRad), PitchRad: given(a.PitchRad), RollRad: given(a.RollRad), Speed: given(a.Speed)}
	}},
	"manual/say": {schema.UnitSpeaker, 60_000, func(a schema.Args, c *config.Config) score.Action {
		return score.Action{Type: score.TypeSay, Text: score.Text{cmp.Or(a.Language, c.Languages[0]): a.Text}, Voice: a.Voice, Volume: given(a.Volume), Rate: given(a.Rate)}
	}},
	"manual/sound": {schema.UnitSpeaker, 60_000, func(a schema.Args, _ *config.Config) score.Action {
		return score.Action{Type: score.TypeSound, Sound: a.Sound, Volume: given(a.Volume), Loop: a.Loop}
	}},
	"manual/face": {schema.UnitFace, 0, func(a schema.Args, _ *config.Config) score.Action {
		return score.Action{Type: score.TypeFace, Face: a.Face}
	}},
	"manual/led": {schema.UnitLED, 0, func(a schema.Args, _ *config.Config) score.Action {
		return score.Action{Type: score.TypeLED, LED: a.LED, Colour: a.Colour, Pattern: a.Pattern, PeriodMS: a.PeriodMS}
	}},
	"manual/volume": {kind: schema.UnitSpeaker},
	"manual/act":    {},
	"act/perform":   {},
}

func given(n schema.Number) *float64 {
	if !n.Said {
		return nil
	}
	return &n.Value
}

// byFrames is the verb of those who drive manually: it has a topic and a form of its
// own, and no row in the table.
const byFrames = "manual/velocity"

// Verbs are those that a body has units for.
func Verbs(b Body) []string {
	known := schema.VerbIDs()
	if _, drives := b.Of(schema.UnitDrive); drives {
		known = append(known, byFrames)
	}
	return slices.DeleteFunc(known, func(id string) bool {
		v, ok := verbs[id]
		if !ok || v.kind == "" {
			return false
		}
		_, has := b.Of(v.kind)
		return !has
	})
}
