package brain

import "troupe/robotd/event"

// certificateAlert is raised while the robot's certificate is about to end and was
// not renewed.
const certificateAlert = "certificate_expiring"

// credential tells how the robot's certificate stands.
func (t *step) credential(ev event.Credential) {
	if ev.Level == "" {
		t.clear(certificateAlert, "identity")
		return
	}
	t.raise(certificateAlert, ev.Level, "identity", ev.Detail, ev.Hint)
}
