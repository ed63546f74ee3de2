package cli

import (
	"strings"
	"testing"

	"troupe/fleetd/view"
	"troupe/schema"
)

func TestLifeIsShownAsAnOperatorReadsIt(t *testing.T) {
	now := schema.Time(1_800_000_000_000)
	l := &schema.StateLife{
		State: schema.LifeInteractive, Since: now - 90_000, Focused: "tell-a-joke", Stack: []string{"greet"}, Next: "quiz",
		Launchpad: schema.LifeLaunchpad{On: true}, Suggestions: []string{"quiz"},
		Abilities:  []schema.LifeAbility{{Name: schema.AbilityBlinking, Enabled: true}, {Name: schema.AbilityBreathing}},
		Plugins:    []schema.LifePlugin{{Name: schema.PluginPeople, Group: schema.GroupSolitary, Enabled: true}},
		Safeguards: []schema.SafeguardSwitch{{Name: schema.SafeguardPushed}},
		Conditions: []schema.LifeCondition{{Activity: "quiz", True: true}, {Activity: "rest", Why: "battery < 0.3 is not true: battery is 0.8"},
			{Activity: "tell-a-joke", True: true}},
		Statistics: []schema.LifeStatistics{{Activity: "greet", Starts: 2, LastStart: now - 120_000, TotalMS: 61_000}},
		Focuses:    []schema.LifeFocus{{Activity: "greet", Since: now - 120_000}},
		States:     []schema.LifeEntry{{State: schema.LifeSolitary, Since: now - 300_000}},
	}
	if got, want := lifeText(l), "interactive: tell-a-joke, then again greet, next quiz"; got != want {
		t.Errorf("life: %q, want %q", got, want)
	}
	if got, want := strings.Join(waitingTexts(l), "\n"), "quiz may start\nrest: battery < 0.3 is not true: battery is 0.8"; got != want {
		t.Errorf("waiting: %q, want %q", got, want)
	}
	if got, want := lifeText(&schema.StateLife{State: schema.LifeSafeguard, Reason: schema.ReasonUnitCritical}),
		"safeguard (unit critical)"; got != want {
		t.Errorf("life: %q, want %q", got, want)
	}
	var table strings.Builder
	lifeTable(&table, now, l)
	for _, want := range []string{
		"life        interactive: tell-a-joke, then again greet, next quiz, for 1m30s\n", "launchpad   on\n", "suggests    quiz\n",
		"activity    quiz: its condition is true\n",
		"activity    rest: battery < 0.3 is not true: battery is 0.8\n", "ability     blinking: on, waits: its unit is in use or must not move\n",
		"ability     breathing: off\n",
		"plugin      people (solitary): on; conditions can use its values\n", "safeguard   pushed: life does not react to it\n",
		"statistics  greet: starts 2, 1m1s in all, last 2m0s ago\n", "solitary\n",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
}

func TestRobotThatPerformsAnActivityIsNotShownAsPaused(t *testing.T) {
	r := view.Robot{ID: "r1", Auto: schema.AutoPaused, Life: &view.Life{State: schema.LifeInteractive, Focused: "greet"},
		PauseHolders: []schema.Pause{{Token: "activity:greet-1", By: "greet"}}}
	if got, want := autoText(r), "performing greet"; got != want {
		t.Errorf("ato: %q, want %q", got, want)
	}
	r.PauseHolders = append(r.PauseHolders, schema.Pause{Token: "operator:ann", By: "ann"})
	if got := autoText(r); !strings.HasPrefix(got, "paused by ") {
		t.Errorf("ato: %q although a person pauses it", got)
	}
}

func TestRobotOfWhichEveryActFailsIsNotSaidToPerform(t *testing.T) {
	r := view.Robot{Auto: schema.AutoPerforming, FailedRounds: 1}
	if got := autoText(r); got != "failing: every act of a round" {
		t.Error(got)
	}
	r.FailedRounds = 3
	if got := autoText(r); got != "failing: every act, 3 rounds in a row" {
		t.Error(got)
	}
}
