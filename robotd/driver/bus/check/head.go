package check

import (
	"fmt"
	"strings"

	"troupe/schema"
	"troupe/schema/score"
)

func hasHead(c *checker) bool {
	_, ok := c.find(schema.UnitHead)
	return ok
}

// turns lets each head turn each axis half as far as it describes, and back to the middle.
func turns(c *checker) string {
	if why := c.enable(); why != "" {
		return why
	}
	limit := int64(5000)
	var wrong []string
	for _, u := range c.about.Units {
		if u.Kind != schema.UnitHead {
			continue
		}
		for axis, reach := range []*schema.Range{u.YawRad, u.PitchRad, u.RollRad} {
			if reach == nil {
				continue
			}
			middle, quarter := (reach.Min+reach.Max)/2, (reach.Max-reach.Min)/4
			for _, to := range []float64{middle - quarter, middle + quarter, middle} {
				do := score.Action{Type: score.TypeHead, TimeoutMS: &limit}
				*[]**float64{&do.YawRad, &do.PitchRad, &do.RollRad}[axis] = &to
				if why := c.notDone(u.ID, c.start(u.ID, true, "", do)); why != "" {
					wrong = append(wrong, fmt.Sprintf("turned to %s %g: %s", []string{"yaw_rad", "pitch_rad", "roll_rad"}[axis], to, why))
				}
			}
		}
	}
	return strings.Join(wrong, "; ")
}
