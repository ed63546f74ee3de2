package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/golden"
)

// The events are those of a robot that played a day of visitors.
func TestDayOfARobotIsNarrated(t *testing.T) {
	golden.Compare(t, "testdata/watch/day.txt", tellEvents(t, "testdata/watch/day.jsonl"))
}

func tellEvents(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := &narrator{story: "museum-welcome", act: func(_, id string) actText {
		return map[string]actText{
			"welcome":         {"Welcome", "Good morning, and welcome to the museum."},
			"hello-there":     {"Hello there", "Oh, hello there! How nice that you look in."},
			"look-around":     {"Look around", ""},
			"museum-tale":     {"A tale from the fountain", "Do you hear the water?"},
			"look-closer":     {"A closer look", "Look at the hand of the figure over there."},
			"thank-you":       {"Thanks for a touch", "Oh! That was friendly. Thank you."},
			"come-along":      {"Come along", "The next tour begins here, beside me. Would you like to come along?"},
			"hum":             {"Humming", ""},
			"inline":          {"inline", ""},
			"tour-invitation": {"Invitation to the tour", "Shall we? Please follow me, and mind the little ones. I drive slowly."},
		}[id].or(id)
	}}
	var out strings.Builder
	var lines []timedLine
	for read := bufio.NewScanner(f); read.Scan(); {
		var e schema.Event
		if err := json.Unmarshal(read.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, n.narrate(e)...)
	}
	n.flush(time.Unix(1, 0))
	lines = append(lines, n.flush(time.Unix(2, 0))...)
	for _, l := range lines {
		fmt.Fprintf(&out, "%-8s  %-6s  %s\n", l.at.scenario, l.Kind, l.Text)
	}
	return out.String()
}

func (a actText) or(id string) actText {
	if a.name == "" {
		a.name = id
	}
	return a
}

func TestLinesThatBelongTogetherAreOne(t *testing.T) {
	const (
		paused = `0 auto_changed auto - {"from":"idle","to":"paused"}`
		idle   = `0 auto_changed auto - {"from":"paused","to":"idle"}`
		focus  = `0 life_focused life launchpad {"activity":"hum","nature":"solitary"}`
		first  = `0 act_started act - {"act":"hum","lane":"activity"}`
	)
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"an activity and its act":  {[]string{focus, paused, first}, `turns to hum (solitary): performs "hum"`},
		"a handler before it":      {[]string{`0 interrupt_finished touch - {"handler":"attend","outcome":"finished"}`, focus, idle, paused, first}, `has attended|turns to hum (solitary): performs "hum"`},
		"its act comes later":      {[]string{focus, paused, `9 act_started act - {"act":"hum","lane":"activity"}`}, `turns to hum (solitary)|performs "hum"`},
		"the story after it":       {[]string{`0 life_completed life - {"activity":"hum","outcome":"finished"}`, idle}, "goes on with its story"},
		"another one after it":     {[]string{`0 life_completed life - {"activity":"bow","outcome":"stopped","reason":"superseded"}`, focus, first}, `leaves bow and turns to hum (solitary): performs "hum"`},
		"the story for a moment":   {[]string{idle, focus, first}, `turns to hum (solitary): performs "hum"`},
		"an act that is skipped":   {[]string{idle, `0 act_warning act missed {"id":"bow","detail":"is not resumed"}`, `0 act_started act - {"act":"nod","lane":"story"}`}, `performs "nod"`},
		"a handler and the story":  {[]string{`0 interrupt_finished touch - {"handler":"attend","outcome":"finished"}`, idle}, "has attended; goes on with its story"},
		"a handler and no story":   {[]string{`0 interrupt_finished touch - {"handler":"attend","outcome":"finished"}`, `9 life_suggestion life - {}`}, "has attended"},
		"an interrupt":             {[]string{`0 interrupt_started touch attend {}`, paused, `0 act_started act - {"act":"attend","lane":"handler-attend"}`}, "somebody touches it: it attends"},
		"an intent":                {[]string{`0 intent asr ask {"name":"ask","reaction":{"interrupt":"attend"}}`, `0 interrupt_started ai attend {}`}, "understands ask: it attends"},
		"an activity it leaves":    {[]string{`0 interrupt_started power power {}`, `0 life_completed life - {"activity":"hum","outcome":"stopped","reason":"busy"}`}, "its battery is low: it goes to its charger"},
		"a push":                   {[]string{`0 alert_raised pushed safeguard {"detail":"somebody pushes the robot"}`, paused, `0 life_state life - {"from":"solitary","to":"safeguard"}`}, "nothing moves: somebody pushes the robot"},
		"a pause of its own":       {[]string{paused}, "pauses its story"},
		"a stop":                   {[]string{`0 safety_changed safety hot {"from":"ENABLED","to":"SOFT_STOP"}`, paused, `0 act_started act - {"act":"heads-to-rest","lane":"safety"}`, `1 safety_changed safety hot {"from":"SOFT_STOP","to":"STOP"}`}, "comes to rest: hot"},
		"the mode":                 {[]string{`0 auto_changed auto leave {"from":"idle","to":"halt"}`, `0 act_ended act - {"act":"bow","lane":"story","outcome":"cancelled","reason":"stopped"}`, `0 mode_changed mode started {"from":"ato","to":"mnl"}`}, "is in mode mnl (manual) now, after ato (automatic); its story and its life end"},
		"what is performed partly": {[]string{`0 act_warning act - {"id":"bow","reason":"timeout"}`, `9 act_warning act - {"id":"bow","reason":"timeout"}`}, `performs "bow" only in part: it took longer than allowed`},
	} {
		n := &narrator{act: func(_, id string) actText { return actText{name: id} }}
		var got []string
		add := func(lines []timedLine) {
			for _, l := range lines {
				got = append(got, l.Text)
			}
		}
		for _, line := range c.events {
			f := strings.SplitN(line, " ", 5)
			seconds, _ := strconv.Atoi(f[0])
			add(n.narrate(schema.Event{TS: schema.TimeOf(time.Unix(1000+int64(seconds), 0)), Type: f[1], Level: schema.EventOf(f[1]).Level,
				Source: f[2], Cause: strings.Trim(f[3], "-"), Data: []byte(f[4])}))
		}
		n.flush(time.Unix(1, 0))
		add(n.flush(time.Unix(2, 0)))
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, text, c.want)
		}
	}
}

