package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"troupe/schema"
)

// A dayRule is something that holds of the events of a robot, whatever happens to it.
type dayRule struct {
	name string
	why  string
	// check returns how often the rule applied, and the events that violate it.
	check func(log []happened) (times int, broken []string)
}

// happened is one event of the log.
type happened struct {
	at schema.Time
	schema.Event
	data dayData
}

type dayData struct {
	To       string  `json:"to"`
	Act      string  `json:"act"`
	Lane     string  `json:"lane"`
	Outcome  string  `json:"outcome"`
	ID       string  `json:"id"`
	Handler  string  `json:"handler"`
	Activity string  `json:"activity"`
	Nature   string  `json:"nature"`
	Name     string  `json:"name"`
	Command  string  `json:"command"`
	Fields   simOn   `json:"fields"`
	Level    float64 `json:"level"`
	Charging bool    `json:"charging"`
}

type simOn struct {
	On bool `json:"on"`
}

func happenedAt(e schema.Event) happened {
	h := happened{at: e.TS, Event: e}
	_ = json.Unmarshal(e.Data, &h.data) // an event without data has none of the fields
	return h
}

func (h happened) String() string {
	return fmt.Sprintf("%s %s %s %s %s", h.at.Time().Format("15:04:05.000"), h.Type, h.Source, h.Cause, h.Data)
}

const (
	together  = 100 * time.Millisecond // events of one step
	promptly  = 3 * time.Second
	untilRest = 6 * time.Second // the shutdown act takes at most 5 s
	safeAfter = 3 * time.Second // without motion after a push
)

