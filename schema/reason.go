package schema

// Reason is a machine-readable cause of a refusal or a failure. Commands, deployments,
// acts, interrupts and fleetd share one list.
type Reason string

// The reasons. The zero value means that there is no reason.
const (
	ReasonBadRequest         Reason = "bad_request"
	ReasonUnknownVerb        Reason = "unknown_verb"
	ReasonIDReuse            Reason = "id_reuse"
	ReasonRetainedCommand    Reason = "retained_command"
	ReasonTooBig             Reason = "too_big"
	ReasonNotInControl       Reason = "not_in_control"
	ReasonBusy               Reason = "busy"
	ReasonPrecondition       Reason = "precondition"
	ReasonOutOfOrder         Reason = "out_of_order"
	ReasonClockSkew          Reason = "clock_skew"
	ReasonUnchanged          Reason = "unchanged"
	ReasonRestarted          Reason = "restarted"
	ReasonOverloaded         Reason = "overloaded"
	ReasonExpired            Reason = "expired"
	ReasonSuperseded         Reason = "superseded"
	ReasonStopped            Reason = "stopped"
	ReasonCancelled          Reason = "cancelled"
	ReasonSkipped            Reason = "skipped"
	ReasonForbidden          Reason = "forbidden"
	ReasonTimeout            Reason = "timeout"
	ReasonUnknownMode        Reason = "unknown_mode"
	ReasonModeDisabled       Reason = "not_enabled" // of a mode that was disabled with mode/disable, as opposed to ReasonSafetyDisabled
	ReasonLifeDisabled       Reason = "life_disabled"
	ReasonNotCalibrated      Reason = "not_calibrated"
	ReasonBadMap             Reason = "bad_map"
	ReasonNeedsEnable        Reason = "needs_enable"
	ReasonNeedsContinue      Reason = "needs_continue"
	ReasonNeedsStart         Reason = "needs_start"
	ReasonNoDefaultStory     Reason = "no_default_story"
	ReasonStoryEmpty         Reason = "story_empty"
	ReasonStoryInvalid       Reason = "story_invalid"
	ReasonStoryPruned        Reason = "story_pruned"
	ReasonStartFailed        Reason = "start_failed"
	ReasonModeFailed         Reason = "mode_failed"
	ReasonSafetyDisabled     Reason = "safety_disabled"
	ReasonNeedsReset         Reason = "needs_reset"
	ReasonLatched            Reason = "latched"
	ReasonLinkLost           Reason = "link_lost"
	ReasonEStopInput         Reason = "estop_input"
	ReasonLocalOnly          Reason = "local_only"
	ReasonResetSettling      Reason = "reset_settling"
	ReasonUnitError          Reason = "unit_error"
	ReasonResourceBusy       Reason = "resource_busy"
	ReasonDeviceDisabled     Reason = "device_disabled"
	ReasonUnitCritical       Reason = "unit_critical"
	ReasonSafeguard          Reason = "safeguard"
	ReasonOutOfRange         Reason = "out_of_range"
	ReasonInvalidTransition  Reason = "invalid_transition"
	ReasonNotInAto           Reason = "not_in_ato"
	ReasonNotInMnl           Reason = "not_in_mnl"
	ReasonUnknownHandler     Reason = "unknown_handler"
	ReasonUnknownInterrupter Reason = "unknown_interrupter"
	ReasonInterrupterStopped Reason = "interrupter_stopped"
	// The words of the next three are older than the Go names.
	ReasonNotPerforming      Reason = "ignored_global"
	ReasonAlreadyRunning     Reason = "ignored_duplicate"
	ReasonHandlerCondition   Reason = "ignored_condition"
	ReasonUnknownActivity    Reason = "unknown_activity"
	ReasonInteractiveFocused Reason = "interactive_focused"
	ReasonLacksPermission    Reason = "activity_lacks_permission"
	ReasonCooldown           Reason = "cooldown"
	ReasonUnknownIntent      Reason = "unknown_intent"
	ReasonLowConfidence      Reason = "low_confidence"
	ReasonHumansLost         Reason = "humans_lost"
	ReasonUnknownID          Reason = "unknown_id"
	ReasonStaleRevision      Reason = "stale_revision"
	ReasonWrongFleet         Reason = "wrong_fleet"
	ReasonBadDigest          Reason = "bad_digest"
	ReasonBadSignature       Reason = "bad_signature"
	ReasonEquivocation       Reason = "equivocation"
	ReasonNoSpace            Reason = "no_space"
	ReasonNotPersisted       Reason = "not_persisted"
	ReasonUnavailable        Reason = "unavailable"
	ReasonUnsupportedVersion Reason = "unsupported_version"
	ReasonUnknownRobot       Reason = "unknown_robot"
	ReasonObstructed         Reason = "obstructed"
	ReasonTakenOver          Reason = "taken_over"
	ReasonUndelivered        Reason = "undelivered"
	ReasonInternal           Reason = "internal"
)

