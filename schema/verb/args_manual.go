package verb

import (
	"cmp"
	"reflect"

	"troupe/schema"
	"troupe/schema/score"
)

// StopManual is for manual/stop.
type StopManual struct {
	sealed
	Why string `json:"why" doc:"shown to people and kept in the event"`
}

// Action returns the action that args ask for: that of Does, with the arguments that have names of its
// fields. languages are those of the robot, its own first.
func (v *Verb) Action(args Args, languages []string) score.Action {
	x, in, language := score.Action{Do: v.Does}, reflect.ValueOf(args), languages[0]
	if given := in.FieldByName("Language"); given.IsValid() {
		language = cmp.Or(given.String(), language)
	}
	for i, a := range v.shape.args {
		switch value := in.Field(v.shape.fields[i]).Interface().(type) {
		case Number:
			if value.Given {
				x.Set(a.Name, &value.Value)
			}
		case Text:
			if value != "" || a.Required {
				x.Set(a.Name, score.Text{language: string(value)})
			}
		default:
			x.Set(a.Name, value)
		}
	}
	if unit := in.FieldByName("Unit"); unit.IsValid() {
		x.Unit = unit.String()
	}
	return x
}

// Goto is for manual/goto.
type Goto struct {
	sealed
	Point    string `json:"point" doc:"a name that caps lists"`
	XM       Number `json:"x_m" doc:"instead of a point, with y_m"`
	YM       Number `json:"y_m" doc:"instead of a point, with x_m"`
	ThetaRad Number `json:"theta_rad" doc:"heading on arrival"`
	SpeedMPS Number `json:"speed_mps" doc:"speed of the drive"`
	Unit     string `json:"unit" doc:"which drive, by its id in caps; the first if left out"`
}

// Head is for manual/head.
type Head struct {
	sealed
	YawRad   Number `json:"yaw_rad" doc:"to the left"`
	PitchRad Number `json:"pitch_rad" doc:"up"`
	RollRad  Number `json:"roll_rad" doc:"to the side"`
	Speed    Number `json:"speed" doc:"0 to 1, as a share of the maximum"`
	Unit     string `json:"unit" doc:"which head, by its id in caps; the first if left out"`
}

// Say is for manual/say.
type Say struct {
	sealed
	Text     Text   `json:"text" verb:"required" doc:"what to say"`
	Language string `json:"language" doc:"its BCP 47 tag; the robot's own if left out"`
	Voice    string `json:"voice" doc:"name of a voice of the robot"`
	Volume   Number `json:"volume" doc:"0 to 1"`
	Rate     Number `json:"rate" doc:"0.5 to 2, relative to the usual speed"`
	Unit     string `json:"unit" doc:"which speaker, by its id in caps; the first if left out"`
}

// Sound is for manual/sound.
type Sound struct {
	sealed
	Sound  string `json:"sound" verb:"required" doc:"a name that caps lists"`
	Volume Number `json:"volume" doc:"0 to 1"`
	Loop   bool   `json:"loop" doc:"repeat, for a minute at most"`
	Unit   string `json:"unit" doc:"which speaker, by its id in caps; the first if left out"`
}

// SetVolume is for manual/volume.
type SetVolume struct {
	sealed
	Volume Number `json:"volume" verb:"required" doc:"0 to 1"`
}

// Face is for manual/face.
type Face struct {
	sealed
	Face string `json:"face" verb:"required" doc:"a name that caps lists"`
	Unit string `json:"unit" doc:"which face, by its id in caps; the first if left out"`
}

// LED is for manual/led.
type LED struct {
	sealed
	Colour   string `json:"colour" doc:"#rrggbb"`
	Pattern  string `json:"pattern" doc:"solid, blink, breathe or rainbow"`
	PeriodMS int64  `json:"period_ms" doc:"100 to 10000"`
	LED      string `json:"led" doc:"id of the LED; all if left out"`
	Unit     string `json:"unit" doc:"which strip of leds, by its id in caps; the first if left out"`
}

// View is for manual/view.
type View struct {
	sealed
	View     string `json:"view" doc:"a name that caps lists"`
	Text     Text   `json:"text" doc:"instead of a view: a text"`
	Language string `json:"language" doc:"BCP 47 tag of the text; the robot's own if left out"`
	Image    string `json:"image" doc:"instead of a view: a name that caps lists, or an image of the story"`
	Unit     string `json:"unit" doc:"which screen, by its id in caps; the first if left out"`
}

// HeadMotion is for manual/head-motion.
type HeadMotion struct {
	sealed
	Motion string `json:"motion" verb:"required" doc:"a name that caps lists for the head"`
	Speed  Number `json:"speed" doc:"0.1 to 2, relative to the usual speed"`
	Unit   string `json:"unit" doc:"which head, by its id in caps; the first that has the motion if left out"`
}

// SavePoint is for manual/point-save.
type SavePoint struct {
	sealed
	Point string `json:"point" verb:"required" doc:"name of the point: a-z, 0-9 and hyphens"`
}

// DeletePoint is for manual/point-delete.
type DeletePoint struct {
	sealed
	Point string `json:"point" verb:"required" doc:"name of a taught point"`
}

// RecordAct is for manual/act-record.
type RecordAct struct {
	sealed
	Do   string `json:"do" verb:"required" doc:"start; stop, which keeps the act; or cancel, which does not"`
	Act  string `json:"act" doc:"with start: id of the act, a-z, 0-9 and hyphens"`
	Name Text   `json:"name" doc:"with start: its name for people"`
}

// DeleteAct is for manual/act-delete.
type DeleteAct struct {
	sealed
	Act string `json:"act" verb:"required" doc:"id of a taught act"`
}

// WholeAct is implemented by the arguments of verbs that perform a whole act.
type WholeAct interface {
	Args
	// PerformRequest returns what to perform, or what is wrong with it.
	PerformRequest() (score.PerformRequest, []schema.Problem)
	// Replaces reports whether it replaces an act that is performed or waits.
	Replaces() bool
}

// ManualAct is for manual/act.
type ManualAct struct {
	sealed
	Act  string `json:"act" verb:"required" doc:"id of an act of the robot's story, or of a taught one"`
	With Values `json:"with" doc:"values of the act's parameters, by name"`
}

// PerformRequest implements WholeAct.
func (a ManualAct) PerformRequest() (score.PerformRequest, []schema.Problem) {
	return score.PerformRequestOf(a.Act, "", a.With.Texts(), false)
}

// Replaces implements WholeAct: the holder of control always replaces what is performed.
func (ManualAct) Replaces() bool { return true }

// Perform is for act/perform.
type Perform struct {
	sealed
	Act     string  `json:"act" doc:"id of an act of the robot's story, or of a taught one"`
	Actions Objects `json:"actions" doc:"instead of act: actions as in the file of an act"`
	With    Values  `json:"with" doc:"values of the act's parameters, by name"`
	Clear   bool    `json:"clear" doc:"cancels earlier requests, running or waiting; never the story"`
	Defer   bool    `json:"defer" doc:"for actions: an exclusive one also waits for those that certainly still run when it is due, and later ones may overtake it; without it such a command is refused at once"`
}

// PerformRequest implements WholeAct.
func (a Perform) PerformRequest() (score.PerformRequest, []schema.Problem) {
	return score.PerformRequestOf(a.Act, string(a.Actions), a.With.Texts(), a.Defer)
}

// Replaces implements WholeAct.
func (a Perform) Replaces() bool { return a.Clear }
