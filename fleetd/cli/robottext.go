package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/view"
	"troupe/schema"
)

// presenceText formats the presence of a robot, and whether two robots use its name or it is
// not adopted.
func presenceText(r view.Robot) string {
	var marks []string
	if r.Presence.Disputed {
		marks = append(marks, "name used by two robots")
	}
	if !r.Adopted && !r.Gone {
		marks = append(marks, "not adopted")
	}
	if len(marks) == 0 {
		return r.Presence.Status
	}
	return r.Presence.Status + " (" + strings.Join(marks, ", ") + ")"
}

// disputeText says what to do when two fleetd instances use the same name.
func disputeText(why string) string {
	return oneLine(why) +
		": two clients with the same name disconnect each other again and again; stop one of them, or start it with another --name"
}

// safetyText formats the safety state with the ids of latched stops, and marks it if the
// rest of the robot's state is older.
func safetyText(r view.Robot) string {
	var marks []string
	for _, l := range r.Latches {
		marks = append(marks, "latched "+l.ID)
	}
	if r.StateOutdated {
		marks = append(marks, "state out of date")
	}
	if len(marks) == 0 {
		return string(r.Safety)
	}
	return strings.TrimSpace(string(r.Safety) + " (" + strings.Join(marks, ", ") + ")")
}

// safetyDetail formats the safety state with its cause and who caused it.
func safetyDetail(r view.Robot) string {
	var why []string
	if r.Cause != "" {
		why = append(why, string(r.Cause))
	}
	switch {
	case r.CauseDetail != "":
		why = append(why, "because of "+oneLine(r.CauseDetail))
	case r.StoppedBy != "": // the robot has an earlier release, or the cause is a latched stop
		why = append(why, "by "+r.StoppedBy)
	}
	if len(why) == 0 {
		return string(r.Safety)
	}
	return strings.TrimSpace(string(r.Safety) + " (" + strings.Join(why, " ") + ")")
}

// faultIsOver reports whether only a reset is missing for a unit.
func faultIsOver(u schema.UnitState, at schema.SafetyState) bool {
	return u.State == "error" && u.Detail == "" && at == schema.SafetyEStop
}

// safetyNow is safetyDetail and what to do now. If the cause of E_STOP is over it says so,
// and how to reset it, in place of what the cause asked people to do. In DISABLED without a latched
// stop it names the command that lets the robot move. state may be nil.
func safetyNow(r view.Robot, state *schema.State) string {
	if r.Safety == schema.SafetyDisabled && len(r.Latches) == 0 {
		return safetyDetail(r) + ": fleetd safety enable " + r.ID + " lets it move"
	}
	faulty := func(u schema.UnitState) bool { return u.State == "error" && u.Detail != "" }
	if state == nil || state.Truncated || r.Safety != schema.SafetyEStop || state.Safety.State != r.Safety ||
		r.Cause != schema.ReasonUnitError || r.CauseDetail == "" || slices.ContainsFunc(state.Units, faulty) {
		return safetyDetail(r)
	}
	reset := "fleetd safety reset " + r.ID
	if state.Safety.LocalReset {
		reset = "press the reset button on its body"
	}
	return "E_STOP (" + string(r.Cause) + ", which is over: " + reset + "; it was " + oneLine(r.CauseDetail) + ")"
}

func modeText(r view.Robot) string {
	s := string(r.Mode)
	if r.Intended != "" && r.Intended != r.Mode {
		s += "->" + string(r.Intended)
	}
	return s
}

// modeNames are the long names of the modes; safe is its own.
var modeNames = map[schema.ModeID]string{schema.ModeStr: "start-up", schema.ModeMnl: "manual", schema.ModeAto: "automatic"}

// longModeText is modeText with the long name of the active mode.
func longModeText(r view.Robot) string {
	s := modeText(r)
	if name := modeNames[r.Mode]; name != "" {
		s += " (" + name + ")"
	}
	return s
}

// refusalText says why the robot refuses its desired story: what is the matter with this one, then what the reason means.
func refusalText(r *schema.ReportedStory) string {
	text := r.Detail
	if r.Pointer != "" && !strings.HasPrefix(r.Detail, r.Pointer) {
		text = strings.TrimPrefix(text+", at "+r.Pointer, ", ")
	}
	switch meaning := r.Reason.Describe().Text; {
	case text == "":
		return meaning
	case meaning != r.Detail:
		text += " (" + meaning + ")"
	}
	return text
}

// needsStart says what a robot whose story is stopped waits for.
const needsStart = "needs auto start"

// autoText formats the status of the performance as the console does.
func autoText(r view.Robot) string {
	s := string(r.Auto)
	switch r.Auto {
	case schema.AutoPerforming:
		s = "performing"
		if n := r.FailedRounds; n > 0 {
			s = "failing: " + roundsText(n)
		}
	case schema.AutoNotActive:
		s = "off (not in ato)"
	}
	switch {
	case performsActivity(r):
		return "performing " + r.Life.Focused
	case len(r.PauseHolders) > 0:
		s += " by " + holdersText(r.PauseHolders)
		if slices.ContainsFunc(r.PauseHolders, needsContinue) {
			s += " (" + continueCommand(r.ID) + ")"
		}
	case r.Auto == schema.AutoStopped && r.AutoReason == "" && r.Story != nil:
		return "ended (fleetd auto start " + r.ID + ")"
	case r.AutoReason == schema.ReasonNeedsStart:
		s += " (" + needsStart + ")"
	case r.AutoReason != "" && r.Auto != schema.AutoNotActive:
		s += " (" + strings.ReplaceAll(string(r.AutoReason), "_", " ") + ")"
	}
	return s
}

