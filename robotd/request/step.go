package request

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"troupe/robotd/command"
	"troupe/schema"
	"troupe/schema/verb"
)

// Step processes one input and appends its effects to out, in order.
func Step(s *State, now Now, in Input, out []Effect) []Effect {
	switch in := in.(type) {
	case Arrival:
		return s.arrive(now, in, out)
	case Saved:
		return s.saved(now, in, out)
	case Outcome:
		return s.outcome(now, in, out)
	case Revoked:
		return s.revoked(in, out)
	case Delivered:
		s.delivered(in.Key)
		return out
	case Connected:
		return s.connected(out)
	case Stopped:
		return s.cancelWaiting(in.Detail, nil, out)
	case Tick:
		return s.tick(now, out)
	}
	panic(fmt.Sprintf("request: unknown input %T", in))
}

func (s *State) arrive(now Now, a Arrival, out []Effect) []Effect {
	v, known := verb.Of(a.Group, a.Verb)
	if known && v.Class == verb.ClassStop {
		return s.stop(now, v, a, out)
	}
	if !known {
		v = verb.Verb{Group: a.Group, Name: a.Verb}
	}
	limit := schema.TopicOf(schema.TopicCmd).MaxBytes
	if len(a.Payload) > limit {
		return s.refuse(v, a.Client, "", schema.Verdict{Reason: schema.ReasonTooBig, Detail: fmt.Sprintf("%d bytes, at most %d are allowed", len(a.Payload), limit)}, out)
	}
	req, problems := verb.Decode(v, a.Payload)
	problems = schema.Errors(problems)
	refuse := func(ans schema.Verdict) []Effect { return s.refuse(v, a.Client, req.ID, ans, out) }
	switch {
	case a.Retained:
		return append(refuse(schema.Verdict{Reason: schema.ReasonRetainedCommand, Detail: "commands are never retained; send it without the retain flag"}),
			Alert{Reason: schema.ReasonRetainedCommand, Client: a.Client, Verb: v.ID(),
				Detail: "a command was retained on the broker; it was refused, and comes again at each connection until it is removed"})
	case !known:
		return refuse(schema.Verdict{Reason: schema.ReasonUnknownVerb, Detail: verbsText(a.Group)})
	case len(problems) > 0:
		return refuse(schema.Verdict{Reason: schema.ReasonBadRequest, Pointer: problems[0].Pointer, Detail: problems[0].String() + "; received " + quote(a.Payload)})
	}

	sum, named := digest(v, a.Payload), req.ID != ""
	if !named {
		req.ID = s.makeID()
	} else {
		e := s.openByKey(command.KeyOf(a.Client, req.ID))
		if e == nil && v.Journal != verb.JournalNever {
			e = s.find(command.KeyOf(a.Client, req.ID))
		}
		switch {
		case e != nil && e.rec.SHA256 == sum:
			return s.resend(e, out)
		case e != nil:
			return refuse(schema.Verdict{Reason: schema.ReasonIDReuse, Detail: "this id named " + strings.TrimSpace(e.rec.Verb+" "+e.rec.Word) + " before; give each command its own"})
		}
	}

	if a.DiskBehind && v.ID() != cancel {
		return refuse(schema.Verdict{Reason: schema.ReasonOverloaded, Detail: "the robot's disk does not keep up with the commands"})
	}
	if newest, late := s.outOfOrder(a.Client, v.Group, req); late {
		return refuse(schema.Verdict{Reason: schema.ReasonOutOfOrder, Pointer: "/seq",
			Detail: fmt.Sprintf("seq %d came after %d, the newest of group %s in this session", req.Seq, newest, v.Group)})
	}
	fresh, ans := checkAge(now, v, req, a.Late)
	if ans.Status == schema.StatusExpired && named && v.Journal != verb.JournalNever && len(s.open) < MaxOpen {
		return s.expireOnArrival(s.newEntry(now, v, a, req, sum), ans, out)
	}
	if ans.Status != "" {
		return refuse(ans)
	}
	if a, ok := s.answerDirectly(now, v, a.Client, req, fresh, out); ok {
		return a
	}
	if len(s.open) >= MaxOpen && v.ID() != cancel {
		return refuse(schema.Verdict{Reason: schema.ReasonOverloaded, Detail: fmt.Sprintf("%d commands are unfinished", len(s.open))})
	}

	e := s.newEntry(now, v, a, req, sum)
	e.expires, e.dispatch.Expires = fresh.expires, fresh.expires
	e.rec.Answer.UncheckedAge = fresh.unchecked
	if v.Journal == verb.JournalNever {
		s.markSeq(a.Client, v.Group, req.Session, req.Seq)
		e.transition(OnTakeNow)
		s.open = append(s.open, e)
		return append(out, e.dispatch)
	}
	j, forget := s.admit(a.Client)
	if j == nil {
		return refuse(schema.Verdict{Reason: schema.ReasonOverloaded, Detail: fmt.Sprintf("%d other clients have unfinished commands", len(s.journals))})
	}
	forget = append(forget, j.add(s, e)...)
	s.markSeq(a.Client, v.Group, req.Session, req.Seq)
	if a.InForce != nil && req.Args == a.InForce && !a.Overtaken { // it has no effect that a record has to precede: finish saves one, with the answer
		e.transition(OnTakeNow)
		s.open = append(s.open, e)
		if len(forget) > 0 {
			out = append(out, s.save(forget))
		}
		return append(out, e.dispatch)
	}
	e.transition(OnTake)
	s.open = append(s.open, e)
	out = append(out, s.save(forget, e.rec))
	if a.Overtaken && e.transition(OnStopped) {
		out = s.finish(e, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonStopped, Detail: "a stop that was sent later arrived before it was performed"}, out)
	}
	return out
}

