package perform

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"troupe/robotd/act"
	"troupe/robotd/config"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/schema"
	"troupe/schema/interrupts"
	"troupe/schema/score"
)

// script is the acts that a handler or the focused activity performs, one after the other.
type script struct {
	acts  []act.Entry
	skips bool          // a failed act does not end it
	files []score.Asset // that the acts name
	// without is what was left out of its acts, each once, so that a loop reports it once.
	without []string

	inSafeguard bool // as the focused activity it goes on, without motion, while a safeguard pauses ato
}

// maxWithout bounds without, which ends up in one event.
const maxWithout = 8

// noteLeftOut notes what is left out of an act, and reports whether that is new.
func (s *script) noteLeftOut(text string) bool {
	if text == "" || len(s.without) >= maxWithout || slices.Contains(s.without, text) {
		return false
	}
	s.without = append(s.without, text)
	return true
}

// leftOut is all that was left out of the acts, for the result.
func (s *script) leftOut() string { return strings.Join(s.without, "; ") }

// script returns what a handler performs, or why it cannot. That of an HTTP call is empty.
func (t Step) script(h *config.Handler) (s script, why string) {
	switch {
	case h.Call != nil:
		return s, ""
	case h.Activity != "":
		s, _, why = t.activity(h.Activity)
		return s, why
	case h.Story.Act == "":
		return script{acts: []act.Entry{{Act: &h.Act, Languages: t.cfg.Languages}}}, ""
	}
	acts, files, languages := t.Repertoire()
	a, ok := acts[h.Story.Act]
	if !ok {
		return s, "the robot has no act " + h.Story.Act
	}
	if wrong := schema.Errors(a.ValidateWith(h.Story.With)); len(wrong) > 0 {
		return s, "the act " + a.ID + ": " + act.ProblemText(wrong[0])
	}
	return script{acts: []act.Entry{{Act: &a, With: h.Story.With, Languages: languages}}, files: files}, ""
}

// beginHandler performs a handler's acts in the handler's own lane.
func (t Step) beginHandler(e interrupt.Entry, requested *requestedAct) {
	cfg, _ := t.cfg.Handler(e.Handler)
	t.runningHandlers = append(t.runningHandlers, runningHandler{id: e.ID, handler: cfg.ID, until: t.Now.Mono + cfg.Idle})
	h := &t.runningHandlers[len(t.runningHandlers)-1]
	switch {
	case requested != nil:
		h.requests = []pendingRequest{{entry: e.ID, key: requested.key}}
		t.Out.Do(effect.Reply{To: requested.key, Verdict: schema.Verdict{Status: schema.StatusAccepted}, StartsMotion: requested.Act.Moves()})
		h.script = script{acts: []act.Entry{requested.Entry}, files: requested.files}
		t.nextAct(h)
	case cfg.UntilCharged:
		t.charge(h, cfg)
	case cfg.Call != nil:
		t.call(h, cfg.Call, e.Interrupter)
	default:
		h.script, _ = t.script(cfg) // condition has checked already that it has one
		t.nextAct(h)
	}
}

// nextAct begins the next act of the script.
func (t Step) nextAct(h *runningHandler) {
	e := h.acts[0]
	h.acts = h.acts[1:]
	e.ID, e.Clear = h.id, true
	if h.oneSucceeded || h.failed != "" {
		e.ID = t.Lanes.NextEntry("handler")
		h.entry = e.ID
	}
	t.beginHandlerAct(h, e)
}

// Handlers advances the handlers, and ends those that are done: their acts are over, a person
// dismissed them or has done nothing for a while, or the battery is charged.
func (t Step) Handlers() {
	t.reportCounted()
	t.cancelMarked()
	for i := range t.runningHandlers {
		h := &t.runningHandlers[i]
		cfg, _ := t.cfg.Handler(h.handler)
		switch {
		case h.ending:
		case cfg.UntilCharged:
			t.charge(h, cfg)
		case h.dismiss, cfg.Idle > 0 && t.Now.Mono >= h.until, h.actsOver && (cfg.Idle == 0 || h.choice):
			t.done(h)
		}
	}
}

// handlerActEnded notes that a handler's act is over, and begins the next one. A failure
// ends the handler, unless it is to skip failed acts and another one succeeded.
func (t Step) handlerActEnded(id string, failed schema.Reason) {
	for i := range t.runningHandlers {
		h := &t.runningHandlers[i]
		if h.performs() != id || h.actsOver {
			continue
		}
		cfg, _ := t.cfg.Handler(h.handler)
		h.oneSucceeded, h.failed = h.oneSucceeded || failed == "", failed
		if !h.ending && len(h.acts) > 0 && (failed == "" || h.skips) {
			t.nextAct(h)
			return
		}
		h.actsOver, h.highest, h.rose = true, t.Battery.Share, t.Now.Mono
		switch {
		case failed == "" || h.ending || h.skips && h.oneSucceeded:
		case cfg.UntilCharged:
			t.chargeFailed(h, failed, "the robot did not reach its charger: "+failed.Describe().Text,
				"clear its way and check its drive, or bring it to another charger")
		default:
			t.fail(h, failed)
		}
	}
}

// Senses notes that a person touches or presses something, which prolongs handlers that wait for
// people. It reports whether one of them was dismissed.
func (s *State) Senses(now time.Duration, ev driver.Event) (dismissed bool) {
	if !ev.On || ev.Signal != driver.Touch && ev.Signal != driver.Press {
		return false
	}
	for i := range s.runningHandlers {
		h := &s.runningHandlers[i]
		if cfg, _ := s.cfg.Handler(h.handler); cfg.Idle == 0 {
			continue
		} else if h.until = now + cfg.Idle; ev.Signal == driver.Press && ev.Name == interrupts.Done {
			h.dismiss, dismissed = true, true
		}
	}
	return dismissed
}

// detail returns why a handler failed, or what was left out of its acts.
func (s *State) detail(id string) string {
	i := slices.IndexFunc(s.runningHandlers, func(h runningHandler) bool { return h.id == id })
	if i < 0 {
		return ""
	}
	h := &s.runningHandlers[i]
	return cmp.Or(h.detail, h.leftOut())
}