// waitsForAct says what a robot waits for that has its story and does not perform it yet.
const waitsForAct = "takes over when the running act ends, and with --apply next_start when the present story has ended or is stopped; " +
	"--apply now does not wait"

// latchedText says which latched stops keep a robot from what was asked of it, and what ends that.
func latchedText(r view.Robot) string {
	ids := make([]string, len(r.Latches))
	for i, l := range r.Latches {
		ids[i] = l.ID
	}
	return "stopped by latched stop " + strings.Join(ids, ", ") + ": performs after its release (fleetd stop release " +
		strings.Join(ids, " ") + " --why REASON) and fleetd safety enable " + r.ID
}

// roundsText says how often every act of the story failed.
func roundsText(n int64) string {
	if n == 1 {
		return "every act of a round"
	}
	return fmt.Sprintf("every act, %d rounds in a row", n)
}

// performsActivity reports whether only the focused activity pauses the story.
func performsActivity(r view.Robot) bool {
	others := func(p schema.Pause) bool { return !strings.HasPrefix(p.Token, "activity:") }
	return r.Auto == schema.AutoPaused && r.Life != nil && r.Life.Focused != "" && !slices.ContainsFunc(r.PauseHolders, others)
}

// needsContinue reports whether the cause of a pause is gone, and only auto/continue ends it.
func needsContinue(p schema.Pause) bool { return p.Why == string(schema.ReasonNeedsContinue) }

func continueCommand(robot string) string { return "fleetd auto continue " + robot }

// pauseText formats one pause for robot get.
func pauseText(robot string, p schema.Pause) string {
	why := p.Why
	if needsContinue(p) {
		why = "its cause is gone: " + continueCommand(robot) + " resumes"
	}
	return strings.TrimSpace(strings.TrimSpace(p.Token+" "+p.By) + " " + why)
}

// holdersText names the holders of pauses, with the number of pauses if several.
func holdersText(pauses []schema.Pause) string {
	var names []string
	held := map[string]int{}
	for _, p := range pauses {
		name := holder(p)
		if held[name]++; held[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if n := held[name]; n > 1 {
			names[i] = fmt.Sprintf("%s (%d)", name, n)
		}
	}
	return strings.Join(names, ", ")
}

// holder names who holds a pause: the person, else the client, else the kind of pause.
func holder(p schema.Pause) string {
	kind, key, _ := strings.Cut(p.Token, ":")
	client, _, _ := strings.Cut(key, "/")
	return orElse(p.By, orElse(client, kind))
}

func storyText(r view.Robot) string {
	if r.Story == nil {
		return ""
	}
	s := fmt.Sprintf("%s@%d", r.Story.ID, r.Story.Rev)
	if r.Act != "" {
		s += "/" + r.Act
	}
	return s
}

// convergenceText is empty when the robot has its desired story.
func convergenceText(w view.DesiredStory) string {
	if w.Converged {
		return ""
	}
	s := "none"
	if w.Story != nil {
		s = fmt.Sprintf("%s@%d", w.Story.ID, w.Story.Rev)
	}
	phase := string(w.Phase)
	if w.Progress != nil {
		phase += fmt.Sprintf(" %d%%", *w.Progress)
	}
	if w.ReportedRev != w.DesiredRev {
		phase = "not reported yet"
	}
	s += ": " + phase
	if w.Reason != "" {
		s += " (" + string(w.Reason) + ")"
	}
	return s
}

func alertText(r view.Robot) string {
	types := make([]string, len(r.Alerts))
	for i, a := range r.Alerts {
		types[i] = a.Type
	}
	if r.VersionSkew != "" {
		types = append(types, "version_skew")
	}
	slices.Sort(types)
	return strings.Join(slices.Compact(types), ",")
}

func labelText(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, k+"="+labels[k])
	}
	return strings.Join(pairs, " ")
}

func dash(s string) string { return orElse(cell(s), "-") }

// roundTripText formats how long a message to the robot and back takes.
func roundTripText(r view.Robot) string {
	if r.Presence.RoundTripMS == 0 {
		return "-"
	}
	return fmt.Sprintf("%d ms", r.Presence.RoundTripMS)
}

// controllerText names who has control of a robot.
func controllerText(r view.Robot) string {
	if r.Control == nil {
		return ""
	}
	return schema.Asker(r.Control.Holder, r.Control.By)
}

func lifeState(r view.Robot) string {
	if r.Life == nil {
		return ""
	}
	return string(r.Life.State)
}

// age formats the age of an instant, by fleetd's clock.
func age(now, then schema.Time) string {
	switch d := now.Sub(then); {
	case then == 0:
		return "never"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return then.Time().Local().Format(time.DateTime)
}
