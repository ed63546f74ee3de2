package request

import (
	"fmt"
	"time"

	"troupe/schema"
	"troupe/schema/verb"
)

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

// freshness is the result of checking a command's age.
type freshness struct {
	expires   time.Duration // by the monotonic clock; 0 = never
	unchecked bool          // it has a ts, and the fleet's time is unknown
}

// checkAge refuses a command that is older than its time to live or from the
// future. It calculates in milliseconds, since a sender's ts may be further away
// than a time.Duration can hold. Without a usable ts it assumes the greatest
// possible age, late.
func (t Step) checkAge(v verb.Verb, req verb.Request, late time.Duration) (freshness, schema.Verdict) {
	ttl := v.TTL.Milliseconds()
	if req.TTLMS > 0 {
		ttl = req.TTLMS
	}
	var f freshness
	age := late.Milliseconds()
	switch {
	case req.TS == 0 || !t.ClockKnown:
		if f.unchecked = req.TS != 0; ttl > 0 && age > ttl {
			return f, schema.Verdict{Status: schema.StatusExpired, Reason: schema.ReasonExpired,
				Detail: fmt.Sprintf("it may have waited %d ms on the network or in the robot, and its time to live is %d ms: send it again under another id, and with a ts by the fleet's clock if there is one", age, ttl)}
		}
	default:
		age = int64(t.Now.Wall.Add(t.FleetOffset) - req.TS)
		if age < -maxClockSkew.Milliseconds() {
			return f, schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonClockSkew, Detail: fmt.Sprintf("ts lies %d ms in the future; leave it out if the clock is not the fleet's", -age)}
		}
		if ttl > 0 && age > ttl {
			return f, schema.Verdict{Status: schema.StatusExpired, Reason: schema.ReasonExpired, Detail: fmt.Sprintf("it is %d ms old, and its time to live is %d ms: send it again under another id, with the present time as ts or without one", age, ttl)}
		}
	}
	if ttl > 0 {
		f.expires = t.Now.Mono + time.Duration(ttl-max(age, 0)+1)*time.Millisecond
	}
	return f, schema.Verdict{}
}
