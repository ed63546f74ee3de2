package desired

import (
	"fmt"
	"strings"
	"testing"

	"troupe/schema"
	"troupe/schema/score"
)

const hallMap = "23e1765cd96692fcbaafc1b70970e2dd0f25f9454193be4ab4f10ab8248adbe4"

// fleetWithPlaces is r1 and r3 with the same places, r2 with none and r4 with places on a map.
func fleetWithPlaces(t *testing.T) (rows Rows, sets map[string][]byte) {
	t.Helper()
	rows = Rows{FleetID: "fleetd", Files: map[string]int64{hallMap: 5}, Robots: []Robot{{ID: "r1"}, {ID: "r2"}, {ID: "r3"}, {ID: "r4"}}}
	sets = map[string][]byte{}
	for _, s := range []struct {
		robots, body string
	}{
		{"r1 r3", `{"schema":1,"points":{"door":{"x_m":1,"y_m":2}}}`},
		{"r4", fmt.Sprintf(`{"schema":1,"map":{"name":"hall","kind":"map","sha256":%q,"size":5},"points":{}}`, hallMap)},
	} {
		some := rows
		some.Robots = nil
		for _, r := range rows.Robots {
			if strings.Contains(s.robots, r.ID) {
				some.Robots = append(some.Robots, r)
			}
		}
		c, found := Plan(some, Request{Places: &Set{ID: "hall", Body: []byte(s.body)}}, by)
		if len(found) > 0 {
			t.Fatal(found)
		}
		sets[c.SHA256] = c.Blob
		rows = applyChanges(rows, c)
	}
	return rows, sets
}

func only(rows Rows, ids ...string) Rows {
	all := rows.Robots
	rows.Robots = nil
	for _, r := range all {
		for _, id := range ids {
			if r.ID == id {
				rows.Robots = append(rows.Robots, r)
			}
		}
	}
	return rows
}

func TestAddedPointsKeepThePlacesOfEachRobot(t *testing.T) {
	rows, sets := fleetWithPlaces(t)
	window := Points{ID: "places", Points: map[string]score.Point{"window": {XM: 3, YM: 4}}}
	parts, found := PointRequests(only(rows, "r1", "r2", "r3"), Request{Points: &window}, sets)
	if len(found) > 0 || len(parts) != 2 {
		t.Fatalf("%d parts, %v", len(parts), found)
	}
	for i, want := range []string{
		`[r1 r3] hall@2 {"schema":1,"points":{"door":{"x_m":1,"y_m":2},"window":{"x_m":3,"y_m":4}}} places hall with window`,
		`[r2] places@1 {"schema":1,"points":{"window":{"x_m":3,"y_m":4}}} places places with window`,
	} {
		c, found := Plan(parts[i].Rows, parts[i].Request, by)
		if len(found) > 0 {
			t.Fatal(found)
		}
		pin := pinOf(c.Documents[0])
		if got := fmt.Sprintf("%v %s@%d %s %s", c.Updated, pin.ID, pin.Rev, c.Blob, c.Note); got != want {
			t.Errorf("part %d is\n%s, want\n%s", i, got, want)
		}
		sets[c.SHA256] = c.Blob
		rows = applyChanges(rows, c)
	}
	parts, found = PointRequests(only(rows, "r1", "r2", "r3"), Request{Points: &window}, sets)
	for _, part := range parts {
		if c, problems := Plan(part.Rows, part.Request, by); len(found)+len(problems)+len(c.Updated) > 0 {
			t.Errorf("added again: %v, %v, updated %v", found, problems, c.Updated)
		}
	}
}

func TestAddedPointsOfAMapGoToPlacesWithThatMap(t *testing.T) {
	rows, sets := fleetWithPlaces(t)
	parts, found := PointRequests(only(rows, "r4"),
		Request{Points: &Points{ID: "places", Map: hallMap, Points: map[string]score.Point{"window": {XM: 3}}}}, sets)
	if len(found) > 0 || len(parts) != 1 {
		t.Fatalf("%d parts, %v", len(parts), found)
	}
	c, found := Plan(parts[0].Rows, parts[0].Request, by)
	if len(found) > 0 || len(c.Files) != 1 || !strings.Contains(string(c.Blob), hallMap) {
		t.Errorf("%v, %s with the files %v", found, c.Blob, c.Files)
	}
}

func TestPointsThatCannotBeAddedAreRefused(t *testing.T) {
	rows, sets := fleetWithPlaces(t)
	one := func(name string, x float64) map[string]score.Point {
		return map[string]score.Point{name: {XM: x, YM: 2}}
	}
	two := 2
	for name, c := range map[string]struct {
		robots   string
		points   Points
		expected *int
		want     string // pointer and code; empty = it is not refused
	}{
		"the same point":          {"r1 r2 r3", Points{ID: "places", Points: one("door", 1)}, nil, ""},
		"a point elsewhere":       {"r2 r3", Points{ID: "places", Points: one("door", 5)}, nil, "/points/points/door exists"},
		"replaced":                {"r2 r3", Points{ID: "places", Points: one("door", 5), Replace: true}, nil, ""},
		"another map":             {"r1", Points{ID: "places", Map: hallMap, Points: one("window", 5)}, nil, "/points/map_sha256 other_map"},
		"no places with the map":  {"r2", Points{ID: "places", Map: hallMap, Points: one("window", 5)}, nil, "/points/map_sha256 other_map"},
		"places with a map":       {"r4", Points{ID: "places", Points: one("window", 5), Replace: true}, nil, "/points/map_sha256 other_map"},
		"a name that is none":     {"r2", Points{ID: "places", Points: one("The Window", 5)}, nil, "/points/points/The Window bad_id"},
		"a point beyond goto":     {"r2", Points{ID: "places", Points: one("moon", 384e6)}, nil, "/points/points/moon/x_m out_of_range"},
		"no point":                {"r2", Points{ID: "places"}, nil, "/points/points missing"},
		"a set without a name":    {"r2", Points{Points: one("window", 5)}, nil, "/points/id bad_id"},
		"another number expected": {"r2", Points{ID: "places", Points: one("window", 5)}, &two, "/expected_count count_changed"},
		"no robot":                {"", Points{ID: "places", Points: one("window", 5)}, nil, "/selector no_robot"},
	} {
		_, found := PointRequests(only(rows, strings.Fields(c.robots)...), Request{Points: &c.points, Expected: c.expected}, sets)
		got := ""
		if len(found) > 0 {
			got = found[0].Pointer + " " + found[0].Code
		}
		if got != c.want {
			t.Errorf("%s: refused with %q, want %q: %v", name, got, c.want, found)
		}
	}
	broken := map[string][]byte{}
	for sum := range sets {
		broken[sum] = []byte("{")
	}
	if _, found := PointRequests(only(rows, "r1"), Request{Points: &Points{ID: "places", Points: one("window", 5)}}, broken); len(found) !=
		1 || found[0].Pointer != "/points" || found[0].Severity != schema.SeverityError {
		t.Errorf("places that cannot be read give %v", found)
	}
}
