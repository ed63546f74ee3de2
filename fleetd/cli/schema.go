package cli

import (
	"github.com/spf13/cobra"

	"troupe/schema"
)

// schemaCommand prints the schema of a file that authors write.
func (sh *shell) schemaCommand() *cobra.Command {
	kinds := []string{"act", "story", "activity"}
	return &cobra.Command{
		Use: "schema act|story|activity", Short: "print the JSON Schema of a file, for editors",
		Long: `Print the JSON Schema of the file of an act, a story or an activity. Editors with a YAML language
server complete and check a file whose first line names it, without a network:

  # yaml-language-server: $schema=act.schema.json`,
		Example: "  fleetd schema act > act.schema.json",
		Args:    cobra.MatchAll(exactlyOne, cobra.OnlyValidArgs), ValidArgs: kinds,
		RunE: run(func(_ *cobra.Command, args []string) error {
			text, err := schema.JSONSchemas.ReadFile(schema.AuthorSchema(args[0]))
			if err != nil {
				return err
			}
			_, err = sh.Out.Write(text)
			return err
		}),
	}
}
