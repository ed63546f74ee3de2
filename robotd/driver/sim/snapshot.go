package sim

import (
	"maps"

	"troupe/robotd/driver"
	"troupe/schema"
)

// Snapshot returns the present state of the body, for tests and dashboards.
func (s *Sim) Snapshot() Snapshot {
	answer := make(chan Snapshot, 1)
	if !s.enqueue(false, func() { answer <- s.look() }) {
		return Snapshot{}
	}
	select {
	case l := <-answer:
		return l
	case <-s.closed:
		return Snapshot{}
	}
}

// Snapshot is the state of the body as seen from outside.
type Snapshot struct {
	X, Y, Theta      float64 // metres, radians
	V, W             float64 // m/s, rad/s
	Yaw, Pitch, Roll float64
	Saying           []string   // texts (with their voice, if one was given) and sounds that are playing
	Lean             [4]float64 // pose of the drive: yaw, pitch, roll in radians, height in metres
	Face, LED        string
	Screen           string
	Battery          float64
	Charging         bool
	Drive, Head      driver.State
	Pressed          map[string]bool
	Yaws             map[string]float64 // of each head
	Faces            map[string]string  // of each face
}

func (s *Sim) look() Snapshot {
	first := s.mover(head)
	l := Snapshot{
		X: s.at.x, Y: s.at.y, Theta: s.at.theta, V: s.v, W: s.w,
		Yaw: first.gaze.now[0], Pitch: first.gaze.now[1], Roll: first.gaze.now[2],
		Face: s.displays[face].shown(), LED: s.displays[led].shown(), Screen: s.displays[screen].shown(), Lean: s.pose.now,
		Battery: s.level, Charging: s.charging,
		Drive: s.mover(drive).state, Head: first.state, Pressed: maps.Clone(s.pressed),
		Yaws: map[string]float64{}, Faces: map[string]string{},
	}
	for _, m := range s.heads() {
		l.Yaws[m.id] = m.gaze.now[0]
	}
	for id, display := range s.displays {
		if s.kindOf(id) == schema.UnitFace {
			l.Faces[id] = display.shown()
		}
	}
	for _, v := range s.voices {
		l.Saying = append(l.Saying, v.what)
	}
	return l
}
