package score

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// PlacesSchema is the version of the published form of places.
const PlacesSchema = 1

// MaxPoints is the greatest number of points in one set of places.
const MaxPoints = 500

// Places is a published set of named points with their map.
type Places struct {
	Schema int64            `json:"schema"`
	Map    *Asset           `json:"map,omitzero"`
	Points map[string]Point `json:"points"` // by the names that goto uses
}

// Point is a point on the map in metres, with a final heading if ThetaRad is set.
type Point struct {
	XM       float64  `json:"x_m"`
	YM       float64  `json:"y_m"`
	ThetaRad *float64 `json:"theta_rad,omitzero"`
}

// ParsePlaces parses published places, which are always JSON. It does not validate them.
func ParsePlaces(data []byte) (Places, []schema.Problem) {
	p, problems := published[Places](data, "places", PlacesSchema)
	if len(problems) == 0 {
		return p, nil
	}
	ros, unread := schema.Decode[struct {
		Image      string         `json:"image"`
		Resolution jsontext.Value `json:"resolution"`
		Origin     jsontext.Value `json:"origin"`
	}](data)
	if len(unread) == 0 && ros.Image != "" && ros.Resolution != nil && ros.Origin != nil {
		return p, []schema.Problem{schema.NewProblem("", CodeWrongField, "this is the description of a map of ROS, which has no named points",
			"write the points that robots go to, in metres on that map: {schema: 1, points: {kitchen: {x_m: 1.5, y_m: 2, theta_rad: 0}}}; the map "+
				"itself stays with the body")}
	}
	return p, problems
}

// ValidatePlaces returns the errors in published places. The limits of a point are those
// of a place in goto.
func ValidatePlaces(p Places) []schema.Problem {
	var c checks
	if p.Schema != PlacesSchema {
		c.addUnder("", []schema.Problem{unsupported("places", p.Schema, PlacesSchema)})
		return c.found
	}
	if p.Map != nil {
		c.asset("/map", *p.Map, AssetMap)
	}
	if p.Points == nil {
		c.add("/points", CodeMissing, "there is no list of points", "an empty one is {}")
	}
	if len(p.Points) > MaxPoints {
		c.add("/points", CodeTooMany, fmt.Sprintf("%d points are over %d", len(p.Points), MaxPoints), "use fewer")
	}
	row, _ := RowOf(TypeGoto)
	for _, name := range slices.Sorted(maps.Keys(p.Points)) {
		q, at := p.Points[name], at("/points", name)
		c.id(at, name)
		c.number(at, row, "x_m", q.XM)
		c.number(at, row, "y_m", q.YM)
		if q.ThetaRad != nil {
			c.number(at, row, "theta_rad", *q.ThetaRad)
		}
	}
	return c.found
}

func (c *checks) number(p string, row ActionRow, name string, v float64) {
	if f, ok := row.field(name); ok {
		c.field(at(p, name), f, setField{name: name, number: &v})
	}
}

// EncodePlaces encodes places. Equal values give equal bytes.
func EncodePlaces(m *Asset, points map[string]Point) (data []byte, sum string, err error) {
	if points == nil {
		points = map[string]Point{}
	}
	return encodeWithDigest(Places{Schema: PlacesSchema, Map: m, Points: points})
}
