package library

import (
	"testing"

	"troupe/schema"
	"troupe/schema/score"
)

func TestFormatThatABodyDoesNotPlayIsAMisfit(t *testing.T) {
	s := &snapshot{assets: map[string]Asset{
		"gong": {Name: "gong", SHA256: "a", Media: MediaMP3, Details: Details{Format: "mp3"}},
		"old":  {Name: "old", SHA256: "b", Media: MediaWAV},
	}}
	files := []score.Asset{{Name: "gong", Kind: score.AssetSound, SHA256: "a"}, {Name: "old", Kind: score.AssetSound, SHA256: "b"}}
	speaker := func(formats ...string) schema.Unit {
		return schema.Unit{ID: "s", Kind: schema.UnitSpeaker, Formats: formats}
	}
	for name, c := range map[string]struct {
		units []schema.Unit
		want  int
	}{
		"another format":              {[]schema.Unit{speaker("wav-pcm16")}, 1},
		"its format":                  {[]schema.Unit{speaker("wav-pcm16", "mp3")}, 0},
		"one of two speakers":         {[]schema.Unit{speaker("wav-pcm16"), speaker("mp3")}, 0},
		"a speaker that does not say": {[]schema.Unit{speaker()}, 0},
		"no speaker":                  {nil, 0},
	} {
		found := s.unplayable(files, schema.Caps{Units: c.units})
		if len(found) != c.want || c.want == 1 &&
			(found[0].Code != CodeFormat || found[0].Detail != "the sound gong is mp3, and the speaker takes wav-pcm16") {
			t.Errorf("%s: %v", name, found)
		}
	}
	if found := s.unplayable([]score.Asset{{Name: "gong", Kind: score.AssetSound, SHA256: "earlier"}},
		schema.Caps{Units: []schema.Unit{speaker("wav-pcm16")}}); len(found) > 0 {
		t.Errorf("earlier bytes of the name: %v", found)
	}
}
