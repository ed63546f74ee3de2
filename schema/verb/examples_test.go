package verb

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"troupe/schema"
)

func strictly[T any](b []byte) []schema.Problem {
	_, ps := schema.DecodeStrict[T](b)
	return schema.Errors(ps)
}

// strict decodes messages of this project's programs, in which an unknown field would be a
// mistake.
var strict = map[string]func([]byte) []schema.Problem{
	"Presence": strictly[schema.Presence], "Heartbeat": strictly[schema.Heartbeat], "State": strictly[schema.State],
	"Modes": strictly[schema.Modes], "Caps": strictly[schema.Caps],
	"ReportedStory": strictly[schema.ReportedStory], "ReportedConfig": strictly[schema.ReportedConfig],
	"ReportedMode": strictly[schema.ReportedMode], "ReportedSet": strictly[schema.ReportedSet],
	"Event": strictly[schema.Event], "Ack": strictly[schema.Ack], "Notice": strictly[schema.Notice], "Telemetry": strictly[schema.Telemetry],
	"DesiredStory": strictly[schema.DesiredStory], "DesiredConfig": strictly[schema.DesiredConfig],
	"DesiredMode": strictly[schema.DesiredMode], "DesiredSet": strictly[schema.DesiredSet],
	"DesiredStop": strictly[schema.DesiredStop], "FleetStop": strictly[schema.FleetStop], "StopRequest": strictly[schema.StopRequest],
	"Revoked": strictly[schema.Revoked],
}

var (
	exampleOn      = regexp.MustCompile(`^(troupe/v1/\S+) (\{.*\})$`)         // as mosquitto_sub -v shows it
	exampleAlone   = regexp.MustCompile(`^(\{.*\})$`)                         // as mosquitto_rr shows it
	exampleRequest = regexp.MustCompile(`/cmd/\w+/(\w+)/([\w-]+) .* -m (.+)`) // a command as it is sent
	exampleJSON    = regexp.MustCompile(`^'(\{.*\})'`)
	exampleWord    = regexp.MustCompile(`^(\w+)`)
)

// The test decodes the lines of topics.md that people may copy.
func TestExamplesInTopicsAreValid(t *testing.T) {
	page, err := os.ReadFile("../../topics.md")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]int{}
	wrong := func(n int, line string, ps []schema.Problem) {
		for _, p := range ps {
			t.Errorf("topics.md:%d: %v in %.200s", n, p, line)
		}
	}
	for i, line := range strings.Split(string(page), "\n") {
		n := i + 1
		if m := exampleOn.FindStringSubmatch(line); m != nil {
			row, _, ok := schema.DefaultNamespace.Match(m[1])
			if !ok {
				t.Errorf("topics.md:%d: there is no topic %s", n, m[1])
				continue
			}
			read[row.Message]++
			wrong(n, line, strict[row.Message]([]byte(m[2])))
			continue
		}
		if m := exampleAlone.FindStringSubmatch(line); m != nil {
			kind := kindOf(m[1])
			read[kind]++
			if kind == "Request" {
				_, ps := Decode(Must("mode", "set"), []byte(m[1]))
				wrong(n, line, schema.Errors(ps))
				continue
			}
			wrong(n, line, strict[kind]([]byte(m[1])))
			continue
		}
		if m := exampleRequest.FindStringSubmatch(line); m != nil && m[2] != "velocity" {
			verb, known := Of(m[1], m[2])
			if !known {
				continue // an example of a refusal
			}
			payload := exampleJSON.FindStringSubmatch(m[3])
			if payload == nil {
				payload = exampleWord.FindStringSubmatch(m[3])
			}
			if payload == nil {
				continue // malformed on purpose
			}
			read["Request"]++
			_, ps := Decode(verb, []byte(payload[1]))
			wrong(n, line, schema.Errors(ps))
		}
	}
	for kind, least := range map[string]int{"Ack": 15, "Request": 8, "Notice": 1, "Telemetry": 3, "Presence": 1, "FleetStop": 1,
		"DesiredStop": 1} {
		if read[kind] < least {
			t.Errorf("found %d examples of %s, want %d: has their format in topics.md changed?", read[kind], kind, least)
		}
	}
}

// kindOf returns the message type of a line without a topic, by fields that only this
// type has.
func kindOf(line string) string {
	switch {
	case strings.Contains(line, `"verb":`) && strings.Contains(line, `"status":`):
		return "Ack"
	case strings.Contains(line, `"topic":`) && strings.Contains(line, `"reason":`):
		return "Notice"
	case strings.Contains(line, `"mono_ms":`):
		return "Telemetry"
	}
	return "Request"
}
