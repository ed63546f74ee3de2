// Package schedule says at which instants something happens, and what then. It decides only: the caller has the clock, and
// saves which instants were run or missed in the transaction that does what the schedule says.
package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/content"
	"troupe/fleetd/selector"
	"troupe/fleetd/site"
	"troupe/schema"
)

// Schedule is a time and what happens then.
type Schedule struct {
	Times
	Missed   Missed             `json:"missed,omitempty" enum:"skip,run_once" doc:"what happens if fleetd did not run in time: nothing (default), or the newest missed instant runs once, if it is not older than within_s" cli:"-"`
	WithinS  int64              `json:"within_s,omitempty" minimum:"0" maximum:"604800" doc:"seconds for which a missed instant is still run; for run_once" cli:"-"`
	Action   Action             `json:"action" cli:"-"`
	Selector *selector.Selector `json:"selector,omitempty" doc:"the robots, as they are at the instant; left out if a rollout starts, which has its own" cli:"-"`
	Enabled  *bool              `json:"enabled,omitempty" doc:"false: nothing happens; default true" cli:"-"`
	Why      string             `json:"why,omitempty" maxLength:"256" doc:"the reason, which robots and the audit get"`
}

// IsEnabled reports whether the schedule runs.
func (s Schedule) IsEnabled() bool { return s.Enabled == nil || *s.Enabled }

// Times are the instants: exactly one of Cron, At and Event.
type Times struct {
	Cron    string `json:"cron,omitempty" maxLength:"120" doc:"minute, hour, day of the month, month, day of the week" example:"0 9 * * 1-5" cli:"-"`
	At      string `json:"at,omitempty" maxLength:"40" doc:"one instant: 2026-12-24T18:00 in the zone, or RFC 3339 with an offset" cli:"-"`
	Zone    string `json:"zone,omitempty" maxLength:"63" doc:"IANA time zone of cron, and of at without an offset" example:"Europe/Berlin" cli:"-"`
	Event   string `json:"event,omitempty" enum:"opening,closing" doc:"each opening or closing of a site" cli:"-"`
	Site    string `json:"site,omitempty" maxLength:"63" doc:"the site of event" cli:"-"`
	OffsetS int64  `json:"offset_s,omitempty" minimum:"-43200" maximum:"43200" doc:"seconds after the opening or closing, negative before it" cli:"-"`
}

// Author is as whom a schedule acts: with the rights and sites that the person had who saved it.
type Author struct {
	User   string   `json:"user"`
	Rights []string `json:"rights"`          // by their names
	Sites  []string `json:"sites,omitempty"` // none = every site
}

// Outcome is what became of an instant.
type Outcome string

// The outcomes. Done says that fleetd did it: what each robot answered is the outcome of the commands.
const (
	Done      Outcome = "done"
	WasMissed Outcome = "missed"
	Failed    Outcome = "failed"
)

// String says in a few words when it is.
func (s Times) String() string {
	switch {
	case s.Cron != "":
		return s.Cron + " " + s.Zone
	case s.At != "":
		return strings.TrimSpace(s.At + " " + s.Zone)
	case s.OffsetS == 0:
		return s.Event + " of " + s.Site
	}
	when, offset := "after", time.Duration(s.OffsetS)*time.Second
	if offset < 0 {
		when, offset = "before", -offset
	}
	text := offset.String()
	for _, none := range []string{"0s", "0m"} { // 15m0s is 15m, and 30s stays
		if short := strings.TrimSuffix(text, none); strings.HasSuffix(short, "m") || strings.HasSuffix(short, "h") {
			text = short
		}
	}
	return fmt.Sprintf("%s %s %s of %s", text, when, s.Event, s.Site)
}

// Missed is what happens to instants at which fleetd did not run.
type Missed string

// The policies for missed instants.
const (
	Skip    Missed = "skip"
	RunOnce Missed = "run_once"
)

// Action is what happens: exactly one of the fields.
type Action struct {
	Rollout     string           `json:"rollout,omitempty" maxLength:"64" doc:"start this rollout, which waits for it"`
	Assign      *content.Content `json:"assign,omitempty" doc:"assign a content"`
	Mode        schema.ModeID    `json:"mode,omitempty" doc:"put this mode in charge, as mode/set does"`
	Performance string           `json:"performance,omitempty" enum:"start,stop,pause,continue" doc:"start, stop, pause or continue the story, as auto/start and the others do"`
}

// String describes an action in a few words.
func (a Action) String() string {
	switch {
	case a.Rollout != "":
		return "start rollout " + a.Rollout
	case a.Assign != nil:
		return "assign " + a.Assign.String()
	case a.Mode != "":
		return "mode " + string(a.Mode)
	case a.Performance != "":
		return a.Performance + " the performance"
	}
	return "nothing"
}

// performances are the verbs by what they do to the performance.
var performances = map[string]string{"start": "auto/start", "stop": "auto/stop", "pause": "auto/pause", "continue": "auto/continue"}

