package brain

import "testing"

func TestARobotObeysTheFleetThatItWasEnrolledAt(t *testing.T) {
	r := newRig(t)
	r.cfg.Authority = "db-1"
	r.boot()
	if got := r.s.authority; got != "db-1" {
		t.Errorf("a new robot obeys %q", got)
	}
	r.memory.Settings[authoritySetting] = "db-2"
	r.boot()
	if got := r.s.authority; got != "db-2" {
		t.Errorf("one that was adopted since obeys %q", got)
	}
}
