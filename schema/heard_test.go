package schema

import "testing"

func TestWhatAReportSaysOfTheNumbers(t *testing.T) {
	for _, c := range []struct {
		what, report string
		told         int64
		overtaken    bool
		next         int64
	}{
		{"as it was told", `{"fleet_id":"a","desired_rev":3,"phase":"active"}`, 3, false, 4},
		{"not there yet", `{"fleet_id":"a","desired_rev":2,"phase":"active"}`, 3, false, 4},
		{"a higher number", `{"fleet_id":"a","desired_rev":50,"phase":"active"}`, 3, true, 51},
		{"a higher number, and nothing was told", `{"fleet_id":"a","desired_rev":50,"phase":"active"}`, 0, false, 51},
		{"another content", `{"fleet_id":"a","desired_rev":3,"phase":"rejected","reason":"stale_revision"}`, 3, true, 4},
		{"another content, and a newer desired state is on its way", `{"fleet_id":"a","desired_rev":3,"phase":"rejected","reason":"stale_revision"}`, 4, false, 5},
		{"refused for its content", `{"fleet_id":"a","desired_rev":3,"phase":"rejected","reason":"story_invalid"}`, 3, false, 4},
		{"another fleet's", `{"fleet_id":"b","desired_rev":50,"phase":"active"}`, 3, false, 4},
		{"nobody signed it", `{"fleet_id":"a","desired_rev":50,"phase":"rejected","reason":"bad_signature"}`, 3, false, 4},
		{"no number that could rise", `{"fleet_id":"a","desired_rev":9007199254740991,"phase":"active"}`, 3, false, 4},
		{"broken", `{"fleet_id":`, 3, false, 4},
		{"nothing", ``, 3, false, 4},
	} {
		h := ReportedRevIn("a", []byte(c.report))
		if h.MustRenumber(c.told) != c.overtaken || h.NextRev(c.told) != c.next {
			t.Errorf("%s: overtaken %v, next %d; want %v, %d", c.what, h.MustRenumber(c.told), h.NextRev(c.told), c.overtaken, c.next)
		}
	}
}
