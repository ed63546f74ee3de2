package brain

import (
	"time"

	"troupe/robotd/desired"
	"troupe/robotd/manual"
	"troupe/robotd/supervisor"
	"troupe/schema"
)

// Boots are those of this robot that it knows, including the present one.
func (s *State) Boots() []string { return s.report.Boots() }

// restoreSettings sets what people set before the restart.
func (t *step) restoreSettings(saved map[string]string) {
	t.body.SetVolume(manual.RestoredVolume(saved))
	t.toModes(func(m supervisor.Step) { m.Restore(saved) })
	t.perform.Restore(t.now, saved)
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
