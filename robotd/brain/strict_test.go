package brain

import (
	"strconv"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/desired"
	"troupe/robotd/driver"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/sign"
)

// alerted reports whether an alert of that type stands.
func (r *rig) alerted(kind string) bool {
	for _, a := range r.s.report.Alerts() {
		if a.Type == kind {
			return true
		}
	}
	return false
}

// configured publishes a desired configuration without values, signed if key is not nil.
func (r *rig) configured(rev int64, signer sign.Signer) {
	r.t.Helper()
	d := schema.DesiredConfig{Rev: rev, FleetID: "fleetd", Counter: rev, TS: epoch, Values: map[string]jsontext.Value{}}
	var err error
	if d.Sig, err = signer.Sign(sign.Config, "r1", d); err != nil {
		r.t.Fatal(err)
	}
	r.give(event.DesiredConfig{Document: d, Digest: digestOf(r.t, d)})
}

func TestRobotWithUnreadableConfigurationIsStrict(t *testing.T) {
	for _, lost := range []string{"{{{", `{"rev":"x"}`, "null", "{}"} {
		r := newRig(t)
		r.cfg.Trust = sign.Ring{sign.PublicKey(sign.SignsDesired, fleetdKey)}
		r.cfg.ContinueOnReturn = true
		r.cfg.SetLinkLoss(schema.ModeAto, schema.LinkLossContinue)
		r.memory.Values[desired.ConfigKey] = lost
		r.boot()
		r.give(event.Connected{Session: "s"})
		c := r.s.cfg
		if c.Signing != sign.Require || !c.Safety.RequireSight || c.ContinueOnReturn || c.Mode.Modes[2].LinkLoss != schema.LinkLossSafe {
			t.Fatalf("%s: signing %s, sight %v, on return %v, link loss %v", lost, c.Signing, c.Safety.RequireSight, c.ContinueOnReturn,
				c.Mode.Modes)
		}
		if !r.alerted(desired.ConfigUnreadable) {
			t.Errorf("%s: there is no alert", lost)
		}
		r.configured(7, sign.Signer{})
		if c := r.s.cfg; c.Signing != sign.Require || !r.alerted(desired.ConfigUnreadable) {
			t.Fatalf("%s: what nobody signed was taken", lost)
		}
		r.boot()
		if !r.alerted(desired.ConfigUnreadable) {
			t.Errorf("%s: after a restart there is no alert", lost)
		}
		r.configured(7, sign.Signer{Key: fleetdKey})
		if c := r.s.cfg; c.Signing != sign.Off || c.Safety.RequireSight || !c.ContinueOnReturn || r.alerted(desired.ConfigUnreadable) {
			t.Errorf("%s: published again, signed: signing %s, sight %v, alerts %v", lost, c.Signing, c.Safety.RequireSight, r.s.report.Alerts())
		}
		r.boot()
		if r.alerted(desired.ConfigUnreadable) || r.s.cfg.Signing != sign.Off {
			t.Errorf("%s: it was published again, and is strict again after a restart", lost)
		}
	}
}

func TestStrictRobotCanStillBeConfigured(t *testing.T) {
	r := newRig(t) // trusts no key: nobody can sign
	r.memory.Values[desired.ConfigKey] = "{{{"
	r.boot()
	if c := r.s.cfg; c.Signing != sign.Off || !c.Safety.RequireSight {
		t.Errorf("signing %s, sight %v", c.Signing, c.Safety.RequireSight)
	}
	r.configured(1, sign.Signer{})
	if r.alerted(desired.ConfigUnreadable) || r.s.cfg.Safety.RequireSight {
		t.Error("the fleet, that never signed, does not get the robot back")
	}
	r = newRig(t)
	r.cfg.Trust = sign.Ring{sign.PublicKey(sign.SignsDesired, fleetdKey)}
	r.cfg.LocalOnly = []string{"signing", "require_sight"} // configured on the robot
	r.memory.Values[desired.ConfigKey] = "{{{"
	r.boot()
	if c := r.s.cfg; c.Signing != sign.Off || c.Safety.RequireSight || !r.alerted(desired.ConfigUnreadable) {
		t.Errorf("what was set at the robot: signing %s, sight %v", c.Signing, c.Safety.RequireSight)
	}
}

// A person who resets at the robot sees it, and needs no heartbeat.
func TestResetButtonNeedsNoSight(t *testing.T) {
	r := newRig(t)
	r.cfg.Safety.RequireSight = true
	r.boot()
	r.give(event.Connected{Session: "s"})
	input := func(on bool) {
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: "back", On: on}})
	}
	input(true)
	input(false)
	r.until(r.now + r.cfg.Safety.Settle)
	r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.Press, Name: pressReset, On: true}})
	r.until(r.now + r.cfg.Safety.Reset)
	if r.s.safety.At != schema.SafetyDisabled {
		t.Fatalf("somebody reset the robot where it stands, and it is %s: %s", r.s.safety.At, r.s.safety.Cause)
	}
	// It opens no gate.
	r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(`{}`)})
	r.until(r.now + r.cfg.Tick)
	if r.s.safety.At != schema.SafetyDisabled {
		t.Errorf("enabled by somebody who did not see it: %s", r.s.safety.At)
	}
}

// The time of one run is nothing in another, though it be the same by chance.
func TestHeartbeatFromBeforeARestartIsNoSight(t *testing.T) {
	for _, c := range []struct {
		name     string
		required bool
		boot     func(*rig) string
		enabled  bool
	}{
		{"of this run", true, func(r *rig) string { return r.s.report.Boot() }, true},
		{"of an earlier run", true, func(*rig) string { return "an-earlier-one" }, false},
		{"of an earlier run, where sight is not required", false, func(*rig) string { return "an-earlier-one" }, false},
		{"of some run", true, func(*rig) string { return "" }, false},
		{"of some run, where sight is not required", false, func(*rig) string { return "" }, true},
	} {
		r := newRig(t)
		r.cfg.Safety.RequireSight = c.required
		r.boot()
		r.give(event.Connected{Session: "s"})
		r.until(10 * r.cfg.Heartbeat)
		seen := r.now - r.cfg.Heartbeat
		r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable", Payload: []byte(
			`{"args":{"seen_mono_ms":` + strconv.FormatInt(seen.Milliseconds(), 10) + `,"seen_boot":"` + c.boot(r) + `"}}`)})
		r.until(r.now + r.cfg.Tick)
		if got := r.s.safety.At == schema.SafetyEnabled; got != c.enabled {
			t.Errorf("a heartbeat %s: enabled %v, want %v", c.name, got, c.enabled)
		}
	}
}
