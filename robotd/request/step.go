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
	if limit := schema.TopicOf(schema.TopicCmd).MaxBytes; len(a.Payload) > limit {
		detail := fmt.Sprintf("%d bytes, at most %d are allowed", len(a.Payload), limit)
		t.refuse(v, a.Client, "", schema.Verdict{Reason: schema.ReasonTooBig, Detail: detail})
		return
	}
	req, problems := verb.Decode(v, a.Payload)
	problems = schema.Errors(problems)
	var why schema.Verdict
	switch {
	case a.Retained:
		why = schema.Verdict{Reason: schema.ReasonRetainedCommand, Detail: "commands are never retained; send it without the retain flag"}
		t.alerts = append(t.alerts, alert{a.Client, v.ID(),
			"a command was retained on the broker; it was refused, and comes again at each connection until it is removed"})
	case !known:
		why = schema.Verdict{Reason: schema.ReasonUnknownVerb, Detail: verbsText(a.Group)}
	case len(problems) > 0:
		why = schema.Verdict{Reason: schema.ReasonBadRequest, Pointer: problems[0].Pointer, Detail: problems[0].String() + "; received " +
			quote(a.Payload)}
	default:
		why = t.take(v, a, &req, overtaken, late, inForce)
	}
	if why.Reason != "" {
		t.refuse(v, a.Client, req.ID, why)
	}
}

// take takes a well-formed command, whose id it generates if there is none. It returns why the
// command is refused, if it is.
func (t Step) take(
	v verb.Verb, a event.Command, req *verb.Request, overtaken bool, late time.Duration, inForce verb.Args,
) (refused schema.Verdict) {
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
			return refused
		case e != nil:
			return schema.Verdict{Reason: schema.ReasonIDReuse, Detail: "this id named " + strings.TrimSpace(e.rec.Verb+" "+e.rec.Word) +
				" before; give each command its own"}
		}
	}

	if a.Behind && v.ID() != cancel {
		return schema.Verdict{Reason: schema.ReasonOverloaded, Detail: "the robot's disk does not keep up with the commands"}
	}
	if newest, is := t.outOfOrder(a.Client, v.Group, *req); is {
		return schema.Verdict{Reason: schema.ReasonOutOfOrder, Pointer: "/seq",
			Detail: fmt.Sprintf("seq %d came after %d, the newest of group %s in this session", req.Seq, newest, v.Group)}
	}
	expires, unchecked, tooOld := t.checkAge(v, *req, late)
	switch {
	case tooOld.Status == schema.StatusExpired && named && v.Journal != verb.JournalNever && len(t.open) < MaxOpen:
		t.expireOnArrival(t.newEntry(v, a, *req, sum), tooOld)
		return refused
	case tooOld.Status != "":
		return tooOld
	case t.answerDirectly(v, a.Client, *req, unchecked):
		return refused
	case len(t.open) >= MaxOpen && v.ID() != cancel:
		return schema.Verdict{Reason: schema.ReasonOverloaded, Detail: fmt.Sprintf("%d commands are unfinished", len(t.open))}
	}

	e := t.newEntry(v, a, *req, sum)
	e.expires, e.dispatch.Expires = expires, expires
	e.rec.Answer.UncheckedAge = unchecked
	if v.Journal == verb.JournalNever {
		t.markSeq(a.Client, v.Group, req.Session, req.Seq)
		e.transition(OnTakeNow)
		t.open = append(t.open, e)
		t.Out.Do(e.dispatch)
		return refused
	}
	j, forget := t.admit(a.Client)
	if j == nil {
		return schema.Verdict{Reason: schema.ReasonOverloaded, Detail: fmt.Sprintf("%d other clients have unfinished commands", len(t.journals))}
	}
	forget = append(forget, j.add(t.State, e)...)
	t.markSeq(a.Client, v.Group, req.Session, req.Seq)
	t.open = append(t.open, e)
	if inForce != nil && req.Args == inForce && !overtaken { // it has no effect that a record has to precede
		e.unrecorded = e.transition(OnTakeNow)
		t.toErase = append(t.toErase, forget...)
		t.Out.Do(e.dispatch)
		return refused
	}
	e.transition(OnTake)
	t.save(forget, e.rec)
	if overtaken && e.transition(OnStopped) {
		t.finish(e, schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonStopped,
			Detail: "a stop that was sent later arrived before it was performed"})
	}
	return refused
}

