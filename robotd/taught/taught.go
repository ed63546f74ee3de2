// Package taught keeps what people taught the robot: points, where it stood, and acts, which
// are what was done manually between two commands.
package taught

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/schema"
	"troupe/schema/score"
)

// The limits of what is kept.
const (
	MaxPoints   = 64
	MaxActs     = 32
	MaxActBytes = 32 << 10
)

// Point is a point that was taught. Its coordinates hold only on the map that was in force
// then.
type Point struct {
	score.Point
	MapSHA256 string `json:"map_sha256,omitzero"` // empty = the body's own map
}

// Act is an act that was taught. Rev counts how often, since it was last deleted.
type Act struct {
	Rev int64     `json:"rev"`
	Act score.Act `json:"act"`
}

// State is everything that the robot was taught.
type State struct {
	points map[string]Point
	acts   map[string]Act
	Recording
}

// StoredValue is what the disk shall keep under a name; an empty value deletes it.
type StoredValue struct{ Name, Value string }

// Values on the disk are stored under the kind and the id.
const (
	pointKey = "taught.point."
	actKey   = "taught.act."
)

// Restore returns what was saved. A value that cannot be read is left out.
func Restore(saved map[string]string) State {
	s := State{points: map[string]Point{}, acts: map[string]Act{}}
	for name, value := range saved {
		if id, ok := strings.CutPrefix(name, pointKey); ok {
			if p, problems := schema.Decode[Point]([]byte(value)); len(problems) == 0 {
				s.points[id] = p
			}
		}
		if id, ok := strings.CutPrefix(name, actKey); ok {
			if a, problems := schema.Decode[Act]([]byte(value)); len(problems) == 0 {
				s.acts[id] = a
			}
		}
	}
	return s
}

// encode encodes a value of this package or of score, which always can be encoded.
func encode(v any) string {
	b, err := schema.Encode(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Points are the taught points. They are not changed afterwards: SetPoint makes a new map.
func (s *State) Points() map[string]Point { return s.points }

// SetPoint teaches a point.
func (s *State) SetPoint(id string, p Point) StoredValue {
	s.points = maps.Clone(s.points)
	s.points[id] = p
	return StoredValue{pointKey + id, encode(p)}
}

// DeletePoint forgets a point, and reports whether there was one.
func (s *State) DeletePoint(id string) (StoredValue, bool) {
	_, had := s.points[id]
	s.points = maps.Clone(s.points)
	delete(s.points, id)
	return StoredValue{Name: pointKey + id}, had
}

// Acts returns the taught acts in a new map.
func (s *State) Acts() map[string]score.Act {
	acts := make(map[string]score.Act, len(s.acts))
	for id, a := range s.acts {
		acts[id] = a.Act
	}
	return acts
}

// Has reports whether the act was taught.
func (s *State) Has(id string) bool {
	_, ok := s.acts[id]
	return ok
}

// Full reports whether no further act can be taught.
func (s *State) Full() bool { return len(s.acts) >= MaxActs }

// Size is the size of an act on the disk.
func Size(a score.Act) int { return len(encode(a)) }

// SetAct teaches an act.
func (s *State) SetAct(a score.Act) StoredValue {
	next := Act{Rev: s.acts[a.ID].Rev + 1, Act: a}
	s.acts[a.ID] = next
	return StoredValue{actKey + a.ID, encode(next)}
}

// DeleteAct forgets an act, and reports whether there was one.
func (s *State) DeleteAct(id string) (StoredValue, bool) {
	had := s.Has(id)
	delete(s.acts, id)
	return StoredValue{Name: actKey + id}, had
}

// Digest covers the ids and revisions of the acts.
func (s *State) Digest() string {
	h := sha256.New()
	for _, id := range slices.Sorted(maps.Keys(s.acts)) {
		_, _ = fmt.Fprintf(h, "%s %d\n", id, s.acts[id].Rev) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Document is the catalogue of the taught acts.
func (s *State) Document(languages []string) *schema.Acts {
	d := &schema.Acts{Digest: s.Digest(), Acts: []schema.ActRef{}}
	for _, id := range slices.Sorted(maps.Keys(s.acts)) {
		a := s.acts[id]
		d.Acts = append(d.Acts, schema.ActRef{ID: id, Rev: a.Rev, Name: a.Act.Name.In(languages...)})
	}
	return d
}
