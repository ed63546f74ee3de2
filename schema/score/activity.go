package score

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"troupe/schema"
	"troupe/schema/cond"
)

// ActivitiesSchema is the version of the published form of activities.
const ActivitiesSchema = 1

// Limits of a set of activities.
const (
	MaxActivities = 64
	maxLaunch     = 24 * time.Hour
)

// Nature says whether an activity involves people.
type Nature string

const (
	NatureSolitary    Nature = "solitary"
	NatureInteractive Nature = "interactive"
)

// Activity is a story with a nature and a launch condition. A file contains one activity.
type Activity struct {
	ID          string            `json:"activity"`
	Name        Text              `json:"name"`
	Labels      map[string]string `json:"labels,omitempty"`
	Languages   []string          `json:"languages,omitempty"`
	Repeat      Repeat            `json:"repeat,omitzero"`
	OnActError  ActError          `json:"on_act_error,omitzero"`
	Acts        []Step            `json:"acts"`
	Nature      Nature            `json:"nature"`
	Launch      Launch            `json:"launch,omitzero"`
	Permissions map[string]bool   `json:"permissions,omitempty"`
}

// Permission is the name of a circumstance in which only an activity with that permission may
// start.
type Permission string

// The permissions. PermitNature cannot be given: a solitary activity never starts while an
// interactive one has the focus.
const (
	PermitNature        Permission = "nature"
	PermitWhileCharging Permission = "while_charging" // the battery is being charged
	PermitWhileMoving   Permission = "while_moving"   // the robot drives
	PermitInSafeguard   Permission = "in_safeguard"   // a safeguard, such as pushed, is active, and life/safeguard lets life ignore it
)

// Permissions lists the permissions.
var Permissions = []Permission{PermitNature, PermitWhileCharging, PermitWhileMoving, PermitInSafeguard}

// Permits reports whether the activity has a permission.
func (a *Activity) Permits(p Permission) bool { return a.Permissions[string(p)] }

// Launch is when an activity starts by itself. Durations are written as 3s or 2m. Without
// When it starts only on request.
type Launch struct {
	When     string `json:"when,omitempty"` // a condition, as package cond has them
	For      string `json:"for,omitempty"`  // how long When has to be true
	Cooldown string `json:"cooldown,omitempty"`
}

// Activities is a published set of activities with all their acts.
type Activities struct {
	Schema     int64          `json:"schema"`
	Activities []Activity     `json:"activities"`
	Acts       map[string]Act `json:"acts"`
	Assets     []Asset        `json:"assets,omitempty"`
}

// Story returns what an activity has in common with a story.
func (a Activity) Story() Story {
	return Story{ID: a.ID, Name: a.Name, Labels: a.Labels, Languages: a.Languages, Repeat: a.Repeat, OnActError: a.OnActError, Acts: a.Acts}
}

// ParseActivity parses an activity as ParseAct parses an act.
func ParseActivity(data []byte) (Activity, []schema.Problem) { return parse[Activity](data) }

// ParseActivities parses a published set, which is always JSON. It does not validate it.
func ParseActivities(data []byte) (Activities, []schema.Problem) {
	return published[Activities](data, "activities", ActivitiesSchema)
}

// ValidateActivities validates a published set on its own.
func ValidateActivities(b Activities) []schema.Problem {
	var c checks
	if b.Schema != ActivitiesSchema {
		c.addUnder("", []schema.Problem{unsupported("activities", b.Schema, ActivitiesSchema)})
		return c.found
	}
	if len(b.Activities) > MaxActivities {
		c.add("/activities", CodeTooMany, fmt.Sprintf("%d activities are over %d", len(b.Activities), MaxActivities), "use fewer")
	}
	lookup := func(id string) (Act, bool) { a, ok := b.Acts[id]; return a, ok }
	for i, a := range b.Activities {
		p := at("/activities", i)
		if slices.ContainsFunc(b.Activities[:i], func(b Activity) bool { return b.ID == a.ID }) {
			c.add(at(p, "activity"), CodeDuplicateID, "there are two activities "+a.ID, "give one of them another id")
		}
		c.addUnder(p, ValidateActivity(a, lookup))
	}
	for _, id := range slices.Sorted(maps.Keys(b.Acts)) {
		a, p := b.Acts[id], at("/acts", id)
		if a.ID != id {
			c.add(at(p, "act"), CodeWrongKey, fmt.Sprintf("the act %q is filed under %q", a.ID, id), "file it under its own id")
		}
		c.addUnder(p, ValidateActWith(a, lookup))
	}
	c.assets("/assets", b.Assets, []AssetKind{AssetSound, AssetFace}, reaches(b.Acts))
	return c.found
}

// ValidateActivity validates an activity as ValidateStory validates a story, and the fields
// that only an activity has.
func ValidateActivity(a Activity, lookup func(string) (Act, bool)) []schema.Problem {
	var c checks
	c.addUnder("", validateStory(a.Story(), anActivity, lookup))
	if a.Nature != NatureSolitary && a.Nature != NatureInteractive {
		c.add("/nature", CodeBadValue, fmt.Sprintf("%q is not a nature", a.Nature),
			nearWord(string(a.Nature), []string{"solitary", "interactive"},
				"write solitary (it may start while the robot is alone) or interactive (it is for people)"))
	}
	if a.Launch.When != "" {
		_, problems := cond.Parse(a.Launch.When)
		c.addUnder("/launch/when", problems)
		if len(problems) == 0 && a.Launch.Cooldown == "" {
			c.warn("/launch", CodeNoCooldown,
				"without a cooldown the activity starts again and again while its condition is true, and the story gets no time",
				"say how long it rests after its end, such as cooldown: 60s")
		}
	}
	if a.Launch.When == "" && a.Launch.For != "" {
		c.add("/launch/when", CodeMissing, "for says how long a condition has to hold, and there is none", "add when, or leave for out")
	}
	c.duration("/launch/for", a.Launch.For)
	c.duration("/launch/cooldown", a.Launch.Cooldown)
	for _, name := range slices.Sorted(maps.Keys(a.Permissions)) {
		switch {
		case !slices.Contains(Permissions, Permission(name)):
			c.add(at("/permissions", name), CodeBadValue, fmt.Sprintf("%.64q is not a permission", name),
				"while_charging, while_moving or in_safeguard")
		case Permission(name) == PermitNature && a.Permissions[name]:
			c.add(at("/permissions", name), CodeBadValue,
				"no activity has this permission: a solitary one never starts while an interactive one has the focus",
				"leave it out, or make the activity interactive")
		}
	}
	return c.found
}

func (c *checks) duration(pointer, s string) {
	if s == "" {
		return
	}
	if d, err := time.ParseDuration(s); err != nil || d <= 0 || d > maxLaunch {
		c.add(pointer, CodeBadValue, fmt.Sprintf("%q is not a duration of at most a day", s), "write it with its unit, such as 3s or 2m")
	}
}

// EncodeActivities encodes a set with the acts that it uses. Equal values give equal
// bytes.
func EncodeActivities(list []Activity, acts map[string]Act, files ...Asset) (data []byte, sum string, err error) {
	b := Activities{Schema: ActivitiesSchema, Activities: list, Acts: map[string]Act{}, Assets: files}
	for _, a := range list {
		for _, id := range Reached(actIDs(a.Acts), In(acts)) {
			b.Acts[id] = acts[id].Sorted()
		}
	}
	return encodeWithDigest(b)
}
