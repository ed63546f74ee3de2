package schema

// StateLife is the autonomous life of the robot: which activity has the focus, and why the
// others do not. A robot without activities has it, too.
type StateLife struct {
	State     LifeState     `json:"state"`
	Reason    Reason        `json:"reason,omitempty"` // why it is disabled or in safeguard
	Since     Time          `json:"since"`
	Focused   string        `json:"focused,omitempty"` // the activity that is performed
	Stack     []string      `json:"stack,omitempty"`   // activities that start again when the focused one has ended, the next one first
	Next      string        `json:"next,omitempty"`    // the activity that gets the focus next
	Launchpad LifeLaunchpad `json:"launchpad"`
	// Suggestions are the activities whose conditions are true, the first choice first. In
	// solitary the launchpad focuses them; in interactive it only suggests them.
	Suggestions []string          `json:"suggestions,omitempty"`
	Abilities   []LifeAbility     `json:"abilities,omitempty"`
	Plugins     []LifePlugin      `json:"plugins,omitempty"`
	Safeguards  []SafeguardSwitch `json:"safeguards,omitempty"`
	Conditions  []LifeCondition   `json:"conditions,omitempty"`    // of activities with a launch condition, by name
	Statistics  []LifeStatistics  `json:"statistics,omitempty"`    // since robotd started, the activity that was focused last first
	Focuses     []LifeFocus       `json:"focus_history,omitempty"` // the newest first
	States      []LifeEntry       `json:"state_history,omitempty"` // the newest first
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
	On bool `json:"on"` // it evaluates the conditions
}

// LifeAbility is something small that the robot does by itself beside its acts.
type LifeAbility struct {
	Name    Ability `json:"name"`
	Enabled bool    `json:"enabled"` // the state of life has it
	Running bool    `json:"running"` // it is performed now: no act, person or stop keeps its unit
}

// LifePlugin is a source of values for launch conditions. Those of a plug-in that is off are
// missing, so conditions that name them are not true.
type LifePlugin struct {
	Name    Plugin      `json:"name"`
	Group   PluginGroup `json:"group"`
	Enabled bool        `json:"enabled"`
}

// SafeguardSwitch says whether the life of the robot reacts to a safeguard. Whether the robot may
// move does not depend on it.
type SafeguardSwitch struct {
	Name    Safeguard `json:"name"`
	Enabled bool      `json:"enabled"`
}

// LifeCondition is whether an activity could be launched now, and if not, why.
type LifeCondition struct {
	Activity string `json:"activity"`
	True     bool   `json:"true"`
	Why      string `json:"why,omitempty"` // the first part that is not true, with its value; or what else keeps it
}

// LifeStatistics counts how often an activity had the focus.
type LifeStatistics struct {
	Activity  string `json:"activity"`
	Starts    int64  `json:"starts"`
	LastStart Time   `json:"last_start"`
	TotalMS   int64  `json:"total_ms"`
}

// LifeFocus is an activity that got the focus; none = the focus became free.
type LifeFocus struct {
	Activity string `json:"activity,omitempty"`
	Since    Time   `json:"since"`
}

// LifeEntry is a state that was entered.
type LifeEntry struct {
	State LifeState `json:"state"`
	Since Time      `json:"since"`
}