var dayRules = []dayRule{
	{"a solitary activity never interrupts a solitary one", "it would never come to its end",
		func(log []happened) (times int, broken []string) {
			var focused happened // the activity that has the focus
			var cut happened     // the solitary activity that was stopped last
			for _, h := range log {
				switch {
				case h.Type == "life_completed":
					if focused.data.Nature == "solitary" && h.data.Outcome == "stopped" {
						cut = h
					}
					focused = happened{}
				case h.launched():
					if h.data.Nature != "solitary" {
						focused = h
						break
					}
					times++
					if focused.data.Nature == "solitary" || cut.Type != "" && h.at.Sub(cut.at) < together {
						broken = append(broken, h.String())
					}
					focused = h
				}
			}
			return times, broken
		}},
	{"the story comes back after each activity and each interrupt", "it is what the robot is for",
		func(log []happened) (times int, broken []string) {
			for i, h := range log {
				if h.Type != "life_completed" && h.Type != "interrupt_finished" || stateAt(log[:i+1]).held() {
					continue
				}
				later := log[i+1:]
				back := slices.IndexFunc(later, func(l happened) bool { return l.Type == "auto_changed" && l.data.To == "idle" })
				held := slices.IndexFunc(later, func(l happened) bool { return l.holdsStory() })
				end := slices.IndexFunc(later, func(l happened) bool { return l.at.Sub(h.at) > promptly })
				if times++; end >= 0 && (back < 0 || back >= end) && (held < 0 || held >= end) {
					broken = append(broken, h.String())
				}
			}
			return times, broken
		}},
	{"nothing begins while somebody pushes the robot, and for 3 s after", "a person is at its body",
		func(log []happened) (times int, broken []string) {
			var guarded bool
			var let schema.Time // when it was last let go
			for _, h := range log {
				switch {
				case h.Type == "sim_input" && h.data.Name == "push":
					if h.data.Fields.On {
						guarded = true
						times++
					}
					let = h.at
				case h.Type == "alert_cleared" && h.Cause == "safeguard":
					if h.at.Sub(let) < safeAfter-together {
						broken = append(broken, "too early: "+h.String())
					}
					guarded = false
				case guarded && (h.launched() || h.Type == "act_started" && h.data.Lane != "safety" || h.Type == "auto_changed" && h.data.To == "idle"):
					broken = append(broken, h.String())
				}
			}
			return times, broken
		}},
	{"at low battery it goes to its charger and comes back charged", "an empty robot is in the way of people until somebody carries it",
		func(log []happened) (times int, broken []string) {
			level, charging := 0.0, false
			for i, h := range log {
				switch {
				case h.Type == "battery":
					level, charging = h.data.Level, charging || h.data.Charging
				case h.Type == "interrupt_started" && h.Cause == "power":
					charging = false
				case h.Type == "interrupt_finished" && h.data.Handler == "power":
					times++
					for _, l := range log[i:] { // the state follows the event
						if l.Type == "battery" && l.at.Sub(h.at) < promptly {
							level, charging = max(level, l.data.Level), charging || l.data.Charging
						}
					}
					if h.data.Outcome != "finished" || !charging || level < 0.79 {
						broken = append(broken, fmt.Sprintf("at %.2f, charging %v: %s", level, charging, h))
					}
				case h.Type == "alert_raised" && h.Cause == "battery_low":
					if !slices.ContainsFunc(log[i:], func(l happened) bool {
						return l.Type == "interrupt_started" && l.Cause == "power" && l.at.Sub(h.at) < promptly
					}) {
						broken = append(broken, "it does not go: "+h.String())
					}
				}
			}
			return times, broken
		}},
	{"critical heat brings it to rest until it has cooled and a person lets it move",
		"nothing but rest helps, and nobody must be surprised by a robot that wakes", func(log []happened) (times int, broken []string) {
			hot, resting := "", false
			var since schema.Time
			for i, h := range log {
				switch {
				case h.Type == "alert_raised" && h.Cause == "device_critical":
					times++
					hot, since, resting = h.data.ID, h.at, stateAt(log[:i+1]).safety == "DISABLED"
				case h.Type == "alert_cleared" && h.data.ID == hot && hot != "":
					if hot = ""; !resting {
						broken = append(broken, "it did not come to rest: "+h.String())
					}
				case hot == "":
				case h.Type == "safety_changed" && h.data.To == "DISABLED":
					if resting = true; h.at.Sub(since) > untilRest {
						broken = append(broken, "late: "+h.String())
					}
				case h.Type == "safety_changed" && h.data.To == "ENABLED", h.launched(), resting && h.Type == "act_started" && h.data.Lane != "safety":
					broken = append(broken, h.String())
				}
			}
			return times, broken
		}},
	{"after rest and leave to move, the story and life go on", "heat must not end the day", func(log []happened) (times int, broken []string) {
		for i, h := range log {
			if h.Type != "safety_changed" || h.data.To != "ENABLED" || stateAt(log[:i]).auto != "paused" {
				continue
			}
			times++
			w := stateAt(log[:i+1])
			later := slices.DeleteFunc(slices.Clone(log[i:]), func(l happened) bool { return l.at.Sub(h.at) > promptly })
			has := func(kind, to string) bool {
				return slices.ContainsFunc(later, func(l happened) bool { return l.Type == kind && l.data.To == to })
			}
			if !has("auto_changed", "idle") && !slices.ContainsFunc(later, happened.holdsStory) {
				broken = append(broken, "no story: "+h.String())
			}
			if w.life == "safeguard" && !has("life_state", "solitary") {
				broken = append(broken, "no life: "+h.String())
			}
		}
		return times, broken
	}},
	{"nothing is launched while an interrupt runs", "it would take the units from the person whom the robot attends to",
		func(log []happened) (times int, broken []string) {
			for i, h := range log {
				if h.Type == "interrupt_started" {
					times++
				}
				if h.launched() && h.Cause == "launchpad" && stateAt(log[:i]).interrupts > 0 {
					broken = append(broken, h.String())
				}
			}
			return times, broken
		}},
	{"whatever begins ends", "a token that nobody releases would keep the story paused for ever",
		func(log []happened) (times int, broken []string) {
			open := map[string]happened{}
			for _, h := range log {
				switch {
				case h.Type == "interrupt_started":
					times++
					open["interrupt "+h.data.ID] = h
				case h.Type == "interrupt_finished":
					delete(open, "interrupt "+h.data.ID)
				case h.launched():
					times++
					open["activity "+h.data.Activity] = h
				case h.Type == "life_completed":
					delete(open, "activity "+h.data.Activity)
				}
			}
			for what, h := range open {
				broken = append(broken, what+" has not ended: "+h.String())
			}
			return times, broken
		}},
	{"closing ends in rest", "nobody is there who could stop it", func(log []happened) (times int, broken []string) {
		closing := slices.IndexFunc(log, func(h happened) bool { return h.data.Command == "safety/soft-stop" })
		if closing < 0 {
			return 0, nil
		}
		rests := false
		for _, h := range log[closing:] {
			switch {
			case h.Type == "safety_changed":
				rests = h.data.To == "DISABLED"
			case rests && (h.launched() || h.Type == "act_started"):
				broken = append(broken, h.String())
			}
		}
		if !rests {
			broken = append(broken, "it does not rest after "+log[closing].String())
		}
		return 1, broken
	}},
}

