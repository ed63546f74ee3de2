package api

import (
	"context"
	"errors"
	"maps"
	"slices"

	"troupe/fleetd/change"
	"troupe/schema"
	"troupe/schema/score"
)

// RobotPoints is the points of a robot.
type RobotPoints struct {
	// TaughtMap is the digest of the map on which the taught points lie.
	TaughtMap string       `json:"taught_map_sha256,omitempty" doc:"digest of the map on which the taught points lie; left out for the body's own map"`
	Points    []RobotPoint `json:"points" doc:"sorted by name"`
}

// The origins of points. Places win over taught points, and both over the map. Points of places
// that are not desired any more, and in force until calibration, count as of the map.
const (
	PointFromMap    = "map"
	PointFromPlaces = "places"
	PointTaught     = "taught"
)

// RobotPoint is one point of a robot.
type RobotPoint struct {
	Name  string `json:"name"`
	From  string `json:"from" enum:"map,places,taught"`
	Known bool   `json:"known" doc:"the robot says that it knows the point; a desired place may still be on its way"`
	At    *Point `json:"at,omitempty" doc:"left out for a point of the map, which only the robot knows"`
}

func (s *server) listPoints(ctx context.Context, in *PathID) (*answer[RobotPoints], error) {
	d, err := s.robot(in.ID)
	if err != nil {
		return nil, err
	}
	places, err := s.Desired.Places(ctx, in.ID)
	if err != nil && !errors.Is(err, change.ErrNotFound) { // a robot that is not adopted has none
		return nil, s.fail(err, "robot "+in.ID)
	}
	return &answer[RobotPoints]{pointsOf(d.Caps, places)}, nil
}

// pointsOf lists the points that the robot's caps name, and those of its desired places.
func pointsOf(caps *schema.Caps, places score.Places) RobotPoints {
	out := RobotPoints{Points: []RobotPoint{}}
	all := map[string]RobotPoint{}
	if caps != nil {
		out.TaughtMap = caps.TaughtMap
		for _, name := range caps.Points {
			all[name] = RobotPoint{Name: name, From: PointFromMap, Known: true}
		}
		for _, p := range caps.TaughtPoints {
			all[p.ID] = RobotPoint{Name: p.ID, From: PointTaught, Known: true, At: &Point{XM: p.XM, YM: p.YM, ThetaRad: &p.ThetaRad}}
		}
	}
	for name, p := range places.Points {
		if at := Point(p); all[name].From != PointTaught {
			// caps name a taught point only while the robot uses it: the place has not reached it yet
			all[name] = RobotPoint{Name: name, From: PointFromPlaces, Known: all[name].Known, At: &at}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out.Points = append(out.Points, all[name])
	}
	return out
}
