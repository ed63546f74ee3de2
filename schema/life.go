package schema

// StateLife is the autonomous life of the robot: which activity has the focus, and why the
// others do not. A robot without activities has it, too.
type StateLife struct {
	State       LifeState         `json:"state" doc:"disabled, solitary, interactive or safeguard"`
	Reason      Reason            `json:"reason,omitempty" doc:"why it is disabled or in safeguard"`
	Since       Time              `json:"since" doc:"since when"`
	Focused     string            `json:"focused,omitempty" doc:"the activity that is performed"`
	Stack       []string          `json:"stack,omitempty" doc:"activities that start again when the focused one has ended, the next one first"`
	Next        string            `json:"next,omitempty" doc:"the activity that gets the focus next"`
	Launchpad   LifeLaunchpad     `json:"launchpad" doc:"what starts activities by their conditions"`
	Suggestions []string          `json:"suggestions,omitempty" doc:"the activities that could get the focus by their conditions, the first choice first; in solitary the launchpad focuses the first one; in interactive, if life/launchpad started it, it only suggests them"`
	Abilities   []LifeAbility     `json:"abilities,omitempty" doc:"small things that the robot does by itself beside its acts"`
	Plugins     []LifePlugin      `json:"plugins,omitempty" doc:"the sources of values for launch conditions"`
	Safeguards  []SafeguardSwitch `json:"safeguards,omitempty" doc:"which safeguards life reacts to; whether the robot may move does not depend on it"`
	Conditions  []LifeCondition   `json:"conditions,omitempty" doc:"of activities with a launch condition, by name: whether it is true, and what else keeps the activity from starting"`
	Statistics  []LifeStatistics  `json:"statistics,omitempty" doc:"how often each activity had the focus since robotd started, the last focused one first"`
	Focuses     []LifeFocus       `json:"focus_history,omitempty" doc:"activities that got the focus, the newest first"`
	States      []LifeEntry       `json:"state_history,omitempty" doc:"states that were entered, the newest first"`
}

// The greatest lengths of the lists of StateLife, so that a state with every list full has
// room for the rest.
const (
	MaxLifeSuggestions = 8
	MaxLifeStack       = 8
	MaxLifeConditions  = 24
	MaxLifeStatistics  = 16
	MaxLifeHistory     = 8
	MaxLifeWhy         = 160 // bytes
)

// LifeLaunchpad is what starts activities by their conditions.
type LifeLaunchpad struct {
	On bool `json:"on" doc:"it evaluates the conditions"`
}

// LifeAbility is something small that the robot does by itself beside its acts.
type LifeAbility struct {
	Name    Ability `json:"name" doc:"awareness, breathing, blinking or background_movement"`
	Enabled bool    `json:"enabled" doc:"the state of life has it"`
	Running bool    `json:"running" doc:"it is performed now: no act or person uses its unit, and no stop is in force"`
}

// LifePlugin is a source of values for launch conditions. Those of a plug-in that is off are
// missing, so conditions that name them are not true.
type LifePlugin struct {
	Name    Plugin      `json:"name" doc:"the source"`
	Group   PluginGroup `json:"group" doc:"in which states of life it is on"`
	Enabled bool        `json:"enabled" doc:"it is on; the values of one that is off are missing, so conditions that name them are not true"`
}

// SafeguardSwitch says whether the life of the robot reacts to a safeguard. Whether the robot may
// move does not depend on it.
type SafeguardSwitch struct {
	Name    Safeguard `json:"name" doc:"the safeguard"`
	Enabled bool      `json:"enabled" doc:"life reacts to it"`
}

// LifeCondition is whether the launch condition of an activity is true, and what keeps the
// activity from starting.
type LifeCondition struct {
	Activity string `json:"activity" doc:"its id"`
	True     bool   `json:"true" doc:"the condition is true now; the activity can start if why is empty"`
	Why      string `json:"why,omitempty" doc:"the first part that is not true, with its value; or what else keeps the activity from starting"`
}

// LifeStatistics counts how often an activity had the focus.
type LifeStatistics struct {
	Activity  string `json:"activity" doc:"its id"`
	Starts    int64  `json:"starts" doc:"how often it got the focus"`
	LastStart Time   `json:"last_start" doc:"when it last did"`
	TotalMS   int64  `json:"total_ms" doc:"how long it had the focus, together"`
}

// LifeFocus is an activity that got the focus; none = the focus became free.
type LifeFocus struct {
	Activity string `json:"activity,omitempty" doc:"its id; left out: the focus became free"`
	Since    Time   `json:"since" doc:"when"`
}

// LifeEntry is a state that was entered.
type LifeEntry struct {
	State LifeState `json:"state" doc:"the state of life"`
	Since Time      `json:"since" doc:"when it was entered"`
}
