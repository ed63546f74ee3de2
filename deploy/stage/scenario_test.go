package stage

import (
	"strings"
	"testing"
	"time"

	"troupe/robotd/robot"
)

func TestDayOfTheDemoLastsThreeToSixMinutesAtSpeed20(t *testing.T) {
	from, to, lasts, err := robot.ScenarioSpan("../demo/day.yaml")
	if err != nil || from != "09:55:00" || to != "11:54:00" || lasts/20 < 3*time.Minute || lasts/20 > 6*time.Minute {
		t.Errorf("%s to %s, %v: %v", from, to, lasts, err)
	}
}

func TestWrongScenarioIsRefusedBeforeAnythingStarts(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		says string
	}{
		{Config{Scenario: "../demo/main.go"}, "main.go:"},
		{Config{Scenario: "none.yaml"}, "read the scenario"},
		{Config{Story: "no-such-story"}, "there is no shipped story no-such-story"},
	} {
		c.cfg.Robots, c.cfg.Data = 1, t.TempDir()
		if lines, err := runStage(t, c.cfg, nil); err == nil || !strings.Contains(err.Error(), c.says) || len(lines) > 0 {
			t.Errorf("%v, printed %q", err, lines)
		}
	}
}
