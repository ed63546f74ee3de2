package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/api"
	"troupe/schema"
)

// viewText is how the robot is seen, whether that may be two robots, and whether it
// is the fleet's at all.
func viewText(r api.Robot) string {
	var marks []string
	if r.Presence.Disputed {
		marks = append(marks, "two robots")
	}
	if !r.Adopted && !r.Gone {
		marks = append(marks, "not adopted")
	}
	if len(marks) == 0 {
		return r.Presence.View
	}
	return r.Presence.View + " (" + strings.Join(marks, ", ") + ")"
}

// disputeText is what somebody has to do whose fleetd is not alone with its name.
func disputeText(why string) string {
	return oneLine(why) + ": while two fleetd instances share a name each is cut off again and again; stop one of them, or give it a name of its own"
}

// safetyText is where the safety core stands, and whether the rest of the line is
// older than that.
func safetyText(r api.Robot) string {
	if r.StateOutdated {
		return strings.TrimSpace(string(r.Safety) + " (state out of date)")
	}
	return string(r.Safety)
}

func modeText(r api.Robot) string {
	s := string(r.Mode)
	if r.Intended != "" && r.Intended != r.Mode {
		s += "->" + string(r.Intended)
	}
	return s
}

// refusalText is why the robot does not take the story that it should have.
func refusalText(r *schema.ReportedStory) string {
	var parts []string
	if r.Reason != "" {
		parts = append(parts, r.Reason.Describe().Text)
	}
	if r.Detail != "" && !slices.Contains(parts, r.Detail) {
		parts = append(parts, r.Detail)
	}
	if r.Pointer != "" {
		parts = append(parts, "at "+r.Pointer)
	}
	return strings.Join(parts, ": ")
}

// autoText says what the performance is at, in the words of the page.
func autoText(r api.Robot) string {
	s := string(r.Auto)
	switch r.Auto {
	case schema.AutoIdle:
		s = "performing"
	case schema.AutoHalt:
		s = "off (not in ato)"
	}
	if n := len(r.PauseHolders); n > 0 {
		s += " by " + holdersText(r.PauseHolders)
	} else if r.AutoReason != "" && r.Auto != schema.AutoHalt {
		s += " (" + strings.ReplaceAll(string(r.AutoReason), "_", " ") + ")"
	}
	return s
}

// holdersText names who holds pauses, and of several how many.
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

// holder is the person that holds a pause, else the client, else the kind.
func holder(p schema.Pause) string {
	kind, key, _ := strings.Cut(p.Token, ":")
	client, _, _ := strings.Cut(key, "/")
	return orElse(p.By, orElse(client, kind))
}

func storyText(r api.Robot) string {
	if r.Story == nil {
		return ""
	}
	s := fmt.Sprintf("%s@%d", r.Story.ID, r.Story.Rev)
	if r.Act != "" {
		s += "/" + r.Act
	}
	return s
}

// convergenceText is empty when the robot has what it should have.
func convergenceText(w api.DesiredStory) string {
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
		phase = "not taken yet"
	}
	s += ": " + phase
	if w.Reason != "" {
		s += " (" + string(w.Reason) + ")"
	}
	return s
}

func alertText(r api.Robot) string {
	types := make([]string, len(r.Alerts))
	for i, a := range r.Alerts {
		types[i] = a.Type
	}
	if r.Skew != "" {
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

// ago is the age of an instant, by fleetd's clock.
func ago(now, then schema.Time) string {
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
