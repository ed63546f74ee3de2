package brain

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"troupe/robotd/auto"
	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/control"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/robotd/mode/follow"
	"troupe/robotd/perform"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// auditor lives beside a robot and looks at everything that it does. What it
// holds must hold in every world.
type auditor struct {
	r *rig

	focused string // the run of an activity, after the step before
	handled int    // interrupts that ran then

	stateSeq int64
	shown    schema.State     // the newest published one
	modes    schema.Modes     // the same
	beat     schema.Heartbeat // the newest
	eventSeq int64
	finals   map[command.Key]schema.Status // published, not counting repetitions
	unsaved  map[command.Key]bool          // their answer was published although the disk refused it
	asked    map[command.Key]bool          // of this boot: to be answered
	fleeting map[command.Key]bool          // changes nothing and is not remembered
	enables  map[command.Key]bool
	writes   map[command.Key]int64 // of this boot: what the disk has to have before a stop is answered
	verbs    map[command.Key]string
	answered map[command.Key]effect.Publish // the newest answer
	history  []auditedStep
}

// auditedStep is one call of Step, for doing it again.
// auditedStep is a step, or, without an event, that the world changed an entry check of a mode.
type auditedStep struct {
	now  clock.Now
	ev   event.Event
	said string
}

// said is everything that a step does, as text: what effects point to may change
// later, what was said may not.
func said(effects []effect.Effect) string {
	var b strings.Builder
	for _, e := range effects {
		switch e := e.(type) {
		case effect.Publish:
			fmt.Fprintf(&b, "%s %s %s\n", e.Topic, e.Param, e.Payload)
		case effect.SaveEvent:
			fmt.Fprintf(&b, "event %s\n", e.Payload)
		case effect.SaveContent:
			kept, _ := schema.Encode(e.Persisted)
			fmt.Fprintf(&b, "%s %d %s %x\n", e.Kind, e.Rev, kept, e.Blobs)
		case effect.Start:
			fmt.Fprintf(&b, "start %d %s %s %v %v\n", e.Key, e.Unit, e.Text, e.From, e.Do.Type())
		default:
			fmt.Fprintf(&b, "%T %+v\n", e, e)
		}
	}
	return b.String()
}

// snapshot is what a refused request must not touch.
type snapshot struct {
	safety, mode, auto, queue, control any
	life                               string
	lanes                              string
}

func (a *auditor) look() snapshot {
	s := a.r.s
	lanes := ""
	for _, l := range lanesOf(s.cfg, s.body.Units()) {
		lanes += fmt.Sprint(s.lanes.View(l.Lane))
	}
	return snapshot{s.safety.CoreState, *s.modes.Mode(), *s.perform.Auto(), *s.perform.InterruptState(), *s.manual.Control(), a.lives(), lanes}
}

// lives is how autonomous life stands, as far as commands change it.
func (a *auditor) lives() string {
	d := (&step{State: a.r.s, now: a.r.wall()}).lifeStep().Document(func(schema.Ability) bool { return false })
	return fmt.Sprint(d.State, d.Focused, d.Stack, d.Launchpad, d.Plugins, d.Safeguards)
}

