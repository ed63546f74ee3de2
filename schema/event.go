package schema

import "github.com/go-json-experiment/json/jsontext"

// Event reports something that happened, once. Consumers do not derive state from
// events. Seq rises by one with each event of a boot, so that gaps are visible.
type Event struct {
	TS        Time           `json:"ts" doc:"when it happened"`
	Boot      string         `json:"boot" doc:"the run of robotd in which it happened"`
	Seq       int64          `json:"seq" doc:"counts up within a boot; sys/replay fills a gap"`
	Type      string         `json:"type" doc:"a row of the table of events"`
	Level     EventLevel     `json:"level,omitempty" doc:"info, warn, error or safety"`
	Source    string         `json:"source" doc:"what it is about, or which part of robotd says it"`
	Cause     string         `json:"cause,omitempty" doc:"what caused it"`
	ReqID     string         `json:"req_id,omitempty" doc:"the command that caused it, as CLIENT/ID"`
	Data      jsontext.Value `json:"data,omitempty" doc:"as the table of events says for the type"`
	Truncated bool           `json:"truncated,omitzero" doc:"over the size limit: data is left out"`
}

// Validate reports missing or invalid fields.
func (e *Event) Validate() []Problem {
	var c checks
	c.present("/boot", e.Boot != "")
	c.present("/type", e.Type != "")
	c.present("/source", e.Source != "")
	c.atLeast("/seq", e.Seq, 1)
	return c
}

// EventRow is one type of events. Those named by a reason say that a desired document was
// not obeyed, or not as a whole.
type EventRow struct {
	Type  string
	Level EventLevel
	Data  string // the fields of data
	Text  string // what happened, for people; a field of data in backticks stands for its value
	Note  string // goes on where Text ends, for those who read the message
	// Routine events come with every act, or with every input of a simulated body. They are of
	// level info, and have a share of their own of the events that a robot sends, so that the
	// others always find room.
	Routine bool
}

