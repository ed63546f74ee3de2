package life

import (
	"slices"

	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/cond"
	"troupe/schema/fsm"
)

// Abilities says in which states the robot has which ability. In disabled and in safeguard it
// does nothing by itself.
var Abilities = [...]struct {
	Name schema.Ability
	In   []schema.LifeState
	Why  string
}{
	{schema.AbilityAwareness, fsm.In(solitary, interactive), "it looks for people, and at the one that it is with"},
	{schema.AbilityBreathing, fsm.In(solitary, interactive), "it looks alive"},
	{schema.AbilityBlinking, fsm.In(interactive), "its face shows that it is with somebody"},
	{schema.AbilityBackgroundMovement, fsm.In(solitary, interactive), "it does not stand like a statue"},
}

// Plugin is a source of values for launch conditions.
type Plugin struct {
	Name  schema.Plugin
	Group schema.PluginGroup
	Keys  []string
	Why   string // why it is in this group
}

// Plugins are the plug-ins. Every key of a condition has one.
var Plugins = [...]Plugin{
	{schema.PluginPeople, schema.GroupSolitary, []string{"people"}, "most activities wait for people"},
	{schema.PluginTouch, schema.GroupSolitary, []string{"touch", "touch_area"}, "a person who touches the robot wants something"},
	{schema.PluginSound, schema.GroupSolitary, []string{"sound", "noise_db"}, "a sound may mean that people are near"},
	{schema.PluginLight, schema.GroupSolitary, []string{"dark"}, "in the dark other activities make sense"},
	{schema.PluginBattery, schema.GroupSolitary, []string{"battery", "charging"},
		"what the robot starts by itself must not empty its battery"},
	{schema.PluginTime, schema.GroupSolitary, []string{"hour", "weekday", cond.Since}, "a day has an order"},
	{schema.PluginRobot, schema.GroupSolitary, []string{"mode", "safety", "story", "act", "location", "labels"},
		"no person is needed for these"},
	{schema.PluginIntent, schema.GroupInteractive, []string{"intent"},
		"it belongs to a conversation, and stays the latest one for long afterwards"},
}

// LaunchpadRuns are the states that start the launchpad; the others stop it.
var LaunchpadRuns = fsm.In(solitary)

// groups are the groups of plug-ins that a state switches on. While the launchpad is off, no
// plug-in is evaluated.
var groups = map[schema.LifeState][]schema.PluginGroup{
	solitary:    {schema.GroupSolitary},
	interactive: {schema.GroupSolitary, schema.GroupInteractive},
}

// abilitiesIn lists the abilities of a state.
func abilitiesIn(s schema.LifeState) (list []schema.Ability) {
	for _, a := range Abilities {
		if slices.Contains(a.In, s) {
			list = append(list, a.Name)
		}
	}
	return list
}

// can reports whether the table has a row for this event now.
func (s *State) can(on Event) bool {
	_, ok := Table.Next(s.at, on)
	return ok
}

// enter makes the transition for an event, if there is one, and gives the state entered its
// configuration, also if it is the same state.
func (t Step) enter(on Event, reason schema.Reason, cause string) bool {
	row, ok := Table.Next(t.at, on)
	if !ok {
		return false
	}
	from := t.at
	t.at, t.reason = row.To, reason
	t.setOff(t.off && row.To == disabled)
	// in safeguard nothing follows, and the answer to a stop, which leads there, would wait for one more step
	t.again, t.dirty = row.To == solitary || row.To == interactive, true
	t.Out.Changed(effect.FlushSoon)
	t.Out.LogTransition("life", string(from), string(row.To), row.Why, cause)
	if from != row.To {
		t.since = t.Now.Mono
		t.states = newest(t.states, schema.LifeEntry{State: row.To, Since: t.Now.Wall})
		t.Out.Event("life_state", "life", cause, string(t.by), effect.Transition{From: string(from), To: string(row.To), Reason: reason})
	}
	t.setLaunchpad(slices.Contains(LaunchpadRuns, row.To))
	for i, p := range Plugins {
		t.plugins[i] = slices.Contains(groups[row.To], p.Group)
	}
	t.hide()
	t.Out.Do(effect.Abilities{Names: abilitiesIn(row.To)})
	return true
}

// setLaunchpad starts the launchpad, whose conditions then begin to hold, or stops it.
func (s *State) setLaunchpad(on bool) {
	if on && !s.launchpadOn {
		for i := range s.activities {
			s.activities[i].hold, s.activities[i].held = cond.Hold{}, false
		}
	}
	s.launchpadOn, s.dirty = on, true
}

// hide makes the keys of plug-ins that are off missing in all conditions.
func (s *State) hide() {
	s.hidden = s.hidden[:0]
	for i := range Plugins {
		if !s.plugins[i] {
			s.hidden = append(s.hidden, Plugins[i].Keys...)
		}
	}
	for i := range s.activities {
		s.activities[i].watch.Hide(s.hidden)
	}
	s.dirty = true
}

// newest puts an entry before the others of a history.
func newest[T any](list []T, x T) []T {
	list = append(list, x)
	copy(list[1:], list)
	list[0] = x
	return list[:min(len(list), schema.MaxLifeHistory)]
}
