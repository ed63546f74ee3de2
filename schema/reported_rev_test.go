package schema

import "testing"

func TestReportedRevisionIsReadFromReports(t *testing.T) {
	for _, c := range []struct {
		what, report string
		published    int64
		overtaken    bool
		next         int64
		settled      bool
	}{
		{"the published revision", `{"fleet_id":"a","desired_rev":3,"phase":"active"}`, 3, false, 4, true},
		{"a lower revision", `{"fleet_id":"a","desired_rev":2,"phase":"active"}`, 3, false, 4, true},
		{"a higher revision", `{"fleet_id":"a","desired_rev":50,"phase":"active"}`, 3, true, 51, false},
		{"a higher revision, nothing published", `{"fleet_id":"a","desired_rev":50,"phase":"active"}`, 0, false, 51, false},
		{"another document", `{"fleet_id":"a","desired_rev":3,"phase":"rejected","reason":"stale_revision"}`, 3, true, 4, false},
		{"another document, a newer one is published", `{"fleet_id":"a","desired_rev":3,"phase":"rejected","reason":"stale_revision"}`, 4, false, 5, true},
		{"rejected for its content", `{"fleet_id":"a","desired_rev":3,"phase":"rejected","reason":"story_invalid"}`, 3, false, 4, false},
		{"rolled back", `{"fleet_id":"a","desired_rev":3,"phase":"rolled_back","reason":"timeout"}`, 3, false, 4, false},
		{"an attempt that failed", `{"fleet_id":"a","desired_rev":3,"phase":"failed","reason":"bad_digest"}`, 3, false, 4, false},
		{"an earlier revision was rejected", `{"fleet_id":"a","desired_rev":2,"phase":"rejected","reason":"story_invalid"}`, 3, false, 4, true},
		{"another fleet", `{"fleet_id":"b","desired_rev":50,"phase":"active"}`, 3, false, 4, true},
		{"rejected for its signature", `{"fleet_id":"a","desired_rev":50,"phase":"rejected","reason":"bad_signature"}`, 3, false, 4, true},
		{"the highest possible revision, above which there is none to publish under", `{"fleet_id":"a","desired_rev":9007199254740991,"phase":"active"}`, 3, false, 4, true},
		{"malformed", `{"fleet_id":`, 3, false, 4, true},
		{"empty", ``, 3, false, 4, true},
	} {
		h := ReportedRevIn("a", []byte(c.report))
		if h.MustRenumber(c.published) != c.overtaken || h.NextRev(c.published) != c.next || h.HasSettled(c.published) != c.settled {
			t.Errorf("%s: overtakes %v, next %d, settled %v; want %v, %d, %v", c.what,
				h.MustRenumber(c.published), h.NextRev(c.published), h.HasSettled(c.published), c.overtaken, c.next, c.settled)
		}
	}
}