// Events lists every type of events once. topics.md and the English meanings in the console are generated from it;
// what a robot sends has the level of its row.
var Events = []EventRow{
	{Type: "booted", Level: EventInfo, Text: "robotd has started"},
	{Type: "ending", Level: EventInfo, Text: "robotd was asked to end", Note: "; cause says by what"},
	{Type: "events_dropped", Level: EventWarn, Data: "count, types",
		Text: "`count` events were not sent, because the robot had more than it may send",
		Note: "; `types` has the number of each type, of at most 32 types, and the next such event that of the others"},
	{Type: "events_gone", Level: EventWarn, Data: "boot, from, to", Text: "sys/replay asked for events that the robot no longer has"},
	{Type: "deadline_missed", Level: EventWarn, Data: "late_ms, count",
		Text: "the control loop was late", Note: " `count` times, at worst by `late_ms`; at most one event in 10 s"},

	{Type: "safety_changed", Level: EventSafety, Data: "from, to, reason", Text: "the state of the safety core changed"},
	{Type: "stop_latched", Level: EventSafety, Data: "id, by, why",
		Text: "a stop was latched: the robot stays stopped until it is released"},
	{Type: "stop_altered", Level: EventSafety, Data: "id, by, why", Text: "the level of a latched stop changed"},
	{Type: "reset_refused", Level: EventWarn, Data: "reason, detail, count",
		Text: "somebody pressed the button reset on the robot's body, and nothing was reset",
		Note: "; count is how often, and detail says what to do; for the same reason at most one event in 1 s"},
	{Type: "stop_released", Level: EventSafety, Data: "id, by, why, released_by",
		Text: "a latched stop was released",
		Note: "; by is who stopped, released_by who released it: a person, or fleetd if it names none, or the client or input at the " +
			"robot"},

	{Type: "point_saved", Level: EventInfo, Data: "id, x_m, y_m, theta_rad",
		Text: "a point was taught", Note: "; fleetd can take it into places"},
	{Type: "point_deleted", Level: EventInfo, Data: "id", Text: "a taught point was deleted"},
	{Type: "act_recorded", Level: EventInfo, Data: "id", Text: "an act was taught"},
	{Type: "act_recording_ended", Level: EventInfo, Data: "id, reason", Text: "what was being recorded was not kept"},
	{Type: "act_deleted", Level: EventInfo, Data: "id", Text: "a taught act was deleted"},

	{Type: "mode_changed", Level: EventInfo, Data: "from, to", Text: "another mode is in charge"},
	{Type: "mode_fallback", Level: EventWarn, Data: "from, reason", Text: "a mode failed or could not start, and another took its place"},
	{Type: "mode_param", Level: EventInfo, Data: "mode, name, from, to",
		Text: "a parameter of a mode was set", Note: "; cause is who did it"},
	{Type: "desired_mode_active", Level: EventInfo, Data: "id, reason, detail", Text: "the desired mode is in charge"},
	{Type: "desired_mode_held", Level: EventWarn, Data: "id, reason, detail",
		Text: "the desired mode was not set, because a stop, a lost link or a person in control comes first",
		Note: "; the robot does not ask for it again before its next start"},
	{Type: "desired_mode_rejected", Level: EventWarn, Data: "id, reason, detail", Text: "the desired mode cannot be set now"},
	{Type: "desired_mode_failed", Level: EventError, Data: "id, reason, detail",
		Text: "the robot began to set the desired mode, and the mode did not start"},

	{Type: "auto_changed", Level: EventInfo, Data: "from, to, reason",
		Text: "the story is performed, paused, stopped or not in charge", Note: " (`auto.status`)"},
	{Type: "act_skipped", Level: EventInfo, Data: "act, story, rev, why",
		Text: "somebody skipped the act of the story that was performed or was next", Note: "; cause is who did it"},
	{Type: "story_round", Level: EventInfo, Data: "story, rev, round, performed, failed, skipped",
		Text: "a round of the story is over",
		Note: ": its number, from 1, and how many of its acts were performed, failed and were skipped", Routine: true},
	{Type: "act_started", Level: EventInfo, Data: "act, entry, lane",
		Text: "an act began",
		Note: "; lane is `story`, `activity`, `handler-` and the name of the handler, `manual-act`, or `safety` (the shutdown act), " +
			"entry names this performance", Routine: true},
	{Type: "act_ended", Level: EventInfo, Data: "act, entry, lane, outcome, reason, ms",
		Text: "an act that had begun ended", Note: ": `completed`, `cancelled` or `failed`, after so many ms without pauses", Routine: true},
	{Type: "act_failed", Level: EventError, Data: "id, reason, detail", Text: "an act failed, or could not begin"},
	{Type: "act_warning", Level: EventWarn, Data: "id, reason, detail",
		Text: "a part of an act was late, left out or cut off", Note: "; cause says which"},
	{Type: "set_point_limited", Level: EventWarn, Data: "id, reason, detail",
		Text: "a command went beyond the limits of a unit and was limited",
		Note: "; source is the unit, cause the value; once until one of its commands is within them"},
	{Type: "screen_choice", Level: EventInfo, Data: "act, action, choice", Text: "a person chose on the screen"},
	{Type: "interrupt_started", Level: EventInfo, Data: "id",
		Text: "a handler interrupts the story", Note: "; source is the interrupter, cause the handler"},
	{Type: "interrupt_finished", Level: EventInfo, Data: "id, handler, outcome, ms, detail",
		Text: "a handler has ended", Note: "; detail says why it failed, or what was left out of its acts"},
	{Type: "interrupt_refused", Level: EventInfo, Data: "handler, interrupter, reason, detail, count",
		Text: "a signal of the body asked for a handler and was refused",
		Note: ", `count` times; for the same request and reason at most one event in 10 s"},

	{Type: "life_state", Level: EventInfo, Data: "from, to, reason",
		Text: "the state of the robot's life changed", Note: " (`life.state`)"},
	{Type: "life_focused", Level: EventInfo, Data: "activity, nature, stack",
		Text: "an activity has the focus, or none", Note: "; cause is who asked for it, or `launchpad`"},
	{Type: "life_next", Level: EventInfo, Data: "activity", Text: "the activity that gets the focus next, or none"},
	{Type: "life_completed", Level: EventInfo, Data: "activity, outcome, reason, ms, detail",
		Text: "an activity is over",
		Note: ", however it ended: it `finished`, `failed` or was `stopped`; detail says why it failed, or what was left out of its acts"},
	{Type: "life_suggestion", Level: EventInfo, Data: "activities",
		Text: "the activities that could get the focus by their conditions", Note: ", the first choice first; at most one event in 1 " +
			"s", Routine: true},
	{Type: "intent", Level: EventInfo, Data: "name, confidence, emotion, reaction, resulting_emotion, reason",
		Text: "the robot received an intent",
		Note: "; source is the client, or `body`, and cause the name of the intent. `robots/{rid}/intent` has what the person said"},
	{Type: "intent_ignored", Level: EventInfo, Data: "name, confidence, reason",
		Text: "the robot received an intent of too low a confidence and did nothing", Note: "; source and cause are as in `intent`"},
	{Type: "intent_refused", Level: EventWarn, Data: "name, reaction, reason, detail",
		Text: "the robot could not do what an intent that its body heard asks for",
		Note: "; the client that posts one gets the reason in the answer"},
	{Type: "control_taken", Level: EventInfo, Data: "from, from_by, to, to_by", Text: "somebody took control"},
	{Type: "control_free", Level: EventInfo, Data: "from, from_by, to, to_by", Text: "control was released"},
	{Type: "control_lost", Level: EventWarn, Data: "from, from_by, to, to_by",
		Text: "control was taken over, was not renewed, or its holder disappeared"},
	{Type: "manual_stopped", Level: EventInfo, Text: "manual/stop ended what was done manually", Note: "; cause says who sent it"},
	{Type: "teleop_refused", Level: EventWarn, Data: "reason, detail, count",
		Text: "frames of manual driving did not count", Note: "; at most one event in 1 s"},

	{Type: "link_lost", Level: EventWarn, Data: "from, to", Text: "no heartbeat of fleetd or of a panel arrives"},
	{Type: "link_restored", Level: EventInfo, Data: "from, to", Text: "heartbeats of fleetd or of a panel arrive again"},
	{Type: "half_open_connection_replaced", Level: EventWarn, Text: "the robot received nothing and replaced its connection"},
	{Type: "presence_repaired", Level: EventWarn, Text: "the presence document was not the robot's own; it published its own again"},
	{Type: "retained_command_removed", Level: EventWarn,
		Text: "a retained command was removed from the broker", Note: "; source is the end of its topic, after robots/{rid}/"},

	{Type: "alert_raised", Level: EventWarn, Data: "id, detail",
		Text: "an alert began", Note: "; cause is its type. The level follows that of the alert, and is error for error and critical"},
	{Type: "alert_cleared", Level: EventInfo, Data: "id", Text: "an alert is over"},

	{Type: "sim_input", Level: EventInfo, Data: "name, fields, at, speed, note",
		Text: "a fault or signal was played into the simulated body",
		Note: "; at is the time of the scenario that it is from, speed how fast that runs, note what happens", Routine: true},
	{Type: "sim_scenario", Level: EventInfo, Data: "at, speed, note, command",
		Text: "a scenario says what happens in the world of the simulated body, or what a person sends now"},
	{Type: "sim_refused", Level: EventWarn, Data: "id, reason, detail",
		Text: "an input for the simulated body was not understood", Note: "; id is its name"},
	{Type: "diagnosis_changed", Level: EventWarn, Data: "effect, fault, heat, temperature_c",
		Text: "a unit is out of order or too hot, or so no longer", Note: "; source is the unit"},

	{Type: "config_applied", Level: EventInfo, Data: "detail", Text: "the desired configuration was applied"},
	{Type: "config_deletion_ignored", Level: EventInfo, Data: "detail",
		Text: "the desired configuration was deleted at the broker, which changes nothing"},
	{Type: "mode_deletion_ignored", Level: EventInfo, Data: "detail",
		Text: "the desired mode was deleted at the broker, which changes nothing"},
	{Type: "story_deletion_ignored", Level: EventInfo, Data: "detail",
		Text: "the desired story was deleted at the broker, which changes nothing"},
	{Type: "activities_deletion_ignored", Level: EventInfo, Data: "detail",
		Text: "the desired activities were deleted at the broker, which changes nothing"},
	{Type: "places_deletion_ignored", Level: EventInfo, Data: "detail",
		Text: "the desired places were deleted at the broker, which changes nothing"},
	{Type: "story_active", Level: EventInfo, Data: "reason, detail", Text: "the robot has its desired story"},
	{Type: "activities_active", Level: EventInfo, Data: "reason, detail", Text: "the robot has its desired activities"},
	{Type: "places_active", Level: EventInfo, Data: "reason, detail", Text: "the robot has its desired places"},
	{Type: "story_withdrawn", Level: EventInfo, Data: "reason, detail", Text: "the robot has no story any more, as desired"},
	{Type: "activities_withdrawn", Level: EventInfo, Data: "reason, detail", Text: "the robot has no activities any more, as desired"},
	{Type: "places_withdrawn", Level: EventInfo, Data: "reason, detail", Text: "the robot has no places any more, as desired"},
	{Type: "story_rejected", Level: EventError, Data: "reason, detail", Text: "the robot cannot perform the desired story"},
	{Type: "activities_rejected", Level: EventError, Data: "reason, detail", Text: "the robot cannot use the desired activities"},
	{Type: "places_rejected", Level: EventError, Data: "reason, detail", Text: "the robot cannot use the desired places"},
	{Type: "story_failed", Level: EventError, Data: "reason, detail",
		Text: "the desired story could not be fetched or saved; the robot tries again"},
	{Type: "activities_failed", Level: EventError, Data: "reason, detail",
		Text: "the desired activities could not be fetched or saved; the robot tries again"},
	{Type: "places_failed", Level: EventError, Data: "reason, detail",
		Text: "the desired places could not be fetched or saved; the robot tries again"},
	{Type: "story_rolled_back", Level: EventError, Data: "reason, detail",
		Text: "the desired story failed in its probation; the robot performs the previous one"},

	{Type: string(ReasonBadRequest), Level: EventError, Data: "reason, detail",
		Text: "a desired document was not understood", Note: "; cause is the place"},
	{Type: string(ReasonStaleRevision), Level: EventWarn, Data: "reason, detail",
		Text: "an older desired document came after a newer one, or the same revision with another content"},
	{Type: string(ReasonWrongFleet), Level: EventWarn, Data: "reason, detail", Text: "a desired document is of another fleet"},
	{Type: string(ReasonBadSignature), Level: EventError, Data: "reason, detail",
		Text: "the signature of a desired document is missing or does not verify"},
	{Type: string(ReasonEquivocation), Level: EventError, Data: "reason, detail",
		Text: "two desired documents were signed under one signature counter"},
	{Type: string(ReasonUnknownMode), Level: EventWarn, Data: "reason, detail", Text: "the desired mode does not exist here"},
	{Type: string(ReasonBadDigest), Level: EventWarn, Data: "reason, detail",
		Text: "the disk lost bytes of an accepted content; they are fetched again"},
	{Type: string(ReasonStoryPruned), Level: EventWarn, Data: "reason, detail", Text: "acts that this robot lacks were left out"},
	{Type: string(ReasonStoryInvalid), Level: EventError, Data: "reason, detail",
		Text: "the accepted story can no longer be performed here"},
	{Type: string(ReasonStoryEmpty), Level: EventError, Data: "reason, detail", Text: "no act of the story can be performed here"},
}

var eventRows = func() map[string]*EventRow {
	rows := make(map[string]*EventRow, len(Events))
	for i := range Events {
		rows[Events[i].Type] = &Events[i]
	}
	return rows
}()

// EventOf returns the row of a type of events; an unknown one has no level.
func EventOf(kind string) EventRow {
	if row := eventRows[kind]; row != nil {
		return *row
	}
	return EventRow{Type: kind}
}