// Command returns the command that an action sends to each robot; an empty verb if it sends none. It is never one that
// enables a robot or releases a stop: those a person sends, who sees the robot. Nor is it one of group manual: those need control.
func (a Action) Command() (verbID string, args jsontext.Value) {
	switch {
	case a.Mode != "":
		return "mode/set", encode(map[string]any{"mode": a.Mode})
	case a.Performance != "":
		return performances[a.Performance], nil
	}
	return "", nil
}

func encode(v map[string]any) jsontext.Value {
	b, err := schema.Encode(v)
	if err != nil {
		panic(err) // strings and finite numbers can be encoded
	}
	return b
}

// Problems reports everything that is wrong with an action.
func (a Action) Problems(at string) (found []schema.Problem) {
	given := 0
	for _, is := range []bool{a.Rollout != "", a.Assign != nil, a.Mode != "", a.Performance != ""} {
		if is {
			given++
		}
	}
	if given != 1 {
		return []schema.Problem{schema.NewProblem(at, "one_of", fmt.Sprintf("it names %d actions", given),
			"name exactly one of rollout, assign, mode and performance")}
	}
	if a.Assign != nil {
		return a.Assign.Problems(at + "/assign")
	}
	if _, known := performances[a.Performance]; a.Performance != "" && !known {
		return []schema.Problem{schema.NewProblem(at+"/performance", "bad_value", fmt.Sprintf("%q cannot be done to a performance",
			a.Performance), "write start, stop, pause or continue")}
	}
	if a.Mode != "" && !schema.ValidID(string(a.Mode)) {
		found = append(found, schema.NewProblem(at+"/mode", "bad_id", fmt.Sprintf("%q cannot be a mode", a.Mode),
			"write the id of a mode, such as ato"))
	}
	return found
}

// Sites returns the hours of a site; false if nothing is known of it.
type Sites func(id string) (site.Hours, bool)

// Compile reads the times of a schedule, and reports everything that is wrong with the schedule, as far as that can be
// known without the library and the robots. With the zero time for now, as for a schedule that was saved before, one that has
// no instant any more is not wrong.
func Compile(s Schedule, sites Sites, now time.Time) (Timer, []schema.Problem) {
	t, found := s.Times.compile(sites, now)
	switch s.Missed {
	case "", Skip:
		if s.WithinS != 0 {
			found = append(found, schema.NewProblem("/within_s", "bad_value", "within_s is for missed: run_once",
				"leave it out, or write missed: run_once"))
		}
	case RunOnce:
		if s.WithinS <= 0 {
			found = append(found, schema.NewProblem("/missed", "missing", "run_once needs a time within which a missed instant is still run",
				"write within_s, in seconds, such as 3600"))
		}
	default:
		found = append(found, schema.NewProblem("/missed", "bad_value", fmt.Sprintf("there is no policy %q for missed instants", s.Missed),
			"write skip or run_once"))
	}
	t.missed, t.within = s.Missed, time.Duration(s.WithinS)*time.Second
	found = append(found, s.Action.Problems("/action")...)
	switch {
	case s.Action.Rollout != "" && s.Selector != nil:
		found = append(found, schema.NewProblem("/selector", "bad_value", "a rollout has its own robots", "leave out the selector"))
	case s.Action.Rollout == "" && s.Selector == nil:
		found = append(found, schema.NewProblem("/selector", "missing", "no robot is selected", `write "labels": [{"key": "site", "value": "..."}], "ids": [...] or "all": true`))
	case s.Selector != nil:
		for _, p := range s.Selector.Problems() {
			p.Pointer = "/selector" + p.Pointer
			found = append(found, p)
		}
	}
	return t, found
}

// Calendar is a site with what happens when it opens and closes.
type Calendar struct {
	site.Site
	Open  *Action `json:"open,omitempty" doc:"what happens with the robots of the site when it opens" cli:"-"`
	Close *Action `json:"close,omitempty" doc:"what happens with them when it closes" cli:"-"`
}

// Problems reports everything that is wrong with a calendar.
func (c Calendar) Problems() []schema.Problem {
	_, found := site.Parse(c.Site)
	for at, a := range map[string]*Action{"/open": c.Open, "/close": c.Close} {
		if a != nil {
			found = append(found, a.Problems(at)...)
		}
	}
	return found
}

// Schedules returns the schedules that the calendar of a site writes, by id. The robots of a site are those with its label.
func (c Calendar) Schedules(id string) map[string]Schedule {
	out := map[string]Schedule{}
	for _, one := range []struct {
		suffix, on string
		action     *Action
	}{{"open", "opening", c.Open}, {"close", "closing", c.Close}} {
		if one.action == nil {
			continue
		}
		s := Schedule{Times: Times{Event: one.on, Site: id}, Action: *one.action, Why: one.on + " of site " + id, Missed: RunOnce,
			WithinS: calendarWithinS}
		if one.action.Rollout == "" {
			robots := selector.Labelled(selector.Label{Key: "site", Value: id})
			s.Selector = &robots
		}
		out[id+"-"+one.suffix] = s
	}
	return out
}

// calendarWithinS is for how long a missed opening or closing is still run: a site that opened half an hour ago
// shall open.
const calendarWithinS = 3600
