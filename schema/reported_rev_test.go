package schema

import "testing"

func TestReportedRevisionIsReadFromReports(t *testing.T) {
	for _, c := range []struct {
		what, report string
		published    int64
		overtaken    bool
		next         int64
	}{
		{"the published revision", `{"fleet_id":"a","desired_rev":3,"phase":"active"}`, 3, false, 4},
		{"a lower revision", `{"fleet_id":"a","desired_rev":2,"phase":"active"}`, 3, false, 4},
		{"a higher revision", `{"fleet_id":"a","desired_rev":50,"phase":"active"}`, 3, true, 51},
		{"a higher revision, nothing published", `{"fleet_id":"a","desired_rev":50,"phase":"active"}`, 0, false, 51},
		{"another document", `{"fleet_id":"a","desired_rev":3,"phase":"rejected","reason":"stale_revision"}`, 3, true, 4},
		{"another document, a newer one is published", `{"fleet_id":"a","desired_rev":3,"phase":"rejected","reason":"stale_revision"}`, 4, false, 5},
		{"rejected for its content", `{"fleet_id":"a","desired_rev":3,"phase":"rejected","reason":"story_invalid"}`, 3, false, 4},
		{"another fleet", `{"fleet_id":"b","desired_rev":50,"phase":"active"}`, 3, false, 4},
		{"rejected for its signature", `{"fleet_id":"a","desired_rev":50,"phase":"rejected","reason":"bad_signature"}`, 3, false, 4},
		{"the highest possible revision, above which there is none to publish under", `{"fleet_id":"a","desired_rev":9007199254740991,"phase":"active"}`, 3, false, 4},
		{"malformed", `{"fleet_id":`, 3, false, 4},
		{"empty", ``, 3, false, 4},
	} {
		h := ReportedRevIn("a", []byte(c.report))
		if h.MustRenumber(c.published) != c.overtaken || h.NextRev(c.published) != c.next {
			t.Errorf("%s: overtakes %v, next %d; want %v, %d", c.what, h.MustRenumber(c.published), h.NextRev(c.published), c.overtaken, c.next)
		}
	}
}