// launched reports whether an activity gets the focus.
func (h happened) launched() bool { return h.Type == "life_focused" && h.data.Activity != "" }

// holdsStory reports whether an event is a reason for the story to wait.
func (h happened) holdsStory() bool {
	return h.launched() || h.Type == "interrupt_started" ||
		h.Type == "alert_raised" && (h.Cause == "safeguard" || h.Cause == "device_critical") ||
		h.Type == "safety_changed" && h.data.To != "ENABLED" || h.Type == "mode_changed" && h.data.To != "ato"
}

// dayState is what a log says of the robot at its end.
type dayState struct {
	safety, auto, life string
	interrupts         int
	focus              bool
	guarded, hot       bool
}

func stateAt(log []happened) (w dayState) {
	for _, h := range log {
		switch h.Type {
		case "safety_changed":
			w.safety = h.data.To
		case "auto_changed":
			w.auto = h.data.To
		case "life_state":
			w.life = h.data.To
		case "interrupt_started":
			w.interrupts++
		case "interrupt_finished":
			w.interrupts--
		case "life_focused":
			w.focus = h.data.Activity != ""
		case "life_completed":
			w.focus = false
		case "alert_raised", "alert_cleared":
			on := h.Type == "alert_raised"
			switch h.Cause {
			case "safeguard":
				w.guarded = on
			case "device_critical":
				w.hot = on
			}
		}
	}
	return w
}

// held reports whether something keeps the story from being performed.
func (w dayState) held() bool {
	return w.auto == "stopped" || w.auto == "halt" || w.safety != "ENABLED" || w.interrupts > 0 || w.focus || w.guarded || w.hot
}

// dayLog makes a log of lines: seconds, type, source or -, cause or -, and the data.
func dayLog(t *testing.T, text string) (log []happened) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 5)
		var seconds float64
		if _, err := fmt.Sscan(fields[0], &seconds); err != nil || len(fields) < 4 {
			t.Fatalf("%q: %v", line, err)
		}
		e := schema.Event{TS: schema.TimeOf(time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second)))), Type: fields[1],
			Source: fields[2], Cause: fields[3]}
		if len(fields) == 5 {
			e.Data = []byte(fields[4])
		}
		log = append(log, happenedAt(e))
	}
	return log
}

