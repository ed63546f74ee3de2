package api

import (
	"testing"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
)

func TestNobodyActsUnderAnotherName(t *testing.T) {
	for _, c := range []struct {
		kind auth.Kind
		want string
	}{{auth.KindSession, "anna"}, {auth.KindToken, "anna"}, {auth.KindDev, "ben"}, {"", "ben"}} {
		if got := attribute(auth.Principal{ID: "anna", Kind: c.kind}, audit.Attribution{Who: "ben", Why: "x"}); got.Who != c.want ||
			got.Why != "x" {
			t.Errorf("anna by %q, who says ben, signs as %+v", c.kind, got)
		}
	}
}
