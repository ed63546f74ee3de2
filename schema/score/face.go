package score

import "troupe/schema"

// faceActions is what a face does.
var faceActions = []ActionRow{
	{Type: TypeFace, Unit: schema.UnitFace, Class: ClassFace, Method: MethodNoSameType,
		AtOnce: true, End: true, OnResume: ResumeContinue, Ends: "at once, or at end_ms: then the face before it returns", Example: `{type: face, start_ms: 0, end_ms: 3000, face: smile}`,
		Fields: []Field{
			{Name: "face", Required: true, Form: FormName, Doc: "an asset, or a face that the robot has", Example: `smile`},
			unitField,
		}},
}