// A day on which each rule applies and none is violated.
const goodDay = `
0 safety_changed safety - {"from":"DISABLED","to":"ENABLED"}
0 auto_changed auto enter {"from":"halt","to":"idle"}
0 life_state life - {"from":"disabled","to":"solitary"}
1 act_started act - {"act":"welcome","lane":"story"}
10 life_focused life launchpad {"activity":"hum","nature":"solitary"}
10 auto_changed auto token-acquired {"from":"idle","to":"paused"}
14 life_focused life launchpad {"activity":"greet","nature":"interactive"}
20 life_completed life - {"activity":"greet","outcome":"finished"}
20 auto_changed auto last-token-released {"from":"paused","to":"idle"}
30 life_focused life launchpad {"activity":"hum","nature":"solitary"}
30 auto_changed auto token-acquired {"from":"idle","to":"paused"}
35 life_completed life - {"activity":"hum","outcome":"finished"}
35 auto_changed auto last-token-released {"from":"paused","to":"idle"}
40 interrupt_started touch attend {"id":"attend-1"}
40 auto_changed auto token-acquired {"from":"idle","to":"paused"}
43 interrupt_finished touch - {"id":"attend-1","handler":"attend","outcome":"finished"}
43 auto_changed auto last-token-released {"from":"paused","to":"idle"}
50 sim_input sim - {"name":"push","fields":{"on":true}}
50 alert_raised pushed safeguard {"id":"alert-1"}
50 auto_changed auto token-acquired {"from":"idle","to":"paused"}
52 sim_input sim - {"name":"push","fields":{"on":false}}
55 alert_cleared pushed safeguard {"id":"alert-1"}
55 auto_changed auto last-token-released {"from":"paused","to":"idle"}
60 alert_raised power battery_low {"id":"alert-2"}
60 interrupt_started power power {"id":"power-2"}
60 auto_changed auto token-acquired {"from":"idle","to":"paused"}
70 battery state - {"level":0.4,"charging":true}
90 interrupt_finished power - {"id":"power-2","handler":"power","outcome":"finished"}
90 auto_changed auto last-token-released {"from":"paused","to":"idle"}
90.1 battery state - {"level":0.8,"charging":true}
100 safety_changed safety hot {"from":"ENABLED","to":"SOFT_STOP"}
100 alert_raised battery device_critical {"id":"alert-3"}
100 auto_changed auto token-acquired {"from":"idle","to":"paused"}
100 life_state life - {"from":"solitary","to":"safeguard"}
100 act_started act - {"act":"heads-to-rest","lane":"safety"}
101 safety_changed safety hot {"from":"STOP","to":"DISABLED"}
120 alert_cleared battery device_critical {"id":"alert-3"}
130 safety_changed safety operator {"from":"DISABLED","to":"ENABLED"}
130 auto_changed auto last-token-released {"from":"paused","to":"idle"}
130 life_state life - {"from":"safeguard","to":"solitary"}
140 sim_scenario sim - {"command":"safety/soft-stop"}
140 safety_changed safety operator {"from":"ENABLED","to":"SOFT_STOP"}
140 auto_changed auto token-acquired {"from":"idle","to":"paused"}
140 act_started act - {"act":"heads-to-rest","lane":"safety"}
141 safety_changed safety operator {"from":"STOP","to":"DISABLED"}
`

// focusEnds is how life ends an activity that another one interrupts.
const focusEnds = `14 life_completed life - {"activity":"hum","outcome":"stopped"}
14 life_focused life launchpad {"activity":"greet"`

