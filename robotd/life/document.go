package life

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/schema"
	"troupe/schema/cond"
)

// Document is autonomous life as in the state document. running reports whether an ability is
// performed now.
func (t Step) Document(running func(schema.Ability) bool) *schema.StateLife {
	d := &schema.StateLife{
		State: t.at, Reason: t.reason, Since: t.Now.At(t.since), Focused: t.focus.activity, Next: t.next,
		Launchpad: schema.LifeLaunchpad{On: t.launchpadOn}, Focuses: slices.Clone(t.focuses), States: slices.Clone(t.states),
	}
	if len(t.stack) > 0 {
		d.Stack = t.stacked()
	}
	if len(t.chosen) > 0 {
		d.Suggestions = t.suggestions()
	}
	for _, a := range Abilities {
		d.Abilities = append(d.Abilities, schema.LifeAbility{Name: a.Name, Enabled: slices.Contains(a.In, t.at), Running: running(a.Name)})
	}
	for i, p := range Plugins {
		d.Plugins = append(d.Plugins, schema.LifePlugin{Name: p.Name, Group: p.Group, Enabled: t.plugins[i]})
	}
	for i, c := range causes[1:] {
		d.Safeguards = append(d.Safeguards, schema.SafeguardSwitch{Name: c, Enabled: !t.ignored[i+1]})
	}
	var started []*activity
	for _, a := range t.byName() {
		if a.starts > 0 {
			started = append(started, a)
		}
		if a.when != nil && len(d.Conditions) < schema.MaxLifeConditions {
			truth, why := t.explain(a)
			d.Conditions = append(d.Conditions, schema.LifeCondition{Activity: a.ID, True: truth, Why: shorten(why, schema.MaxLifeWhy)})
		}
	}
	slices.SortFunc(started, func(a, b *activity) int { return cmp.Compare(b.started, a.started) })
	for _, a := range started[:min(len(started), schema.MaxLifeStatistics)] {
		total := a.total
		if a.ID == t.focus.activity {
			total += t.Now.Mono - t.focus.since
		}
		d.Statistics = append(d.Statistics, schema.LifeStatistics{Activity: a.ID, Starts: a.starts, LastStart: t.Now.At(a.started),
			TotalMS: total.Milliseconds()})
	}
	return d
}

func (s *State) byName() []*activity {
	list := make([]*activity, len(s.activities))
	for i := range s.activities {
		list[i] = &s.activities[i]
	}
	slices.SortFunc(list, func(a, b *activity) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// explain says whether an activity's condition is true, and if the launchpad does not give it
// the focus now, why.
func (t Step) explain(a *activity) (truth bool, why string) {
	facts := a.watch.Facts(t.Now.Mono, &t.Signals.Values)
	if truth = a.when.Eval(facts); !truth {
		return false, t.untrue(a.when, facts, "")
	}
	switch r := cmp.Or(prevents(CandidateBlocks, t, a), prevents(Permissions, t, a), prevents(LaunchBlocks, t, a)); {
	case a.ID == t.focus.activity:
		return true, "it has the focus"
	case !t.launchpadOn:
		return true, "the launchpad is off"
	case !a.held:
		return true, fmt.Sprintf("true for %s of %s", round(a.hold.TrueFor(t.Now.Mono)), round(a.needs))
	case r == nil:
		return true, ""
	case r.Reason == schema.ReasonCooldown:
		return true, r.Why + "; it rests for " + round(a.restsUntil()-t.Now.Mono)
	default:
		return true, r.Why
	}
}

// untrue says why a condition is not true: its parts that are not, with the values of the keys
// that they name, and since when they have them. Without a separator it is the first part alone.
func (t Step) untrue(c *cond.Condition, facts cond.Facts, separator string) string {
	var parts []string
	for _, p := range c.Explain(facts) {
		if p.True {
			continue
		}
		var values []string
		for _, key := range slices.Sorted(maps.Keys(p.Facts)) {
			values = append(values, fmt.Sprintf("%s is %v for %s", key, p.Facts[key], round(t.Signals.Age(key))))
		}
		for _, key := range p.Missing {
			values = append(values, key+" is unknown"+t.offPlugin(key))
		}
		if name, never := strings.CutPrefix(p.Error, noSuchKey); never {
			values = append(values, name+" has not happened")
		} else if p.Error != "" && t.offPlugin(cond.Since) != "" {
			values = append(values, "no time is known"+t.offPlugin(cond.Since))
		} else if p.Error != "" {
			values = append(values, p.Error)
		}
		part := shorten(strings.Join(strings.Fields(p.Text), " "), maxPart) + " is not true"
		if len(values) > 0 {
			part += ": " + strings.Join(values, ", ")
		}
		if parts = append(parts, part); separator == "" {
			break
		}
	}
	return strings.Join(parts, separator)
}

// noSuchKey is how cel begins the error of a since_s of what never happened.
const noSuchKey = "no such key: "

// maxPart bounds the text of a part in an explanation, in bytes, so that its values have room.
const maxPart = 72

// offPlugin names the plug-in of a key, if it is off.
func (t Step) offPlugin(key string) string {
	for i, p := range Plugins {
		if slices.Contains(p.Keys, key) && !t.plugins[i] {
			return " (the plug-in " + string(p.Name) + " is off)"
		}
	}
	return ""
}

// round prints a duration for people.
func round(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }

// shorten cuts a text to a length, at a character.
func shorten(text string, length int) string {
	if len(text) <= length {
		return text
	}
	return strings.ToValidUTF8(text[:length-3], "") + "..."
}