// living checks what holds for autonomous life after each step.
func (a *auditor) living(handled int) {
	s := a.r.s
	_, run, nature := s.life.Focused()
	if was := a.focused; was != run && nature == score.NatureSolitary && handled > 0 && len(s.perform.InterruptState().Running()) > 0 {
		a.fail("%s has the focus while an interrupt runs", run)
	}
	a.focused = run
	at := s.life.At()
	if run != "" && (at == schema.LifeDisabled || at == schema.LifeSafeguard ||
		(at == schema.LifeSolitary) != (nature == score.NatureSolitary)) {
		a.fail("%s, which is %s, has the focus in %s", run, nature, at)
	}
	if s.Pending() {
		return
	}
	if s.modes.Mode().Active != schema.ModeAto && at != schema.LifeDisabled {
		a.fail("life is %s in %s", at, s.modes.Mode().Active)
	}
	if at != schema.LifeDisabled && at != schema.LifeSafeguard && (s.safety.At != schema.SafetyEnabled &&
		s.safety.At != schema.SafetyDisabled || len(s.latches.Latches()) > 0) {
		a.fail("life is %s in %s with %d latches", at, s.safety.At, len(s.latches.Latches()))
	}
	var held []string
	for _, p := range s.perform.Auto().Held() {
		if p.Kind == auto.ByActivity {
			held = append(held, p.Key)
		}
	}
	if want := append([]string(nil), run); run == "" && len(held) > 0 || run != "" && !slices.Equal(held, want) {
		a.fail("life gave the focus to %q, and %q hold a pause", run, held)
	}
	if got := s.perform.Focused(); got != run {
		a.fail("life gave the focus to %q, and %q is performed", run, got)
	}
}

func (a *auditor) fail(format string, args ...any) {
	a.r.t.Fatalf("at %v: %s", a.r.now, fmt.Sprintf(format, args...))
}

