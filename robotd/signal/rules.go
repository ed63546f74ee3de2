package signal

import (
	"fmt"
	"time"

	"troupe/schema"
	"troupe/schema/cond"
	"troupe/schema/interrupts"
)

// CompiledRules is a compiled list of rules. It is immutable, and may be shared.
type CompiledRules struct{ rules []rule }

type rule struct {
	interrupts.Rule
	pulse          bool
	hold, cooldown time.Duration
	condition      *cond.Condition
}

// Compile returns the rules in a form that can be applied.
func Compile(list []interrupts.Rule) (*CompiledRules, []schema.Problem) {
	s := &CompiledRules{rules: make([]rule, len(list))}
	for i, r := range list {
		row, _ := interrupts.RowOf(r.On)
		s.rules[i] = rule{Rule: r, pulse: row.Pulse, hold: interrupts.Duration(r.For), cooldown: interrupts.Duration(r.Cooldown)}
		if r.When == "" {
			continue
		}
		var problems []schema.Problem
		if s.rules[i].condition, problems = cond.Parse(r.When); len(problems) > 0 {
			problems[0].Pointer = fmt.Sprintf("/%d/when%s", i, problems[0].Pointer)
			return nil, problems[:1]
		}
	}
	return s, nil
}

// Defaults are the compiled rules of a robot whose fleet sets none.
func Defaults() *CompiledRules {
	set, problems := Compile(interrupts.DefaultRules())
	if len(problems) > 0 {
		panic(problems[0].String()) // a test compiles them
	}
	return set
}

// Handlers lists the handlers that rules ask for, with the pointer to each.
func (s *CompiledRules) Handlers() map[string]string {
	list := map[string]string{}
	for i, r := range s.rules {
		list[r.Handler] = fmt.Sprintf("/%d/handler", i)
	}
	return list
}

// Ask is a request of a rule.
type Ask struct{ Rule, Interrupter, Handler string }

// Rules is the state of each rule of a set.
type Rules struct {
	set    *CompiledRules
	states []ruleState
	next   time.Duration
}

type ruleState struct {
	watch Watch
	hold  cond.Hold
	held  bool
	quiet time.Duration // until then it does not ask again
}

// Step appends to asks the requests of the rules that have begun to hold. If set is another one
// than in the last step, its rules start without a state.
func (r *Rules) Step(now time.Duration, set *CompiledRules, v *Values, asks []Ask) []Ask {
	if r.set != set {
		*r = Rules{set: set, states: make([]ruleState, len(set.rules))}
		for i := range r.states {
			r.states[i].watch = NewWatch(set.rules[i].condition)
		}
	}
	r.next = 0
	for i := range r.states {
		s, rule := &r.states[i], &set.rules[i]
		truth := s.watch.True(now, v) && (rule.On == "" || v.On(rule.On, rule.Name, rule.Above))
		held := s.hold.Step(now, truth, rule.hold)
		if held && !s.held && now >= s.quiet {
			s.quiet = now + rule.cooldown
			asks = append(asks, Ask{rule.ID, rule.Interrupter, rule.Handler})
		}
		if s.held = held && !rule.pulse; truth && !held {
			r.next = sooner(r.next, now+rule.hold-s.hold.TrueFor(now))
		}
		r.next = sooner(r.next, s.watch.due)
	}
	v.endPulses()
	return asks
}

// endPulses ends the pulses of this step.
func (v *Values) endPulses() {
	if !v.pulses {
		return
	}
	v.pulses = false
	for i := range v.slots {
		v.slots[i].pulse = false
	}
}
