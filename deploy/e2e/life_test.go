package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"troupe/schema"
	"troupe/schema/score"
)

// lifeActs are the acts of the activities below: long lasts until it is stopped.
var lifeActs = map[string]score.Act{
	"long":  {ID: "long", Name: score.Text{"en": "Long"}, Actions: []score.Action{{Type: score.TypeFace, Face: "sleepy", EndMS: new(int64(3_600_000))}}},
	"short": {ID: "short", Name: score.Text{"en": "Short"}, Actions: []score.Action{{Type: score.TypeFace, Face: "laugh", EndMS: new(int64(500))}}},
}

// activity returns one that performs an act once.
func activity(id string, nature score.Nature, act, when string) score.Activity {
	return score.Activity{ID: id, Name: score.Text{"en": id}, Repeat: score.Repeat{Times: 1}, Acts: []score.Step{{Act: act}}, Nature: nature, Launch: score.Launch{When: when}}
}

// setActivities gives a robot activities without fleetd.
func (w *world) setActivities(rid string, list ...score.Activity) {
	w.t.Helper()
	blob, sum, err := score.EncodeActivities(list, lifeActs)
	if err != nil {
		w.t.Fatal(err)
	}
	w.publishRetained(schema.DefaultNamespace.Topic(schema.TopicBlob, sum), blob)
	w.publish("admin", robotTopic(rid, "desired/activities"), fmt.Sprintf(`{"rev":1,"fleet_id":%q,"set":{"id":"life","rev":1,"sha256":%q,"size":%d},"by":"e2e","ts":"2026-01-01T00:00:00.000Z"}`, manualFleetID, sum, len(blob)), "-r")
	awaitDocument(w, robotTopic(rid, "reported/activities"), "the activities", func(r schema.ReportedSet) bool { return r.Phase == schema.DeployActive })
}

// awaitLife waits until an activity has the focus, none if it is empty, in a state with this
// stack, and the story waits exactly as long as one has.
func (w *world) awaitLife(state schema.LifeState, focused string, stack ...string) schema.State {
	w.t.Helper()
	return w.awaitState("r1", fmt.Sprintf("%s with %q above %v", state, focused, stack), func(s schema.State) bool {
		waits := slices.ContainsFunc(s.Auto.PauseHolders, func(p schema.Pause) bool { return strings.HasPrefix(p.Token, "activity:") })
		return s.Life != nil && s.Life.State == state && s.Life.Focused == focused && slices.Equal(s.Life.Stack, stack) && waits == (focused != "")
	})
}

