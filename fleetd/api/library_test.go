package api

import (
	"testing"

	"troupe/schema/score"
)

func TestAssetsToValidateKeepTheirKind(t *testing.T) {
	in := Validation{Assets: []NewAsset{{Name: "gong", Kind: "sound"}, {Name: "smile", Kind: "face"}, {Name: "hall", Kind: "map"}}}
	_, assets := in.rows()
	for i, want := range []score.AssetKind{score.AssetSound, score.AssetFace, score.AssetMap} {
		if got := assets[i].Media.Kind(); got != want {
			t.Errorf("%s is a %s, want %s", assets[i].Name, got, want)
		}
	}
}
