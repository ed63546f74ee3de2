package cli

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

func (sh *shell) whoamiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "whoami", Short: "show the account as which fleetd knows you, and what you may do", Args: cobra.NoArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			var me api.Me
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "me"}, &me); err != nil {
				return err
			}
			return sh.show(me, func(w io.Writer) {
				fmt.Fprintf(w, "%s at %s\n", me.ID, sh.server)
				roles := make([]string, len(me.Roles))
				for i, r := range me.Roles {
					roles[i] = string(r)
				}
				fmt.Fprintf(w, "  roles   %s\n  rights  %s\n  sites   %s\n", strings.Join(roles, ", "), strings.Join(me.Rights, ", "), orElse(strings.Join(me.Sites, ", "), "all"))
				if me.Token != "" {
					fmt.Fprintf(w, "  token   %s\n", me.Token)
				}
				if me.Dev {
					fmt.Fprintln(w, "  development mode: a person who is not signed in has every right")
				}
			})
		}),
	}
}
