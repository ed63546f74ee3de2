package desired

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"troupe/robotd/command"
	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// ModeKey is the key on the disk of a modeStatus.
const ModeKey = "desired.mode"

// storyWait is how long after start-up the desired mode waits for its story. It is enough to fetch one, and short enough
// that people who are near the robot know that it has just started.
const storyWait = 5 * time.Minute

// joinWait is how long after start-up a document counts as one that was desired when the robot connected: fleetd publishes
// what a newcomer is to do a moment after it came.
const joinWait = 10 * time.Second

// modeState is the state of the desired mode.
type modeState struct {
	intake
	state    modeStatus
	starting bool          // start-up has not ended yet
	diverged bool          // another mode was requested since
	acted    bool          // see NoteActed
	endedAt  time.Duration // when start-up ended
	dirty    bool
}

// restoreMode makes start-up end in the desired mode, if there is one.
func restoreMode(c *config.Config, saved map[string]string) modeState {
	w := modeState{starting: true}
	if text := saved[ModeKey]; text != "" && json.Unmarshal([]byte(text), &w.state) == nil {
		w.state = restart(w.state)
		w.rev = w.state.Desired.Rev
		setModeAfterStartup(c, w.state.Desired.Mode)
	}
	return w
}

// setModeAfterStartup sets the mode that follows start-up; the calibration mode and the safe mode are
// ignored.
func setModeAfterStartup(c *config.Config, m schema.ModeID) {
	if selectable(c, m) && m != c.Mode.Calibration {
		c.Mode.Boot = m
	}
}

func selectable(c *config.Config, m schema.ModeID) bool {
	for _, known := range c.Mode.Modes {
		if known.ID == m {
			return m != c.Mode.Safe
		}
	}
	return false
}

// takeMode takes a desired mode.
func (t Step) takeMode(ev event.DesiredMode, v Verification) {
	d, w := &ev.Document, &t.mode
	w.dirty = true
	if !selectable(t.cfg, d.Mode) && v.Refused == "" {
		v.Refused, v.Detail = schema.ReasonUnknownMode, fmt.Sprintf("revision %d: %s is no mode that can be desired", d.Rev,
			schema.SanitizeText(string(d.Mode)))
	}
	if !t.admit(&w.intake, v, ev, d.Mode == w.state.Desired.Mode && d.Apply == w.state.Desired.Apply) {
		return
	}
	w.diverged = false
	early := ev.Retained || t.Now.Mono < w.endedAt+joinWait
	t.stepMode(func(s *modeStatus) modeDecision {
		return s.newer(t.modeFacts(), desiredMode{Rev: d.Rev, Mode: d.Mode, Apply: d.Apply}, early)
	})
	if w.starting {
		setModeAfterStartup(t.cfg, d.Mode)
	}
}

// stepMode gives the state of the desired mode one input.
func (t Step) stepMode(take func(*modeStatus) modeDecision) {
	w := &t.mode
	was := w.state
	d := take(&w.state)
	if d.Changed {
		w.dirty = true
		t.Out.LogTransition("desired mode", string(d.From), string(d.To), d.Why, strings.TrimSpace(string(w.state.Desired.Mode)+" "+
			string(w.state.Reason)))
		if d.To != schema.DeployWaiting && d.To != schema.DeployIdle {
			t.Out.Event("desired_mode_"+string(d.To), "mode", string(w.state.Reason), "", effect.Described{ID: string(w.state.Desired.Mode),
				Reason: w.state.Reason, Detail: w.state.Detail})
		}
	}
	if w.state != was {
		t.Out.Do(effect.SaveValue{Name: ModeKey, Value: string(effect.Encode(&w.state))})
	}
	if d.Ask {
		t.Out.Do(effect.SetMode{Mode: w.state.Desired.Mode, By: modeKey(w.state.Desired.Rev)})
	}
}

// modeKey is the key of the request that a desired mode makes. No client can have it,
// because keys of clients begin with their names.
func modeKey(rev int64) command.Key { return command.Key(fmt.Sprintf("/desired/mode/%d", rev)) }

// AsksMode reports whether a request was made by a desired mode.
func AsksMode(k command.Key) bool { return strings.HasPrefix(string(k), "/desired/mode/") }

// Answered takes the supervisor's answer to the request of a desired mode.
func (t Step) Answered(to command.Key, r schema.Verdict) {
	if to == modeKey(t.mode.state.Desired.Rev) { // otherwise a newer one has replaced it
		t.stepMode(func(s *modeStatus) modeDecision { return s.answered(t.modeFacts(), r) })
	}
}

func (t Step) modeFacts() ModeFacts {
	f := t.robot.ModeFacts()
	f.Starting = t.mode.starting
	story, _ := t.story.InUse()
	f.Story = story != nil
	f.JustUp = !f.Starting && !t.mode.acted && t.Now.Mono < t.mode.endedAt+storyWait
	return f
}

// Starting reports whether start-up has not ended yet.
func (s *State) Starting() bool { return s.mode.starting }

// NoteActed notes that a person has acted on the robot since it started, or that the robot was not DISABLED or had a latched stop.
// From then on until the next start the desired mode waits for no story: a person who has enabled the robot in one mode must not
// see it begin to move in another one.
func (s *State) NoteActed() { s.mode.acted = true }

// StartupEnded notes that start-up has ended. why is the reason if a mode failed; if none did and
// the desired mode is not active, a request has superseded it.
func (t Step) StartupEnded(why schema.Reason) {
	t.mode.starting, t.mode.endedAt = false, t.Now.Mono
	t.stepMode(func(s *modeStatus) modeDecision {
		return s.startupEnded(t.modeFacts(), cmp.Or(why, schema.ReasonSuperseded))
	})
}

// FollowStory asks for the desired mode if it waits for a story that the robot has now.
func (t Step) FollowStory() {
	if t.mode.state.awaitsStory() {
		t.stepMode(func(s *modeStatus) modeDecision { return s.followStory(t.modeFacts()) })
	}
}

// NoteIntendedMode takes the mode of a request that was granted to by: if it is not the
// desired mode, the report says that the robot diverged from it.
func (t Step) NoteIntendedMode(by command.Key, intended schema.ModeID) {
	w := &t.mode
	w.acted = w.acted || !AsksMode(by)
	if w.state.Desired.Rev == 0 || by == modeKey(w.state.Desired.Rev) {
		return
	}
	if other := intended != w.state.Desired.Mode; other != w.diverged {
		w.diverged, w.dirty = other, true
	}
}

// reportMode publishes the report on the desired mode.
func (t Step) reportMode() {
	w := &t.mode
	if w.dirty = false; t.Session == "" {
		return
	}
	d := schema.ReportedMode{TS: t.Now.Wall, Session: t.Session, FleetID: t.fleetID, DesiredRev: w.state.Desired.Rev,
		Phase: w.state.At(), Reason: w.state.Reason, Detail: w.state.Detail, Mode: w.state.Desired.Mode, Diverged: w.diverged}
	w.reportRefused(&d.DesiredRev, &d.Phase, &d.Reason, &d.Retry, &d.Detail)
	t.Out.Do(effect.Document{Topic: schema.TopicReportedMode, Value: &d})
}
