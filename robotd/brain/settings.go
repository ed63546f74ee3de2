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

// Modes and interrupters that people disabled stay disabled after a restart. A setting is
// named by the kind and the id; its value is the state. Enabled ones are not saved.
const (
	modeSetting = "mode."
	switchedOff = "off"
)

// HungSetting names the mode that did not return from a call and for which robotd ended.
// Start-up treats it as failed, and removes the setting.
const HungSetting = "hung_mode"

// Boots are those of this robot that it knows, including the present one.
func (s *State) Boots() []string { return s.report.Boots() }

// restoreSettings disables what was disabled.
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
		t.modes.MarkHung(hung)
		t.raise(hungAlert, schema.AlertError, string(hung), "a call of "+string(hung)+" did not return, and robotd ended because of it", "read robotd's log; mode/set "+string(hung)+" tries it again")
	}
	t.perform.Restore(t.now, saved)
}

// hungAlert is the alert of the mode that hung, until it is active again.
const hungAlert = "mode_hung"

// keepMode saves that a mode was enabled or disabled.
func (t *step) keepMode(in mode.Input, a schema.Verdict) {
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

// keepPause is the pause before a disk that refused a setting is asked again.
const keepPause = time.Second

// retrySettings notes that the disk refused a setting: desired documents are saved again
// until the disk accepts them. Its success with another setting proves nothing about these.
func (t *step) retrySettings(refused schema.Reason) {
	if refused != "" {
		t.retrySettingsAt = t.now.Mono + keepPause
	}
}

// saveSettingsAgain saves the desired documents again.
func (t *step) saveSettingsAgain() {
	if t.retrySettingsAt == 0 || t.now.Mono < t.retrySettingsAt {
		return
	}
	t.retrySettingsAt = 0
	t.toDesired(desired.Step.Keep)
}
