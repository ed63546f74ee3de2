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

// ReasonText is a reason with its meaning for people and whether a retry can help.
type ReasonText struct {
	Reason Reason
	Retry  Retry
	Text   string
}

// Reasons lists every reason once with its meaning. topics.md is generated from it, and a
// test checks that it is complete.
var Reasons = []ReasonText{
	{ReasonBadRequest, RetryAfterFix, "the message is malformed; pointer says where"},
	{ReasonUnknownVerb, RetryNever, "this robot has no such verb; caps lists those it has. In a notice: the broker does not know the verb, and passes it on for an administrator only"},
	{ReasonIDReuse, RetryAfterFix, "the id was used before with another content; use a new id"},
	{ReasonRetainedCommand, RetryAfterFix, "commands are never retained; send it without the retain flag"},
	{ReasonTooBig, RetryAfterFix, "the message exceeds the size limit of its topic"},
	{ReasonNotInControl, RetryLater, "the sender does not have control of this robot"},
	{ReasonBusy, RetryLater, "the robot is doing something that cannot be combined with this"},
	{ReasonPrecondition, RetryAfterFix, "a condition of the command is not met"},
	{ReasonOutOfOrder, RetryNever, "a newer command of the same sender was already taken"},
	{ReasonClockSkew, RetryAfterFix, "the sender's time lies in the future; leave ts out or set the clock"},
	{ReasonUnchanged, RetryNever, "no change was needed"},
	{ReasonRestarted, RetryLater, "the robot restarted before the command ended"},
	{ReasonOverloaded, RetryLater, "there is too much at once; detail says of what"},
	{ReasonExpired, RetryLater, "the command was older than its time to live"},
	{ReasonSuperseded, RetryNever, "something newer took its place, such as another mode, another action of the same unit, or a newer document"},
	{ReasonStopped, RetryLater, "a stop ended it"},
	{ReasonCancelled, RetryLater, "it was cancelled with sys/cancel"},
	{ReasonSkipped, RetryNever, "somebody skipped the act"},
	{ReasonForbidden, RetryNever, "this identity may not do that"},
	{ReasonTimeout, RetryLater, "it took longer than allowed"},
	{ReasonUnknownMode, RetryAfterFix, "there is no such mode; detail lists the modes"},
	{ReasonModeDisabled, RetryAfterFix, "this mode is disabled; mode/enable enables it"},
	{ReasonLifeDisabled, RetryAfterFix, "autonomous life is switched off; the setting life.enabled switches it on"},
	{ReasonNotCalibrated, RetryAfterFix, "calibration has not succeeded; mode/set str runs it"},
	{ReasonBadMap, RetryAfterFix, "the map cannot be read, or is not one of this body; assign places with another map, or without one, then mode/set str"},
	{ReasonNeedsEnable, RetryAfterFix, "this waits for safety/enable"},
	{ReasonNeedsContinue, RetryAfterFix, "its cause is gone; auto/continue resumes it"},
	{ReasonNeedsStart, RetryAfterFix, "the story is stopped; auto/start starts it from its first act"},
	{ReasonNoDefaultStory, RetryAfterFix, "no valid default story is on the robot; assign one"},
	{ReasonStoryEmpty, RetryAfterFix, "no act of the story can be performed here"},
	{ReasonStoryInvalid, RetryAfterFix, "the story, or the set, has errors, or needs what the body lacks; pointer and detail name the first"},
	{ReasonStoryPruned, RetryAfterFix, "acts that this robot lacks, or activities that its body cannot perform, were left out"},
	{ReasonStartFailed, RetryLater, "the mode could not start"},
	{ReasonModeFailed, RetryLater, "the mode failed while it ran"},
	{ReasonSafetyDisabled, RetryAfterFix, "the safety core is DISABLED; safety/enable allows motion"},
	{ReasonNeedsReset, RetryAfterFix, "the safety core is in HALT or E_STOP; safety/reset leads out"},
	{ReasonLatched, RetryAfterFix, "a stop is still latched; release it first"},
	{ReasonLinkLost, RetryAfterFix, "no heartbeat of fleetd or of a panel arrives"},
	{ReasonEStopInput, RetryAfterFix, "a physical stop input is still pressed"},
	{ReasonLocalOnly, RetryNever, "a stop that came from a physical input is reset at the robot"},
	{ReasonResetSettling, RetryLater, "the units are still settling"},
	{ReasonUnitError, RetryAfterFix, "a unit reports an error"},
	{ReasonResourceBusy, RetryLater, "something else uses the unit: another act, a handler, or a person who drives"},
	{ReasonDeviceDisabled, RetryAfterFix, "the unit cannot be used, as its diagnosis says"},
	{ReasonUnitCritical, RetryAfterFix, "a critical unit is damaged or too hot; detail says what ends it"},
	{ReasonSafeguard, RetryLater, "a safeguard keeps the robot from moving; its alert says which"},
	{ReasonOutOfRange, RetryAfterFix, "the unit does not have or allow this value"},
	{ReasonInvalidTransition, RetryNever, "this cannot be requested in the present state"},
	{ReasonNotInAto, RetryAfterFix, "ato is not the active mode"},
	{ReasonNotInMnl, RetryAfterFix, "mnl is not running; mode/set mnl starts it, mode/resume resumes it"},
	{ReasonUnknownHandler, RetryAfterFix, "there is no such handler; caps lists them"},
	{ReasonUnknownInterrupter, RetryAfterFix, "there is no such interrupter; caps lists them"},
	{ReasonInterrupterStopped, RetryAfterFix, "the interrupter that requests it is forbidden to interrupt; interrupter/run allows it again"},
	{ReasonNotPerforming, RetryAfterFix, "ato is paused or not active; detail says what ends that"},
	{ReasonAlreadyRunning, RetryLater, "this handler already runs"},
	{ReasonHandlerCondition, RetryLater, "the handler's own condition is not met"},
	{ReasonUnknownActivity, RetryAfterFix, "the robot has no such activity, or leaves it out because its body cannot perform it, as reported/activities says"},
	{ReasonInteractiveFocused, RetryLater, "a solitary activity does not start while an interactive one has the focus"},
	{ReasonLacksPermission, RetryLater, "the activity lacks a permission that it needs now; detail says which"},
	{ReasonCooldown, RetryLater, "the activity had the focus a short time ago"},
	{ReasonUnknownIntent, RetryAfterFix, "the setting intents has no row for this intent; it was published, and nothing else was done"},
	{ReasonLowConfidence, RetryNever, "the confidence is below the setting intent_confidence; the intent was published, and nothing else was done"},
	{ReasonHumansLost, RetryLater, "the robot sees nobody any more whom the activity could be for"},
	{ReasonUnknownID, RetryNever, "nothing is known under this id"},
	{ReasonStaleRevision, RetryNever, "a newer revision, or another document under this revision, was already taken"},
	{ReasonWrongFleet, RetryAfterFix, "the robot obeys another fleet; sys/adopt changes that"},
	{ReasonBadDigest, RetryLater, "the bytes do not have the SHA-256 digest that is their name"},
	{ReasonBadSignature, RetryNever, "the signature is missing or does not verify"},
	{ReasonEquivocation, RetryAfterFix, "two documents were signed under one signature counter; one of them is not the fleet's"},
	{ReasonNoSpace, RetryLater, "the robot's disk refused to write. In a notice: the broker keeps as many retained documents as it may"},
	{ReasonNotPersisted, RetryNever, "the robot stopped, but its disk could not store the latch: a restart would lose it"},
	{ReasonUnavailable, RetryLater, "a server does not serve now what it is asked for; detail says why"},
	{ReasonUnsupportedVersion, RetryNever, "the document's schema version is not understood"},
	{ReasonUnknownRobot, RetryNever, "no robot of this name is known"},
	{ReasonObstructed, RetryLater, "something is in the robot's way"},
	{ReasonTakenOver, RetryLater, "another connection with this client id ended this one"},
	{ReasonUndelivered, RetryLater, "no robot of this name receives commands and stops now; or nobody received the live stop, or not every robot that it names. The broker keeps no command, and a live stop for 30 s"},
	{ReasonInternal, RetryLater, "a fault of the program; the log has more"},
}

// Describe returns the entry of r. The text of an unknown reason is the reason itself.
func (r Reason) Describe() ReasonText {
	for _, t := range Reasons {
		if t.Reason == r {
			return t
		}
	}
	return ReasonText{Reason: r, Retry: RetryNever, Text: string(r)}
}
