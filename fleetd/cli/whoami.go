package cli

import (
	"fmt"
	"io"
	"strings"

	"troupe/fleetd/api"
)

func whoText(sh *shell, out io.Writer, me api.Me) {
	fmt.Fprintf(out, "%s at %s\n", me.ID, sh.server)
	roles := make([]string, len(me.Roles))
	for i, r := range me.Roles {
		roles[i] = string(r)
	}
	fmt.Fprintf(out, "  roles   %s\n  rights  %s\n  sites   %s\n", strings.Join(roles, ", "), strings.Join(me.Rights, ", "),
		orElse(strings.Join(me.Sites, ", "), "all"))
	if me.Token != "" {
		fmt.Fprintf(out, "  token   %s\n", me.Token)
	}
	if me.Dev {
		fmt.Fprintln(out, "  development mode: a person who is not signed in has every right")
	}
}