// see checks one step.
func (a *auditor) see(ev event.Event, effects []effect.Effect) {
	s := a.r.s
	if s == nil || ev == nil {
		return
	}
	if saved, ok := ev.(event.RequestsSaved); ok && saved.Refused != "" {
		for _, k := range saved.Keys {
			if a.unsaved[k] = true; s.report.Session() == "" {
				delete(a.asked, k) // it was never taken; its sender, who gets no answer, may send it again
			}
		}
	}
	a.stopped(ev)
	a.history = append(a.history, auditedStep{a.r.wall(), ev, said(effects)})
	if s.modes.InCalibration() && s.body.Ordered() == driver.ToRun && s.safety.At != schema.SafetyEnabled {
		a.fail("units may home in %s", s.safety.At)
	}
	lost, _ := s.link.Lost(a.r.wall())
	for _, e := range effects {
		switch e := e.(type) {
		case effect.Start:
			if why := s.diagnosis.Unusable(e.Unit); why != "" {
				a.fail("the %s is started although %s", e.Unit, why)
			}
			if e.Unit == "head" || e.Unit == "drive" {
				switch {
				case s.diagnosis.MotionBarred() != "":
					a.fail("the %s is started although a safeguard holds", e.Unit)
				case s.safety.At != schema.SafetyEnabled && (s.safety.At != schema.SafetySoftStop || s.lanes.Owner(e.Unit) != perform.SafetyLane):
					a.fail("the %s is started in %s", e.Unit, s.safety.At)
				case lost && s.modes.Mode().Active == schema.ModeAto:
					a.fail("the %s is started while no heartbeat of fleetd or of a panel arrives", e.Unit)
				case s.modes.Mode().Active == schema.ModeAto && s.perform.Auto().Freeze() == auto.FreezeAll &&
					s.lanes.Owner(e.Unit) != perform.SafetyLane:
					a.fail("the %s is started by %s although ato is frozen by %v", e.Unit, s.lanes.Owner(e.Unit), s.perform.Auto().Held())
				case s.perform.Auto().StoppedByRequest() && (s.lanes.Owner(e.Unit) == "activity" || perform.IsAbility(s.lanes.Owner(e.Unit))):
					a.fail("the %s is started by %s although somebody stopped the story", e.Unit, s.lanes.Owner(e.Unit))
				}
			}
		case effect.Publish:
			if e.Topic == schema.TopicModes {
				a.modes, _ = schema.DecodeStrict[schema.Modes](e.Payload)
			}
		case effect.Move:
			if !(math.Abs(e.VX) <= 0.3 && math.Abs(e.WZ) <= 0.5) { // NaN is beyond every limit
				a.fail("the drive gets %v m/s, %v rad/s", e.VX, e.WZ)
			}
			if (e.VX != 0 || e.WZ != 0) && (s.diagnosis.Unusable("drive") != "" || s.diagnosis.MotionBarred() != "") {
				a.fail("the drive is to go %v m/s although %q, %q", e.VX, s.diagnosis.Unusable("drive"), s.diagnosis.MotionBarred())
			}
			if (e.VX != 0 || e.WZ != 0) && (s.safety.At != schema.SafetyEnabled || s.modes.Mode().Active != follow.Mode.ID &&
				s.modes.Mode().Active != askerMode.ID && (s.modes.Mode().Active != schema.ModeMnl || s.manual.Control().At != control.Held) || lost) {
				a.fail("the drive is to go %v m/s in %s, %s, held by %q, link lost %v", e.VX, s.safety.At, s.modes.Mode().Active,
					s.manual.Control().Lease.Who, lost)
			}
		case effect.Exit:
			if a.r.diskStuck {
				clear(a.asked) // answers that wait for the disk; their senders see that the robot is offline
			}
		case effect.SaveRequests:
			for _, rec := range e.Put {
				a.unsaved[rec.Key()] = a.unsaved[rec.Key()] || a.r.diskFull
			}
		case effect.LogTransition:
			if e.Machine != "safety" {
				continue
			}
			if e.To == string(schema.SafetyEnabled) && len(a.enables) == 0 {
				a.fail("the robot is enabled by nobody, in %T", ev)
			}
			// Once it is used, or undone, the next time somebody has to ask again, but for
			// requests that still wait for their answer. That a stop comes to its end undoes
			// nothing that was asked for after it.
			if enabled := string(schema.SafetyEnabled); e.To == enabled || e.From == enabled {
				maps.DeleteFunc(a.enables, func(k command.Key, _ bool) bool { return !a.asked[k] })
			}
		}
	}
	switch paused := s.perform.Auto().Status == schema.AutoPaused; {
	case s.Pending():
	case paused && s.perform.Auto().Count() == 0:
		a.fail("ato is paused and nobody holds a pause")
	case s.perform.Auto().Status == schema.AutoPerforming && s.perform.Auto().Count() > 0:
		a.fail("ato performs and %d pauses are held", s.perform.Auto().Count())
	}
	if s.safety.At == schema.SafetyEnabled && len(s.latches.Latches()) > 0 && !s.Pending() {
		a.fail("the robot is ENABLED while %d stops are held", len(s.latches.Latches()))
	}
	if s.safety.At == schema.SafetyEnabled && len(s.diagnosis.Causes()) > 0 && !s.Pending() {
		a.fail("the robot is ENABLED although %v", s.diagnosis.Causes())
	}
	for _, u := range s.body.Movers() {
		switch owner := s.lanes.Owner(u.ID); {
		case owner == "", s.safety.At == schema.SafetyEnabled, s.safety.At == schema.SafetySoftStop && owner == perform.SafetyLane:
		default:
			a.fail("%s has the %s in %s", owner, u.ID, s.safety.At)
		}
	}
	a.living(a.handled)
	a.handled = len(s.perform.InterruptState().Running())
	if len(s.perform.InterruptState().Running()) != s.perform.RunningHandlers() && !s.Pending() {
		a.fail("%d interrupts run, %d handlers at work", len(s.perform.InterruptState().Running()), s.perform.RunningHandlers())
	}
}

// stopped notes which write of the latched stops a stop came to.
func (a *auditor) stopped(ev event.Event) {
	var q struct {
		ID string `json:"id"`
	}
	client := ""
	switch ev := ev.(type) {
	case event.Begin:
		clear(a.writes)
		return
	case event.LiveStop:
		r, _ := schema.ReadStop(ev.Client, ev.Payload)
		client, q.ID = ev.Client, r.ID
	case event.Command:
		if client = ev.Client; !request.IsStop(ev.Group+"/"+ev.Verb) || json.Unmarshal(ev.Payload, &q) != nil {
			return
		}
	default:
		return
	}
	if k := command.KeyOf(client, q.ID); a.writes[k] == 0 {
		a.writes[k], _ = a.r.s.latches.Writes()
	}
}

