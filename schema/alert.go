package schema

// AlertRow is one type of alerts.
type AlertRow struct {
	Type string
	Text string // what is the case, for people
	Note string // goes on where Text ends, for those who read the message
}

// Types of alerts of rollouts, which fleetd raises.
const (
	AlertRolloutPaused      = "rollout_paused"
	AlertRolloutApproval    = "rollout_waits_for_approval"
	AlertRollbackIncomplete = "rollback_incomplete"
)

// AlertBackupOld is the type of the alert of backups, which fleetd raises.
const AlertBackupOld = "backup_old"

// AlertButtonSilent is the type of the alert of a stop button, which fleetd raises.
const AlertButtonSilent = "stop_button_silent"

// Types of alerts of robots that fleetd raises from what it knows of them.
const (
	AlertRobotLost    = "robot_lost"
	AlertRobotStopped = "robot_stopped"
)

// Types of alerts of schedules, which fleetd raises.
const (
	AlertScheduleMissed = "schedule_missed"
	AlertScheduleFailed = "schedule_failed"
)

// Alerts lists every type of alerts once. topics.md and the English meanings in the console are generated from it.
var Alerts = []AlertRow{
	{Type: "story_failing",
		Text: "no act of the last round succeeded",
		Note: "; the detail has the last error. It is over with the next act that succeeds, or when somebody enables the robot or " +
			"continues the story; it comes again if the next round fails, too"},
	{Type: "ability_failed", Text: "a unit fails what the robot does by itself between acts", Note: "; source is the unit"},
	{Type: "mode_hung", Text: "a call of a mode did not return, and robotd ended because of it", Note: "; source is the mode"},
	{Type: "link_lost", Text: "no heartbeat of fleetd or of a panel arrives"},

	{Type: string(ReasonSafeguard),
		Text: "somebody pushes or lifts the robot, or it falls", Note: "; source is `pushed`, `moved` or `fell`. It is over by itself"},
	{Type: "unit_error", Text: "a unit that moves is in error, which stops the robot", Note: "; source is the unit"},
	{Type: "device_critical", Text: "a critical unit has a fault or is critically hot: the robot rests", Note: "; source is the unit"},
	{Type: "device_disabled", Text: "a unit has a fault, or its heat is `hot`, so the robot does not use it", Note: "; source is the unit"},
	{Type: "device_hot", Text: "the heat of a unit is `warm`; the robot still uses it", Note: "; source is the unit"},
	{Type: "device_late", Text: "a unit did not finish its last commands before their time-out", Note: "; source is the unit"},
	{Type: "help_asked",
		Text: "a person at the robot asked for help",
		Note: " (choice `help` of the handler `service`); `sys/ack-fault service` says that somebody is with them"},
	{Type: "battery_low", Text: "the battery is below the setting `low_battery`"},
	{Type: "cannot_charge", Text: "the robot cannot get to its charger, or does not charge there"},

	{Type: "calibration_waits", Text: "calibration would move a unit and waits until it may", Note: "; source is the unit"},
	{Type: "calibration_failed", Text: "calibration failed", Note: "; source is its mode"},
	{Type: "map_pending", Text: "the map of the assigned places waits for calibration"},

	{Type: "memory_lost", Text: "the robot ran before, and its disk has nothing of it: it holds the stop `lost-disk`"},
	{Type: string(ReasonNotPersisted), Text: "the disk does not have the latched stops or the E_STOP: a restart of robotd would lose them"},
	{Type: "disk_refuses",
		Text: "the robot's disk refuses to write; the robot obeys stops and begins no command that it has to write down"},
	{Type: "recorder_fails", Text: "the flight recorder cannot write"},
	{Type: "config_unreadable", Text: "the saved configuration cannot be read; the strictest settings apply until it is published again"},

	{Type: "not_in_database",
		Text: "fleetd raises it: the robot has a story, activities, places, settings or a mode that fleetd's database does not have, " +
			"as after the restore of an older copy, or from an earlier fleet",
		Note: ". Source is which of them"},
	{Type: "stop_not_held",
		Text: "fleetd raises it: a stop is latched for the robot, and the robot, which is connected, does not report it. fleetd " +
			"publishes the stop again, and the robot stops"},
	{Type: "content_damaged",
		Text: "what the robot fetches of an assigned content arrived damaged twice or more; it tries again, each time after a longer wait",
		Note: ". Source is `delivery` for the story, `activities` or `places`"},
	{Type: "certificate_expiring", Text: "the robot's certificate ends soon and was not renewed"},
	{Type: "untrusted_document",
		Text: "a desired document does not verify, or the saved signature counters cannot be read",
		Note: "; source is the document or `disk`"},
	{Type: string(ReasonEquivocation),
		Text: "two desired documents were signed under one signature counter", Note: "; source is the document"},
	{Type: string(ReasonRetainedCommand),
		Text: "the broker keeps a command, which is not allowed",
		Note: "; source is the end of its topic: what follows robots/{rid}/ or, for a live stop, what follows {ns}/v1/"},
	{Type: "messages_dropped",
		Text: "the broker does not pass on messages of the robot",
		Note: ": it refuses a document (source is the document), or there are too many messages (source is `mqtt`)"},
	{Type: "clock_differs", Text: "the clock of a fleetd instance differs from the time of the fleet", Note: "; source is the instance"},
	{Type: AlertRolloutPaused,
		Text: "fleetd raises it: a wave of a rollout failed or cannot be decided, and the rollout waits for a person",
		Note: ". It has no robot; source is `rollout`"},
	{Type: AlertRolloutApproval, Text: "fleetd raises it: a rollout waits for the approval of a second person",
		Note: ". It has no robot; source is `rollout`"},
	{Type: AlertRollbackIncomplete,
		Text: "fleetd raises it: a rollout was rolled back, and some robots do not have what they had before",
		Note: ". It has no robot; source is `rollout`; it ends after seven days, or when the rollout is rolled back again"},
	{Type: AlertScheduleMissed, Text: "fleetd raises it: the newest instant of a schedule was missed, and nothing happened",
		Note: ". It has no robot; source is `schedule`; it ends with the next instant that is run, when the schedule is saved, or " +
			"after seven days"},
	{Type: AlertScheduleFailed, Text: "fleetd raises it: what a schedule does was refused at its newest instant, and nothing happened",
		Note: ". It has no robot; source is `schedule`; it ends as `schedule_missed` does"},
	{Type: AlertBackupOld, Text: "fleetd raises it: the newest backup of its database is old, or none was ever made",
		Note: ". It has no robot; source is `backup`; it ends with the next backup"},
	{Type: AlertButtonSilent, Text: "fleetd raises it: a stop button sends no heartbeat, so it may not stop the robots",
		Note: ". It has no robot; source is the name of the button; it ends with its next heartbeat"},
	{Type: AlertRobotLost, Text: "fleetd raises it: the connection to the robot is lost, or no heartbeat of it arrives",
		Note: "; source is `presence`. It is in the list of alerts and in notifications, and not in documents of the robot"},
	{Type: AlertRobotStopped, Text: "fleetd raises it: the robot is stopped, and stays so until the stop is released",
		Note: "; source is `stop`. It is where `robot_lost` is"},
	{Type: "duplicate_identity", Text: "a second client connects under the robot's name"},
	{Type: "presence_overwritten", Text: "another client wrote the robot's presence"},
}
