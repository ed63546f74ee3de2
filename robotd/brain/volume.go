package brain

import (
	"fmt"
	"strconv"

	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/schema"
)

// setVolume sets how loud all is that the robot says and plays, from now on and
// over a restart.
func (t *step) setVolume(o request.Perform) {
	v := o.Args.Volume.Value
	r := request.Verdict{Status: schema.StatusSucceeded}
	switch {
	case v < 0 || v > 1:
		t.refuse(o, schema.ReasonOutOfRange, "/args/volume", fmt.Sprintf("%v is not between 0 and 1", v))
		return
	case t.body.Volume() == o.Args.Volume:
		r.Reason = schema.ReasonUnchanged
	default:
		t.body.SetVolume(o.Args.Volume)
		t.do(effect.SaveSetting{Name: volumeSetting, Value: strconv.FormatFloat(v, 'g', -1, 64)})
		t.dirty(effect.FlushSoon)
	}
	t.reply(o.Key, r)
}
