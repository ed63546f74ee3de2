package notify

import (
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/site"
	"troupe/schema"
)

// Route says which alerts and events go to which receiver.
type Route struct {
	Receiver string            `json:"receiver" maxLength:"63" doc:"where they go" cli:"-"`
	Alerts   []string          `json:"alerts,omitempty" doc:"types of alerts; all stands for every type. Without alerts and events: every alert" example:"[\"robot_lost\", \"robot_stopped\"]" cli:"-"`
	Events   []string          `json:"events,omitempty" doc:"types of events" cli:"-"`
	Level    schema.AlertLevel `json:"level,omitempty" enum:"info,warn,error,critical" doc:"alerts of this level and above; default info" cli:"-"`
	Sites    []string          `json:"sites,omitempty" doc:"only of robots of these sites; default: of every robot, and what has no robot" cli:"-"`
	Quiet    *Quiet            `json:"quiet,omitempty" doc:"when nothing is sent; what is still the case afterwards is sent then" cli:"-"`

	GroupS   *int64      `json:"group_s,omitempty" minimum:"0" maximum:"3600" doc:"seconds for which changes are collected into one notification, and the least time between two; default 60. One that stays alone for 10 s is sent then" cli:"-"`
	RepeatS  *int64      `json:"repeat_s,omitempty" minimum:"0" maximum:"2592000" doc:"seconds after which alerts that nobody acknowledged are sent again; 0 = never; default 14400 (4 h)" cli:"-"`
	Resolved *bool       `json:"resolved,omitempty" doc:"whether the end of alerts is sent, too; default true" cli:"-"`
	Escalate *Escalation `json:"escalate,omitempty" doc:"who else gets alerts that nobody acknowledges" cli:"-"`
	Enabled  *bool       `json:"enabled,omitempty" doc:"false: nothing is sent; default true" cli:"-"`
}

// Quiet is when a route is quiet.
type Quiet struct {
	Zone    string            `json:"zone" maxLength:"63" doc:"IANA time zone" example:"Europe/Berlin"`
	Windows []site.Window     `json:"windows" doc:"such as span 22:00-07:00, of some days or of every day"`
	Through schema.AlertLevel `json:"through,omitempty" enum:"warn,error,critical" doc:"alerts of this level and above are sent all the same; default: none"`
}

// Escalation is who gets an alert that nobody acknowledges.
type Escalation struct {
	AfterS   int64  `json:"after_s" minimum:"60" maximum:"604800" doc:"seconds after the alert was sent first"`
	Receiver string `json:"receiver" maxLength:"63"`
}

// All stands for every type of alerts.
const All = "all"

// Bounds of a route.
const (
	maxTypes = 200
	maxSites = 200
)

const (
	defaultGroup  = 60 * time.Second
	defaultRepeat = 4 * time.Hour
	// settle is how long a change has to stay alone until it is sent.
	settle = 10 * time.Second
)

// Levels are the levels of alerts, in ascending order.
var Levels = []schema.AlertLevel{schema.AlertInfo, schema.AlertWarn, schema.AlertError, schema.AlertCritical}

func rank(l schema.AlertLevel) int { return max(0, slices.Index(Levels, l)) }

// Compiled is a route, ready to be asked.
type Compiled struct {
	Route
	quiet         *site.Hours // nil = never
	group, repeat time.Duration
}

// Compile reads a route, and reports all problems at once. known says whether there is such a receiver.
func Compile(r Route, known func(receiver string) bool) (c Compiled, found []schema.Problem) {
	add := func(pointer, code, detail, hint string) {
		found = append(found, schema.NewProblem(pointer, code, detail, hint))
	}
	c = Compiled{Route: r, group: defaultGroup, repeat: defaultRepeat}
	receiver := func(at, id string) {
		switch {
		case id == "":
			add(at, "missing", "there is no receiver", "write the id of a receiver; fleetd receiver list shows them")
		case !known(id):
			add(at, "not_found", fmt.Sprintf("there is no receiver %q", id),
				"make it first: fleetd receiver put; fleetd receiver list shows those that there are")
		}
	}
	receiver("/receiver", r.Receiver)
	found = append(found, typeProblems("/alerts", "alert", r.Alerts, isAlertType, "topics.md lists them, or write all")...)
	found = append(found, typeProblems("/events", "event", r.Events, isEventType, "topics.md lists them")...)
	if r.Level != "" && !slices.Contains(Levels, r.Level) {
		add("/level", "bad_level", fmt.Sprintf("%q is no level of alerts", r.Level), "write info, warn, error or critical")
	}
	if len(r.Sites) > maxSites {
		add("/sites", "too_many", fmt.Sprintf("there are %d sites, at most %d are allowed", len(r.Sites), maxSites),
			"leave sites out for every site")
	}
	for i, s := range r.Sites {
		if s == "" || slices.Contains(r.Sites[:i], s) {
			add(fmt.Sprintf("/sites/%d", i), "bad_site", fmt.Sprintf("%q is no site, or it is there twice", s),
				"write each value of the label site once")
		}
	}
	if r.Quiet != nil {
		hours, problems := compileQuiet(*r.Quiet)
		c.quiet, found = hours, append(found, problems...)
	}
	seconds := func(at string, s *int64, most int64, into *time.Duration) {
		switch {
		case s == nil:
		case *s < 0 || *s > most:
			add(at, "out_of_range", fmt.Sprintf("%d is not between 0 and %d seconds", *s, most), "write seconds")
		default:
			*into = time.Duration(*s) * time.Second
		}
	}
	seconds("/group_s", r.GroupS, 3600, &c.group)
	seconds("/repeat_s", r.RepeatS, 30*24*3600, &c.repeat)
	if e := r.Escalate; e != nil {
		receiver("/escalate/receiver", e.Receiver)
		if e.Receiver != "" && e.Receiver == r.Receiver {
			add("/escalate/receiver", "same_receiver", "it gets the alert already", "name another receiver")
		}
		if e.AfterS < 60 || e.AfterS > 7*24*3600 {
			add("/escalate/after_s", "out_of_range", fmt.Sprintf("%d is not between 60 and 604800 seconds", e.AfterS), "write seconds")
		}
		if len(r.Alerts) == 0 && len(r.Events) > 0 {
			add("/escalate", "no_alerts", "the route has only events, which nobody can acknowledge", "leave it out, or add alerts")
		}
	}
	return c, found
}