// ReasonText is a reason with its meaning and whether a retry can help.
type ReasonText struct {
	Reason Reason
	Retry  Retry
	Text   string // shown to people who do not see the message that has the reason
	Note   string // goes on where Text ends, for those who have the message with the reason
}

// Reasons lists every reason once with its meaning. topics.md and the console's words are generated
// from it, and a test checks that it is complete.
var Reasons = []ReasonText{
	{Reason: ReasonBadRequest, Retry: RetryAfterFix, Text: "the message is malformed", Note: "; pointer says where"},
	{Reason: ReasonUnknownVerb, Retry: RetryNever,
		Text: "this robot has no such verb",
		Note: "; caps lists those it has. In a notice: the broker does not know the verb, and passes it on for an administrator only"},
	{Reason: ReasonIDReuse, Retry: RetryAfterFix, Text: "the id was used before with another content; use a new id"},
	{Reason: ReasonRetainedCommand, Retry: RetryAfterFix, Text: "commands are never retained; send it without the retain flag"},
	{Reason: ReasonTooBig, Retry: RetryAfterFix, Text: "the message exceeds the size limit of its topic"},
	{Reason: ReasonNotInControl, Retry: RetryLater, Text: "the sender does not have control of this robot"},
	{Reason: ReasonBusy, Retry: RetryLater, Text: "the robot is doing something that cannot be combined with this"},
	{Reason: ReasonPrecondition, Retry: RetryAfterFix, Text: "a condition of the command is not met"},
	{Reason: ReasonOutOfOrder, Retry: RetryNever, Text: "a newer command of the same sender was already taken"},
	{Reason: ReasonClockSkew, Retry: RetryAfterFix, Text: "the sender's time lies in the future; leave ts out or set the clock"},
	{Reason: ReasonUnchanged, Retry: RetryNever, Text: "no change was needed"},
	{Reason: ReasonRestarted, Retry: RetryLater, Text: "the robot restarted before the command ended"},
	{Reason: ReasonOverloaded, Retry: RetryLater, Text: "there is too much at once", Note: "; detail says of what"},
	{Reason: ReasonExpired, Retry: RetryLater, Text: "the command was older than its time to live"},
	{Reason: ReasonSuperseded, Retry: RetryNever,
		Text: "something newer took its place, such as another mode, another action of the same unit, or a newer document"},
	{Reason: ReasonStopped, Retry: RetryLater, Text: "a stop ended it"},
	{Reason: ReasonCancelled, Retry: RetryLater, Text: "it was cancelled with sys/cancel"},
	{Reason: ReasonSkipped, Retry: RetryNever, Text: "somebody skipped the act"},
	{Reason: ReasonForbidden, Retry: RetryNever, Text: "this identity may not do that"},
	{Reason: ReasonTimeout, Retry: RetryLater, Text: "it took longer than allowed"},
	{Reason: ReasonUnknownMode, Retry: RetryAfterFix, Text: "there is no such mode", Note: "; detail lists the modes"},
	{Reason: ReasonModeDisabled, Retry: RetryAfterFix, Text: "this mode is disabled; mode/enable enables it"},
	{Reason: ReasonLifeDisabled, Retry: RetryAfterFix, Text: "autonomous life is switched off; the setting life.enabled switches it on"},
	{Reason: ReasonNotCalibrated, Retry: RetryAfterFix, Text: "calibration has not succeeded; mode/set str runs it"},
	{Reason: ReasonBadMap, Retry: RetryAfterFix,
		Text: "the map cannot be read, or is not one of this body; assign places with another map, or without one, then mode/set str"},
	{Reason: ReasonNeedsEnable, Retry: RetryAfterFix, Text: "this waits for safety/enable"},
	{Reason: ReasonNeedsContinue, Retry: RetryAfterFix, Text: "its cause is gone; auto/continue resumes it"},
	{Reason: ReasonNeedsStart, Retry: RetryAfterFix, Text: "the story is stopped; auto/start starts it from its first act"},
	{Reason: ReasonNoDefaultStory, Retry: RetryAfterFix, Text: "no valid default story is on the robot; assign one"},
	{Reason: ReasonStoryEmpty, Retry: RetryAfterFix, Text: "no act of the story can be performed here"},
	{Reason: ReasonStoryInvalid, Retry: RetryAfterFix,
		Text: "the story, or the set, has errors, or needs what the body lacks", Note: "; pointer and detail name the first"},
	{Reason: ReasonStoryPruned, Retry: RetryAfterFix,
		Text: "acts that this robot lacks, or activities that its body cannot perform, were left out"},
	{Reason: ReasonStartFailed, Retry: RetryLater, Text: "the mode could not start"},
	{Reason: ReasonModeFailed, Retry: RetryLater, Text: "the mode failed while it ran"},
	{Reason: ReasonSafetyDisabled, Retry: RetryAfterFix, Text: "the safety core is DISABLED; safety/enable allows motion"},
	{Reason: ReasonNeedsReset, Retry: RetryAfterFix, Text: "the safety core is in HALT or E_STOP; safety/reset leads out"},
	{Reason: ReasonLatched, Retry: RetryAfterFix, Text: "a stop is still latched; release it first"},
	{Reason: ReasonLinkLost, Retry: RetryAfterFix, Text: "no heartbeat of fleetd or of a panel arrives"},
	{Reason: ReasonEStopInput, Retry: RetryAfterFix, Text: "a physical stop input is still pressed"},
	{Reason: ReasonLocalOnly, Retry: RetryNever, Text: "a stop that came from a physical input is reset at the robot"},
	{Reason: ReasonResetSettling, Retry: RetryLater, Text: "the units are still settling"},
	{Reason: ReasonUnitError, Retry: RetryAfterFix, Text: "a unit reports an error"},
	{Reason: ReasonResourceBusy, Retry: RetryLater, Text: "something else uses the unit: another act, a handler, or a person who drives"},
	{Reason: ReasonDeviceDisabled, Retry: RetryAfterFix, Text: "the unit cannot be used, as its diagnosis says"},
	{Reason: ReasonUnitCritical, Retry: RetryAfterFix, Text: "a critical unit is damaged or too hot", Note: "; detail says what ends it"},
	{Reason: ReasonSafeguard, Retry: RetryLater, Text: "a safeguard keeps the robot from moving", Note: "; its alert says which"},
	{Reason: ReasonOutOfRange, Retry: RetryAfterFix, Text: "the unit does not have or allow this value"},
	{Reason: ReasonInvalidTransition, Retry: RetryNever, Text: "this cannot be requested in the present state"},
	{Reason: ReasonNotInAto, Retry: RetryAfterFix, Text: "ato is not the active mode"},
	{Reason: ReasonNotInMnl, Retry: RetryAfterFix, Text: "mnl is not running; mode/set mnl starts it, mode/resume resumes it"},
	{Reason: ReasonUnknownHandler, Retry: RetryAfterFix, Text: "there is no such handler", Note: "; caps lists them"},
	{Reason: ReasonUnknownInterrupter, Retry: RetryAfterFix, Text: "there is no such interrupter", Note: "; caps lists them"},
	{Reason: ReasonInterrupterStopped, Retry: RetryAfterFix,
		Text: "the interrupter that requests it is forbidden to interrupt; interrupter/run allows it again"},
	{Reason: ReasonNotPerforming, Retry: RetryAfterFix, Text: "ato is paused or not active", Note: "; detail says what ends that"},
	{Reason: ReasonAlreadyRunning, Retry: RetryLater, Text: "this handler already runs"},
	{Reason: ReasonHandlerCondition, Retry: RetryLater, Text: "the handler's own condition is not met"},
	{Reason: ReasonUnknownActivity, Retry: RetryAfterFix,
		Text: "the robot has no such activity, or leaves it out because its body cannot perform it", Note: ", as reported/activities says"},
	{Reason: ReasonInteractiveFocused, Retry: RetryLater,
		Text: "a solitary activity does not start while an interactive one has the focus"},
	{Reason: ReasonLacksPermission, Retry: RetryLater,
		Text: "the activity lacks a permission that it needs now", Note: "; detail says which"},
	{Reason: ReasonCooldown, Retry: RetryLater, Text: "the activity had the focus a short time ago"},
	{Reason: ReasonUnknownIntent, Retry: RetryAfterFix,
		Text: "the setting intents has no row for this intent; it was published, and nothing else was done"},
	{Reason: ReasonLowConfidence, Retry: RetryNever,
		Text: "the confidence is below the setting intent_confidence; the intent was published, and nothing else was done"},
	{Reason: ReasonHumansLost, Retry: RetryLater, Text: "the robot sees nobody any more whom the activity could be for"},
	{Reason: ReasonUnknownID, Retry: RetryNever, Text: "nothing is known under this id"},
	{Reason: ReasonStaleRevision, Retry: RetryNever, Text: "a newer revision, or another document under this revision, was already taken"},
	{Reason: ReasonWrongFleet, Retry: RetryAfterFix, Text: "the robot obeys another fleet; sys/adopt changes that"},
	{Reason: ReasonBadDigest, Retry: RetryLater, Text: "the bytes do not have the SHA-256 digest that is their name"},
	{Reason: ReasonBadSignature, Retry: RetryNever, Text: "the signature is missing or does not verify"},
	{Reason: ReasonEquivocation, Retry: RetryAfterFix,
		Text: "two documents were signed under one signature counter; one of them is not the fleet's"},
	{Reason: ReasonNoSpace, Retry: RetryLater,
		Text: "the robot's disk refused to write", Note: ". In a notice: the broker keeps as many retained documents as it may"},
	{Reason: ReasonNotPersisted, Retry: RetryNever,
		Text: "the robot stopped, but its disk could not store the latch: a restart would lose it"},
	{Reason: ReasonUnavailable, Retry: RetryLater, Text: "a server does not serve now what it is asked for", Note: "; detail says why"},
	{Reason: ReasonUnsupportedVersion, Retry: RetryNever, Text: "the document's schema version is not understood"},
	{Reason: ReasonUnknownRobot, Retry: RetryNever, Text: "no robot of this name is known"},
	{Reason: ReasonObstructed, Retry: RetryLater, Text: "something is in the robot's way"},
	{Reason: ReasonTakenOver, Retry: RetryLater, Text: "another connection with this client id ended this one"},
	{Reason: ReasonUndelivered, Retry: RetryLater,
		Text: "no robot of this name receives commands and stops now",
		Note: "; or nobody received the live stop, or not every robot that it names. The broker keeps no command, and a live stop " +
			"for 30 s"},
	{Reason: ReasonInternal, Retry: RetryLater, Text: "a fault of the program; the log has more"},
}

// Describe returns the entry of r, its text with the note. The text of an unknown reason is the
// reason itself.
func (r Reason) Describe() ReasonText {
	for _, t := range Reasons {
		if t.Reason == r {
			t.Text, t.Note = t.Text+t.Note, ""
			return t
		}
	}
	return ReasonText{Reason: r, Retry: RetryNever, Text: string(r)}
}
