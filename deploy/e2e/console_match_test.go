package e2e

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// variableParts are the parts of the output that differ from run to run. A line of
// a page matches every line that differs from it in these parts only.
var variableParts = []struct {
	what    string
	pattern string // a regular expression; if it has a group, that is the variable part
	copied  bool   // a later command of the page uses the value
}{
	{"version", `\bv\d+\.\d+\.\d+(?:-dev)?(?:\+[0-9a-f]{12})?`, false},
	{"recording", `\d{8}-\d{8}T\d{6}Z\.mcap`, false},
	{"time", `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`, false},
	{"time", `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`, false},
	{"day", `(?:valid|good) until (\d{4}-\d\d-\d\d)`, false},
	{"age", `(?:online|lost) +(\d+s)`, false},
	{"age", `last heartbeat (\d+s) ago`, false},
	{"token", `TROUPE-[a-z0-9]+-[A-Z2-7]+`, true},
	{"token", `token ([0-9a-f]{8}) of`, false},
	{"key", `desired:([A-Za-z0-9+/]{43}=)`, true},
	{"serial", `certificate +([0-9a-f]{30,40}),`, false},
	{"uuid", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, true},
	{"stop", `stop-\d{6}-\d{6}-[0-9a-f]{4}`, true},
	{"lease", `[0-9a-f]{8}-\d+`, true},
	{"command", `auto-\d+-\d+`, false},
	{"counter", `"(?:state_seq|seq|mono_ms|until_ms|modes_rev|fleet_seq|fleet_age_ms|frame|frame_age_ms)":(-?\d+)`, false},
	{"clock", `"clock":\{([^{}]*)\}`, false},              // a clock without offset has fewer fields
	{"revision", `"(?:rev|desired_rev)":(\d{13})`, false}, // of fleetd's stop documents, which is a time
	{"count", `events published again: (\d+)`, false},
	{"amount", `(\d+) (?:records|KiB)`, false}, // of a recording
	{"migration", `schema version (\d+)`, false},
	{"records", `/(?:sample|unit|transition|event|order) +(\d+)`, false},
	{"speed", `"(?:vx_mps|wz_radps|x_m|y_m|theta_rad)":(-?[\d.]+(?:e-\d+)?)`, false},
	{"charge", `(\d+) %`, false},
	{"gap", `  +`, false}, // between columns, whose width depends on the widest cell
}

