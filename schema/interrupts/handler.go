package interrupts

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
	"troupe/schema/score"
)

// Handler says what a robot does for an interrupt: exactly one of Act, Actions, Activity
// and HTTP. Durations are written as 3s or 2m.
type Handler struct {
	ID       string            `json:"handler"`
	Act      string            `json:"act,omitempty"`      // an act of the robot's story
	With     map[string]string `json:"with,omitempty"`     // values of the act's parameters, or of those in Actions
	Actions  jsontext.Value    `json:"actions,omitempty"`  // as in the file of an act
	Activity string            `json:"activity,omitempty"` // its acts, in order
	HTTP     *Call             `json:"http,omitzero"`
	When     string            `json:"when,omitempty"`     // a condition; if it is not true, requests are refused
	Idle     string            `json:"idle,omitempty"`     // it goes on until nobody has touched or pressed anything for so long, until "done" is pressed, or until a choice on the screen is made
	Deadline string            `json:"deadline,omitempty"` // 10m if left out
	Priority int64             `json:"priority,omitzero"`  // 1 to 100, 10 if left out: the higher one gets a unit that both want
	Preempt  bool              `json:"preempt,omitzero"`   // ends running handlers of lower priority that perform an activity
}

// Call is an HTTP call. The robot posts which interrupt it is, and performs the act in the
// answer if there is one.
type Call struct {
	URL     string `json:"url"`
	Timeout string `json:"timeout,omitempty"` // 5s if left out
}

// What a handler has if it does not say.
const (
	DefaultDeadline = 10 * time.Minute
	DefaultPriority = 10
	DefaultTimeout  = 5 * time.Second
)

// Done is the choice or button that ends a handler with Idle.
const Done = "done"

// Service is the handler of every robot that asks a person what they want, and Help the choice there that calls an
// operator.
const (
	Service = "service"
	Help    = "help"
)

// MaxAnswer bounds the answer to a Call, in bytes.
const MaxAnswer = 16 << 10

const (
	maxPriority = 100
	maxTimeout  = time.Minute
	maxURL      = 512
)

// Reserved are handlers that no setting replaces: robotd has code of its own for them.
var Reserved = []string{"request", "power"}

// ParseHandlers reads the value of the setting interrupts.handlers.
func ParseHandlers(value jsontext.Value) ([]Handler, []schema.Problem) {
	handlers, problems := parseList[Handler](value, MaxHandlers, "handlers")
	if len(problems) > 0 {
		return nil, problems
	}
	var c checks
	for i, h := range handlers {
		p := fmt.Sprintf("/%d", i)
		c.id(p+"/handler", h.ID, slices.ContainsFunc(handlers[:i], func(o Handler) bool { return o.ID == h.ID }))
		if slices.Contains(Reserved, h.ID) {
			c.add(p+"/handler", h.ID+" is the robot's own and cannot be replaced", "choose another name")
		}
		c.does(p, h)
		c.condition(p+"/when", h.When)
		c.duration(p+"/idle", h.Idle, maxDuration)
		c.duration(p+"/deadline", h.Deadline, maxDuration)
		if h.Priority < 0 || h.Priority > maxPriority {
			c.add(p+"/priority", fmt.Sprintf("%d is not between 1 and %d", h.Priority, maxPriority), "")
		}
	}
	return handlers, c.found
}

// does checks what a handler does.
func (c *checks) does(p string, h Handler) {
	var set []string
	for name, is := range map[string]bool{"act": h.Act != "", "actions": len(h.Actions) > 0, "activity": h.Activity != "",
		"http": h.HTTP != nil} {
		if is {
			set = append(set, name)
		}
	}
	if slices.Sort(set); len(set) != 1 {
		c.add(p, fmt.Sprintf("the handler has %d of act, actions, activity and http (%s)", len(set), strings.Join(set, ", ")), "exactly one")
		return
	}
	switch {
	case h.HTTP != nil:
		c.call(p+"/http", h.HTTP)
	case h.Activity != "":
		c.id(p+"/activity", h.Activity, false)
	case h.Act != "":
		c.id(p+"/act", h.Act, false)
	default:
		_, problems := h.Inline()
		c.under(p, problems)
	}
	if len(h.With) > 0 && h.Act == "" && len(h.Actions) == 0 {
		c.add(p+"/with", "there is no act for these values", "leave it out")
	}
}

// Inline returns the act that Actions are.
func (h Handler) Inline() (score.Act, []schema.Problem) {
	w, problems := score.PerformRequestOf("", string(h.Actions), h.With, false)
	for i := range problems {
		problems[i].Pointer = strings.TrimPrefix(problems[i].Pointer, "/args")
	}
	if len(schema.Errors(problems)) > 0 || w.Inline == nil {
		return score.Act{}, problems
	}
	a := w.Inline.Resolve(score.Step{})
	a.ID = h.ID
	if nested := a.Nested(); len(nested) > 0 {
		problems = append(problems, schema.NewProblem("/actions", "bad_value", "the actions perform the act "+nested[0],
			"name that act instead: a handler's actions stand alone"))
	}
	return a, problems
}

func (c *checks) call(p string, call *Call) {
	u, err := url.Parse(call.URL)
	switch {
	case err != nil || len(call.URL) > maxURL || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		c.add(p+"/url", fmt.Sprintf("%.80q is not an address to call", schema.PrintableURL(call.URL)), "http:// or https://, and a host")
	case u.User != nil:
		c.add(p+"/url", "the address has a name or a password in it, and everybody may read settings", "let the server know the robot otherwise")
	}
	c.duration(p+"/timeout", call.Timeout, maxTimeout)
}
