package verb

import (
	"cmp"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// None is for verbs that this release does not know.
type None struct{ sealed }

// Stop is for the stops of the safety core.
type Stop struct {
	sealed
	Why   string `json:"why" doc:"shown to people and kept in the event"`
	Latch string `json:"latch" doc:"hold the stop under this id until it is released by it"`
}

// Allow is for safety/enable and safety/reset.
type Allow struct {
	sealed
	SeenMonoMS int64  `json:"seen_mono_ms" doc:"mono_ms of the newest heartbeat that the operator has seen; a stale one is refused"`
	SeenBoot   string `json:"seen_boot" doc:"boot of that heartbeat; one of an earlier start is refused"`
}

// SetMode is for mode/set.
type SetMode struct {
	sealed
	Mode    schema.ModeID `json:"mode" verb:"required" doc:"str, mnl or ato"`
	Restart bool          `json:"restart" doc:"restart it if it is active already"`
}

// EnableMode is for mode/enable.
type EnableMode struct {
	sealed
	Mode schema.ModeID `json:"mode" verb:"required" doc:"the mode to enable"`
}

// DisableMode is for mode/disable.
type DisableMode struct {
	sealed
	Mode schema.ModeID `json:"mode" verb:"required" doc:"the mode to disable"`
}

// LoadController is for controller/load.
type LoadController struct {
	sealed
	Mode schema.ModeID `json:"mode" verb:"required" doc:"the mode to attach"`
}

// UnloadController is for controller/unload.
type UnloadController struct {
	sealed
	Mode schema.ModeID `json:"mode" verb:"required" doc:"the mode to detach"`
}

// SetParam is for mode/param.
type SetParam struct {
	sealed
	Mode  schema.ModeID `json:"mode" verb:"required" doc:"the mode, active or not"`
	Name  string        `json:"name" verb:"required" doc:"a parameter that the document modes lists for it"`
	Value Any           `json:"value" doc:"its new value, of the listed type and within the listed bounds; the default if left out"`
}

// PauseMode is for mode/pause.
type PauseMode struct{ sealed }

// ResumeMode is for mode/resume.
type ResumeMode struct{ sealed }

// KillMode is for mode/kill.
type KillMode struct{ sealed }

// StartStory is for auto/start.
type StartStory struct{ sealed }

// StopStory is for auto/stop.
type StopStory struct{ sealed }

// PauseStory is for auto/pause.
type PauseStory struct {
	sealed
	Why string `json:"why" doc:"shown to people and kept in the event"`
}

// ContinueStory is for auto/continue.
type ContinueStory struct {
	sealed
	Token Text `json:"token" doc:"the token to release; the sender's oldest if left out"`
}

// RequestInterrupt is for interrupt/request.
type RequestInterrupt struct {
	sealed
	Handler     string `json:"handler" verb:"required" doc:"the handler that shall run"`
	Interrupter string `json:"interrupter" doc:"on whose behalf: ai, touch, screen, power or operator; operator if left out"`
}

// CancelInterrupt is for interrupt/cancel.
type CancelInterrupt struct {
	sealed
	ID string `json:"id" verb:"required" doc:"id of the interrupt, from state"`
}

// RunInterrupter is for interrupter/run.
type RunInterrupter struct {
	sealed
	Interrupter string `json:"interrupter" verb:"required" doc:"ai, touch, screen, power"`
}

// StopInterrupter is for interrupter/stop.
type StopInterrupter struct {
	sealed
	Interrupter string `json:"interrupter" verb:"required" doc:"ai, touch, screen, power"`
}

// Acquire is for control/acquire.
type Acquire struct {
	sealed
	Scope string `json:"scope" doc:"manual: manual commands; all: modes too; manual if left out"`
	TTLMS int64  `json:"ttl_ms" doc:"duration of the lease, up to 60000; 30000 if left out"`
}

// Renew is for control/renew.
type Renew struct {
	sealed
	Lease string `json:"lease" doc:"id of the lease; the sender's own if left out"`
	TTLMS int64  `json:"ttl_ms" doc:"duration of the lease, up to 60000; as before if left out"`
}

// Release is for control/release.
type Release struct {
	sealed
	Lease string `json:"lease" doc:"id of the lease; the sender's own if left out"`
}

// TakeOver is for control/takeover.
type TakeOver struct {
	sealed
	Scope string `json:"scope" doc:"manual or all; manual if left out"`
	TTLMS int64  `json:"ttl_ms" doc:"duration of the lease, up to 60000; 30000 if left out"`
}

// StopManual is for manual/stop.
type StopManual struct {
	sealed
	Why string `json:"why" doc:"shown to people and kept in the event"`
}

// Action is implemented by the arguments of manual verbs that are one action of an
// act.
type Action interface {
	Args
	// Action returns what to do; languages are those of the robot, its own first.
	Action(languages []string) score.Action
	// Patience is how long the unit may take; 0 if it takes effect at once.
	Patience() time.Duration
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

// Action implements Action.
func (a Goto) Action([]string) score.Action {
	return score.Action{Type: score.TypeGoto, Unit: a.Unit, Point: a.Point, XM: a.XM.Pointer(), YM: a.YM.Pointer(), ThetaRad: a.ThetaRad.Pointer(), SpeedMPS: a.SpeedMPS.Pointer()}
}

// Patience implements Action.
func (Goto) Patience() time.Duration { return 5 * time.Minute }

// Head is for manual/head.
type Head struct {
	sealed
	YawRad   Number `json:"yaw_rad" doc:"to the left"`
	PitchRad Number `json:"pitch_rad" doc:"up"`
	RollRad  Number `json:"roll_rad" doc:"to the side"`
	Speed    Number `json:"speed" doc:"0 to 1, as a share of the maximum"`
	Unit     string `json:"unit" doc:"which head, by its id in caps; the first if left out"`
}

// Action implements Action.
func (a Head) Action([]string) score.Action {
	return score.Action{Type: score.TypeHead, Unit: a.Unit, YawRad: a.YawRad.Pointer(), PitchRad: a.PitchRad.Pointer(), RollRad: a.RollRad.Pointer(), Speed: a.Speed.Pointer()}
}

// Patience implements Action.
func (Head) Patience() time.Duration { return 10 * time.Second }

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

// Action implements Action.
func (a Say) Action(languages []string) score.Action {
	return score.Action{Type: score.TypeSay, Unit: a.Unit, Text: score.Text{cmp.Or(a.Language, languages[0]): string(a.Text)}, Voice: a.Voice, Volume: a.Volume.Pointer(), Rate: a.Rate.Pointer()}
}

// Patience implements Action.
func (Say) Patience() time.Duration { return time.Minute }

// Sound is for manual/sound.
type Sound struct {
	sealed
	Sound  string `json:"sound" verb:"required" doc:"a name that caps lists"`
	Volume Number `json:"volume" doc:"0 to 1"`
	Loop   bool   `json:"loop" doc:"repeat, for a minute at most"`
	Unit   string `json:"unit" doc:"which speaker, by its id in caps; the first if left out"`
}

// Action implements Action.
func (a Sound) Action([]string) score.Action {
	return score.Action{Type: score.TypeSound, Unit: a.Unit, Sound: a.Sound, Volume: a.Volume.Pointer(), Loop: a.Loop}
}

// Patience implements Action.
func (Sound) Patience() time.Duration { return time.Minute }

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

// Action implements Action.
func (a Face) Action([]string) score.Action {
	return score.Action{Type: score.TypeFace, Unit: a.Unit, Face: a.Face}
}

// Patience implements Action.
func (Face) Patience() time.Duration { return 0 }

// LED is for manual/led.
type LED struct {
	sealed
	Colour   string `json:"colour" doc:"#rrggbb"`
	Pattern  string `json:"pattern" doc:"solid, blink, breathe or rainbow"`
	PeriodMS int64  `json:"period_ms" doc:"100 to 10000"`
	LED      string `json:"led" doc:"id of the LED; all if left out"`
	Unit     string `json:"unit" doc:"which strip of leds, by its id in caps; the first if left out"`
}

// Action implements Action.
func (a LED) Action([]string) score.Action {
	return score.Action{Type: score.TypeLED, Unit: a.Unit, LED: a.LED, Colour: a.Colour, Pattern: a.Pattern, PeriodMS: a.PeriodMS}
}

// Patience implements Action.
func (LED) Patience() time.Duration { return 0 }

// View is for manual/view.
type View struct {
	sealed
	View     string `json:"view" doc:"a name that caps lists"`
	Text     Text   `json:"text" doc:"instead of a view: a text"`
	Language string `json:"language" doc:"BCP 47 tag of the text; the robot's own if left out"`
	Image    string `json:"image" doc:"instead of a view: a name that caps lists, or an image of the story"`
	Unit     string `json:"unit" doc:"which screen, by its id in caps; the first if left out"`
}

// Action implements Action.
func (a View) Action(languages []string) score.Action {
	do := score.Action{Type: score.TypeScreen, Unit: a.Unit, View: a.View, Image: a.Image}
	if a.Text != "" {
		do.Text = score.Text{cmp.Or(a.Language, languages[0]): string(a.Text)}
	}
	return do
}

// Patience implements Action.
func (View) Patience() time.Duration { return 0 }

// HeadMotion is for manual/head-motion.
type HeadMotion struct {
	sealed
	Motion string `json:"motion" verb:"required" doc:"a name that caps list for the head"`
	Speed  Number `json:"speed" doc:"0.1 to 2, relative to the usual speed"`
	Unit   string `json:"unit" doc:"which head, by its id in caps; the first that has the motion if left out"`
}

// Action implements Action.
func (a HeadMotion) Action([]string) score.Action {
	return score.Action{Type: score.TypeMotion, Unit: a.Unit, Motion: a.Motion, Speed: a.Speed.Pointer()}
}

// Patience implements Action.
func (HeadMotion) Patience() time.Duration { return 30 * time.Second }

// SavePoint is for manual/save-point.
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

// Replaces implements WholeAct: a command of the holder of control replaces always.
func (ManualAct) Replaces() bool { return true }

// Perform is for act/perform.
type Perform struct {
	sealed
	Act     string  `json:"act" doc:"id of an act of the robot's story, or of a taught one"`
	Actions Objects `json:"actions" doc:"instead of act: actions as in the file of an act"`
	With    Values  `json:"with" doc:"values of the act's parameters, by name"`
	Clear   bool    `json:"clear" doc:"cancels earlier requests, running or waiting; never the story"`
	Defer   bool    `json:"defer" doc:"for actions: an exclusive one that is due while others run waits for them; else it is refused"`
}

// PerformRequest implements WholeAct.
func (a Perform) PerformRequest() (score.PerformRequest, []schema.Problem) {
	return score.PerformRequestOf(a.Act, string(a.Actions), a.With.Texts(), a.Defer)
}

// Replaces implements WholeAct.
func (a Perform) Replaces() bool { return a.Clear }

// Ping is for sys/ping.
type Ping struct {
	sealed
	Echo Any `json:"echo" doc:"returned in detail"`
}

// Query is for sys/query.
type Query struct {
	sealed
	ID string `json:"id" verb:"required" doc:"id of the command"`
}

// Cancel is for sys/cancel.
type Cancel struct {
	sealed
	ID string `json:"id" verb:"required" doc:"id of a command of the sender that has not ended"`
}

// Resync is for sys/resync.
type Resync struct{ sealed }

// Replay is for sys/replay.
type Replay struct {
	sealed
	From int64  `json:"from" verb:"required" doc:"seq of the first event"`
	To   int64  `json:"to" doc:"seq of the last one; the newest if left out"`
	Boot string `json:"boot" doc:"boot of the events; the present one if left out"`
}

// AckFault is for sys/ack-fault.
type AckFault struct {
	sealed
	Source string `json:"source" verb:"required" doc:"the unit, as in diagnosis of the state"`
}

// Adopt is for sys/adopt.
type Adopt struct {
	sealed
	FleetID UUID `json:"fleet_id" verb:"required" doc:"UUID of the fleet's database"`
}

// Reboot is for sys/reboot.
type Reboot struct {
	sealed
	Why string `json:"why" doc:"shown to people and kept in the event"`
}

// LogOn is for log/on.
type LogOn struct{ sealed }

// LogOff is for log/off.
type LogOff struct{ sealed }