func tellOne(t *testing.T, e schema.Event) string {
	t.Helper()
	n := &narrator{story: "tour", act: func(_, id string) actText { return actText{name: id} }}
	lines := n.narrate(e)
	n.flush(time.Unix(1, 0))
	var texts []string
	for _, l := range append(lines, n.flush(time.Unix(2, 0))...) {
		texts = append(texts, string(l.Kind)+": "+l.Text)
	}
	return strings.Join(texts, "; ")
}

func TestEachThingThatHappensHasItsWords(t *testing.T) {
	for _, c := range []struct{ kind, source, cause, data, want string }{
		{"stop_latched", "stops", "", `{"id":"stop-1","by":"ann","why":"a child"}`, "safety: is stopped by the latched stop stop-1 of ann until that is released: a child"},
		{"stop_released", "stops", "", `{"id":"stop-1","by":"ann","released_by":"local"}`, "safety: the stop stop-1 of ann is released by local"},
		{"stop_released", "stops", "", `{"id":"stop-1","by":"ann"}`, "safety: the stop stop-1 of ann is released"},
		{"safety_changed", "safety", "operator by ann: lunch", `{"from":"ENABLED","to":"STOP"}`, "safety: stops (STOP): asked by ann: lunch"},
		{"safety_changed", "safety", "unit drive: it is in error; repair it", `{"from":"ENABLED","to":"E_STOP"}`, "safety: stops (E_STOP): its drive is in error"},
		{"safety_changed", "safety", "mode mnl", `{"from":"ENABLED","to":"STOP","reason":"link_lost"}`,
			"safety: stops (STOP): mode mnl: no heartbeat of fleetd or of a panel arrives"},
		{"safety_changed", "safety", "operator by ann", `{"from":"STOP","to":"DISABLED"}`, "safety: stands, and may not move until somebody enables it"},
		{"mode_changed", "mode", "asked", `{"from":"ato","to":"mnl"}`, "mode: is in mode mnl (manual) now, after ato (automatic); its story and its life end"},
		{"mode_fallback", "mode", "", `{"from":"ato","reason":"no_default_story"}`, "mode: cannot be in mode ato (automatic): no valid default story is on the robot; assign one"},
		{"control_taken", "control", "", `{"to":"op1","to_by":"ann"}`, "mode: ann has control"},
		{"control_lost", "control", "", `{"from":"op1","from_by":"ann"}`, "mode: ann has lost control"},
		{"interrupt_started", "touch", "attend", `{"id":"attend-1"}`, "react: somebody touches it: it attends"},
		{"interrupt_started", "ai", "dance", `{"id":"dance-1"}`, "react: somebody speaks to it: it handles it with dance"},
		{"interrupt_finished", "power", "timeout", `{"id":"power-1","handler":"power","outcome":"failed"}`, "react: power has ended: failed, it took longer than allowed"},
		{"interrupt_refused", "touch", "", `{"handler":"attend","reason":"ignored_duplicate","count":1}`, ""},
		{"interrupt_refused", "operator", "", `{"handler":"power","reason":"ignored_global","count":1}`, "react: an operator asks for it, but it does not react: " + reasonText(eventFields{Reason: "ignored_global"})},
		{"intent", "asr", "ask-tour", `{"name":"ask-tour","reaction":{"activity":"invite-to-tour"}}`, "react: understands ask-tour: it turns to invite-to-tour"},
		{"intent", "asr", "sing", `{"name":"sing","reason":"unknown_intent"}`, "react: understands sing, and does nothing about it: the setting intents has no row for this intent; it was published, and nothing else was done"},
		{"life_focused", "life", "launchpad", `{"activity":"hum","nature":"solitary"}`, "life: turns to hum (solitary)"},
		{"life_focused", "life", "ann", `{"activity":"hum","nature":"solitary"}`, "life: turns to hum (solitary, asked by ann)"},
		{"life_focused", "life", "", `{}`, ""},
		{"life_state", "life", "", `{"from":"solitary","to":"disabled"}`, "life: life is disabled"},
		{"act_started", "act", "", `{"act":"bow","lane":"story"}`, `story: performs "bow"`},
		{"act_skipped", "auto", "ann at fleetd", `{"act":"bow","story":"tour","rev":1,"why":"too long"}`, `story: ann at fleetd skips "bow": too long`},
		{"story_round", "auto", "", `{"story":"tour","round":3,"performed":0,"failed":2}`, "alert: has failed in tour, round 3: no act could be performed"},
		{"story_round", "auto", "", `{"story":"tour","round":3,"performed":1,"failed":1}`, "story: has performed tour, round 3; 1 of 2 acts failed"},
		{"act_failed", "act", "", `{"id":"bow","reason":"timeout","detail":"the head"}`, `alert: cannot perform "bow": it took longer than allowed: the head`},
		{"alert_raised", "disk", "disk_full", `{"id":"alert-1","detail":"the disk is full"}`, "alert: the disk is full"},
		{"alert_raised", "pushed", "safeguard", `{"id":"alert-1","detail":"somebody pushes the robot"}`, "safety: nothing moves: somebody pushes the robot"},
		{"story_rejected", "delivery", "", `{"reason":"story_invalid"}`, "alert: the robot cannot perform the desired story: " + schema.ReasonStoryInvalid.Describe().Text},
		{"events_dropped", "robot", "", `{"count":3,"types":{"act_started":3}}`, "alert: 3 events were not sent, because the robot had more than it may send"},
		{"of_a_later_release", "robot", "", `{}`, ""},
		{"sim_input", "sim", "", `{"name":"people","fields":{"count":2}}`, "world: 2 people are near"},
		{"sim_input", "sim", "", `{"name":"push","fields":{"on":true}}`, "world: somebody pushes it"},
		{"sim_input", "sim", "", `{"name":"break","fields":{"unit":"head","what":"motor stuck"}}`, `world: its simulated body gets break {"unit":"head","what":"motor stuck"}`},
		{"sim_input", "sim", "", `{"name":"sound","fields":{"on":false},"at":"10:00:00","speed":20}`, ""},
		{"deadline_missed", "robot", "", `{"late_ms":200,"count":1}`, ""},
		{"ending", "robot", "SIGTERM", "", "link: ends: SIGTERM"},
	} {
		e := schema.Event{TS: schema.TimeOf(time.Unix(1000, 0)), Type: c.kind, Level: schema.EventOf(c.kind).Level, Source: c.source,
			Cause: c.cause, Data: []byte(c.data)}
		if got := tellOne(t, e); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.kind, c.data, got, c.want)
		}
	}
}

