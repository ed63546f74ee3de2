package fleettest

import (
	"slices"
	"time"

	"troupe/schema"
	"troupe/schema/verb"
)

// Received is one command as it came.
type Received struct {
	Verb    string
	Payload string
	Request verb.Request
	At      time.Time
}

// Answer says how the robot answers a command, by its verb such as safety/stop, from now on; nil is
// as it does by itself.
func (r *Robot) Answer(how func(verbID string, q verb.Request) []schema.Ack) {
	r.with(func() {
		if r.answers = how; how == nil {
			r.answers = r.obey
		}
	})
}

// Received lists the commands that came, in order.
func (r *Robot) Received() (all []Received) {
	r.with(func() { all = slices.Clone(r.received) })
	return all
}

// AnswerAgain answers the command of this id once more, however late, to the fleetd instance of
// that name, or to fleetd if none is given.
func (r *Robot) AnswerAgain(id string, a schema.Ack, fleetd ...string) {
	a.ID = &id
	r.ack(append(fleetd, "fleetd")[0], a)
}

func (r *Robot) command(p schema.TopicParams, payload []byte) {
	v, ok := verb.Of(p.Group, p.Verb)
	if !ok {
		return
	}
	q, problems := verb.Decode(v, payload)
	var answers []schema.Ack
	mute := false
	r.with(func() {
		r.received = append(r.received, Received{v.ID(), string(payload), q, time.Now()})
		how := r.answers
		mute = r.mute
		if mute {
			return
		}
		about, _ := q.Args.(verb.Query)
		switch before, known := r.sent[about.ID]; {
		case len(problems) > 0:
			answers = []schema.Ack{{Status: schema.StatusRejected, Reason: schema.ReasonBadRequest, Detail: problems[0].Detail}}
		case v.ID() == "sys/query" && known:
			before.Dup = true
			answers = []schema.Ack{before, {Status: schema.StatusSucceeded}}
		case v.ID() == "sys/query":
			answers = []schema.Ack{{Status: schema.StatusRejected, Reason: schema.ReasonUnknownID}}
		default:
			answers = how(v.ID(), q)
		}
		for i := range answers {
			if answers[i].ID == nil {
				answers[i].ID = &q.ID
			}
			if answers[i].Verb == "" {
				answers[i].Verb = v.ID()
			}
			r.sent[*answers[i].ID] = answers[i]
		}
	})
	for _, a := range answers {
		r.ack(p.CID, a)
	}
	if !mute {
		r.publishState()
	}
}

func (r *Robot) ack(client string, a schema.Ack) {
	r.with(func() { a.TS, a.Session = schema.TimeOf(time.Now()), r.session })
	if a.Verb == "" {
		a.Verb = "sys/query"
	}
	r.publish(schema.TopicAck, a, client)
}

// obey does what is asked, in state only. It is called under the lock.
func (r *Robot) obey(verbID string, q verb.Request) []schema.Ack {
	if a, _ := q.Args.(verb.Stop); a.Latch != "" {
		r.latch(schema.StopLatch{ID: a.Latch, Level: schema.StopStop, By: q.By, Why: q.Why, Since: schema.TimeOf(time.Now())})
		r.showLatches()
	}
	switch verbID {
	case "safety/stop", "safety/soft-stop":
		r.state.Safety.State = schema.SafetyDisabled
	case "safety/halt", "safety/estop":
		r.state.Safety.State = schema.SafetyEStop
	case "safety/enable":
		r.state.Safety.State = schema.SafetyEnabled
	case "safety/reset":
		r.state.Safety.State = schema.SafetyDisabled
	case "mode/set":
		a, _ := q.Args.(verb.SetMode)
		if !slices.Contains([]schema.ModeID{schema.ModeStr, schema.ModeMnl, schema.ModeAto}, a.Mode) {
			return []schema.Ack{{Status: schema.StatusRejected, Result: schema.ResultNoMode, Reason: schema.ReasonUnknownMode,
				Detail: "str, mnl, ato"}}
		}
		r.state.Mode.Active, r.state.Mode.Intended = a.Mode, a.Mode
		return []schema.Ack{{Status: schema.StatusAccepted}, {Status: schema.StatusSucceeded, Result: schema.ResultSuccess}}
	}
	return []schema.Ack{{Status: schema.StatusSucceeded, Result: schema.ResultOK}}
}