func typeProblems(at, what string, types []string, is func(string) bool, hint string) (found []schema.Problem) {
	if len(types) > maxTypes {
		return []schema.Problem{schema.NewProblem(at, "too_many", fmt.Sprintf("there are %d types, at most %d are allowed", len(types),
			maxTypes), hint)}
	}
	for i, t := range types {
		at := fmt.Sprintf("%s/%d", at, i)
		switch {
		case !is(t):
			found = append(found, schema.NewProblem(at, "unknown_type", fmt.Sprintf("there is no type of %ss %q", what, t), hint))
		case slices.Contains(types[:i], t):
			found = append(found, schema.NewProblem(at, "duplicate", fmt.Sprintf("%q is there twice", t), "remove one"))
		}
	}
	return found
}

func isAlertType(t string) bool {
	return t == All || slices.ContainsFunc(schema.Alerts, func(r schema.AlertRow) bool { return r.Type == t })
}

func isEventType(t string) bool {
	return slices.ContainsFunc(schema.Events, func(r schema.EventRow) bool { return r.Type == t })
}

func compileQuiet(q Quiet) (*site.Hours, []schema.Problem) {
	hours, problems := site.Parse(site.Site{Zone: q.Zone, Windows: q.Windows})
	var found []schema.Problem
	for _, p := range problems {
		p.Pointer = "/quiet" + p.Pointer
		found = append(found, p)
	}
	if len(q.Windows) == 0 {
		found = append(found, schema.NewProblem("/quiet/windows", "missing", "there are no quiet hours",
			"write spans such as 22:00-07:00, or leave quiet out"))
	}
	if q.Through != "" && rank(q.Through) == 0 {
		found = append(found, schema.NewProblem("/quiet/through", "bad_level", fmt.Sprintf("%q is no level above info", q.Through),
			"write warn, error or critical, or leave it out"))
	}
	if len(found) > 0 {
		return nil, found
	}
	return &hours, nil
}

// IsEnabled reports whether the route sends anything.
func (r Route) IsEnabled() bool { return r.Enabled == nil || *r.Enabled }

// sendsResolved reports whether the end of alerts is sent.
func (r Route) sendsResolved() bool { return r.Resolved == nil || *r.Resolved }

// WantsEvents reports whether the route sends events.
func (r Route) WantsEvents() bool { return r.IsEnabled() && len(r.Events) > 0 }

// IsQuiet reports whether the route is quiet.
func (c *Compiled) IsQuiet(now time.Time) bool { return c.quiet != nil && c.quiet.InWindow(now) }

// Takes reports whether an alert goes this way, whatever the hour.
func (c *Compiled) Takes(a Alert) bool {
	if !c.IsEnabled() || rank(a.Level) < rank(c.Level) || !c.takesSite(a.Site, a.Robot) {
		return false
	}
	if len(c.Alerts) == 0 {
		return len(c.Events) == 0
	}
	return slices.Contains(c.Alerts, All) || slices.Contains(c.Alerts, a.Type)
}

// TakesEvent reports whether an event goes this way, whatever the hour.
func (c *Compiled) TakesEvent(e Event) bool {
	return c.IsEnabled() && c.takesSite(e.Site, e.Robot) && slices.Contains(c.Events, e.Type)
}

func (c *Compiled) takesSite(at, robot string) bool {
	return len(c.Sites) == 0 || robot != "" && slices.Contains(c.Sites, at)
}

// goesThrough reports whether an alert is sent in quiet hours, too.
func (c *Compiled) goesThrough(a Alert) bool {
	return c.Quiet != nil && c.Quiet.Through != "" && rank(a.Level) >= rank(c.Quiet.Through)
}