var anyVariablePart = func() *regexp.Regexp {
	all := make([]string, len(variableParts))
	for i, k := range variableParts {
		all[i] = "(" + k.pattern + ")"
		if !strings.Contains(strings.ReplaceAll(k.pattern, "(?:", ""), "(") {
			all[i] = "(" + all[i] + ")" // all of it is variable
		}
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}()

// A variableValue is the text of a variable part.
type variableValue struct {
	text   string
	copied bool
}

// maskVariableParts replaces the variable parts of a line by their kinds, and
// returns their values.
func maskVariableParts(line string) (string, []variableValue) {
	var b strings.Builder
	var values []variableValue
	at := 0
	for _, m := range anyVariablePart.FindAllStringSubmatchIndex(line, -1) {
		for i, k := range variableParts {
			if from, to := m[2*(2*i+2)], m[2*(2*i+2)+1]; from >= 0 {
				b.WriteString(line[at:from] + "<" + k.what + ">")
				values = append(values, variableValue{line[from:to], k.copied})
				at = to
			}
		}
	}
	return b.String() + line[at:], values
}

// equalExceptVariableParts reports whether two lines differ in variable parts
// only.
func equalExceptVariableParts(a, b string) bool {
	x, _ := maskVariableParts(a)
	y, _ := maskVariableParts(b)
	return x == y
}

// matchLines finds the lines that a page shows in the printed lines: every line,
// in order, and no other line except where the page says that there are more. MQTT
// promises no order between topics, nor a terminal between a background job and
// the rest, so none is required there.
func matchLines(shown, lines []string) (found []string, ok bool) {
	order := byTopic(lines)
	found = slices.Clone(shown)
	next, free := 0, false
	anywhere := slices.Contains(shown, omitted) && slices.ContainsFunc(shown, func(line string) bool { return topicOf(line) != "" })
	for _, i := range indexByTopic(shown) {
		if shown[i] == omitted {
			free = true
			continue
		}
		for next < len(order) && !equalExceptVariableParts(shown[i], order[next]) {
			if !free {
				return nil, false
			}
			next++
		}
		if next == len(order) {
			return nil, false
		}
		found[i] = order[next]
		next++
		free = anywhere
	}
	return found, free || next == len(order)
}

var onTopic = regexp.MustCompile(`^(troupe/v1/\S+) `)

func topicOf(line string) string {
	if m := onTopic.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

// indexByTopic returns the indexes of the lines: first lines without a topic, then
// the lines of each topic.
func indexByTopic(lines []string) []int {
	order := make([]int, len(lines))
	for i := range lines {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(topicOf(lines[a]), topicOf(lines[b])) })
	return order
}

func byTopic(lines []string) []string {
	sorted := make([]string, 0, len(lines))
	for _, i := range indexByTopic(lines) {
		sorted = append(sorted, lines[i])
	}
	return sorted
}

func TestConsoleLineMatchesWhereOnlyVariablePartsDiffer(t *testing.T) {
	const ack = `{"ts":"2026-11-21T15:31:36.407Z","session":"fec6e931-3641-47b2-9c8c-9d1424f512e1","id":"auto-1-2","status":"REJECTED","state_seq":9}`
	const caps = `troupe/v1/robots/r1/caps {"ts":"2026-11-22T12:59:01.950Z","robot":{"model":"troupe-sim"},"verbs":["sys/adopt","log/on"]}`
	for name, c := range map[string]struct {
		shown, printed string
		fits           bool
	}{
		"another time and session": {ack, strings.NewReplacer("15:31", "16:44", "fec6", "0123", `seq":9`, `seq":112`).Replace(ack), true},
		"another status":           {ack, strings.Replace(ack, "REJECTED", "SUCCEEDED", 1), false},
		"no session":               {ack, strings.Replace(ack, "fec6e931-3641-47b2-9c8c-9d1424f512e1", "", 1), false},
		"a verb more in caps":      {caps, strings.Replace(caps, `"log/on"`, `"log/on","log/off"`, 1), false},
		"a field more in caps":     {caps, strings.Replace(caps, `}`, `},"touch_areas":["head"]`, 1), false},
		"a line too many":          {"a", "a\nb", false},
		"a line too few":           {"a\nb", "a", false},
		"more before":              {"...\nready x", "one\ntwo\nready x", true},
		"more between and after":   {"a\n...\nd\n...", "a\nb\nc\nd\ne", true},
		"none where more may be":   {"a\n...\nd\n...", "a\nd", true},
		"another before the gap":   {"a\n...\nd", "b\na\nd", false},
		"another order":            {"a\nb", "b\na", false},
		"another order of topics":  {"troupe/v1/b 1\ntroupe/v1/a 2", "troupe/v1/a 2\ntroupe/v1/b 1", true},
		"another order on a topic": {"troupe/v1/a 1\ntroupe/v1/a 2", "troupe/v1/a 2\ntroupe/v1/a 1", false},
		"a topic behind the rest":  {"troupe/v1/a 1\nb", "b\ntroupe/v1/a 1", true},
		"more topics":              {"troupe/v1/b 1\n...", "troupe/v1/a 2\ntroupe/v1/b 1\ntroupe/v1/c 3", true},
		"not that topic":           {"troupe/v1/d 1\n...", "troupe/v1/a 2\ntroupe/v1/b 1\ntroupe/v1/c 3", false},
	} {
		if _, ok := matchLines(strings.Split(c.shown, "\n"), strings.Split(c.printed, "\n")); ok != c.fits {
			t.Errorf("%s: matches: %v", name, ok)
		}
	}
}