func TestRulesOfADayFindTheLogThatBreaksThem(t *testing.T) {
	good := strings.Replace(goodDay, `14 life_focused life launchpad {"activity":"greet"`, focusEnds, 1)
	for _, r := range dayRules {
		if times, broken := r.check(dayLog(t, good)); times == 0 || len(broken) > 0 {
			t.Errorf("%s: %d times, broken in a good day: %s", r.name, times, broken)
		}
	}
	for name, edit := range map[string]struct{ rule, from, to string }{
		"the second takes the focus": {"a solitary activity never", `"activity":"greet","nature":"interactive"`,
			`"activity":"stretch","nature":"solitary"`},
		"an activity without an end": {"whatever begins", `35 life_completed life - {"activity":"hum","outcome":"finished"}`, ""},
		"a handler without an end": {"whatever begins",
			`43 interrupt_finished touch - {"id":"attend-1","handler":"attend","outcome":"finished"}`, ""},
		"no story after an activity": {"the story comes back", `35 auto_changed auto last-token-released {"from":"paused","to":"idle"}`, ""},
		"no story after a handler": {"the story comes back", `43 auto_changed auto last-token-released {"from":"paused","to":"idle"}`,
			"47 act_started act - {}"},
		"a story that comes late": {"the story comes back", `43 auto_changed`, `48 auto_changed`},
		"an act during the push": {"nothing begins", `52 sim_input`,
			"51 act_started act - {\"act\":\"bow\",\"lane\":\"story\"}\n52 sim_input"},
		"a launch after the push": {"nothing begins", `55 alert_cleared`,
			"54 life_focused life launchpad {\"activity\":\"hum\",\"nature\":\"solitary\"}\n55 alert_cleared"},
		"too early after the push": {"nothing begins", `55 alert_cleared`, `54 alert_cleared`},
		"the story during the push": {"nothing begins", `52 sim_input`,
			"51 auto_changed auto - {\"from\":\"paused\",\"to\":\"idle\"}\n52 sim_input"},
		"it does not go to charge": {"at low battery", `60 interrupt_started power power`, `69 interrupt_started power power`},
		"it is not charged":        {"at low battery", `"level":0.8`, `"level":0.5`},
		"it is not at its charger": {"at low battery", `"charging":true`, `"charging":false`},
		"it gives up":              {"at low battery", `"handler":"power","outcome":"finished"`, `"handler":"power","outcome":"failed"`},
		"it does not rest":         {"critical heat", `101 safety_changed safety hot {"from":"STOP","to":"DISABLED"}`, ""},
		"it rests late":            {"critical heat", `101 safety_changed`, `107 safety_changed`},
		"it is enabled while hot":  {"critical heat", `130 safety_changed safety operator {"from":"DISABLED","to":"ENABLED"}`, ""},
		"it performs while hot": {"critical heat", `120 alert_cleared`,
			"110 act_started act - {\"act\":\"bow\",\"lane\":\"story\"}\n120 alert_cleared"},
		"no story after rest": {"after rest", `130 auto_changed auto last-token-released {"from":"paused","to":"idle"}`, ""},
		"no life after rest":  {"after rest", `130 life_state life - {"from":"safeguard","to":"solitary"}`, ""},
		"a launch while a handler runs": {"nothing is launched", `43 interrupt_finished`,
			"41 life_focused life launchpad {\"activity\":\"hum\",\"nature\":\"solitary\"}\n43 interrupt_finished"},
		"it does not rest at closing": {"closing", `141 safety_changed safety operator {"from":"STOP","to":"DISABLED"}`, ""},
		"an act after closing": {"closing", `141 safety_changed safety operator {"from":"STOP","to":"DISABLED"}`,
			"141 safety_changed safety operator {\"from\":\"STOP\",\"to\":\"DISABLED\"}\n" +
				"150 act_started act - {\"act\":\"bow\",\"lane\":\"story\"}"},
		"it is enabled again after hours": {"closing", `141 safety_changed safety operator {"from":"STOP","to":"DISABLED"}`,
			"141 safety_changed safety operator {\"from\":\"DISABLED\",\"to\":\"ENABLED\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(good, edit.from, edit.to)
			if name == "the second takes the focus" {
				text = strings.ReplaceAll(goodDay, edit.from, edit.to)
			}
			if name == "it is enabled while hot" {
				text = strings.Replace(text, "120 alert_cleared", "110 safety_changed safety operator {\"from\":\"DISABLED\",\"to\":\"ENABLED\"}\n"+
					"120 alert_cleared", 1)
			}
			text = strings.ReplaceAll(strings.ReplaceAll(text, "\n\n", "\n"), "\n\n", "\n")
			if text == good {
				t.Fatal("the log is not changed")
			}
			i := slices.IndexFunc(dayRules, func(r dayRule) bool { return strings.HasPrefix(r.name, edit.rule) })
			if _, broken := dayRules[i].check(dayLog(t, text)); len(broken) == 0 {
				t.Errorf("%q finds nothing", dayRules[i].name)
			}
		})
	}
	t.Run("a solitary one right after one that was stopped", func(t *testing.T) {
		text := strings.Replace(good, `"activity":"greet","nature":"interactive"`, `"activity":"stretch","nature":"solitary"`, 1)
		if _, broken := dayRules[0].check(dayLog(t, text)); len(broken) == 0 {
			t.Error("it is not found")
		}
	})
}