// published checks one message against the contract.
func (a *auditor) published(e effect.Publish) {
	row := schema.TopicOf(e.Topic)
	if len(e.Payload) > row.MaxBytes {
		a.fail("%s has %d bytes, %d are allowed", e.Topic, len(e.Payload), row.MaxBytes)
	}
	check := func(problems []schema.Problem) {
		if len(problems) > 0 {
			a.fail("%s: %v in %s", e.Topic, problems, e.Payload)
		}
	}
	switch e.Topic {
	case schema.TopicState:
		d, p := schema.DecodeStrict[schema.State](e.Payload)
		check(p)
		if d.StateSeq <= a.stateSeq {
			a.fail("state %d follows state %d", d.StateSeq, a.stateSeq)
		}
		a.stateSeq, a.shown = d.StateSeq, d
		for _, alert := range d.Alerts {
			if !slices.ContainsFunc(schema.Alerts, func(r schema.AlertRow) bool { return r.Type == alert.Type }) {
				a.fail("the alert %s has no row in schema.Alerts", alert.Type)
			}
		}
	case schema.TopicHeartbeat:
		d, p := schema.DecodeStrict[schema.Heartbeat](e.Payload)
		check(p)
		if late := d.MonoMS - a.beat.MonoMS - a.beat.Next().Milliseconds(); d.Session == a.beat.Session && d.Boot == a.beat.Boot &&
			late > watchEvery.Milliseconds() {
			a.fail("heartbeat %d comes %d ms later than the one before announced", d.Seq, late)
		}
		a.beat = d
	case schema.TopicEvent:
		d, p := schema.DecodeStrict[schema.Event](e.Payload)
		check(p)
		if d.Level == "" {
			a.fail("the event %s has no row in schema.Events", d.Type)
		}
		kept := slices.ContainsFunc(a.r.events, func(b []byte) bool { return bytes.Equal(b, e.Payload) })
		switch {
		case d.Boot == a.r.s.report.Boot() && d.Seq > a.eventSeq:
			a.eventSeq = d.Seq
			a.ordered(e, d)
		case !kept: // repeated, it is the same
			a.fail("event %d of %s follows event %d", d.Seq, d.Boot, a.eventSeq)
		}
	case schema.TopicAck:
		d, p := schema.DecodeStrict[schema.Ack](e.Payload)
		check(p)
		a.acknowledged(e, d)
	case schema.TopicTelemetry:
		_, p := schema.DecodeStrict[schema.Telemetry](e.Payload)
		check(p)
	case schema.TopicModes:
		_, p := schema.DecodeStrict[schema.Modes](e.Payload)
		check(p)
	case schema.TopicCaps:
		_, p := schema.DecodeStrict[schema.Caps](e.Payload)
		check(p)
	case schema.TopicReportedStory:
		_, p := schema.DecodeStrict[schema.ReportedStory](e.Payload)
		check(p)
	}
}

// ordered checks an event against the answer to the command that caused it. What is First goes past
// the disk, so it comes before all that does not, which keeps its order.
func (a *auditor) ordered(e effect.Publish, ev schema.Event) {
	k := command.Key(ev.ReqID)
	ack, answered := a.answered[k]
	switch verb := a.verbs[k]; {
	case verb == "", a.r.diskFull: // a final answer that the disk refused is sent again later
	case verb == "safety/enable" || verb == "safety/reset":
		if ev.Type == "safety_changed" && (!answered || e.First) {
			a.fail("%s of %s is published before its answer", ev.Type, verb)
		}
	case ev.Type == "safety_changed" && !strings.Contains(string(ev.Data), `"from":"ENABLED"`): // a stop promises no more than that it began
	case ev.Type == "act_recording_ended": // of the command that began the recording, whose answer promised no more
	case answered && a.finals[k] == schema.StatusSucceeded:
		a.fail("%s of %s is published after its final answer %s", ev.Type, verb, ack.Payload)
	case ev.Level == schema.EventSafety && !e.First:
		a.fail("%s of %s waits for the disk, and its answer does not", ev.Type, verb)
	}
}