func TestLaunchpadAndStackOverMQTT(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "sim/#"))
		w.runRobot("r1", "", "--sim-faults", "--sim-at", "stage", "--link-loss-ato", "continue")
		w.awaitState("r1", "calibrated", func(s schema.State) bool { return s.Mode.Calibrated })
		w.enable("r1")
		w.setActivities("r1",
			activity("doze", score.NatureSolitary, "long", "dark"), activity("hum", score.NatureSolitary, "long", "dark"),
			activity("chat", score.NatureInteractive, "long", "people > 0"), activity("greet", score.NatureInteractive, "long", "people > 0"),
			activity("joke", score.NatureInteractive, "short", ""))
		w.performStory("r1", "tale", "tell", "nod")
		w.awaitLife(schema.LifeSolitary, "")

		// The launchpad: by name while none was ever focused, then the least recent one, and a
		// solitary one does not interrupt another.
		w.simInput("r1", "dark", `{"on":true}`)
		s := w.awaitLife(schema.LifeSolitary, "doze")
		if !slices.ContainsFunc(s.Life.Conditions, func(c schema.LifeCondition) bool { return c.Activity == "hum" && c.True && c.Why != "" }) {
			s = w.awaitState("r1", "why hum does not start", func(s schema.State) bool {
				return s.Life.Focused == "doze" && slices.ContainsFunc(s.Life.Conditions, func(c schema.LifeCondition) bool { return c.Activity == "hum" && c.True && c.Why != "" })
			})
		}
		w.mustRequest("op1", "r1", "life/stop-focus", "")
		w.awaitLife(schema.LifeSolitary, "hum")

		// An interactive one interrupts it, though both conditions are true.
		mark := w.observer.mark()
		w.simInput("r1", "people", `{"count":1}`)
		w.awaitLife(schema.LifeInteractive, "chat")
		w.awaitEvent(mark, "r1", "the end of hum", func(e schema.Event) bool {
			return e.Type == "life_completed" && strings.Contains(string(e.Data), `"activity":"hum","outcome":"stopped"`)
		})
		for activity, why := range map[string]schema.Reason{"doze": schema.ReasonInteractiveFocused, "sing": schema.ReasonUnknownActivity} {
			if a := w.request("op1", "r1", "life/focus", activity); a.Status != schema.StatusRejected || a.Reason != why {
				w.t.Errorf("%s while a person is here: %s", activity, jsonText(a))
			}
		}
		if a := w.request("op1", "r1", "life/set", "solitary"); a.Status != schema.StatusRejected || a.Reason != schema.ReasonInvalidTransition {
			w.t.Errorf("solitary on request: %s", jsonText(a))
		}

		// A stack of two unwinds to solitary, and the story goes on.
		w.simInput("r1", "people", `{"count":0}`)
		w.simInput("r1", "dark", `{"on":false}`)
		w.awaitState("r1", "light and alone", func(s schema.State) bool { return len(s.Signals) == 0 })
		w.mustRequest("op1", "r1", "life/focus", `{"args":{"activity":"greet","flags":"stop_and_stack_current"}}`)
		w.awaitLife(schema.LifeInteractive, "greet", "chat")
		mark = w.observer.mark()
		w.mustRequest("op1", "r1", "life/focus", `{"args":{"activity":"joke","flags":"stop_and_stack_current"}}`)
		w.awaitEvent(mark, "r1", "the end of joke", func(e schema.Event) bool {
			return e.Type == "life_completed" && strings.Contains(string(e.Data), `"activity":"joke","outcome":"finished"`)
		})
		w.awaitLife(schema.LifeInteractive, "greet", "chat")
		w.mustRequest("op1", "r1", "life/stop-focus", "")
		w.awaitLife(schema.LifeInteractive, "chat")
		w.mustRequest("op1", "r1", "life/stop-focus", "")
		w.awaitLife(schema.LifeSolitary, "")
		w.awaitState("r1", "performing again, alive", func(s schema.State) bool {
			return s.Auto.Status == schema.AutoPerforming && slices.ContainsFunc(s.Life.Abilities, func(a schema.LifeAbility) bool { return a.Name == schema.AbilityBreathing && a.Running })
		})

		// Without ato the robot does not live.
		w.mustRequest("op1", "r1", "mode/set", "mnl")
		w.awaitLife(schema.LifeDisabled, "")
		if a := w.request("op1", "r1", "life/focus", "greet"); a.Status != schema.StatusRejected || a.Reason != schema.ReasonNotInAto {
			w.t.Errorf("an activity in mnl: %s", jsonText(a))
		}
	})
}

func TestSafeguardOfLifeOverMQTT(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		w.recorder.Allow(robotTopic("r1", "sim/#"))
		w.runRobot("r1", "", "--sim-faults", "--sim-at", "stage", "--link-loss-ato", "continue")
		w.awaitState("r1", "calibrated", func(s schema.State) bool { return s.Mode.Calibrated })
		w.enable("r1")
		w.setActivities("r1", activity("doze", score.NatureSolitary, "long", ""), activity("greet", score.NatureInteractive, "long", ""))
		w.performStory("r1", "tale", "tell", "nod")

		// Heat ends activities; life comes back when the unit has cooled.
		w.mustRequest("op1", "r1", "life/focus", "greet")
		w.awaitLife(schema.LifeInteractive, "greet")
		w.simInput("r1", "heat", `{"unit":"battery","celsius":70}`)
		w.awaitLife(schema.LifeSafeguard, "")
		if a := w.request("op1", "r1", "life/focus", "greet"); a.Status != schema.StatusRejected {
			w.t.Errorf("an activity in safeguard: %s", jsonText(a))
		}
		w.simInput("r1", "heat", `{"unit":"battery","celsius":30}`)
		w.awaitLife(schema.LifeSolitary, "")

		// Damage stays, also when it is repaired, until a person acknowledges it.
		w.enable("r1")
		w.simInput("r1", "break", `{"unit":"battery","what":"cell 3 is low"}`)
		w.awaitLife(schema.LifeSafeguard, "")
		w.simInput("r1", "repair", `{"unit":"battery"}`)
		s := w.awaitState("r1", "repaired", func(s schema.State) bool {
			return slices.ContainsFunc(s.Diagnosis, func(d schema.Device) bool { return d.ID == "battery" && d.Unacknowledged && d.Fault == "" })
		})
		if s.Life.State != schema.LifeSafeguard {
			w.t.Errorf("after the repair life is %s", s.Life.State)
		}
		w.mustRequest("op1", "r1", "sys/ack-fault", "battery")
		w.awaitLife(schema.LifeSolitary, "")
		if s := w.awaitState("r1", "at rest", func(s schema.State) bool { return s.Life.State == schema.LifeSolitary }); s.Safety.State != schema.SafetyDisabled {
			w.t.Errorf("life is back, and the robot may move: %s", s.Safety.State)
		}
	})
}
