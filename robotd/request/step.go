package request

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// Arrive takes a command as received. overtaken: a stop that arrived later was already processed.
// It may have been sent up to late before it arrived. inForce are arguments that would change
// nothing now, only of mode/set so far; nil = unknown.
func (t Step) Arrive(a event.Command, overtaken bool, late time.Duration, inForce verb.Args) {
	v, known := verb.Of(a.Group, a.Verb)
	if known && v.Class == verb.ClassStop {
		t.stop(v, a)
		return
	}
	if !known {
		v = verb.Verb{Group: a.Group, Name: a.Verb}
	}
	limit := schema.TopicOf(schema.TopicCmd).MaxBytes
	if len(a.Payload) > limit {
		t.refuse(v, a.Client, "", schema.Verdict{Reason: schema.ReasonTooBig, Detail: fmt.Sprintf("%d bytes, at most %d are allowed", len(a.Payload), limit)})
		return
	}
	req, problems := verb.Decode(v, a.Payload)
	problems = schema.Errors(problems)
	refuse := func(ans schema.Verdict) { t.refuse(v, a.Client, req.ID, ans) }
	switch {
	case a.Retained:
		refuse(schema.Verdict{Reason: schema.ReasonRetainedCommand, Detail: "commands are never retained; send it without the retain flag"})
		t.alerts = append(t.alerts, alert{a.Client, v.ID(), "a command was retained on the broker; it was refused, and comes again at each connection until it is removed"})
		return
	case !known:
		refuse(schema.Verdict{Reason: schema.ReasonUnknownVerb, Detail: verbsText(a.Group)})
		return
	case len(problems) > 0:
		refuse(schema.Verdict{Reason: schema.ReasonBadRequest, Pointer: problems[0].Pointer, Detail: problems[0].String() + "; received " + quote(a.Payload)})
		return
	}

	sum, named := digest(v, a.Payload), req.ID != ""
	if !named {
		req.ID = t.makeID()
	} else {
		e := t.openByKey(command.KeyOf(a.Client, req.ID))
		if e == nil && v.Journal != verb.JournalNever {
			e = t.find(command.KeyOf(a.Client, req.ID))
		}
		switch {
		case e != nil && e.rec.SHA256 == sum:
			t.resend(e)
			return
		case e != nil:
			refuse(schema.Verdict{Reason: schema.ReasonIDReuse, Detail: "this id named " + strings.TrimSpace(e.rec.Verb+" "+e.rec.Word) + " before; give each command its own"})
			return
		}
	}

	if a.Behind && v.ID() != cancel {
		refuse(schema.Verdict{Reason: schema.ReasonOverloaded, Detail: "the robot's disk does not keep up with the commands"})
		return
	}
	if newest, is := t.outOfOrder(a.Client, v.Group, req); is {
		refuse(schema.Verdict{Reason: schema.ReasonOutOfOrder, Pointer: "/seq",
			Detail: fmt.Sprintf("seq %d came after %d, the newest of group %s in this session", req.Seq, newest, v.Group)})
		return
	}
	fresh, ans := t.checkAge(v, req, late)
	if ans.Status == schema.StatusExpired && named && v.Journal != verb.JournalNever && len(t.open) < MaxOpen {
		t.expireOnArrival(t.newEntry(v, a, req, sum), ans)
		return
	}
	if ans.Status != "" {
		refuse(ans)
		return
	}
	if t.answerDirectly(v, a.Client, req, fresh) {
		return
	}
	if len(t.open) >= MaxOpen && v.ID() != cancel {
		refuse(schema.Verdict{Reason: schema.ReasonOverloaded, Detail: fmt.Sprintf("%d commands are unfinished", len(t.open))})
		return
	}

	e := t.newEntry(v, a, req, sum)
	e.expires, e.dispatch.Expires = fresh.expires, fresh.expires
	e.rec.Answer.UncheckedAge = fresh.unchecked
	if v.Journal == verb.JournalNever {
		t.markSeq(a.Client, v.Group, req.Session, req.Seq)
		e.transition(OnTakeNow)
		t.open = append(t.open, e)
		t.Out.Do(e.dispatch)
		return
	}
	j, forget := t.admit(a.Client)
	if j == nil {
		refuse(schema.Verdict{Reason: schema.ReasonOverloaded, Detail: fmt.Sprintf("%d other clients have unfinished commands", len(t.journals))})
		return
	}
	forget = append(forget, j.add(t.State, e)...)
	t.markSeq(a.Client, v.Group, req.Session, req.Seq)
	if inForce != nil && req.Args == inForce && !overtaken { // it has no effect that a record has to precede: finish saves one, with the answer
		e.transition(OnTakeNow)
		t.open = append(t.open, e)
		if len(forget) > 0 {
			t.save(forget)
		}
		t.Out.Do(e.dispatch)
		return
	}
	e.transition(OnTake)
	t.open = append(t.open, e)
	t.save(forget, e.rec)
	if overtaken && e.transition(OnStopped) {
		t.finish(e, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonStopped, Detail: "a stop that was sent later arrived before it was performed"})
	}
}

