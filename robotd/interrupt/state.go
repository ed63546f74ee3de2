// Package interrupt decides whose interrupt runs.
//
// An interrupter (touch, screen, power, an operator, an intelligence outside)
// asks for a handler. The checks are made in one order, each with a reason of
// its own, and an accepted request runs and holds its pause from the same
// moment. What is called the queue is the set of interrupts that run side by
// side, in the order in which they were pushed; of one handler there is never a
// second. Every end, whatever its cause, removes an interrupt and releases its
// pause exactly once.
//
// It runs no handler, evaluates no condition and holds no pause itself: it says
// what to start, and which pause to acquire or to release. Time is counted from
// boot and is an argument; State is comparable.
package interrupt

import (
	"fmt"
	"time"

	"troupe/schema"
)

// MaxHandlers and MaxInterrupters bound a registry.
const (
	MaxHandlers     = 10
	MaxInterrupters = 8
)

// PowerInterrupter may ask while ato is frozen, for a handler that does not move.
const PowerInterrupter = "power"

// RequestHandler performs the act that somebody asks for.
const RequestHandler = "request"

// Handler is what an interrupt runs.
type Handler struct {
	ID       string
	Priority int           // who gets a unit that two handlers want; the higher one
	Deadline time.Duration // 0 = none
	Moves    bool
	Preempt  bool // a focused activity is ended for it
}

// Registry is what the robot's configuration knows. It does not change while the
// robot runs.
type Registry struct {
	Handlers     []Handler
	Interrupters []string
}

// Defaults returns the built-in handlers and interrupters.
func Defaults() Registry {
	return Registry{
		Handlers: []Handler{
			{ID: RequestHandler, Priority: 5, Moves: true}, // as long as its act
			{ID: "service", Priority: 10, Deadline: 10 * time.Minute, Moves: true},
			{ID: "power", Priority: 20, Deadline: 10 * time.Minute, Preempt: true},
		},
		Interrupters: []string{"ai", "touch", "screen", PowerInterrupter, "operator"},
	}
}

// Check returns one sentence for each fault of the registry.
func (r *Registry) Check() []string {
	var faults []string
	if len(r.Handlers) > MaxHandlers || len(r.Interrupters) > MaxInterrupters {
		faults = append(faults, fmt.Sprintf("%d handlers and %d interrupters, at most %d and %d are possible", len(r.Handlers), len(r.Interrupters), MaxHandlers, MaxInterrupters))
	}
	seen := map[string]bool{}
	for _, h := range r.Handlers {
		if !schema.ValidID(h.ID) || seen["h "+h.ID] || h.Deadline < 0 {
			faults = append(faults, fmt.Sprintf("handler %q needs an id of its own and no negative deadline", h.ID))
		}
		seen["h "+h.ID] = true
	}
	for _, i := range r.Interrupters {
		if !schema.ValidID(i) || seen["i "+i] {
			faults = append(faults, fmt.Sprintf("interrupter %q needs an id of its own", i))
		}
		seen["i "+i] = true
	}
	return faults
}

// Handler finds a handler by its id.
func (r *Registry) Handler(id string) (Handler, bool) {
	for _, h := range r.Handlers {
		if h.ID == id {
			return h, true
		}
	}
	return Handler{}, false
}

func (r *Registry) interrupter(id string) int {
	for i, name := range r.Interrupters {
		if name == id {
			return i
		}
	}
	return -1
}

// Entry is one interrupt that runs. Its ID also names the pause it holds.
type Entry struct {
	ID          string
	Handler     string
	Interrupter string
	Since       time.Duration
	Until       time.Duration // 0 = no deadline
}

// State is the queue and the interrupters.
type State struct {
	running  [MaxHandlers]Entry
	n        int
	switches [MaxInterrupters]Switch
	pushed   int64
}

// Boot returns the state of a robot that has just started: ato is not in charge
// yet, then every interrupter runs.
func Boot(r *Registry) State {
	var s State
	for i := range r.Interrupters {
		s.switches[i] = HaltedOn
	}
	return s
}

// Running lists the interrupts in the order in which they were pushed.
func (s *State) Running() []Entry { return s.running[:s.n:s.n] }

// Interrupter tells the state of the i-th interrupter of the registry.
func (s *State) Interrupter(i int) schema.InterrupterState {
	switch s.switches[i] {
	case SwitchOn:
		return schema.InterrupterRunning
	case SwitchOff:
		return schema.InterrupterStopped
	}
	return schema.InterrupterHalted
}

// Facts is what the checks have to know of the rest of the robot.
type Facts struct {
	Ato    bool // the mode system runs and ato is in charge
	Frozen bool // a pause is held that freezes everything, safety's among them
	// Condition is the asked handler's own condition; why says what is missing.
	Condition bool
	Why       string
}

// What is asked of the queue or told to it.
type What string

// The inputs. The first four are requests and are answered.
const (
	Ask    What = "request"
	Cancel What = "cancel" // one interrupt, by its id
	Run    What = "run"    // an interrupter
	Stop   What = "stop"

	Tick      What = "tick"
	Enter     What = "enter" // ato is in charge
	Leave     What = "leave" // ato is left: nothing goes on
	CancelAll What = "cancel-all"
	Done      What = "done" // by a handler
	Error     What = "error"
)

// Input is one of them.
type Input struct {
	What        What
	Handler     string
	Interrupter string
	ID          string // of an interrupt
	Reason      schema.Reason
	// Replaces, of a request: what runs of its handler is ended for it, once every
	// check has passed.
	Replaces bool
}

// Answer is what the sender of a request is told.
type Answer struct {
	Status schema.Status // SUCCEEDED or REJECTED; empty: nobody asked
	Reason schema.Reason
	Detail string
}

// Ended is an interrupt that is over. Release its pause.
type Ended struct {
	Entry
	Outcome Stage
	Reason  schema.Reason
	Lasted  time.Duration
}

// Decision is what one step came to. An interrupt in Start is to be started and
// its pause acquired at once; whatever ran of one in Ended is to be cancelled. Where
// one took the place of another, that one is in Ended.
type Decision struct {
	Start   Entry // when its ID is not empty
	Handler Handler
	Ended   []Ended
	Answer  Answer
}
