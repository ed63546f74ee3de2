package notify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"troupe/schema"
)

// Alert is one alert of a robot, or of a rollout or a schedule, which have no robot.
type Alert struct {
	Robot    string            `json:"robot,omitempty"`
	Rollout  string            `json:"rollout,omitempty"`
	Schedule string            `json:"schedule,omitempty"`
	Site     string            `json:"site,omitempty" doc:"of the robot"`
	ID       string            `json:"id"`
	Type     string            `json:"type"`
	Level    schema.AlertLevel `json:"level"`
	Source   string            `json:"source,omitempty"`
	Since    schema.Time       `json:"since"`
	Detail   string            `json:"detail"`
	Hint     string            `json:"hint,omitempty"`
	Acked    bool              `json:"acknowledged,omitempty"`
}

// Key names an alert. Robots count their ids from 1 again after a start, so the time belongs to it; ids of what fleetd
// itself raises about a robot are names, and their times begin again when fleetd starts.
func (a Alert) Key() string {
	if strings.HasPrefix(a.ID, "fleetd-") {
		return a.Robot + " " + a.ID
	}
	return fmt.Sprintf("%s %s %d", a.Robot, a.ID, int64(a.Since))
}

// Of names what the alert is about.
func (a Alert) Of() string {
	switch {
	case a.Robot != "":
		return a.Robot
	case a.Rollout != "":
		return "rollout " + a.Rollout
	case a.Schedule != "":
		return "schedule " + a.Schedule
	}
	return "fleetd"
}

// Event is one event of a robot.
type Event struct {
	ID    string            `json:"id" doc:"robot, boot and number"`
	Robot string            `json:"robot"`
	Site  string            `json:"site,omitempty"`
	Type  string            `json:"type"`
	Level schema.EventLevel `json:"level,omitempty"`
	Cause string            `json:"cause,omitempty"`
	At    schema.Time       `json:"at" doc:"when fleetd received it"`
}

// Names writes names in a few words: r1, r2 and r3 are r1-r3. Of more than most parts it counts the others.
func Names(names []string, most int) (parts []string, others int) {
	type numbered struct {
		text, prefix string
		n            int // -1 = it does not end with a number
	}
	var all []numbered
	for _, name := range names {
		digits := len(name) - len(strings.TrimRight(name, "0123456789"))
		one := numbered{name, name[:len(name)-digits], -1}
		if n, err := strconv.Atoi(name[len(one.prefix):]); err == nil && strconv.Itoa(n) == name[len(one.prefix):] {
			one.n = n
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.n, b.n), cmp.Compare(a.text, b.text))
	})
	all = slices.Compact(all)
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[i].n >= 0 && all[end].prefix == all[i].prefix && all[end].n == all[end-1].n+1 {
			end++
		}
		if end-i < 3 {
			end = i + 1
		}
		switch {
		case len(parts) >= most:
			others += end - i
		case end-i > 1:
			parts = append(parts, all[i].text+"-"+all[end-1].text)
		default:
			parts = append(parts, all[i].text)
		}
		i = end
	}
	return parts, others
}
