package sim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"troupe/robotd/driver"
	"troupe/schema"
)

// chart is a map of the simulated world: named points, and where the robot may go.
type chart struct {
	points map[string]place
	bounds *bounds // nil: anywhere
}

// position is where the body is, and the map in force.
type position struct {
	place
	chart chart
}

// mapFile is the file of a map, as JSON. Lengths are in metres, headings in radians.
type mapFile struct {
	Version int    `json:"version"` // mapVersion
	Bounds  bounds `json:"bounds"`
	Points  map[string]struct {
		XM       float64 `json:"x_m"`
		YM       float64 `json:"y_m"`
		ThetaRad float64 `json:"theta_rad"`
	} `json:"points"`
}

type bounds struct {
	MinX float64 `json:"min_x_m"`
	MinY float64 `json:"min_y_m"`
	MaxX float64 `json:"max_x_m"`
	MaxY float64 `json:"max_y_m"`
}

const (
	mapVersion = 1
	maxMapFile = 1 << 20 // bytes
)

func (b *bounds) contain(p place) bool {
	return b == nil || p.x >= b.MinX && p.x <= b.MaxX && p.y >= b.MinY && p.y <= b.MaxY
}

// ownChart is the map without a file.
func (s *Sim) ownChart() chart {
	if s.config.NoMap {
		return chart{}
	}
	return chart{points: points}
}

// loadMap puts a map in force, or leaves the one before.
func (s *Sim) loadMap(m driver.Map) (r driver.MapResult) {
	read := s.ownChart()
	if m.SHA256 != "" {
		var err error
		if read, err = s.readMap(m); err != nil {
			return driver.MapResult{Reason: schema.ReasonBadMap, Detail: fmt.Sprintf("map %s: %v", m.Name, err)}
		}
	}
	s.at.chart = read
	if read.points != nil {
		r.Points = names(read.points)
	}
	return r
}

func (s *Sim) readMap(m driver.Map) (c chart, err error) {
	path := filepath.Join(s.config.Assets, filepath.Base(m.SHA256))
	if info, err := os.Stat(path); err != nil {
		return c, fmt.Errorf("its file is not there: %w", err)
	} else if info.Size() > maxMapFile {
		return c, fmt.Errorf("it has %d bytes, over %d", info.Size(), maxMapFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return c, fmt.Errorf("read its file: %w", err)
	}
	var f mapFile
	if err := json.Unmarshal(data, &f, json.RejectUnknownMembers(true)); err != nil {
		return c, fmt.Errorf("it is no map of the simulated body: %w", err)
	}
	if f.Version != mapVersion {
		return c, fmt.Errorf("it has version %d, want %d", f.Version, mapVersion)
	}
	if f.Bounds.MinX >= f.Bounds.MaxX || f.Bounds.MinY >= f.Bounds.MaxY {
		return c, errors.New("its bounds enclose nothing")
	}
	c = chart{points: map[string]place{}, bounds: &f.Bounds}
	for name, p := range f.Points {
		c.points[name] = place{p.XM, p.YM, p.ThetaRad}
	}
	for _, name := range names(c.points) {
		if !c.bounds.contain(c.points[name]) {
			return c, fmt.Errorf("its point %s lies outside its bounds", name)
		}
	}
	return c, nil
}

// refusesGoto returns why the robot cannot go to a place on its map.
func (s *Sim) refusesGoto(p place) string {
	if s.at.chart.bounds.contain(p) {
		return ""
	}
	b := s.at.chart.bounds
	return fmt.Sprintf("%.2f, %.2f lies outside the map, which goes from %.2f, %.2f to %.2f, %.2f", p.x, p.y, b.MinX, b.MinY, b.MaxX, b.MaxY)
}
