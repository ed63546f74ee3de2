package cli

import "testing"

func TestTextsOfRobotsNameCommandsOfThisProgram(t *testing.T) {
	for text, want := range map[string]string{
		"no client has control; acquire it with control/acquire": "no client has control; acquire it " +
			"with fleetd control acquire r1",
		"mode/set mnl starts mnl; then acquire control with " +
			"control/acquire": "fleetd mode set mnl r1 starts mnl; then acquire control with fleetd control acquire r1",
		"release it with auto/continue, or by its name operator:x": "release it with fleetd auto " +
			"continue r1, or by its name operator:x",
		"without one, then send mode/set str": "without one, then send fleetd " +
			"mode set str r1",
		"an act is performed manually; safety/stop ends it": "an act is performed manually; " +
			"fleetd stop r1 ends it",
		"a stop is latched; release the latched stop s-1 at fleetd, then safety/reset, then " +
			"safety/enable": "a stop is latched; fleetd stop release s-1 --why REASON, then fleetd safety reset r1, then fleetd safety enable r1",
		"release the latched stops s-1, lost-disk, then " +
			"safety/enable": "fleetd stop release s-1 lost-disk --why REASON, then fleetd safety enable r1",
		"auto/continue with token operator:fleetd/dev/7 releases it": "fleetd auto continue r1 --token operator:fleetd/dev/7 releases it",
		"it was cancelled with sys/cancel":                           "it was cancelled with fleetd command cancel",
		"mode/set runs it":                                           "fleetd mode set r1 runs it",
		"read/write, and/or sys/replay":                              "read/write, and/or sys/replay",
		"at /acts/far/actions/0/point":                               "at /acts/far/actions/0/point",
	} {
		if got := inCommands(text, "r1"); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
