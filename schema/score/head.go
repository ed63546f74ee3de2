package score

import "troupe/schema"

// head is what a head does.
var head = Kind{Unit: schema.UnitHead, Actions: []ActionRow{
	{Do: Head{}, Class: ClassHead, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeRestart, EstimateMS: 1500,
		Ends:    "when reached, or at end_ms",
		Example: `{type: head, start_ms: 0, timeout_ms: 2000, yaw_rad: 0.4, pitch_rad: -0.1}`,
		Begin:   "timeout_ms: 2000, yaw_rad: 0.4",
		Fields: []Field{
			{Name: "yaw_rad", Min: -3.2, Max: 3.2, Reach: yawOf, Doc: "to the left", Default: "as it is", Example: `0.4`},
			{Name: "pitch_rad", Min: -1.6, Max: 1.6, Reach: pitchOf, Doc: "up", Default: "as it is", Example: `-0.1`},
			{Name: "roll_rad", Min: -1.6, Max: 1.6, Reach: rollOf, Doc: "to the side", Default: "as it is", Example: `0.1`},
			{Name: "speed", Min: 0, Max: 1, Reach: upToTwice, Doc: "share of the maximum speed of the head", Default: "1", Example: `0.5`},
			unitField,
		}},
},
	RestAct: "heads-to-rest",
	Rest: func(u *schema.Unit) Do {
		ahead := Axes{YawRad: zeroIf(u.YawRad), PitchRad: zeroIf(u.PitchRad), RollRad: zeroIf(u.RollRad)}
		if ahead == (Axes{}) { // it does not say which axes it has
			ahead.YawRad, ahead.PitchRad = new(float64), new(float64)
		}
		return Head{Axes: ahead}
	},
	Gentle: func(*schema.Unit) Action {
		return Action{TimeoutMS: &gentleMS, Do: Head{Axes: Axes{YawRad: new(float64)}}}
	},
	Impossible: func(u *schema.Unit) []Action {
		all := []Action{speech}
		if u.YawRad != nil {
			beyond := u.YawRad.Max + 1
			all = append(all, Action{TimeoutMS: &gentleMS, Do: Head{Axes: Axes{YawRad: &beyond}}})
		}
		return all
	},
}

// Head turns a head. Its row has no height_m, so the validator refuses Axes.HeightM.
type Head struct {
	Axes
	Speed *float64 `json:"speed,omitzero"` // 0..1 of the unit's own
}

func (Head) Type() ActionType { return TypeHead }

func (h Head) shown([]string) string { return h.inWords() }

func (h Head) check(c *checks, p string, _ *Action, given map[string]bool) {
	if !given["yaw_rad"] && !given["pitch_rad"] && !given["roll_rad"] {
		c.add(p, CodeMissing, "the head has no angle", "add yaw_rad, pitch_rad or roll_rad")
	}
}

func (h Head) fit(c *checks, p string, _ *Action, _ schema.Caps, u schema.Unit) {
	if describesAxes(&u) {
		c.fitAxes(p, "the "+u.ID+" of this robot has", h.Axes, &u)
	}
}