// Whatever a robot of another release leaves out, a line is a line.
func TestEveryEventCanBeToldWithoutItsData(t *testing.T) {
	warned := 0
	for _, row := range schema.Events {
		text := tellOne(t, schema.Event{Type: row.Type, Level: row.Level})
		if strings.Contains(text, "%!") || strings.HasSuffix(text, ":") {
			t.Errorf("%s: %q", row.Type, text)
		}
		if row.Level == schema.EventError && text != "" {
			warned++
		}
	}
	if warned == 0 {
		t.Error("no event of level error is printed")
	}
}

func TestClockOfTheScenarioRunsBetweenItsEntries(t *testing.T) {
	n := &narrator{act: func(_, id string) actText { return actText{name: id} }}
	start := time.Unix(1000, 0)
	at := func(d time.Duration) schema.Time { return schema.TimeOf(start.Add(d)) }
	n.narrate(schema.Event{TS: at(0), Type: "sim_scenario", Data: []byte(`{"at":"10:00:00","speed":20,"note":"open"}`)})
	if got := n.at(at(3 * time.Second)).scenario; got != "10:01:00" {
		t.Errorf("after 3 s: %s", got)
	}
	n.narrate(schema.Event{TS: at(3 * time.Second), Type: "sim_input", Data: []byte(`{"name":"people","fields":{"count":1},"at":"10:01:02","speed":40}`)})
	if got := n.at(at(4 * time.Second)).scenario; got != "10:01:42" {
		t.Errorf("after the next entry: %s", got)
	}
	n.narrate(schema.Event{TS: at(5 * time.Second), Type: "booted"})
	if got := n.at(at(6 * time.Second)); got.scenario != "" || got.wall != at(6*time.Second) {
		t.Errorf("after a restart: %+v", got)
	}
}

func TestColourIsTheOnlyControlSequenceOfALine(t *testing.T) {
	var terminal strings.Builder
	for _, colour := range []string{"", colours[kindSafety]} {
		if err := writeInColour(sanitizingWriter{&terminal}, colour, "r1 says \x1b[2Jhello"); err != nil {
			t.Fatal(err)
		}
	}
	if want := "r1 says \\u001b[2Jhello\x1b[1;31mr1 says \\u001b[2Jhello\x1b[0m"; terminal.String() != want {
		t.Errorf("%q", terminal.String())
	}
}
