package sim

import (
	"slices"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

var faceKind = kind{
	unit: schema.Unit{ID: face, Kind: schema.UnitFace, Faces: faces}, pairs: true, shows: "neutral", start: (*Sim).startFace,
}

var faces = []string{"laugh", "neutral", "sad", "sleepy", "smile", "surprised", "thinking", "wink"}

func (s *Sim) startFace(c driver.Command) {
	do, _ := c.Do.Do.(score.Face)
	if !slices.Contains(faces, do.Face) && c.Asset == "" {
		s.failed(c.Key, schema.ReasonOutOfRange, "there is no face "+do.Face)
		return
	}
	s.setDisplay(s.displays[c.Unit], c, do.Face)
}
