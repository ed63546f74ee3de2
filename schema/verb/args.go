package verb

import (
	"troupe/schema"
)

// None is for verbs that this release does not know.
type None struct{ sealed }

// Stop is for the stops of the safety core.
type Stop struct {
	sealed
	Why   string `json:"why" doc:"shown to people and kept in the event"`
	Latch string `json:"latch" doc:"hold the stop under this id until it is released by it"`
}

// EnableOrReset is for safety/enable and safety/reset.
type EnableOrReset struct {
	sealed
	SeenMonoMS int64  `json:"seen_mono_ms" doc:"mono_ms of the newest heartbeat that the operator has seen; a stale one is refused"`
	SeenBoot   string `json:"seen_boot" doc:"boot of that heartbeat; one of an earlier start is refused"`
}

// SetMode is for mode/set.
type SetMode struct {
	sealed
	Mode    schema.ModeID `json:"mode" verb:"required" doc:"str, mnl, ato or another mode that the document modes lists as selectable"`
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
	Mode schema.ModeID `json:"mode" verb:"required" doc:"the mode to load"`
}

// UnloadController is for controller/unload.
type UnloadController struct {
	sealed
	Mode schema.ModeID `json:"mode" verb:"required" doc:"the mode to unload"`
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

// SkipAct is for auto/skip.
type SkipAct struct {
	sealed
	Act Text   `json:"act" doc:"the act to skip: the robot refuses if another one is performed by now; any if left out"`
	Why string `json:"why" doc:"shown to people and kept in the event"`
}

// PauseStory is for auto/pause.
type PauseStory struct {
	sealed
	Why string `json:"why" doc:"shown to people and kept in the event"`
}

// ContinueStory is for auto/continue.
type ContinueStory struct {
	sealed
	Token Text `json:"token" doc:"the token to release; if left out, the sender's oldest, or if the sender has none every one whose cause is gone"`
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
	Interrupter string `json:"interrupter" verb:"required" doc:"ai, touch, screen, power or operator"`
}

// StopInterrupter is for interrupter/stop.
type StopInterrupter struct {
	sealed
	Interrupter string `json:"interrupter" verb:"required" doc:"ai, touch, screen, power or operator"`
}

// SetLife is for life/set.
type SetLife struct {
	sealed
	State string `json:"state" verb:"required" doc:"solitary or disabled; the robot itself enters interactive and safeguard"`
}

// FocusActivity is for life/focus.
type FocusActivity struct {
	sealed
	Activity string `json:"activity" verb:"required" doc:"the activity that shall have the focus"`
	Flags    string `json:"flags" doc:"what becomes of the focused one: stop_current, or stop_and_stack_current, then it starts again afterwards; stop_current if left out"`
}

// StopFocus is for life/stop-focus.
type StopFocus struct{ sealed }

// StopActivities is for life/stop-all.
type StopActivities struct{ sealed }

// SetSafeguard is for life/safeguard.
type SetSafeguard struct {
	sealed
	Name    string `json:"name" verb:"required" doc:"pushed, moved, fell, critical_diagnosis or critical_temperature"`
	Enabled bool   `json:"enabled" doc:"whether life reacts to it; false if left out"`
}

// SetLaunchpad is for life/launchpad.
type SetLaunchpad struct {
	sealed
	On bool `json:"on" doc:"whether it evaluates the conditions; false if left out"`
}

// SetPlugin is for life/plugin.
type SetPlugin struct {
	sealed
	Name    string `json:"name" verb:"required" doc:"as in life.plugins of the state"`
	Enabled bool   `json:"enabled" doc:"whether conditions know its values; false if left out"`
}

// ExplainCondition is for life/explain.
type ExplainCondition struct {
	sealed
	Condition Text `json:"condition" verb:"required" doc:"a condition as in launch.when, or the activity whose condition is meant"`
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

// PostIntent is for intent/post.
type PostIntent struct {
	sealed
	Name       string `json:"name" verb:"required" doc:"the intent: 1 to 64 bytes without spaces"`
	Slots      Values `json:"slots" doc:"its details by name, at most 16"`
	Text       Text   `json:"text" doc:"what the person said"`
	Emotion    string `json:"emotion" doc:"the emotion in which the robot shall answer; its own if left out"`
	Confidence Number `json:"confidence" doc:"0 to 1; certain if left out"`
}

// Utterance returns the intent, or what is wrong with it.
func (a PostIntent) Utterance() (schema.Utterance, []schema.Problem) {
	u := schema.Utterance{Name: a.Name, Slots: a.Slots.Texts(), Text: string(a.Text), Emotion: a.Emotion, Confidence: a.Confidence.Pointer()}
	return u, u.Problems("/args")
}

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
	Source string `json:"source" verb:"required" doc:"the unit, as in diagnosis of the state; service for the alert help_asked"`
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

// ExportRecord is for record/export.
type ExportRecord struct {
	sealed
	To     string `json:"to" verb:"required,secret" doc:"key that fleetd gave: the robot sends the file to its fleetd, under this key, and nowhere else"`
	LastMS int64  `json:"last_ms" doc:"how far back from now it begins, up to 86400000; 600000 if left out"`
}
