package score

import (
	"slices"

	"troupe/schema"
)

// face is what a face shows.
var face = Kind{Unit: schema.UnitFace, Actions: []ActionRow{
	{Do: Face{}, Class: ClassFace, Method: MethodNoSameType,
		AtOnce: true, End: true, OnResume: ResumeContinue,
		Ends:    "at once, or at end_ms: then the face before it returns",
		Example: `{type: face, start_ms: 0, end_ms: 3000, face: smile}`,
		Begin:   "face: ''",
		Fields: []Field{
			{Name: "face", Required: true, Form: FormName, File: AssetFace, Names: func(u *schema.Unit) []string { return u.Faces },
				Doc: "an asset, or a face that the robot has", Example: `smile`},
			unitField,
		}},
},
	Gentle: func(u *schema.Unit) Action { return Action{Do: Face{append(slices.Clip(u.Faces), "smile")[0]}} },
	Impossible: func(u *schema.Unit) (all []Action) {
		if len(u.Faces) > 0 {
			all = append(all, Action{Do: Face{"no-such-face"}})
		}
		return all
	},
}

// Face shows a face.
type Face struct {
	Face string `json:"face,omitempty"`
}

func (Face) Type() ActionType { return TypeFace }

func (f Face) shown([]string) string { return f.Face }
