package report

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/effect"
	"troupe/schema"
)

// within encodes a document for its topic. One that is too big is reduced, step
// by step, the least important first, until it fits: a document that the broker
// refuses would leave everybody with an old one. Single texts are shortened,
// never the encoded document. After the last step every list and text that is left
// has a bound.
func within(k schema.TopicKind, doc any) []byte {
	payload, most := effect.Encode(doc), schema.TopicOf(k).MaxBytes
	for step := 0; len(payload) > most && shrink(doc, step); step++ {
		payload = effect.Encode(doc)
	}
	return payload
}

// shrink makes the step-th reduction, from 0, and reports whether there was one.
func shrink(doc any, step int) bool {
	switch d := doc.(type) {
	case *schema.State:
		return shrinkState(d, step)
	case *schema.Modes:
		return shrinkModes(d, step)
	case *schema.Caps:
		return shrinkCaps(d, step)
	case *schema.ReportedStory:
		return shrinkStory(d, step)
	case *schema.ReportedSet:
		return shrinkSet(d, step)
	case *schema.ReportedMode:
		return shrinkMode(d, step)
	case *schema.ReportedConfig:
		return shrinkConfig(d, step)
	case *schema.Ack:
		return shrinkAck(d, step)
	case *schema.Event:
		return shrinkEvent(d, step)
	}
	return false
}

// shrinkState is shrink for a state.
func shrinkState(d *schema.State, step int) bool {
	d.Truncated = true
	switch step {
	case 0: // what people read
		for i := range d.Units {
			d.Units[i].Detail, d.Units[i].Shows = "", ""
		}
		for i := range d.Diagnosis {
			d.Diagnosis[i].Fault = ""
		}
		for i := range d.Queue.Failed {
			d.Queue.Failed[i].Detail = ""
		}
		for i := range d.Alerts {
			d.Alerts[i].Hint, d.Alerts[i].Refs = "", nil
		}
		if d.Life != nil {
			d.Life.Statistics, d.Life.Focuses, d.Life.States = nil, nil, nil
			for i := range d.Life.Conditions {
				d.Life.Conditions[i].Why = ""
			}
		}
	case 1:
		for i := range d.Auto.PauseHolders {
			d.Auto.PauseHolders[i].Why = ""
		}
		for i := range d.Safety.Latches {
			d.Safety.Latches[i].Why = ""
		}
		d.Queue.Completed, d.Queue.CompletedActs, d.Queue.Waiting, d.Queue.Queued = []string{}, nil, []string{}, nil
		d.Running = lastN(d.Running, 8)
	case 2:
		d.Alerts = lastN(d.Alerts, 16)
	case 3:
		d.Alerts, d.Queue.Failed = lastN(d.Alerts, 4), []schema.FailedAct{}
	case 4:
		d.Alerts, d.Units, d.Signals, d.Diagnosis = []schema.Alert{}, []schema.UnitState{}, nil, nil
		if d.Life != nil {
			d.Life = &schema.StateLife{State: d.Life.State, Reason: d.Life.Reason, Since: d.Life.Since, Focused: d.Life.Focused,
				Launchpad: d.Life.Launchpad}
		}
	case 5:
		for i := range d.Auto.PauseHolders {
			d.Auto.PauseHolders[i].By = ""
		}
		for i := range d.Safety.Latches {
			d.Safety.Latches[i].By = ""
		}
	case 6:
		*d = bare(d)
	default:
		return false
	}
	return true
}

// bareLatches is how many stops a bare state names, the newest: each of them can be
// released by its id, and shows the next.
const bareLatches = 32

// bare is what everybody has to know of a robot: whether it may move, and who is in
// charge. Every list and text of it has a bound.
func bare(d *schema.State) schema.State {
	b := schema.State{
		TS: d.TS, Session: d.Session, Boot: d.Boot, StateSeq: d.StateSeq, Safety: d.Safety, Mode: d.Mode,
		Auto:       schema.StateAuto{Status: d.Auto.Status, Reason: d.Auto.Reason, PauseCount: d.Auto.PauseCount, PauseHolders: []schema.Pause{}},
		Interrupts: []schema.Interrupt{}, Interrupters: []schema.Interrupter{},
		Queue: schema.StateQueue{Waiting: []string{}, Completed: []string{}, Failed: []schema.FailedAct{}},
		Link:  schema.StateLink{State: d.Link.State, Since: d.Link.Since, BudgetMS: d.Link.BudgetMS, Policy: d.Link.Policy},
		Units: []schema.UnitState{}, Alerts: []schema.Alert{}, Dropped: d.Dropped, Truncated: true,
	}
	b.Safety.StoppedBy, b.Safety.CauseDetail, b.Safety.Latches = schema.SanitizeText(d.Safety.StoppedBy), "", nil
	for _, l := range lastN(d.Safety.Latches, bareLatches) {
		b.Safety.Latches = append(b.Safety.Latches, schema.StopLatch{ID: schema.SanitizeText(l.ID), Level: l.Level, Since: l.Since, All: l.All})
	}
	return b
}

