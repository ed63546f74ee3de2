package score

import "troupe/schema"

// headActions is what a head does.
var headActions = []ActionRow{
	{Type: TypeHead, Unit: schema.UnitHead, Class: ClassHead, Method: MethodNoSameType,
		End: true, Timeout: true, OnResume: ResumeRestart, Ends: "when reached, or at end_ms", Example: `{type: head, start_ms: 0, timeout_ms: 2000, yaw_rad: 0.4, pitch_rad: -0.1}`,
		Fields: []Field{
			{Name: "yaw_rad", Min: -3.2, Max: 3.2, Doc: "to the left", Default: "as it is", Example: `0.4`},
			{Name: "pitch_rad", Min: -1.6, Max: 1.6, Doc: "up", Default: "as it is", Example: `-0.1`},
			{Name: "roll_rad", Min: -1.6, Max: 1.6, Doc: "to the side", Default: "as it is", Example: `0.1`},
			{Name: "speed", Min: 0, Max: 1, Doc: "share of the maximum speed of the head", Default: "1", Example: `0.5`},
			unitField,
		}},
}
