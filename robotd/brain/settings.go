package brain

import (
	"strconv"
	"time"

	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/schema"
	"troupe/schema/verb"
)

// What people switch off stays off over a restart. A setting is named by the kind and the
// thing; its value is the state. What is on is not kept.
const (
	modeSetting = "mode."
	switchedOff = "off"
)

// HungSetting names the mode that did not return from a call and for which robotd was
// ended. Start-up takes it for failed, and forgets it then.
const HungSetting = "hung_mode"

// Boots are those that the robot knows as its own, the present one among them.
func (s *State) Boots() []string { return s.report.Boots() }

// restoreSettings switches off what was off.
func (t *step) restoreSettings(saved map[string]string) {
	if v, err := strconv.ParseFloat(saved[manual.VolumeSetting], 64); err == nil {
		t.body.SetVolume(verb.Number{Value: min(max(v, 0), 1), Said: true})
	}
	for i, m := range t.cfg.Mode.Modes {
		if saved[modeSetting+string(m.ID)] == switchedOff {
			t.mode.Status[i] = schema.ModeRegistered
		}
	}
	if hung := schema.ModeID(saved[HungSetting]); hung != "" {
		t.mode.Failed(&t.cfg.Mode, hung)
		t.modes.Hung(hung)
		t.raise(hungAlert, schema.AlertError, string(hung), string(hung)+" did not return from a call, and robotd was ended for it", "read robotd's log; mode/set "+string(hung)+" tries it again")
	}
	t.perform.Restore(t.now, saved)
}

// hungAlert is the alert of the mode that hung, until it is in charge again.
const hungAlert = "mode_hung"

// keepMode saves that a mode was switched on or off.
func (t *step) keepMode(in mode.Input, a mode.Answer) {
	if a.Status == schema.StatusSucceeded && a.Reason == "" && (in.Kind == mode.Enable || in.Kind == mode.Disable) {
		t.keepSwitch(modeSetting+string(in.Mode), in.Kind == mode.Disable)
	}
}

func (t *step) keepSwitch(name string, off bool) {
	value := ""
	if off {
		value = switchedOff
	}
	t.do(effect.SaveSetting{Name: name, Value: value})
}

// keepPause is how long a disk that refused a setting is left alone.
const keepPause = time.Second

// retrySettings notes that the disk refused a setting: what the fleet desires is offered
// until the disk takes it. That the disk took another setting meanwhile says nothing of
// this one.
func (t *step) retrySettings(refused schema.Reason) {
	if refused != "" {
		t.retrySettingsAt = t.now.Mono + keepPause
	}
}

// saveSettingsAgain offers the disk again what the fleet desires.
func (t *step) saveSettingsAgain() {
	if t.retrySettingsAt == 0 || t.now.Mono < t.retrySettingsAt {
		return
	}
	t.retrySettingsAt = 0
	t.toDesired(desired.Step.Keep)
}
