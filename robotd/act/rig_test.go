package act

import (
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

var testUnits = []schema.Unit{
	{ID: "speaker", Kind: schema.UnitSpeaker}, {ID: "face", Kind: schema.UnitFace}, {ID: "led", Kind: schema.UnitLED},
	{ID: "head", Kind: schema.UnitHead, Motions: []string{"nod"}}, {ID: "drive", Kind: schema.UnitDrive},
	{ID: "screen", Kind: schema.UnitScreen},
}

const (
	power   Lane = "power"
	service Lane = "service"
	story   Lane = "story"
	tick         = 20 * time.Millisecond
)

var testConfig = Config{
	Units:  testUnits,
	Lanes:  []LaneConfig{{Lane: power}, {Lane: service}, {Lane: story}},
	Limits: Defaults(),
}

// rig is an executor with its audit and a clock.
type rig struct {
	t    testing.TB
	x    *Executor
	a    *audit
	now  time.Duration
	gate Gate
	outs []Effect // since the last check
}

func newRig(t testing.TB) *rig {
	r := &rig{t: t, x: New(testConfig), a: newAudit(testUnits)}
	r.setGate(Gate{})
	return r
}

func (r *rig) check(outs []Effect) {
	r.t.Helper()
	r.a.check(r.now, outs, r.gate)
	r.outs = append(r.outs, outs...)
	for _, f := range r.a.faults {
		r.t.Error(f)
	}
	r.a.faults = nil
}

func (r *rig) setGate(g Gate) { r.gate = g; r.check(r.x.Gate(g, nil)) }

// ticks ticks until the given time in steps of dt.
func (r *rig) ticks(until, dt time.Duration) {
	r.t.Helper()
	for r.now < until {
		r.now = min(r.now+dt, until)
		r.check(r.x.Tick(r.now, nil))
	}
}

func (r *rig) push(to Lane, e Entry) {
	r.t.Helper()
	outs, refusal := r.x.Push(to, e, nil)
	if refusal != nil {
		r.t.Fatalf("push %s: %+v", e.ID, *refusal)
	}
	r.check(outs)
}

// act pushes an act with these actions to the story lane.
func (r *rig) act(actions ...score.Action) {
	r.t.Helper()
	r.push(story, Entry{ID: "entry", Act: &score.Act{ID: "act", Actions: actions}})
}

func (r *rig) done(action string) {
	r.t.Helper()
	r.report(action, "")
}

func (r *rig) report(action string, why schema.Reason) {
	r.t.Helper()
	key, ok := r.a.last[action]
	if !ok {
		r.t.Fatalf("%s was never started", action)
	}
	r.a.report(key, why)
	r.x.Reported(key, why, "", r.now)
}

// pick returns the outs of a kind for an action since the last check.
func (r *rig) pick(k Kind, action string) []Effect {
	var of []Effect
	for _, o := range r.outs {
		if o.Kind == k && (action == "" || o.Action == action) {
			of = append(of, o)
		}
	}
	return of
}

func (r *rig) want(k Kind, action string, n int) {
	r.t.Helper()
	if got := r.pick(k, action); len(got) != n {
		r.t.Errorf("at %v: %d times %s of %q, want %d; outs: %+v", r.now, len(got), k, action, n, r.outs)
	}
}

func (r *rig) wantOutcome(o Outcome, why schema.Reason) {
	r.t.Helper()
	ended := r.pick(Ended, "")
	if len(ended) != 1 || ended[0].Outcome != o || ended[0].Reason != why {
		r.t.Errorf("at %v: ended %+v, want one %s %s", r.now, ended, o, why)
	}
}

// Actions for tests; times are in milliseconds, a negative one is omitted.

func ms(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

func led(id string, start, end int64) score.Action {
	return score.Action{ID: id, StartMS: start, EndMS: ms(end), Do: score.LED{Colour: "#ffffff"}}
}

func face(id string, start, end int64) score.Action {
	return score.Action{ID: id, StartMS: start, EndMS: ms(end), Do: score.Face{Face: "smile"}}
}

func say(id string, start, timeout int64) score.Action {
	return score.Action{ID: id, StartMS: start, TimeoutMS: ms(timeout), Do: score.Say{Text: score.Text{"en": id}}}
}

func sound(id string, start, end int64) score.Action {
	return score.Action{ID: id, StartMS: start, EndMS: ms(end), Do: score.Sound{Sound: "chime"}}
}

func drive(id string, start, timeout int64) score.Action {
	return score.Action{ID: id, StartMS: start, TimeoutMS: ms(timeout), Do: score.Goto{Point: "desk"}}
}

func head(id string, start, timeout int64) score.Action {
	return score.Action{ID: id, StartMS: start, TimeoutMS: ms(timeout), Do: score.Head{}}
}

func motion(id string, start, timeout int64) score.Action {
	return score.Action{ID: id, StartMS: start, TimeoutMS: ms(timeout), Do: score.Motion{Motion: "nod"}}
}

func velocity(id string, start, end int64) score.Action {
	forward := 0.2
	return score.Action{ID: id, StartMS: start, EndMS: ms(end), Do: score.Drive{VXMPS: &forward}}
}

func choice(id string, start, timeout int64) score.Action {
	return score.Action{ID: id, StartMS: start, TimeoutMS: ms(timeout),
		Do: score.Screen{Choices: []score.Choice{{ID: "again", Text: score.Text{"en": "Again"}}}}}
}

func wait(start, end int64) score.Action {
	return score.Action{StartMS: start, EndMS: ms(end), Do: score.Wait{}}
}

func group(id string, start int64, m score.Method, actions ...score.Action) score.Action {
	return score.Action{ID: id, StartMS: start, Method: m, Do: score.Group{Actions: actions}}
}

func exclusive(a score.Action) score.Action {
	a.Method = score.MethodExclusive
	return a
}
