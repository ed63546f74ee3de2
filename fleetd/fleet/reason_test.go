package fleet_test

import (
	"testing"

	"troupe/fleetd/api"
)

func TestBlankReasonIsRefused(t *testing.T) {
	w := serving(t)
	w.robot("r1")
	for _, c := range []struct{ target, body string }{
		{"/robots/r1/revoke", `{"why":" \t"}`},
		{"/certificates/c0ffee/revoke", `{"why":" "}`},
		{"/stops/release", `{"ids":["stop-1"],"why":"  "}`},
		{"/stops/release", `{"ids":["stop-1"],"why":""}`},
	} {
		status, p, text := w.send("POST", api.Prefix+c.target, c.body)
		if status != 422 || len(p.Errors) != 1 || p.Errors[0].Pointer != "/why" {
			t.Errorf("POST %s %s is answered %d %s", c.target, c.body, status, text)
		}
	}
}