// stop emits Dispatch before it checks anything else.
func (s *State) stop(now Now, v verb.Verb, a Arrival, out []Effect) []Effect {
	a.Payload = a.Payload[:min(len(a.Payload), maxStopBytes)]
	req, problems := verb.Decode(v, a.Payload)
	if len(problems) > 0 {
		// It stops the robot however malformed it is; its latch is honoured.
		req = verb.Request{Envelope: schema.Envelope{ID: req.ID}, Args: onlyLatch(req.Args)}
	}
	req.If = schema.Precondition{}
	sum := digest(v, a.Payload)
	asked, dup := req.ID, false
	if req.ID != "" {
		if old := s.find(command.KeyOf(a.Client, req.ID)); old != nil {
			dup = old.rec.SHA256 == sum
			req.ID = "" // performed again under a generated id
		}
	}
	if req.ID == "" {
		req.ID = s.makeID()
	}
	e := s.newEntry(now, v, a, req, sum)
	e.rec.IDUnreadable = asked == "" && len(problems) > 0
	if asked != "" {
		e.ackID, e.dup, e.dispatch.ID = asked, dup, asked
	}
	s.markSeq(a.Client, v.Group, req.Session, req.Seq)
	e.transition(OnTakeNow)
	s.open = append(s.open, e)
	out = append(out, e.dispatch)

	if asked == "" || asked == e.rec.ID { // a repetition is not recorded again
		if j, forget := s.admit(a.Client); j != nil {
			if forget = append(forget, j.add(s, e)...); len(forget) > 0 {
				out = append(out, s.save(forget))
			}
		}
	}
	if a.Retained {
		out = append(out, Alert{Reason: schema.ReasonRetainedCommand, Client: a.Client, Verb: v.ID(),
			Detail: "a stop was retained on the broker; it was obeyed and stops this robot again at each connection until it is removed"})
	}
	return s.cancelWaiting(v.ID()+" came before it was begun", refsTo(e), out)
}

// onlyLatch returns of the arguments of a malformed stop only its latch.
func onlyLatch(args verb.Args) verb.Args {
	if a, ok := args.(verb.Stop); ok {
		return verb.Stop{Latch: a.Latch}
	}
	return verb.StopManual{}
}

// cancelWaiting cancels the commands that are admitted and not yet performed,
// because of a stop; by refers to the stop if that was a command.
func (s *State) cancelWaiting(detail string, by []schema.Ref, out []Effect) []Effect {
	for _, old := range slices.Clone(s.open) {
		if old.transition(OnStopped) {
			old.refs = by
			out = s.finish(old, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonStopped, Detail: detail}, out)
		}
	}
	return out
}

// newEntry creates the entry of a command that passed the checks.
func (s *State) newEntry(now Now, v verb.Verb, a Arrival, req verb.Request, sum [32]byte) *entry {
	s.lastN++
	e := &entry{phase: Received, class: v.Class, arrived: now.Mono, ackID: req.ID}
	e.rec = command.Record{N: s.lastN, Client: a.Client, ID: req.ID, Verb: v.ID(), Word: schema.SanitizeText(v.FirstArgument(req.Args)), By: req.By, Session: req.Session, Seq: req.Seq, At: now.Wall, SHA256: sum}
	e.dispatch = Dispatch{Key: e.rec.Key(), Client: a.Client, ID: req.ID, By: req.By, Why: req.Why, Verb: v, Args: req.Args, If: req.If, Arrived: now.Mono}
	return e
}