// acknowledged checks that there is one final answer, and that what it says was
// done is shown by a state that was published before it.
func (a *auditor) acknowledged(e effect.Publish, ack schema.Ack) {
	if ack.ID != nil && !ack.Dup {
		a.answered[command.KeyOf(e.Param, *ack.ID)] = e
	}
	if ack.ID == nil || ack.Dup || !ack.Status.Final() {
		return
	}
	if ack.Status == schema.StatusSucceeded && ack.StateSeq > a.stateSeq {
		a.fail("%s succeeded with state %d, but the newest published is %d", *ack.ID, ack.StateSeq, a.stateSeq)
	}
	_, kept := a.r.s.latches.Writes()
	if ack.Status == schema.StatusSucceeded && (request.IsStop(ack.Verb) || ack.Verb == verb.LiveStop) &&
		kept < a.writes[command.KeyOf(e.Param, *ack.ID)] && !strings.Contains(ack.Detail, "disk does not have") {
		a.fail("%s succeeded before the disk had the latched stop, and does not say so", *ack.ID)
	}
	k := command.KeyOf(e.Param, *ack.ID)
	if _, again := a.finals[k]; ack.Status == schema.StatusSucceeded && ack.StateSeq > 0 && ack.Reason == "" && !again && !a.unsaved[k] {
		a.shows(*ack.ID)
	}
	revoked := strings.HasPrefix(ack.Verb, "control/") && ack.Status == schema.StatusCancelled && ack.Reason == schema.ReasonNotInControl
	if was, answered := a.finals[k]; answered && was != ack.Status && !a.unsaved[k] && !(revoked && was == schema.StatusSucceeded) {
		a.fail("%s was %s and is %s now", k, was, ack.Status)
	}
	a.finals[k] = ack.Status
	a.unsaved[k] = a.unsaved[k] || a.r.diskFull
	delete(a.asked, k)
}

// showsModes checks that the newest catalogue of modes is as they are now: their parameters,
// and why each cannot be selected.
func (a *auditor) showsModes() {
	if s := a.r.s; s.report.Session() == "" || !s.report.ModesClean() {
		return
	}
	is := a.modes
	found, failed := a.r.found, a.r.failed
	(&step{State: a.r.s, now: a.r.wall()}).toModes(func(m mode.Step) { is.Modes = m.List(a.r.s.body.CalibrationChecks(a.r.s.cfg.Languages)) })
	a.r.found, a.r.failed = found, failed // nobody asked for these calls
	if got, want := effect.Encode(a.modes), effect.Encode(is); !bytes.Equal(got, want) {
		a.fail("the modes are\n%s\nand the newest catalogue shows\n%s", want, got)
	}
}

// shows checks that the newest published state is how the robot is now, as far
// as commands change it.
func (a *auditor) shows(id string) {
	t := step{State: a.r.s, now: a.r.wall()}
	is := *t.stateDocument()
	if s := is.Safety; (s.State == schema.SafetyHalt || s.State == schema.SafetyEStop) != (s.CauseDetail != "") {
		a.fail("it is %s because of %q", s.State, s.CauseDetail)
	}
	got := [...]any{a.shown.Safety.State, a.shown.Mode.Active, a.shown.Mode.Phase, a.shown.Mode.Paused, a.shown.Auto.Status,
		a.shown.Auto.PauseCount, len(a.shown.Interrupts)}
	want := [...]any{is.Safety.State, is.Mode.Active, is.Mode.Phase, is.Mode.Paused, is.Auto.Status, is.Auto.PauseCount, len(is.Interrupts)}
	if got != want && !a.r.s.Pending() {
		a.fail("%s succeeded, and the newest state shows %v while the robot is %v", id, got, want)
	}
}
