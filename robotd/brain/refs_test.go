package brain

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/config"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/schema"
	"troupe/schema/sign"
)

// TestRefusalListsTheLatchesThatCauseIt holds more stops, under longer
// names, than an answer has room for.
func TestRefusalListsTheLatchesThatCauseIt(t *testing.T) {
	for _, name := range []string{"wall-%d", strings.Repeat("x", 61) + "-%d"} {
		r, acks := controlled(t)
		r.sent = func(p effect.Publish) {
			if most := schema.TopicOf(p.Topic).MaxBytes; len(p.Payload) > most {
				t.Errorf("%s has %d of %d bytes", p.Topic, len(p.Payload), most)
			}
			if p.Topic == schema.TopicAck {
				a, problems := schema.DecodeStrict[schema.Ack](p.Payload)
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				*acks = append(*acks, a)
			}
		}
		var held []string
		for n := range 2 * schema.MaxRefs {
			id := fmt.Sprintf(name, n)
			held = append(held, id)
			payload, err := schema.Encode(map[string]any{"args": map[string]string{"latch": id}})
			if err != nil {
				t.Fatal(err)
			}
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "stop", Payload: payload})
		}
		r.until(r.now + time.Second)
		r.command("safety/enable", "")
		a := (*acks)[len(*acks)-1]
		if a.Reason != schema.ReasonLatched || len(a.Refs) != schema.MaxRefs {
			t.Fatalf("%.10s: answered %s %s, %d refs of %d", name, a.Status, a.Reason, len(a.Refs), len(r.s.latches.Latches()))
		}
		for _, ref := range a.Refs {
			if ref.Kind != schema.RefLatch || !slices.Contains(held, ref.ID) {
				t.Errorf("it points at %+v", ref)
			}
		}
	}
}

// TestReferencesInAnswersExist takes an interrupt and a pause from the answers
// that made them.
func TestReferencesInAnswersExist(t *testing.T) {
	r, acks := controlled(t)
	pin := stories["talk"]
	r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
	r.until(r.now + time.Second)
	r.command("mode/set", "ato")
	made := func(verb, payload string, kind schema.RefKind) string {
		t.Helper()
		r.command(verb, payload)
		a := (*acks)[len(*acks)-1]
		if a.Status != schema.StatusSucceeded || len(a.Refs) != 1 || a.Refs[0].Kind != kind {
			t.Fatalf("%s was answered %s %s %+v", verb, a.Status, a.Reason, a.Refs)
		}
		return a.Refs[0].ID
	}
	id := made("interrupt/request", "service", schema.RefInterrupt)
	r.command("interrupt/request", "service")
	if a := (*acks)[len(*acks)-1]; a.Reason != schema.ReasonAlreadyRunning || len(a.Refs) != 1 || a.Refs[0].ID != id {
		t.Errorf("a second one was answered %s %+v", a.Reason, a.Refs)
	}
	r.command("interrupt/cancel", id)
	if a := (*acks)[len(*acks)-1]; a.Status != schema.StatusSucceeded {
		t.Errorf("cancelling %s: %s %s", id, a.Status, a.Reason)
	}
	token := made("auto/pause", "", schema.RefPause)
	r.command("interrupt/request", "service")
	if a := (*acks)[len(*acks)-1]; a.Reason != schema.ReasonNotPerforming || len(a.Refs) != 1 || a.Refs[0].ID != token {
		t.Errorf("while it is paused: %s %+v", a.Reason, a.Refs)
	}
	r.command("auto/continue", token)
	if a := (*acks)[len(*acks)-1]; a.Status != schema.StatusSucceeded || a.Reason != "" {
		t.Errorf("continuing %s: %s %s", token, a.Status, a.Reason)
	}
}

// TestFeaturesAreThoseOfTheBodyAndTheConfiguration compares what caps say.
func TestFeaturesAreThoseOfTheBodyAndTheConfiguration(t *testing.T) {
	always := []schema.Feature{schema.FeatureInlineActions, schema.FeatureReplay, schema.FeatureAssets}
	for _, c := range []struct {
		what string
		set  func(*config.Config, *driver.Body)
		want []schema.Feature
	}{
		{"as it comes", func(*config.Config, *driver.Body) {}, []schema.Feature{schema.FeatureTeleop, schema.FeatureMap}},
		{"without a map", func(_ *config.Config, b *driver.Body) { b.Points = nil }, []schema.Feature{schema.FeatureTeleop}},
		{"without a drive", func(_ *config.Config, b *driver.Body) {
			b.Units = slices.DeleteFunc(slices.Clone(b.Units), func(u schema.Unit) bool { return u.Kind == schema.UnitDrive })
		}, nil},
		{"that homes", func(_ *config.Config, b *driver.Body) {
			b.Homing = []string{"head"}
		}, []schema.Feature{schema.FeatureTeleop, schema.FeatureMap, schema.FeatureHoming}},
		{"that checks", func(c *config.Config, _ *driver.Body) { c.Signing, c.Safety.RequireSight = sign.Warn, true },
			[]schema.Feature{schema.FeatureSigning, schema.FeatureTeleop, schema.FeatureMap, schema.FeatureRequireSight}},
	} {
		cfg, body := config.Defaults("r1"), newTimedBody(&rig{}).about()
		body.Hardware = "rev B"
		c.set(&cfg, &body)
		s, _ := New(&cfg, "boot-1", body, Memory{}, mode.NewRunner(modes, mode.Unguarded), clock.Now{})
		d := s.body.Caps(s.cfg, manual.Verbs(&s.body))
		if want := append(slices.Clone(always), c.want...); !slices.Equal(d.Features, want) || d.Robot.HW != "rev B" {
			t.Errorf("a robot %s has %v (hw %q), want %v", c.what, d.Features, d.Robot.HW, want)
		}
	}
}
