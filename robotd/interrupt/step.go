package interrupt

import (
	"fmt"
	"strings"
	"time"

	"troupe/schema"
)

// Step processes one input.
func Step(s *State, now time.Duration, r *Registry, f Facts, in Input) Decision {
	var d Decision
	switch in.What {
	case Request:
		s.request(now, r, f, in, &d)
	case Cancel:
		if !s.end(now, in.ID, OnCancel, in.Reason, &d) {
			d.Answer = refused(schema.ReasonUnknownID, "no interrupt "+in.ID+" is running")
			break
		}
		d.Answer = schema.Verdict{Status: schema.StatusSucceeded}
	case Run, Stop:
		s.setSwitch(r, in, &d)
	case Tick:
		for i := s.n - 1; i >= 0; i-- {
			if e := s.running[i]; e.Until > 0 && now >= e.Until {
				s.end(now, e.ID, OnDeadline, schema.ReasonTimeout, &d)
			}
		}
	case Enter, Leave:
		event := OnEnter
		if in.What == Leave {
			event = OnLeave
			s.endAll(now, in.Reason, &d)
		}
		for i := range r.Interrupters {
			if row, ok := SwitchTable.Next(s.switches[i], event); ok {
				s.switches[i] = row.To
			}
		}
	case CancelAll:
		s.endAll(now, in.Reason, &d)
	case Done:
		s.end(now, in.ID, OnDone, "", &d)
	case Error:
		s.end(now, in.ID, OnError, in.Reason, &d)
	}
	return d
}

// request makes the checks; it changes the state only if all pass.
func (s *State) request(now time.Duration, r *Registry, f Facts, in Input, d *Decision) {
	h, why, detail := s.check(r, f, in)
	event := OnAccepted
	if why != "" {
		event = OnRefused
	}
	switch row, _ := Table.Next(Requested, event); {
	case row.To == Rejected:
		d.Answer = refused(why, detail)
	case row.To != Running:
	case s.runs(in.Handler) && !in.Replaces:
		d.Joins, d.Handler = s.running[s.index(in.Handler)], h
		d.Answer = schema.Verdict{Status: schema.StatusSucceeded, Detail: d.Joins.ID}
	default:
		s.start(now, r, h, in, d)
	}
}

// check makes the checks of a request in their order.
func (s *State) check(r *Registry, f Facts, in Input) (h Handler, why schema.Reason, detail string) {
	h, known := r.Handler(in.Handler)
	who := r.interrupter(in.Interrupter)
	switch {
	case !known:
		return h, schema.ReasonUnknownHandler, r.Unknown(in.Handler) +
			"; a handler that was added since robotd started is known after its next start"
	case who < 0:
		return h, schema.ReasonUnknownInterrupter, "there is no interrupter " + in.Interrupter + "; the interrupters are " +
			strings.Join(r.Interrupters, ", ")
	case s.switches[who] == Forbidden:
		return h, schema.ReasonInterrupterStopped, in.Interrupter + " is forbidden to interrupt; interrupter/run allows it again"
	case !f.Ato || s.switches[who] != Allowed:
		return h, schema.ReasonNotPerforming, "ato is not in charge; mode/set ato starts it"
	case f.Paused && (in.Interrupter != PowerInterrupter || h.Moves):
		return h, schema.ReasonNotPerforming, f.PausedBy
	case s.runs(in.Handler) && !in.Replaces && !h.Joins:
		return h, schema.ReasonAlreadyRunning, in.Handler + " already runs"
	case !f.Condition:
		return h, schema.ReasonHandlerCondition, f.Why
	}
	return h, "", ""
}

// start begins the handler, after the end of what it replaces and of what it preempts.
func (s *State) start(now time.Duration, r *Registry, h Handler, in Input, d *Decision) {
	for i := s.n - 1; i >= 0; i-- {
		if e := s.running[i]; e.Handler == in.Handler {
			s.end(now, e.ID, OnCancel, schema.ReasonSuperseded, d)
		}
	}
	if h.Preempt {
		s.preempt(now, r, h, d)
	}
	s.lastN++
	e := Entry{ID: fmt.Sprintf("%s-%d", h.ID, s.lastN), Handler: h.ID, Interrupter: in.Interrupter, Since: now}
	if h.Deadline > 0 {
		e.Until = now + h.Deadline
	}
	s.running[s.n] = e
	s.n++
	d.Start, d.Handler = e, h
	d.Answer = schema.Verdict{Status: schema.StatusSucceeded, Detail: e.ID}
}

// preempt ends the running activities of lower priority than h.
func (s *State) preempt(now time.Duration, r *Registry, h Handler, d *Decision) {
	for i := s.n - 1; i >= 0; i-- {
		e := s.running[i]
		if other, _ := r.Handler(e.Handler); other.Activity && other.Priority < h.Priority {
			s.end(now, e.ID, OnPreempt, schema.ReasonSuperseded, d)
		}
	}
}

func (s *State) runs(handler string) bool { return s.index(handler) >= 0 }

// index returns the index of a handler's interrupt, or -1.
func (s *State) index(handler string) int {
	for i := range s.n {
		if s.running[i].Handler == handler {
			return i
		}
	}
	return -1
}

// end removes the interrupt with this id; it returns false if there is none, such
// as on a second end.
func (s *State) end(now time.Duration, id string, on Event, why schema.Reason, d *Decision) bool {
	row, _ := Table.Next(Running, on)
	for i := range s.n {
		e := s.running[i]
		if e.ID != id {
			continue
		}
		copy(s.running[i:], s.running[i+1:s.n])
		s.n--
		s.running[s.n] = Entry{}
		d.Ended = append(d.Ended, Ended{Entry: e, Outcome: row.To, Reason: why, Lasted: now - e.Since})
		return true
	}
	return false
}

func (s *State) endAll(now time.Duration, why schema.Reason, d *Decision) {
	for s.n > 0 {
		s.end(now, s.running[0].ID, OnCancel, why, d)
	}
}

// setSwitch allows or forbids an interrupter. While ato is not active, it changes
// the state that the interrupter returns to.
func (s *State) setSwitch(r *Registry, in Input, d *Decision) {
	i := r.interrupter(in.Interrupter)
	if i < 0 {
		d.Answer = refused(schema.ReasonUnknownInterrupter, "there is no interrupter "+in.Interrupter+"; the interrupters are "+
			strings.Join(r.Interrupters, ", "))
		return
	}
	event := OnRun
	if in.What == Stop {
		event = OnStop
	}
	row, ok := SwitchTable.Next(s.switches[i], event)
	d.Answer = schema.Verdict{Status: schema.StatusSucceeded}
	if !ok {
		d.Answer.Reason, d.Answer.Detail = schema.ReasonUnchanged, in.Interrupter+" already is "+map[What]string{Run: "allowed to interrupt",
			Stop: "forbidden to interrupt"}[in.What]
		return
	}
	s.switches[i] = row.To
}

func refused(r schema.Reason, detail string) schema.Verdict {
	return schema.Verdict{Status: schema.StatusRejected, Reason: r, Detail: detail}
}
