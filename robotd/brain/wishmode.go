package brain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"troupe/robotd/control"
	"troupe/robotd/mode"
	"troupe/robotd/request"
	"troupe/robotd/wish"
	"troupe/schema"
	"troupe/schema/sign"
)

// WishedMode is the mode that the fleet wants the robot to be in.
type WishedMode struct {
	Wish     schema.DesiredMode
	Digest   string           // as of Wished
	Problems []schema.Problem // as of Wished
	Emptied  bool             // as of Wished
}

func (WishedMode) event() {}

// wishModeSetting keeps a wish.State.
const wishModeSetting = "wish.mode"

// modeWished is what became of the desired mode.
type modeWished struct {
	door
	state    wish.State
	starting bool // start-up has not handed over yet
	diverged bool // somebody asked for another mode since
	dirty    bool
}

// restoreModeWish lets start-up end in the mode that is wished, if there is one.
func restoreModeWish(c *Config, saved map[string]string) modeWished {
	w := modeWished{starting: true}
	if text := saved[wishModeSetting]; text != "" && json.Unmarshal([]byte(text), &w.state) == nil {
		w.state = wish.Boot(w.state)
		w.rev = w.state.Wish.Rev
		endIn(c, w.state.Wish.Mode)
	}
	return w
}

// endIn lets start-up end in a mode; in calibration it would not end.
func endIn(c *Config, m schema.ModeID) {
	if selectable(c, m) && m != c.Mode.Calibration {
		c.Mode.Boot = m
	}
}

func selectable(c *Config, m schema.ModeID) bool {
	for _, known := range c.Mode.Modes {
		if known.ID == m {
			return m != c.Mode.Safe
		}
	}
	return false
}

// wishedMode hears which mode the fleet wishes.
func (t *turn) wishedMode(ev WishedMode) {
	if t.misunderstood(sign.Mode, ev.Problems) {
		return
	}
	if ev.Emptied {
		t.tell("mode_ignored", string(sign.Mode), "", "", described{Detail: "what is wished was deleted from the broker; that changes nothing"})
		return
	}
	d, w := &ev.Wish, &t.modeWish
	v := t.vouch(sign.Wish{Kind: sign.Mode, Robot: t.cfg.ID, Authority: d.Authority, Rev: d.Rev, Counter: d.Counter, Document: ev.Digest}, d.Sig, nil, nil)
	w.dirty = true
	if !selectable(t.cfg, d.Mode) && v.refused == "" {
		v.refused, v.detail = schema.ReasonUnknownMode, fmt.Sprintf("revision %d: %s is no mode that can be wished", d.Rev, legible(string(d.Mode)))
	}
	if !t.admit(&w.door, v, ev, d.Mode == w.state.Wish.Mode && d.Apply == w.state.Wish.Apply) {
		return
	}
	w.diverged = false
	t.wishing(wish.Input{What: wish.Wished, Wish: wish.Wish{Rev: d.Rev, Mode: d.Mode, Apply: d.Apply}})
	if w.starting {
		endIn(t.cfg, d.Mode)
	}
}

// wishing gives the wish for a mode one input.
func (t *turn) wishing(in wish.Input) {
	w := &t.modeWish
	was := w.state
	d := wish.Step(&w.state, t.wishFacts(), in)
	if d.Changed {
		w.dirty = true
		t.note("desired mode", string(d.From), string(d.To), d.Why, strings.TrimSpace(string(w.state.Wish.Mode)+" "+string(w.state.Reason)))
		if d.To != schema.DeployWaiting && d.To != schema.DeployIdle {
			t.tell("desired_mode_"+string(d.To), "mode", string(w.state.Reason), "", described{ID: string(w.state.Wish.Mode), Reason: w.state.Reason, Detail: w.state.Detail})
		}
	}
	if w.state != was {
		t.do(SaveSetting{wishModeSetting, string(t.encode(&w.state))})
	}
	if d.Ask {
		t.toMode = append(t.toMode, modeInput{Input: mode.Input{Kind: mode.Set, Mode: w.state.Wish.Mode, Req: string(wishKey(w.state.Wish.Rev))}, by: wishKey(w.state.Wish.Rev)})
	}
}

