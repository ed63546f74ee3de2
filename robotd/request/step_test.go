package request

import (
	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// answered notes where in the list of effects each answer was decided.
type answered struct {
	Report
	out *effect.List
	at  []int
}

func (a *answered) Changed(effect.Urgency) { a.at = append(a.at, a.out.Len()) }

// step makes a step, and returns its effects and answers in the order in which they were decided.
func step(s *State, now clock.Now, f Facts, do func(Step)) []any {
	var out effect.List
	report := &answered{out: &out}
	f.Report = report
	do(Step{State: s, Facts: f, Now: now, Out: &out})
	acks := s.Acks()
	var all []any
	for i := 0; i <= out.Len(); i++ {
		for len(acks) > 0 && report.at[len(report.at)-len(acks)] == i {
			all, acks = append(all, acks[0]), acks[1:]
		}
		if i < out.Len() {
			all = append(all, out.At(i))
		}
	}
	return all
}

// at is step for a robot that knows nothing of the fleet's time.
func (s *State) at(now clock.Now, do func(Step)) []any { return step(s, now, Facts{}, do) }

// restored is Restore with its effects.
func restored(boot int64, records []command.Record) (State, []any) {
	var out effect.List
	s := Restore(boot, records, &out)
	var all []any
	for i := range out.Len() {
		all = append(all, out.At(i))
	}
	return s, all
}

// arrives takes a command as received, and saved the disk's answer about its record.
func arrives(ev event.Command) func(Step) { return func(t Step) { t.Arrive(ev, false, 0, nil) } }
func saved(refused schema.Reason, keys ...command.Key) func(Step) {
	return func(t Step) { t.Saved(event.RequestsSaved{Keys: keys, Refused: refused}) }
}

// ends takes the result of a command.
func ends(k command.Key, v schema.Verdict) func(Step) {
	return func(t Step) { t.outcome(effect.Reply{To: k, Verdict: v}, 0, nil) }
}