// makeID generates an id for a command without one. Such a command is never
// taken for a repetition.
func (s *State) makeID() string {
	s.madeIDs++
	return fmt.Sprintf("%s%d-%d", schema.MadeIDPrefix, s.boot, s.madeIDs)
}

func (s *State) find(k command.Key) *entry {
	if j := s.journalOf(k.Client()); j != nil {
		return j.find(k.ID())
	}
	return nil
}

// verbsText lists the verbs of the group, or says that there is no such group.
func verbsText(group string) string {
	if names := verb.NamesOf(group); len(names) > 0 {
		return group + " has " + strings.Join(names, ", ") + "; caps lists all that this robot knows"
	}
	return "there is no group " + group + "; caps lists all verbs that this robot knows"
}

// The commands about other commands, and ping.
const (
	ping   = "sys/ping"
	query  = "sys/query"
	cancel = "sys/cancel"
)

// answerDirectly answers ping, query and cancel. It returns false for all other
// commands and for the cancel of a command that was handed on, because only the
// component that performs a command can end it.
func (s *State) answerDirectly(now Now, v verb.Verb, client string, req verb.Request, f freshness, out []Effect) ([]Effect, bool) {
	id := v.ID()
	ans, about := schema.Verdict{Status: schema.StatusSucceeded}, []schema.Ref(nil)
	reject := func(r schema.Reason, pointer, detail string) {
		ans.Status, ans.Reason, ans.Pointer, ans.Detail = schema.StatusRejected, r, pointer, detail
	}
	unmet, fails := req.If.Unmet(now.CurrentState)
	var of, echo string
	switch a := req.Args.(type) {
	case verb.Ping:
		echo = string(a.Echo)
	case verb.Query:
		of = a.ID
	case verb.Cancel:
		of = a.ID
	default:
		return out, false
	}
	key := command.KeyOf(client, of)
	e := s.openByKey(key)
	if e == nil {
		e = s.find(key)
	}
	switch {
	case fails:
		reject(schema.ReasonPrecondition, unmet.Pointer, unmet.Detail)
	case id == ping:
		ans.Detail = echo
	case e == nil:
		reject(schema.ReasonUnknownID, "/args/id", "no command of "+client+" with the id "+of+" is in the journal: it was not accepted, or it is too old")
	case id == query && (e.phase == Saving || e.phase == Dispatched):
		ans.Detail = "it waits and has not begun; its answer follows"
	case id == query:
		out = s.resend(e, out)
	case !e.open():
		reject(schema.ReasonInvalidTransition, "/args/id", "it has ended already: "+string(e.rec.Answer.Status))
	case e.class == verb.ClassStop:
		reject(schema.ReasonInvalidTransition, "/args/id", "a stop cannot be cancelled")
	case e.transition(OnCancelled):
		about = refsTo(e)
		out = s.finish(e, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonCancelled, Detail: "it was cancelled before it began"}, out)
	default:
		return out, false
	}
	if !fails {
		s.markSeq(client, v.Group, req.Session, req.Seq)
	}
	s.last = schema.LastRequest{ID: req.ID, Client: client, Verb: id, FirstArgument: v.FirstArgument(req.Args), Status: ans.Status, Reason: ans.Reason}
	a := ack(id, req.ID, complete(v, ans))
	a.Refs, a.UncheckedAge = about, f.unchecked
	return append(out, SendAck{Client: client, Ack: a}), true
}

// verbOf returns the verb with this id; for one that this release does not know,
// such as in a record of another release, it returns its group and name only.
func verbOf(id string) verb.Verb {
	group, name, _ := strings.Cut(id, "/")
	if v, ok := verb.Of(group, name); ok {
		return v
	}
	return verb.Verb{Group: group, Name: name}
}

// digest is equal for repetitions of a command. It covers the verb because the
// same payload, such as {"id":"k1"}, may be sent on the topic of any verb.
func digest(v verb.Verb, payload []byte) [32]byte {
	return sha256.Sum256(bytes.Join([][]byte{[]byte(v.ID()), payload}, []byte{0}))
}

func quote(payload []byte) string {
	if len(payload) > maxQuotedBytes {
		return fmt.Sprintf("%q...", payload[:maxQuotedBytes])
	}
	return fmt.Sprintf("%q", payload)
}
