package manual

import (
	"fmt"
	"strconv"

	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/verb"
)

// VolumeKey is the key on the disk of the volume, as a share of 1.
const VolumeKey = "volume"

// RestoredVolume is the volume before the restart.
func RestoredVolume(saved map[string]string) verb.Number {
	v, err := strconv.ParseFloat(saved[VolumeKey], 64)
	if err != nil {
		return verb.Number{}
	}
	return verb.Number{Value: min(max(v, 0), 1), Given: true}
}

// setVolume sets the volume of everything that the robot plays, also after restarts.
func (t Step) setVolume(o effect.Dispatch, to verb.Number) {
	v := to.Value
	r := schema.Verdict{Status: schema.StatusSucceeded}
	switch {
	case !schema.HasVolume(t.Body.Units()):
		t.refuse(o, schema.ReasonOutOfRange, "",
			"the robot cannot change the volume of its speaker, as the speaker's driver says (fixed_volume); set it at the speaker itself")
		return
	case v < 0 || v > 1:
		t.refuse(o, schema.ReasonOutOfRange, "/args/volume", fmt.Sprintf("%v is not between 0 and 1", v))
		return
	case t.Body.Volume() == to:
		r.Reason = schema.ReasonUnchanged
	default:
		t.Body.SetVolume(to)
		t.Out.Do(effect.SaveValue{Name: VolumeKey, Value: strconv.FormatFloat(v, 'g', -1, 64)})
		t.Out.Changed(effect.FlushSoon)
	}
	t.Out.Reply(o.Key, r)
}
