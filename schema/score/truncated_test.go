package score

import (
	"testing"

	"troupe/schema"
)

func TestTruncatedCatalogueAcceptsAnyName(t *testing.T) {
	act := Act{ID: "a", Actions: []Action{{Do: Goto{Point: "stage"}}, {Do: Face{Face: "grin"}}}}
	caps := schema.Caps{Points: []string{"door"}, Units: []schema.Unit{{ID: "base", Kind: schema.UnitDrive},
		{ID: "face", Kind: schema.UnitFace, Faces: []string{"smile"}}}}
	if found := schema.Errors(Fit(act, caps)); len(found) != 2 {
		t.Fatalf("complete catalogues without the names: %v", found)
	}
	caps.Truncated = true
	if found := schema.Errors(Fit(act, caps)); len(found) != 0 {
		t.Errorf("a robot with truncated lists: %v", found)
	}
	caps.Points, caps.Units = nil, nil
	if found := schema.Errors(Fit(act, caps)); len(found) != 0 {
		t.Errorf("a robot whose lists are left out: %v", found)
	}
}
