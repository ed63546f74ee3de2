package manual

import (
	"time"

	"troupe/robotd/command"
	"troupe/robotd/control"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/verb"
)

// AskControl queues a request for control.
func (t Step) AskControl(o effect.Dispatch) {
	in := control.Input{What: control.What(o.Verb.Name), Who: whoOf(o), Rank: t.rank(o.Client), Req: string(o.Key)}
	switch a := o.Args.(type) {
	case verb.Acquire:
		in.Scope, in.TTL = control.Scope(a.Scope), milliseconds(a.TTLMS)
	case verb.TakeOver:
		in.Scope, in.TTL = control.Scope(a.Scope), milliseconds(a.TTLMS)
	case verb.Renew:
		in.Lease, in.TTL = a.Lease, milliseconds(a.TTLMS)
	case verb.Release:
		in.Lease = a.Lease
	}
	t.requests.Put(in, o.Key, o.If)
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// rank is the configured rank of a client. Who stands at the robot has the highest one.
func (t Step) rank(client string) control.Rank {
	if client == schema.LocalClient {
		return control.Local
	}
	return t.cfg.Ranks[client]
}

func whoOf(o effect.Dispatch) control.Who { return control.Who{Client: o.Client, By: o.By} }

// RefuseWithoutControl refuses a command whose sender lacks the control that it needs.
func (t Step) RefuseWithoutControl(o effect.Dispatch) bool {
	no := t.control.May(&t.cfg.Control, o.Verb.Need, whoOf(o))
	if no.Reason == "" {
		return false
	}
	if way := t.stepsToManual(o); way != "" {
		no.Reason, no.Detail = schema.ReasonNotInMnl, way // to wait for control, as not_in_control advises, would not help
	}
	if _, records := o.Args.(verb.RecordAct); records {
		no.Detail += t.actRecording.lost
	}
	r := effect.Reply{To: o.Key, Verdict: schema.Verdict{Status: schema.StatusRejected, Reason: no.Reason, Detail: no.Detail}}
	if l := t.control.Lease; t.control.At == control.Held && l.Who != whoOf(o) {
		r.Lease = leaseOf(l, false)
	}
	t.Out.Do(r)
	return true
}

// stepsToManual returns both steps to a manual command that is sent outside mnl while nobody has
// control; empty = control is all that it lacks. The mode comes first, because a lease ends after
// seconds. If every mode needs control (control.required all), control comes first, and this
// returns nothing.
func (t Step) stepsToManual(o effect.Dispatch) string {
	switch o.Args.(type) {
	case verb.DeletePoint, verb.DeleteAct: // in every mode
		return ""
	}
	if t.Manual || o.Verb.Need != verb.NeedManual || t.control.At == control.Held || t.cfg.Control.Required == control.RequireAll {
		return ""
	}
	return t.Modes.NotManual() + "; then acquire control with control/acquire"
}

// StepControl gives control one input: the oldest queued one, or the passing of time.
func (t Step) StepControl() {
	in, waits := t.requests.Peek()
	if waits && !t.Out.Met(in.By, in.When, t.CurrentState) {
		t.requests.Take()
		in, waits = command.Waiting[control.Input]{}, false
	}
	if !waits {
		in.In.What = control.Tick
	}
	d := control.Step(&t.control, t.Now.Mono, &t.cfg.Control, in.In)
	if waits && !d.Repeat {
		t.requests.Take()
	}
	if d.Changed {
		t.Out.Changed(effect.FlushSoon)
	}
	if d.Changed && d.On != control.OnRenewed {
		t.controlChanged(d, in.In.Req, in.By)
	}
	if d.Answer.Status != "" {
		r := effect.Reply{To: in.By, Verdict: d.Answer}
		if d.Lease != nil {
			r.Lease = leaseOf(*d.Lease, true)
		}
		t.Out.Do(r)
	}
}

// handover is the data of an event about control.
type handover struct {
	From   string `json:"from,omitempty"`
	FromBy string `json:"from_by,omitempty"`
	To     string `json:"to,omitempty"`
	ToBy   string `json:"to_by,omitempty"`
}

// controlChanged records the present and the previous holder of control.
func (t Step) controlChanged(d control.Decision, req string, by command.Key) {
	was, is := d.Previous.Who, t.control.Lease.Who
	t.Out.LogTransition("control", string(d.From), string(d.To), d.Why, was.String()+" -> "+is.String())
	data := handover{From: was.Client, FromBy: was.By, To: is.Client, ToBy: is.By}
	if !control.Lost(d.On) {
		kind := "control_taken"
		if d.To == control.Free {
			kind = "control_free"
		}
		t.Out.Event(kind, "control", string(d.On), req, data)
		return
	}
	t.Out.Event("control_lost", "control", string(d.On), req, data)
	if d.On == control.OnTakenOver {
		t.Out.Do(effect.Revoke{Key: command.Key(d.Previous.Req), Detail: is.String() + " took over", Lease: leaseOf(t.control.Lease, false),
			By: by.Refs()})
	}
}

// leaseOf returns a lease for messages; only its holder receives its id.
func leaseOf(l control.Lease, own bool) *schema.Lease {
	w := &schema.Lease{Holder: l.Who.Client, By: l.Who.By, Scope: string(l.Scope), UntilMS: l.Until.Milliseconds()}
	if own {
		w.ID = l.ID
	}
	return w
}

// Document is the holder of control for the state document; nil = no holder.
func (s *State) Document() *schema.StateControl {
	if s.control.At != control.Held {
		return nil
	}
	l := s.control.Lease
	return &schema.StateControl{
		Holder: l.Who.Client, By: l.Who.By, Scope: string(l.Scope), UntilMS: l.Until.Milliseconds(),
		TakeoverAllowed: l.Rank <= control.Operator,
	}
}