// wishKey names the request that a wish makes, which no client can: keys of
// clients begin with their names.
func wishKey(rev int64) request.Key { return request.Key(fmt.Sprintf("/desired/mode/%d", rev)) }

// wishAnswered takes an answer that is the wish's, and reports whether it was.
func (t *turn) wishAnswered(to request.Key, r reply) bool {
	if !strings.HasPrefix(string(to), "/desired/mode/") {
		return false
	}
	if to == wishKey(t.modeWish.state.Wish.Rev) { // else a newer one has come meanwhile
		t.wishing(wish.Input{What: wish.Answered, Status: r.Status, Reason: r.Reason, Detail: r.Detail})
	}
	return true
}

func (t *turn) wishFacts() wish.Facts {
	f := wish.Facts{Active: t.mode.Active, Starting: t.modeWish.starting, Settled: t.mode.Phase == mode.Ready || t.mode.Phase == mode.Safe}
	switch l, waits := t.control.Lease, t.auto.Waits(); {
	case t.mode.Phase == mode.Safe || t.mode.Next == t.cfg.Mode.Safe:
		f.Others, f.Detail = cmp.Or(t.mode.Reason, schema.ReasonModeFailed), "the robot is in "+string(t.cfg.Mode.Safe)+"; only an operator leads out"
	case latched(t.safety.At):
		f.Others, f.Detail = schema.ReasonSafetyLatched, schema.ReasonSafetyLatched.Describe().Text
	case len(t.latchFacts) > 0:
		f.Others, f.Detail = schema.ReasonLatched, fmt.Sprintf("%d stops are held", len(t.latchFacts))
	case waits != "": // leaving ato would forget it
		f.Others, f.Detail = waits, string(schema.ModeAto)+" was stopped or lost its link; only auto/continue lets it go on"
	case t.control.At == control.Held:
		f.Others, f.Detail = schema.ReasonNotInControl, l.Who.String()+" has control of the robot"
	}
	return f
}

// land looks whether start-up has ended, and how.
func (t *turn) land() {
	if !t.modeWish.starting || t.mode.ByBoot || t.mode.Phase != mode.Ready && t.mode.Phase != mode.Safe && t.mode.Phase != mode.None {
		return
	}
	t.modeWish.starting = false
	t.wishing(wish.Input{What: wish.Landed, Reason: cmp.Or(t.mode.Reason, schema.ReasonSuperseded)})
}

// diverge notes that somebody asked for a mode, and was granted it.
func (t *turn) diverge(in mode.Input, by request.Key, a mode.Answer) {
	w := &t.modeWish
	if w.state.Wish.Rev == 0 || in.Kind != mode.Set && in.Kind != mode.Kill || a.Status == schema.StatusRejected || by == wishKey(w.state.Wish.Rev) {
		return
	}
	if other := t.mode.Intended != w.state.Wish.Mode; other != w.diverged {
		w.diverged, w.dirty = other, true
	}
}

// tellModeWish tells what became of the desired mode.
func (t *turn) tellModeWish() {
	w := &t.modeWish
	if w.dirty = false; t.session == "" {
		return
	}
	d := schema.ReportedMode{TS: t.now.Wall, Session: t.session, Authority: t.authority, DesiredRev: w.state.Wish.Rev,
		Phase: w.state.At(), Reason: w.state.Reason, Detail: w.state.Detail, Mode: w.state.Wish.Mode, Diverged: w.diverged}
	w.show(&d.DesiredRev, &d.Phase, &d.Reason, &d.Retry, &d.Detail)
	t.do(Publish{Topic: schema.TopicReportedMode, Payload: t.within(schema.TopicReportedMode, &d, func(step int) bool { return shrinkMode(&d, step) })})
}
