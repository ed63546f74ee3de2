package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"troupe/fleetd/view"
)

// documentsCommand lists or prints what a robot has published.
func (sh *shell) documentsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "documents ROBOT [KIND]", Short: "list the retained documents of a robot, or print one", Args: cobra.RangeArgs(1, 2),
		Long: `List the retained MQTT documents that a robot published, with when fleetd received the newest of each.
With a KIND, such as state or reported_story, print that document.`,
		Example: "  fleetd robot documents r1\n  fleetd robot documents r1 state",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return sh.doAndShow(cmd.Context(), "list-documents", given{"id": args[0]})
			}
			var got struct {
				Documents []view.RobotDocument `json:"documents"`
			}
			if err := sh.do(cmd.Context(), "list-documents", given{"id": args[0]}, &got); err != nil {
				return err
			}
			i := slices.IndexFunc(got.Documents, func(d view.RobotDocument) bool { return string(d.Kind) == args[1] })
			if i < 0 {
				kinds := make([]string, len(got.Documents))
				for i, d := range got.Documents {
					kinds[i] = string(d.Kind)
				}
				return usage("%s published no %q; it published %s", args[0], args[1], strings.Join(kinds, ", "))
			}
			return sh.show(got.Documents[i].Body, func(w io.Writer) {
				body := got.Documents[i].Body
				_ = body.Indent(jsontext.WithIndent("  ")) // what cannot be indented is printed as it is
				fmt.Fprintln(w, string(body))
			})
		}),
	}
}
