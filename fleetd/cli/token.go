package cli

import (
	"fmt"
	"io"

	"troupe/fleetd/api"
)

// madeTokenText prints the secret alone on the standard output, so that a script can keep it.
func madeTokenText(sh *shell, out io.Writer, made api.AccessToken) {
	fmt.Fprintln(out, made.Secret)
	fmt.Fprintf(sh.Err, "token %s of %s, valid until %s; this is the only time that its secret is shown\n", made.ID, made.User,
		made.ValidUntil())
}
