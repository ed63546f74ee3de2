package cli

import (
	"regexp"
	"strings"

	"troupe/schema/verb"
)

// verbInText is a verb as robots write it, the mode after mode/set, and the pause after
// auto/continue; latchInText are the ids of latched stops, which no verb releases;
// robots of an earlier release leave out where.
var (
	verbInText  = regexp.MustCompile(`\b([a-z]+)/([a-z-]+)\b( (?:str|mnl|ato)\b)?(?: with token ([^\s;,]+))?`)
	latchInText = regexp.MustCompile(`\brelease the latched stops? ([^\s;,]+(?:, [^\s;,]+)*)(?: at fleetd)?(, then |$)`)
)

// otherCommands are the commands for verbs that have none with the words of the verb.
var otherCommands = map[string]string{
	"safety/stop": "stop", "safety/soft-stop": "stop --level soft-stop", "safety/halt": "stop --level halt",
	"safety/estop": "stop --level estop",
	"sys/adopt":    "adopt", "sys/cancel": "command cancel", "sys/query": "command get",
}

// commandOf returns the words of the command that sends a verb; empty if there is none.
func commandOf(id string) string {
	group, name, _ := strings.Cut(id, "/")
	if _, known := verb.Of(group, name); !known || id == "sys/replay" {
		return ""
	}
	if other := otherCommands[id]; other != "" {
		return other
	}
	return group + " " + name
}

// commandText formats the verb of a command as one types it.
func commandText(id string) string { return orElse(commandOf(id), id) }

// inCommands replaces the verbs that a robot names to people by command lines for that
// robot: "acquire it with control/acquire" becomes "acquire it with fleetd control acquire r1".
func inCommands(text, robot string) string {
	text = latchInText.ReplaceAllStringFunc(text, func(found string) string {
		parts := latchInText.FindStringSubmatch(found)
		return "fleetd stop release " + strings.ReplaceAll(parts[1], ",", "") + " --why REASON" + parts[2]
	})
	return verbInText.ReplaceAllStringFunc(text, func(found string) string {
		parts := verbInText.FindStringSubmatch(found)
		line := commandOf(parts[1] + "/" + parts[2])
		if line == "" {
			return found
		}
		if strings.HasPrefix(line, "command ") { // it names a command, not a robot
			return "fleetd " + line + parts[3]
		}
		if parts[4] != "" {
			return "fleetd " + line + " " + robot + parts[3] + " --token " + parts[4]
		}
		if parts[1]+"/"+parts[2] != "mode/set" {
			return strings.TrimSpace("fleetd "+line+" "+robot) + parts[3]
		}
		return strings.TrimSpace("fleetd " + line + parts[3] + " " + robot)
	})
}
