package modetest_test

import (
	"testing"

	"troupe/robotd/mode"
	"troupe/robotd/mode/ato"
	"troupe/robotd/mode/follow"
	"troupe/robotd/mode/mnl"
	"troupe/robotd/mode/modetest"
	"troupe/robotd/mode/safe"
	"troupe/robotd/mode/str"
)

func TestModesConform(t *testing.T) {
	for _, m := range []mode.Installed{str.Mode, mnl.Mode, ato.Mode, safe.Mode, follow.Mode} {
		t.Run(string(m.ID), func(t *testing.T) { modetest.Conform(t, m) })
	}
}
