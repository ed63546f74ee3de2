// Package interrupt decides which interrupts run.
//
// An interrupter (touch, screen, power, an operator, an external AI) requests a
// handler. The request passes checks in a fixed order, each with a reason of its
// own. An accepted interrupt runs and holds its pause from the same moment: none
// waits. State lists the interrupts that run concurrently, in the order of their
// start; there is at most one per handler. Every end of an interrupt removes it
// and releases its pause exactly once, whatever the cause.
//
// It does not run handlers, evaluate conditions or hold pauses: it returns what to
// start and which pause to acquire or release. Time is counted from boot and is an
// argument; State is comparable.
package interrupt

import (
	"fmt"
	"strings"
	"time"

	"troupe/schema"
)

// MaxHandlers and MaxInterrupters bound a registry.
const (
	MaxHandlers     = 12
	MaxInterrupters = 8
)

// PowerInterrupter may request a handler while ato is frozen, unless the handler moves as soon
// as it begins.
const PowerInterrupter = "power"

// AIInterrupter is the interrupter on whose behalf requested acts and intents interrupt the story; if
// it is forbidden to interrupt, all of them are refused.
const AIInterrupter = "ai"

// RequestHandler is the handler that performs a requested act.
const RequestHandler = "request"

// Handler is what an interrupt runs.
type Handler struct {
	ID       string
	Priority int           // the handler with the higher one gets a unit that both want
	Deadline time.Duration // 0 = none
	Moves    bool          // it moves as soon as it begins, without waiting until it may
	Activity bool          // it performs an activity
	Preempt  bool          // it ends running handlers of lower priority that perform an activity
	// Joins: a request for it while it runs joins the running interrupt. Other handlers
	// refuse a second request.
	Joins bool
}

// Registry is the configured handlers and interrupters. It does not change while
// robotd runs.
type Registry struct {
	Handlers     []Handler
	Interrupters []string
}

// Defaults returns the built-in handlers and interrupters.
func Defaults() Registry {
	return Registry{
		Handlers: []Handler{
			{ID: RequestHandler, Priority: 5, Moves: true, Joins: true}, // no deadline: its act ends it
			{ID: "service", Priority: 10, Deadline: 10 * time.Minute, Moves: true},
			{ID: "attend", Priority: 8, Deadline: 30 * time.Second, Moves: true},
			{ID: "power", Priority: 20, Preempt: true}, // no deadline: it waits and charges as long as it takes
		},
		Interrupters: []string{AIInterrupter, "touch", "screen", PowerInterrupter, "operator"},
	}
}

// Check returns one sentence for each error in the registry.
func (r *Registry) Check() []string {
	var problems []string
	if len(r.Handlers) > MaxHandlers || len(r.Interrupters) > MaxInterrupters {
		problems = append(problems, fmt.Sprintf("%d handlers and %d interrupters, at most %d and %d are allowed", len(r.Handlers),
			len(r.Interrupters), MaxHandlers, MaxInterrupters))
	}
	seen := map[string]bool{}
	for _, h := range r.Handlers {
		if !schema.ValidID(h.ID) || seen["h "+h.ID] || h.Deadline < 0 {
			problems = append(problems, fmt.Sprintf("handler %q: want a valid and unique id and no negative deadline", h.ID))
		}
		seen["h "+h.ID] = true
	}
	for _, i := range r.Interrupters {
		if !schema.ValidID(i) || seen["i "+i] {
			problems = append(problems, fmt.Sprintf("interrupter %q: want a valid and unique id", i))
		}
		seen["i "+i] = true
	}
	return problems
}

// Handler returns the handler with this id.
func (r *Registry) Handler(id string) (Handler, bool) {
	for _, h := range r.Handlers {
		if h.ID == id {
			return h, true
		}
	}
	return Handler{}, false
}

// Unknown says, for people, that there is no such handler, and which there are.
func (r *Registry) Unknown(id string) string {
	ids := make([]string, len(r.Handlers))
	for i, h := range r.Handlers {
		ids[i] = h.ID
	}
	return "there is no handler " + id + "; the handlers are " + strings.Join(ids, ", ")
}

func (r *Registry) interrupter(id string) int {
	for i, name := range r.Interrupters {
		if name == id {
			return i
		}
	}
	return -1
}

// Entry is a running interrupt. Its ID is also the key of its pause.
type Entry struct {
	ID          string
	Handler     string
	Interrupter string
	Since       time.Duration
	Until       time.Duration // 0 = no deadline
}

// State is the list of running interrupts, and the states of the interrupters.
type State struct {
	running  [MaxHandlers]Entry
	n        int
	switches [MaxInterrupters]Switch
	lastN    int64
}

// Boot returns the state after boot: ato is not active, and all interrupters will be
// allowed when it is.
func Boot(r *Registry) State {
	var s State
	for i := range r.Interrupters {
		s.switches[i] = SuspendedAllowed
	}
	return s
}

// Running lists the interrupts in the order of their start.
func (s *State) Running() []Entry { return s.running[:s.n:s.n] }

// Preempts reports whether a handler runs that ends activities.
func (s *State) Preempts(r *Registry) bool {
	for _, e := range s.Running() {
		if h, _ := r.Handler(e.Handler); h.Preempt {
			return true
		}
	}
	return false
}

// Interrupter returns the state of the i-th interrupter of the registry.
func (s *State) Interrupter(i int) schema.InterrupterState {
	switch s.switches[i] {
	case Allowed:
		return schema.InterrupterAllowed
	case Forbidden:
		return schema.InterrupterForbidden
	}
	return schema.InterrupterSuspended
}

// Facts is what the checks need to know about the rest of the robot.
type Facts struct {
	Ato    bool // ato is the active mode, and robotd is not ending
	Paused bool // a pause keeps interrupts from starting, for example one of safety
	// PausedBy says for people what paused the story, and what ends the pause.
	PausedBy string
	// Condition reports whether the requested handler's own condition is met; if
	// not, Why explains it.
	Condition bool
	Why       string
}

// What is the kind of an input.
type What string

// The kinds of inputs. The first four are requests and get an answer.
const (
	Request What = "request"
	Cancel  What = "cancel" // one interrupt, by its id
	Run     What = "run"    // allow an interrupter
	Stop    What = "stop"   // forbid an interrupter

	Tick      What = "tick"
	Enter     What = "enter" // ato becomes the active mode
	Leave     What = "leave" // ato ends, and all interrupts with it
	CancelAll What = "cancel-all"
	Done      What = "done"  // a handler has ended
	Error     What = "error" // a handler has failed
)

// Input is an event that concerns interrupts.
type Input struct {
	What        What
	Handler     string
	Interrupter string
	ID          string // of an interrupt
	Reason      schema.Reason
	// Replaces: if the request is accepted, it ends the running interrupt of the
	// same handler.
	Replaces bool
}

// Ended is an interrupt that has ended. Its pause must be released.
type Ended struct {
	Entry
	Outcome Stage
	Reason  schema.Reason
	Lasted  time.Duration
}

// Decision is the result of one step. The caller starts the interrupt in Start and
// acquires its pause at once, and cancels what still runs of those in Ended. A
// replaced interrupt is in Ended.
type Decision struct {
	Start   Entry // if its ID is not empty
	Joins   Entry // the running interrupt that the request joins, if its ID is not empty
	Handler Handler
	Ended   []Ended
	Answer  schema.Verdict // to a request: SUCCEEDED or REJECTED
}
