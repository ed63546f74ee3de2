package cli

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/schema"
)

// schemaCommand prints the schema of a file that authors write, or of an MQTT message.
func (sh *shell) schemaCommand() *cobra.Command {
	kinds := []string{"act", "story", "activity"}
	c := &cobra.Command{
		Use: "schema act|story|activity", Short: "print the JSON Schema of a file, for editors",
		Long: `Print the JSON Schema of the file of an act, a story or an activity. Editors with a YAML language
server complete and check a file whose first line names it, without a network:

  # yaml-language-server: $schema=act.schema.json`,
		Example: "  fleetd schema act > act.schema.json\n  fleetd schema message state",
		Args:    cobra.MatchAll(exactlyOne, cobra.OnlyValidArgs), ValidArgs: kinds,
		RunE: run(func(_ *cobra.Command, args []string) error { return sh.printSchema(schema.AuthorSchema(args[0])) }),
	}
	c.AddCommand(&cobra.Command{
		Use: "message [MESSAGE]", Short: "print the JSON Schema of an MQTT message, or list the messages", Args: cobra.MaximumNArgs(1),
		Example: "  fleetd schema message\n  fleetd schema message state",
		RunE: run(func(_ *cobra.Command, args []string) error {
			names, err := messageNames()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return sh.show(names, func(w io.Writer) { fmt.Fprintln(w, strings.Join(names, "\n")) })
			}
			if near := closest(args[0], names); !slices.Contains(names, args[0]) {
				return usage("there is no message %q; did you mean %s? fleetd schema message lists them", args[0], orElse(anyOf(near), "another one"))
			}
			return sh.printSchema("json/" + args[0] + schemaSuffix)
		}),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			names, _ := messageNames() // completion is silent
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	})
	return c
}

const schemaSuffix = ".schema.json"

func messageNames() (names []string, err error) {
	files, err := fs.ReadDir(schema.JSONSchemas, "json")
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), schemaSuffix))
	}
	return names, err
}

func (sh *shell) printSchema(file string) error {
	text, err := schema.JSONSchemas.ReadFile(file)
	if err != nil {
		return err
	}
	_, err = sh.Out.Write(text)
	return err
}