// stop hands a stop on before it checks anything else.
func (t Step) stop(v verb.Verb, a event.Command) {
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
		if old := t.find(command.KeyOf(a.Client, req.ID)); old != nil {
			dup = old.rec.SHA256 == sum
			req.ID = "" // performed again under a generated id
		}
	}
	if req.ID == "" {
		req.ID = t.makeID()
	}
	e := t.newEntry(v, a, req, sum)
	e.rec.IDUnreadable = asked == "" && len(problems) > 0
	if asked != "" {
		e.ackID, e.dup, e.dispatch.ID = asked, dup, asked
	}
	t.markSeq(a.Client, v.Group, req.Session, req.Seq)
	e.transition(OnTakeNow)
	t.open = append(t.open, e)
	t.Out.Do(e.dispatch)

	if asked == "" || asked == e.rec.ID { // a repetition is not recorded again
		if j, forget := t.admit(a.Client); j != nil {
			if forget = append(forget, j.add(t.State, e)...); len(forget) > 0 {
				t.save(forget)
			}
		}
	}
	if a.Retained {
		t.alerts = append(t.alerts, alert{a.Client, v.ID(), "a stop was retained on the broker; it was obeyed and stops this robot again at each connection until it is removed"})
	}
	t.cancelWaiting(v.ID()+" came before it was begun", refsTo(e))
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
func (t Step) cancelWaiting(detail string, by []schema.Ref) {
	for _, old := range slices.Clone(t.open) {
		if old.transition(OnStopped) {
			old.refs = by
			t.finish(old, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonStopped, Detail: detail})
		}
	}
}

// CancelWaiting cancels the commands that were admitted and have not begun, because of a stop that
// is no command, or because of its release: nobody who sent them knew of it.
func (t Step) CancelWaiting(in effect.CancelWaiting) { t.cancelWaiting(in.Detail, nil) }

// newEntry creates the entry of a command that passed the checks.
func (t Step) newEntry(v verb.Verb, a event.Command, req verb.Request, sum [32]byte) *entry {
	t.lastN++
	e := &entry{phase: Received, class: v.Class, arrived: t.Now.Mono, ackID: req.ID}
	e.rec = command.Record{N: t.lastN, Client: a.Client, ID: req.ID, Verb: v.ID(), Word: schema.SanitizeText(v.FirstArgument(req.Args)), By: req.By, Session: req.Session, Seq: req.Seq, At: t.Now.Wall, SHA256: sum}
	e.dispatch = effect.Dispatch{Key: e.rec.Key(), Client: a.Client, ID: req.ID, By: req.By, Why: req.Why, Verb: v, Args: req.Args, If: req.If, Arrived: t.Now.Mono}
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

// answerDirectly answers ping, query and cancel, and reports whether it did. It answers no other
// commands, nor the cancel of a command that was handed on, because only the
// component that performs a command can end it.
func (t Step) answerDirectly(v verb.Verb, client string, req verb.Request, f freshness) bool {
	id := v.ID()
	ans, about := schema.Verdict{Status: schema.StatusSucceeded}, []schema.Ref(nil)
	reject := func(r schema.Reason, pointer, detail string) {
		ans.Status, ans.Reason, ans.Pointer, ans.Detail = schema.StatusRejected, r, pointer, detail
	}
	unmet, fails := req.If.Unmet(t.CurrentState)
	var of, echo string
	switch a := req.Args.(type) {
	case verb.Ping:
		echo = string(a.Echo)
	case verb.Query:
		of = a.ID
	case verb.Cancel:
		of = a.ID
	default:
		return false
	}
	key := command.KeyOf(client, of)
	e := t.openByKey(key)
	if e == nil {
		e = t.find(key)
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
		t.resend(e)
	case !e.open():
		reject(schema.ReasonInvalidTransition, "/args/id", "it has ended already: "+string(e.rec.Answer.Status))
	case e.class == verb.ClassStop:
		reject(schema.ReasonInvalidTransition, "/args/id", "a stop cannot be cancelled")
	case e.transition(OnCancelled):
		about = refsTo(e)
		t.finish(e, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonCancelled, Detail: "it was cancelled before it began"})
	default:
		return false
	}
	if !fails {
		t.markSeq(client, v.Group, req.Session, req.Seq)
	}
	t.last = schema.LastRequest{ID: req.ID, Client: client, Verb: id, FirstArgument: v.FirstArgument(req.Args), Status: ans.Status, Reason: ans.Reason}
	a := ack(id, req.ID, complete(v, ans))
	a.Refs, a.UncheckedAge = about, f.unchecked
	t.answer(SendAck{Client: client, Ack: a})
	return true
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