// expireOnArrival answers a command that was too old when it arrived, and records the
// answer: its sender may have sent it a second time when the connection broke, and the
// second copy, which arrives in time, must not have an effect after the first answer.
func (t Step) expireOnArrival(e *entry, ans schema.Verdict) {
	j, forget := t.admit(e.rec.Client)
	if j == nil {
		t.refuse(e.dispatch.Verb, e.rec.Client, e.rec.ID, ans)
		return
	}
	forget = append(forget, j.add(t.State, e)...)
	e.transition(OnTake)
	t.open = append(t.open, e)
	t.save(forget, e.rec)
	e.transition(OnExpired)
	t.finish(e, ans)
}

// checkAge refuses a command that is older than its time to live or from the
// future. It calculates in milliseconds, since a sender's ts may be further away
// than a time.Duration can hold. Without a usable ts it assumes the greatest
// possible age, late. It returns when the time to live ends, by the monotonic clock (0 = never), and
// whether the command has a ts that was not checked, because the fleet's time is unknown.
func (t Step) checkAge(v verb.Verb, req verb.Request, late time.Duration) (expires time.Duration, unchecked bool, ans schema.Verdict) {
	ttl := v.TTL.Milliseconds()
	if req.TTLMS > 0 {
		ttl = req.TTLMS
	}
	age := late.Milliseconds()
	switch {
	case req.TS == 0 || !t.ClockKnown:
		if unchecked = req.TS != 0; ttl > 0 && age > ttl {
			return 0, unchecked, schema.Verdict{Status: schema.StatusExpired, Reason: schema.ReasonExpired,
				Detail: fmt.Sprintf("it may have waited %d ms on the network or in the robot, and its time to live is %d ms: send it again under "+
					"another id, and with a ts by the fleet's clock if there is one", age, ttl)}
		}
	default:
		age = int64(t.Now.Wall.Add(t.FleetOffset) - req.TS)
		if age < -maxClockSkew.Milliseconds() {
			return 0, unchecked, schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonClockSkew,
				Detail: fmt.Sprintf("ts lies %d ms in the future; leave it out if the clock is not the fleet's", -age)}
		}
		if ttl > 0 && age > ttl {
			return 0, unchecked, schema.Verdict{Status: schema.StatusExpired, Reason: schema.ReasonExpired,
				Detail: fmt.Sprintf(
					"it is %d ms old, and its time to live is %d ms: send it again under another id, with the present time as ts or without one", age,
					ttl)}
		}
	}
	if ttl > 0 {
		expires = t.Now.Mono + time.Duration(ttl-max(age, 0)+1)*time.Millisecond
	}
	return expires, unchecked, schema.Verdict{}
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
		t.alerts = append(t.alerts, alert{a.Client, v.ID(),
			"a stop was retained on the broker; it was obeyed and stops this robot again at each connection until it is removed"})
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
	e.rec = command.Record{N: t.lastN, Client: a.Client, ID: req.ID, Verb: v.ID(), Word: schema.SanitizeText(v.FirstArgument(req.Args)),
		By: req.By, Session: req.Session, Seq: req.Seq, At: t.Now.Wall, SHA256: sum}
	e.dispatch = effect.Dispatch{Key: e.rec.Key(), Client: a.Client, ID: req.ID, By: req.By, Why: req.Why, Verb: v, Args: req.Args, If: req.If,
		Arrived: t.Now.Mono}
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
func (t Step) answerDirectly(v verb.Verb, client string, req verb.Request, uncheckedAge bool) bool {
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
		reject(schema.ReasonUnknownID, "/args/id", "no command of "+client+" with the id "+of+
			" is in the journal: it was not accepted, or it is too old")
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
	t.last = schema.LastRequest{ID: req.ID, Client: client, Verb: id, FirstArgument: v.FirstArgument(req.Args), Status: ans.Status,
		Reason: ans.Reason}
	a := ack(id, req.ID, complete(v, ans))
	a.Refs, a.UncheckedAge = about, uncheckedAge
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
