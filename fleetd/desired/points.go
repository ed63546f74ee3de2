package desired

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/schema"
	"troupe/schema/score"
)

// Points are points to add to the places that robots have.
type Points struct {
	ID      string // of the places that robots without places get
	Map     string // digest of the map on which they lie; empty = the body's own map
	Points  map[string]score.Point
	Replace bool // points of the same name that lie elsewhere
}

// Codes of problems with points.
const (
	CodeOtherMap = "other_map"
	CodeExists   = "exists"
)

// SubRequest is a part of a request, for those of its robots that get the same.
type SubRequest struct {
	Rows    Rows
	Request Request
}

// PointRequests turns a request to add points into requests for whole places. sets are the published
// sets that the robots have now, by digest. Coordinates hold only on their map, so that places
// with another map are refused.
func PointRequests(rows Rows, a Request, sets map[string][]byte) ([]SubRequest, []schema.Problem) {
	if found := checkCount(rows, a.Expected); len(found) > 0 {
		return nil, found
	}
	if !schema.ValidID(a.Points.ID) {
		return nil, []schema.Problem{schema.NewProblem("/points/id", "bad_id", fmt.Sprintf("%q cannot name a set", a.Points.ID),
			"use a-z, 0-9 and hyphens, at most 63")}
	}
	if len(a.Points.Points) == 0 {
		return nil, []schema.Problem{schema.NewProblem("/points/points", "missing", "no point is named",
			"fleetd robot points lists those of a robot")}
	}
	var pins []schema.ContentPin // in the order of the robots
	robots := map[schema.ContentPin][]Robot{}
	for _, r := range rows.Robots {
		pin := pinOf(r)
		if robots[pin] == nil {
			pins = append(pins, pin)
		}
		robots[pin] = append(robots[pin], r)
	}
	var parts []SubRequest
	var found []schema.Problem
	for _, pin := range pins {
		next, problems := a.Points.addTo(pin, sets[pin.SHA256], names(robots[pin]))
		found = append(found, problems...)
		part := SubRequest{Rows: rows, Request: Request{Places: &next}}
		part.Rows.Robots = robots[pin]
		parts = append(parts, part)
	}
	return parts, found
}

// PlacesOf returns the places that robots have now, from their published form; no points if it
// is empty.
func PlacesOf(body []byte) (score.Places, []schema.Problem) {
	if len(body) == 0 {
		return score.Places{Schema: score.PlacesSchema}, nil
	}
	p, found := score.ParsePlaces(body)
	return p, schema.Errors(found)
}

// pinOf returns the set of places that a robot has now; without an id if it has none.
func pinOf(r Robot) schema.ContentPin {
	was, _ := schema.Decode[schema.DesiredSet](r.Current.Payload)
	if was.Set == nil {
		return schema.ContentPin{}
	}
	return *was.Set
}

// PlacesDigest returns the digest of the published places in a desired document; empty if it has
// none.
func PlacesDigest(document []byte) string {
	return pinOf(Robot{Current: Document{Payload: document}}).SHA256
}

// addTo returns the places that robots with the places pin get next: the same ones if they have
// all of the points.
func (a *Points) addTo(pin schema.ContentPin, body []byte, robots string) (Set, []schema.Problem) {
	places, found := PlacesOf(body)
	if len(found) > 0 {
		return Set{}, []schema.Problem{schema.NewProblem("/points", "bad_value", fmt.Sprintf("the places %s of %s cannot be read: %s", pin.ID,
			robots, found[0]), "set them again with fleetd desired places -f FILE")}
	}
	have := ""
	if places.Map != nil {
		have = places.Map.SHA256
	}
	if have != a.Map {
		return Set{}, []schema.Problem{schema.NewProblem("/points/map_sha256", CodeOtherMap,
			fmt.Sprintf("the points lie on %s and the places of %s on %s: coordinates hold only on the same map", mapText(a.Map), robots,
				mapText(have)),
			"if they lie on the map of these places, name it with --on-map SHA256; else set places with the map of the points first, or teach the "+
				"points on theirs")}
	}
	next := maps.Clone(places.Points)
	if next == nil {
		next = map[string]score.Point{}
	}
	var added []string
	for _, name := range slices.Sorted(maps.Keys(a.Points)) {
		p := a.Points[name]
		switch was, has := next[name]; {
		case has && equal(was, p):
			continue
		case has && !a.Replace:
			found = append(found, schema.NewProblem("/points/points/"+name, CodeExists,
				fmt.Sprintf("%s of %s is at %s already, not at %s", name, robots, pointText(was), pointText(p)),
				"replace it with --replace (replace in the API)"))
		default:
			next[name] = p
			added = append(added, name)
		}
	}
	if len(added) == 0 {
		return Set{ID: pin.ID, Rev: pin.Rev, Body: body}, found
	}
	s := Set{ID: pin.ID, Rev: pin.Rev + 1, Added: added}
	if pin.ID == "" {
		s.ID = a.ID
	}
	places.Points = next
	for _, p := range schema.Errors(score.ValidatePlaces(places)) {
		p.Pointer = "/points" + p.Pointer
		found = append(found, p)
	}
	var err error
	if s.Body, _, err = score.EncodePlaces(places.Map, next); err != nil {
		found = append(found, schema.NewProblem("/points", "bad_value", err.Error(), ""))
	}
	return s, found
}

func names(robots []Robot) string {
	ids := make([]string, len(robots))
	for i, r := range robots {
		ids[i] = r.ID
	}
	if len(ids) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:3], ", "), len(ids)-3)
	}
	return strings.Join(ids, ", ")
}

func mapText(sha256 string) string {
	if sha256 == "" {
		return "the body's own map"
	}
	return "map sha256 " + sha256[:min(len(sha256), 12)]
}

func pointText(p score.Point) string {
	s := fmt.Sprintf("x %.3f y %.3f", p.XM, p.YM)
	if p.ThetaRad != nil {
		s += fmt.Sprintf(" heading %.3f", *p.ThetaRad)
	}
	return s
}

func equal(a, b score.Point) bool {
	if (a.ThetaRad == nil) != (b.ThetaRad == nil) || a.ThetaRad != nil && *a.ThetaRad != *b.ThetaRad {
		return false
	}
	return a.XM == b.XM && a.YM == b.YM
}
