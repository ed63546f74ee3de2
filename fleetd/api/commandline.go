package api

import "github.com/danielgtaylor/huma/v2"

// commandLines has for each operation the command line that does the same, without the
// program's name. The description of the API has it as x-cli and the page /docs shows it; a
// test of fleetd/cli runs every line and looks whether it calls the operation.
var commandLines = map[string]string{
	"version": "version",
	"health":  "health",
	"me":      "whoami",

	"list-users":          "user list",
	"add-user":            "user add anna --role operator --no-password",
	"change-user":         "user set anna --role operator",
	"set-password":        "user password anna --password-file password",
	"change-own-password": "user password --password-file passwords",
	"list-tokens":         "token list",
	"make-access-token":   "token create nightly",
	"revoke-access-token": "token revoke 0198c0de",
	"list-sessions":       "session list",
	"end-session":         "session end 5d41402abc4b",
	"end-sessions":        "session end --all",
	"sign-in":             "login --user anna --password-file password",
	"sign-out":            "login --user anna --password-file password", // login ends the session that it opened

	"list-robots":   "robot list",
	"export-robots": "robot list --csv",
	"get-robot":     "robot get r1",
	"stream":        "robot watch",
	"list-events":   "event list",
	"list-alerts":   "alert list",
	"ack-alert":     "alert ack r1 a1 --note seen",
	"set-labels":    "robot label r1 site=museum",
	"label-robots":  "robot label -l site=museum floor=2",
	"adopt-robot":   "adopt r1",

	"command":        "mode set ato r1",
	"list-commands":  "command list",
	"get-command":    "command get 0198c0de",
	"cancel-command": "command cancel 0198c0de",
	"list-batches":   "command batches",
	"get-batch":      "command get 0198c0de",
	"post-intent":    "intent post r1 --name greet",

	"drive": "drive r1",

	"stop":          "stop r1",
	"list-stops":    "stop list",
	"release-stops": "stop release stop-260517-093000-1f0c --why clear",

	"list-act":          "act list",
	"get-act":           "act get welcome",
	"get-published-act": "act get welcome --rev 2",
	"get-timeline-act":  "act get welcome --timeline",
	"get-uses-act":      "act uses welcome",
	"save-act":          "act save -f act.yaml",
	"publish-act":       "act publish welcome",
	"restore-act":       "act restore welcome 2",
	"duplicate-act":     "act duplicate welcome hello",
	"delete-act":        "act delete welcome",
	"recover-act":       "act recover welcome",

	"list-story":          "story list",
	"get-story":           "story get museum",
	"get-published-story": "story get museum --rev 2",
	"get-timeline-story":  "story get museum --timeline",
	"get-uses-story":      "story uses museum",
	"save-story":          "story save -f story.yaml",
	"publish-story":       "story publish museum",
	"restore-story":       "story restore museum 2",
	"duplicate-story":     "story duplicate museum shop",
	"delete-story":        "story delete museum",
	"recover-story":       "story recover museum",
	"assign":              "story assign museum r1",
	"revert-assignment":   "story revert r1",

	"list-activity":          "activity list",
	"get-activity":           "activity get greet",
	"get-published-activity": "activity get greet --rev 2",
	"get-timeline-activity":  "activity get greet --timeline",
	"get-uses-activity":      "activity uses greet",
	"save-activity":          "activity save -f activity.yaml",
	"publish-activity":       "activity publish greet",
	"restore-activity":       "activity restore greet 2",
	"duplicate-activity":     "activity duplicate greet wave",
	"delete-activity":        "activity delete greet",
	"recover-activity":       "activity recover greet",
	"assign-activities":      "activity assign greet r1",
	"list-robot-activities":  "activity list r1",
	"list-condition-keys":    "condition keys",
	"explain-condition":      "condition explain r1 greet",

	"publish-texts":        "publish -f act.yaml",
	"import-library":       "import -f act.yaml",
	"export-library":       "act export welcome",
	"try-text":             "act try welcome --robot r1",
	"validate-texts":       "validate -f act.yaml --online",
	"get-timeline-of-text": "act get --timeline -f act.yaml",

	"list-assets":  "asset list",
	"get-asset":    "asset get gong",
	"get-file":     "asset get gong --out gong.wav",
	"put-asset":    "asset put gong.wav",
	"delete-asset": "asset delete gong",

	"desired":          "desired mode ato r1",
	"list-desired":     "desired list mode r1",
	"list-assignments": "desired assignments r1",
	"get-desired":      "desired get r1",
	"list-points":      "robot points r1",
	"list-documents":   "robot documents r1",

	"ask-record":      "robot record r1 --last 10m",
	"list-records":    "robot records r1",
	"get-record":      "robot record r1 --id 20261123t053012-1f0c9a3b",
	"get-record-file": "robot record r1 --id 20261123t053012-1f0c9a3b --out r1.mcap",

	"make-enrolment-token":       "robot enrol r1",
	"get-identity":               "robot identity r1",
	"revoke-robot":               "robot revoke r1 --why stolen",
	"decommission":               "robot decommission r1",
	"get-decommission":           "robot decommission r1 --status",
	"list-decommissions":         "robot decommission --status",
	"list-orphans":               "robot orphans",
	"delete-orphan":              "robot orphans r9 --delete",
	"list-instance-certificates": "ca list",
	"revoke-certificate":         "ca revoke 65bf527bf4f23c5b34be9bd5477f7649c466932e --why lost",

	"list-audit":   "audit list",
	"verify-audit": "audit verify",
	"export-audit": "audit export",
	"list-schemas": "schema message",
	"get-schema":   "schema message state",
}

// otherWays are the operations that their command line does not call, and what it does.
var otherWays = map[string]string{
	"post-intent":          "the operation command, for any number of robots",
	"get-timeline-of-text": "without fleetd",
	"list-condition-keys":  "without fleetd",
	"list-schemas":         "without fleetd",
	"get-schema":           "without fleetd",
}

// withoutCommandLine are the operations for robotd or the console alone, or for a command that first waits
// for a person at the console, and what they are for.
var withoutCommandLine = map[string]string{
	"enrol": "a robot gets its first certificate with the token that robot enrol made",
	"renew": "a robot renews its certificate",

	"send-record": "a robot sends a flight record that was asked for",

	"sign-in-ways": "the console shows how people can sign in",
	"allow-login":  "the console lets a person allow the command line that fleetd login --browser runs in",
	"finish-login": "fleetd login --browser gets its token when a person has allowed it",
}

// Keys of operations in the description of the API.
const (
	commandKey  = "x-cli"       // the command line
	otherWayKey = "x-cli-calls" // set if the command line does not call the operation: what it does
)

// withCommandLine adds the command line to the description of an operation.
func withCommandLine(o huma.Operation) huma.Operation {
	line, ok := commandLines[o.OperationID]
	if !ok {
		return o
	}
	o.Extensions = map[string]any{commandKey: "fleetd " + line}
	if way := otherWays[o.OperationID]; way != "" {
		o.Extensions[otherWayKey] = way
	}
	return o
}
