package perform

import (
	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/robotd/clock"
	"troupe/schema"
)

// People names the person who sent a command.
type People interface {
	Asker(client, by string) string
}

// Fill sets what the state document says of ato and of interrupts.
func (s *State) Fill(d *schema.State, now clock.Now, people People, lanes *act.Lanes) {
	ato := &s.auto
	d.Auto = schema.StateAuto{
		Status: ato.Status, Reason: ato.Reason, Story: s.Story(),
		ActIndex: ato.Act, Act: s.ActName(), Loop: ato.Loop, FailedRounds: ato.FailedRounds,
		PauseCount: ato.Count(), PauseHolders: []schema.Pause{},
	}
	if name := d.Auto.Act; name != "" {
		if current, elapsed := lanes.Elapsed(storyLane); current == name {
			d.Auto.ActMS = elapsed.Milliseconds()
		}
	}
	for _, p := range ato.Held() {
		by := p.Client
		if p.Kind == auto.ByOperator {
			by = people.Asker(p.Client, p.Person)
		}
		d.Auto.PauseHolders = append(d.Auto.PauseHolders, schema.Pause{Token: p.Name(), By: by, Why: p.Why, Since: p.Began(now.At),
			NeedsContinue: p.NeedsContinue()})
	}
	d.Interrupts, d.Interrupters = []schema.Interrupt{}, []schema.Interrupter{}
	for _, e := range s.interrupts.Running() {
		d.Interrupts = append(d.Interrupts, schema.Interrupt{ID: e.ID, Handler: e.Handler, Interrupter: e.Interrupter, Since: now.At(e.Since)})
	}
	for i, id := range s.cfg.Interrupts.Interrupters {
		d.Interrupters = append(d.Interrupters, schema.Interrupter{ID: id, State: s.interrupts.Interrupter(i)})
	}
}
