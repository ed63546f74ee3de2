package cli_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
	"troupe/schema/golden"
)

// The console shows a command line for what a person does there, and makes it from the rows.
func TestCommandsOfTheConsoleAreThoseOfTheRows(t *testing.T) {
	var out strings.Builder
	out.WriteString("// Made from the rows of operations: go test ./fleetd/cli -run CommandsOfTheConsole -update\n\n" +
		"/** The command of an operation: its words, then where its arguments and the values of its flags are in a request. */\n" +
		"export interface Command {\n  words: string[];\n  args: string[];\n  flags: [flag: string, place: string][];\n}\n\n" +
		"export const commands: Record<string, Command> = {\n")
	for _, o := range api.Operations() {
		if o.Use == "" || o.Method == http.MethodGet {
			continue
		}
		words, arguments, flags := o.CommandLine()
		var args, named []string
		for _, a := range arguments {
			args = append(args, "'"+a.In+"."+a.Name+"'")
		}
		for _, f := range flags {
			if shown(f) {
				named = append(named, fmt.Sprintf("['%s', '%s.%s']", f.Flag, f.In, f.Name))
			}
		}
		fmt.Fprintf(&out, "  '%s': {\n    words: ['%s'],\n    args: [%s],\n    flags: [%s],\n  },\n", o.ID, strings.Join(words, "', '"), strings.Join(args, ", "), strings.Join(named, ", "))
	}
	out.WriteString("};\n")
	golden.Compare(t, "../console/web/src/api/commands.ts", out.String())
}

// shown reports whether a line names a flag by itself: robots, their number and the reason are at the end of every line.
func shown(p operation.Param) bool {
	return p.Flag != "" && p.Name != "dry_run" && p.Name != "expected_count" && p.Name != "why" && p.Type != reflect.TypeFor[selector.Selector]()
}
