package schema

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func strictly[T any](b []byte) []Problem {
	_, ps := DecodeStrict[T](b)
	return Errors(ps)
}

// told reads what programs of this project say, where an unknown field would be a
// mistake of theirs.
var told = map[string]func([]byte) []Problem{
	"Presence": strictly[Presence], "Heartbeat": strictly[Heartbeat], "State": strictly[State], "Modes": strictly[Modes], "Caps": strictly[Caps],
	"ReportedStory": strictly[ReportedStory], "ReportedConfig": strictly[ReportedConfig], "ReportedMode": strictly[ReportedMode], "ReportedSet": strictly[ReportedSet],
	"Event": strictly[Event], "Ack": strictly[Ack], "Notice": strictly[Notice], "Telemetry": strictly[Telemetry],
	"DesiredStory": strictly[DesiredStory], "DesiredConfig": strictly[DesiredConfig], "DesiredMode": strictly[DesiredMode], "DesiredSet": strictly[DesiredSet],
	"DesiredStop": strictly[DesiredStop], "FleetStop": strictly[FleetStop], "StopRequest": strictly[StopRequest], "Revoked": strictly[Revoked],
}

var (
	exampleOn      = regexp.MustCompile(`^(troupe/v1/\S+) (\{.*\})$`)         // as mosquitto_sub -v shows it
	exampleAlone   = regexp.MustCompile(`^(\{.*\})$`)                         // as mosquitto_rr shows it
	exampleRequest = regexp.MustCompile(`/cmd/\w+/(\w+)/([\w-]+) .* -m (.+)`) // as it is asked
	exampleJSON    = regexp.MustCompile(`^'(\{.*\})'`)
	exampleWord    = regexp.MustCompile(`^(\w+)`)
)

// TestEveryExampleIsWellSaid reads the lines of the contract's page that somebody
// may copy.
func TestEveryExampleIsWellSaid(t *testing.T) {
	page, err := os.ReadFile("../topics.md")
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]int{}
	wrong := func(n int, line string, ps []Problem) {
		for _, p := range ps {
			t.Errorf("topics.md:%d: %v in %.200s", n, p, line)
		}
	}
	for i, line := range strings.Split(string(page), "\n") {
		n := i + 1
		if m := exampleOn.FindStringSubmatch(line); m != nil {
			row, _, ok := DefaultNamespace.Match(m[1])
			if !ok {
				t.Errorf("topics.md:%d: there is no topic %s", n, m[1])
				continue
			}
			read[row.Message]++
			wrong(n, line, told[row.Message]([]byte(m[2])))
			continue
		}
		if m := exampleAlone.FindStringSubmatch(line); m != nil {
			kind := kindOf(m[1])
			read[kind]++
			if kind == "Request" {
				v, _ := VerbOf("mode", "set")
				_, ps := DecodeRequest(v, []byte(m[1]))
				wrong(n, line, Errors(ps))
				continue
			}
			wrong(n, line, told[kind]([]byte(m[1])))
			continue
		}
		if m := exampleRequest.FindStringSubmatch(line); m != nil && m[2] != "velocity" {
			verb, known := VerbOf(m[1], m[2])
			if !known {
				continue // asked to show what becomes of it
			}
			payload := exampleJSON.FindStringSubmatch(m[3])
			if payload == nil {
				payload = exampleWord.FindStringSubmatch(m[3])
			}
			if payload == nil {
				continue // broken on purpose
			}
			read["Request"]++
			_, ps := DecodeRequest(verb, []byte(payload[1]))
			wrong(n, line, Errors(ps))
		}
	}
	for kind, least := range map[string]int{"Ack": 15, "Request": 8, "Notice": 1, "Telemetry": 3, "Presence": 1, "FleetStop": 1, "DesiredStop": 1} {
		if read[kind] < least {
			t.Errorf("%d examples of %s were read, want %d: does the page show them otherwise now?", read[kind], kind, least)
		}
	}
}

// kindOf tells the message of a line without its topic by what only it has.
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