// shrinkModes, shrinkCaps and the like are shrink for other documents.
func shrinkModes(d *schema.Modes, step int) bool {
	d.Truncated = true
	for i := range d.Modes {
		m := &d.Modes[i]
		switch step {
		case 0:
			for n := range m.WhyNot {
				m.WhyNot[n].Detail = ""
			}
			for n := range m.Params {
				m.Params[n].Purpose = ""
			}
		case 1:
			m.WhyNot = m.WhyNot[:min(len(m.WhyNot), 4)]
		case 2:
			m.Params, m.CalibrationChecks = nil, nil
		}
	}
	return step < 3
}

func shrinkCaps(d *schema.Caps, step int) bool {
	d.Truncated = true
	few := []int{64, 16, 0}
	if step >= len(few) {
		return false
	}
	n := few[step]
	units := d.Units[:min(len(d.Units), n)] // the first of a kind is the one that a command means without an id
	d.Units = append(make([]schema.Unit, 0, len(units)), units...)
	for i := range d.Units {
		for _, names := range d.Units[i].Catalogues() {
			*names = first(*names, n)
		}
	}
	d.Points, d.Labels = first(d.Points, n), nil
	d.TaughtPoints = d.TaughtPoints[:min(len(d.TaughtPoints), n)]
	if n > 0 {
		return true
	}
	d.Actions = nil // unknown, not few
	d.Languages, d.Handlers, d.Interrupters = first(d.Languages, n), first(d.Handlers, n), first(d.Interrupters, n)
	r, w := &d.Robot, &d.Software
	for _, s := range []*string{&r.Model, &r.Serial, &r.HW, &r.Driver, &w.Robotd, &d.TimeZone} {
		*s = schema.SanitizeText(*s)
	}
	return true
}

func shrinkStory(d *schema.ReportedStory, step int) bool {
	d.Truncated = true
	switch step {
	case 0: // the names of its acts stand in the story
		if d.Active != nil {
			a := *d.Active
			a.EffectiveActs, a.Pruned = []string{}, first(a.Pruned, 32)
			d.Active = &a
		}
	case 1:
		d.Detail, d.Pointer, d.FleetID = "", "", schema.SanitizeText(d.FleetID)
	default:
		return false
	}
	return true
}

func shrinkSet(d *schema.ReportedSet, step int) bool {
	switch step {
	case 0:
		d.Refused, d.Truncated = slices.Clone(d.Refused), true
		for i := range d.Refused {
			d.Refused[i].Pointer, d.Refused[i].Detail = "", ""
		}
	case 1:
		d.Refused = d.Refused[:min(len(d.Refused), 8)]
		d.Detail, d.Pointer, d.FleetID = "", "", schema.SanitizeText(d.FleetID)
	default:
		return false
	}
	return true
}

func shrinkMode(d *schema.ReportedMode, step int) bool {
	d.Detail, d.FleetID, d.Mode = "", schema.SanitizeText(d.FleetID), schema.ModeID(schema.SanitizeText(string(d.Mode)))
	return step < 1
}

func shrinkConfig(d *schema.ReportedConfig, step int) bool {
	d.Truncated = true
	switch step {
	case 0:
		d.Rejected = append([]schema.RejectedKey{}, d.Rejected...)
		for i := range d.Rejected {
			d.Rejected[i].Detail = ""
		}
	case 1:
		d.Applied = map[string]jsontext.Value{}
	case 2:
		d.Detail, d.FleetID, d.Rejected = "", schema.SanitizeText(d.FleetID), d.Rejected[:min(len(d.Rejected), 8)]
		for i := range d.Rejected {
			d.Rejected[i].Key = schema.SanitizeText(d.Rejected[i].Key)
		}
	default:
		return false
	}
	return true
}

// shrinkAck cuts what is for people only, and what an unknown client may have made long.
func shrinkAck(a *schema.Ack, step int) bool {
	switch step {
	case 0:
		a.Detail = schema.SanitizeTextWithin(a.Detail, 4*schema.MaxShortText)
		a.Refs = a.Refs[:min(len(a.Refs), 2)]
	case 1:
		a.Refs = nil
		a.Detail, a.Pointer, a.Verb = schema.SanitizeText(a.Detail), schema.SanitizeText(a.Pointer), schema.SanitizeText(a.Verb)
		if a.Lease != nil {
			l := *a.Lease
			l.By = schema.SanitizeText(l.By)
			a.Lease = &l
		}
	default:
		return false
	}
	return true
}

func shrinkEvent(e *schema.Event, step int) bool {
	e.Data, e.Truncated = nil, true
	e.Type, e.Source, e.Cause, e.ReqID = schema.SanitizeText(e.Type), schema.SanitizeText(e.Source), schema.SanitizeText(e.Cause),
		schema.SanitizeText(e.ReqID)
	return step < 1
}

// lastN returns the last n of a list; where the order is that of arrival, the newest.
func lastN[T any](a []T, n int) []T {
	if len(a) > n {
		return a[len(a)-n:]
	}
	return a
}

func first(a []string, n int) []string { return append([]string{}, a[:min(len(a), n)]...) }
