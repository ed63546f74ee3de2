package cli

import (
	"fmt"
	"io"
	"net/http"
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
			var got struct {
				Documents []view.RobotDocument `json:"documents"`
			}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: robotPath(args[0], "documents")}, &got); err != nil {
				return err
			}
			if len(args) == 1 {
				return sh.show(got, func(w io.Writer) { documentTable(w, got.Documents) })
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

func documentTable(out io.Writer, list []view.RobotDocument) {
	w := newTable(out)
	defer w.Flush()
	fmt.Fprintln(w, "KIND\tTOPIC\tRECEIVED\tBYTES")
	for _, d := range list {
		writeRow(w, string(d.Kind), d.Topic, formatTime(d.Received), fmt.Sprint(d.Bytes))
	}
}
