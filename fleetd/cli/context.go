package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"troupe/fleetd/api"
	"troupe/fleetd/atomicfile"
	"troupe/schema"
	"troupe/schema/score"
)

// contexts are the servers that a person uses, with a token for each at which they signed in.
type contexts struct {
	Current  string                   `json:"current,omitempty"`
	Contexts map[string]serverContext `json:"contexts"`
}

// serverContext is one server and who the person is there. Without a token nobody is signed in there.
type serverContext struct {
	Server string `json:"server"`
	CA     string `json:"server_ca,omitempty"` // file
	User   string `json:"user,omitempty"`
	Token  string `json:"token,omitempty"`
}

var errNoFolder = errors.New("there is no folder for contexts: set HOME or XDG_CONFIG_HOME, or pass --server and TROUPE_TOKEN instead")

// contextsFile is the file of the contexts; only its owner may read it.
func (sh *shell) contextsFile() (string, error) {
	folder := sh.Env("XDG_CONFIG_HOME")
	if folder == "" {
		home := sh.Env("HOME")
		if home == "" {
			return "", errNoFolder
		}
		folder = filepath.Join(home, ".config")
	}
	return filepath.Join(folder, "troupe", "contexts.yaml"), nil
}

func (sh *shell) readContexts() (all contexts, err error) {
	all.Contexts = map[string]serverContext{}
	path, err := sh.contextsFile()
	if err != nil {
		return all, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = all.read(text)
	}
	if err != nil {
		return all, fmt.Errorf("read contexts from %s: %w; correct the file, or remove it and sign in again with fleetd login", path, err)
	}
	if all.Contexts == nil {
		all.Contexts = map[string]serverContext{}
	}
	return all, nil
}

func (all *contexts) read(text []byte) error {
	data, found := score.ReadYAML(text, api.MaxBody)
	if len(found) == 0 {
		found = schema.DecodeStrictInto(data, all, schema.MaxDepth)
	}
	if len(found) > 0 {
		return errors.New(found[0].String())
	}
	return nil
}

func (sh *shell) writeContexts(all contexts) error {
	path, err := sh.contextsFile()
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(all)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write contexts to %s: %w", path, err)
	}
	return nil
}

// contextOf returns the name of the context of --context, or of a server that was named
// otherwise, or the current one. Of several contexts of one server the current one is taken:
// TROUPE_SERVER may be set while its user signs in as somebody else.
func (sh *shell) contextOf(all contexts, serverGiven bool) string {
	name := orElse(sh.context, all.Current)
	if !serverGiven || sh.context != "" || all.Contexts[name].Server == sh.server {
		return name
	}
	name = ""
	for _, one := range slices.Sorted(maps.Keys(all.Contexts)) {
		if all.Contexts[one].Server == sh.server {
			name = one
		}
	}
	return name
}

// useContext takes server, CA and token from a context, if there is one.
func (sh *shell) useContext(serverGiven bool) error {
	all, err := sh.readContexts()
	switch {
	case err != nil && sh.context != "":
		return err
	case err != nil:
		if !serverGiven && !errors.Is(err, errNoFolder) && !errors.Is(err, fs.ErrPermission) {
			sh.noServer = err // a stop must not go to the default address instead
		}
		return nil
	}
	if names := contextNamesIn(all, sh.context); len(names) > 0 {
		sh.chooseContexts(all, names)
		return nil
	}
	name := sh.contextOf(all, serverGiven)
	c, ok := all.Contexts[name]
	switch {
	case !ok && sh.context != "":
		return usage("--context %s: there is none of this name; fleetd context list shows them", name)
	case !ok:
		return nil
	}
	sh.server, sh.ca, sh.token, sh.usedContext = c.Server, orElse(sh.ca, c.CA), c.Token, name
	return nil
}

// whichServer is the address of fleetd for errors, with the context that it came from.
func (sh *shell) whichServer() string {
	if sh.usedContext == "" {
		return sh.server
	}
	return fmt.Sprintf("%s (context %s)", sh.server, sh.usedContext)
}

// chooseServer takes server, CA and token for a command from its flags, the environment and the contexts.
// A --server that the person typed takes precedence over TROUPE_CONTEXT: a stop must not go to another fleet.
func (sh *shell) chooseServer(cmd *cobra.Command) error {
	sh.token = sh.Env("TROUPE_TOKEN")
	server, context := cmd.Flags().Changed("server"), cmd.Flags().Changed("context")
	if server && !context {
		sh.context = ""
	}
	switch {
	case server && context:
		return usage("--server and --context both name a server: leave out one of them")
	case sh.token != "" && sh.context != "": // a stop must not go to the default address instead
		return usage("TROUPE_TOKEN is set, and context %s has a token of its own: unset TROUPE_TOKEN, or leave out --context and "+
			"TROUPE_CONTEXT and name the address with --server", sh.context)
	case sh.token != "":
		return nil
	}
	if err := sh.useContext(sh.serverGiven(cmd)); err != nil {
		return err
	}
	if _, takes := cmd.Annotations[takesContexts]; len(sh.several) > 0 && !takes {
		return usage("--context %s: this command goes to one fleet; fleetd stop, stop list and stop release go to several", sh.context)
	}
	return nil
}

// serverGiven reports whether a person named a server, instead of the default address.
func (sh *shell) serverGiven(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("server") || sh.Env("TROUPE_SERVER") != ""
}

func (sh *shell) contextCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list", Short: "list the servers that you use", Args: cobra.NoArgs,
		RunE: run(func(*cobra.Command, []string) error {
			all, err := sh.readContexts()
			if err != nil {
				return err
			}
			type row struct {
				Name    string `json:"name"`
				Current bool   `json:"current"`
				Server  string `json:"server"`
				CA      string `json:"server_ca,omitempty"`
				User    string `json:"user"`
			}
			rows := []row{}
			for _, name := range slices.Sorted(maps.Keys(all.Contexts)) {
				c := all.Contexts[name]
				rows = append(rows, row{name, name == all.Current, c.Server, c.CA, c.User})
			}
			return sh.show(rows, func(out io.Writer) {
				writeTable(out, sh.header("CONTEXT\tCURRENT\tSERVER\tUSER", "CA"), rows, func(r row) []any {
					current := "-"
					if r.Current {
						current = "yes"
					}
					return append([]any{r.Name, current, r.Server, dash(r.User)}, sh.wide(dash(r.CA))...)
				})
			})
		}),
	}
	use := &cobra.Command{
		Use: "use CONTEXT", Short: "use this server from now on", Args: cobra.ExactArgs(1), Example: "  fleetd context use museum",
		RunE: run(func(_ *cobra.Command, args []string) error {
			all, err := sh.readContexts()
			if err != nil {
				return err
			}
			if _, ok := all.Contexts[args[0]]; !ok {
				return usage("context %s: there is none of this name; fleetd context list shows them", args[0])
			}
			all.Current = args[0]
			return sh.writeContexts(all)
		}),
	}
	remove := &cobra.Command{
		Use: "remove CONTEXT", Short: "forget this server, and end the token that login keeps for it", Args: cobra.ExactArgs(1),
		Example: "  fleetd context remove museum",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			all, err := sh.readContexts()
			if err != nil {
				return err
			}
			if _, ok := all.Contexts[args[0]]; !ok {
				return usage("context %s: there is none of this name; fleetd context list shows them", args[0])
			}
			return sh.removeContext(cmd.Context(), all, args[0])
		}),
	}
	return group("context", "the servers that you use: add, list, use, remove", sh.addContextCommand(), list, use, remove)
}

func (sh *shell) addContextCommand() *cobra.Command {
	var tokenFile, user string
	c := &cobra.Command{
		Use: "add CONTEXT", Short: "name a server, with its CA and a token", Args: cobra.ExactArgs(1),
		Long: `Name a server for --context and fleetd context use. --server is its address, --server-ca the file with
its CA. A person then signs in with fleetd login --context CONTEXT, which does the same as login --name
for a new one; a program gives its token with --token-file.`,
		Example: "  fleetd context add museum --server https://museum.example:8080 --server-ca museum.pem\n" +
			"  fleetd login --context museum --user anna",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			name := args[0]
			if err := validContextName(name); err != nil {
				return err
			}
			if !cmd.Flags().Changed("server") {
				return usage("--server is missing: write the address of the server, as in --server https://fleet.example:8080")
			}
			if base, err := url.Parse(sh.server); err != nil || base.Host == "" {
				return usage("--server %s: write http://host:port", sh.server)
			}
			if _, err := sh.tlsConfig(); err != nil {
				return err
			}
			token := ""
			if tokenFile != "" {
				_, err := os.Stat(tokenFile)
				if err != nil && tokenFile != "-" {
					return usage("--token-file: %v", err)
				}
				if token, err = sh.secret(cmd.Context(), "token for "+sh.server, tokenFile); err != nil {
					return err
				}
			}
			all, err := sh.readContexts()
			if err != nil {
				return err
			}
			if _, taken := all.Contexts[name]; taken {
				return &failure{code: exitConflict,
					err: fmt.Errorf("there is a context %s already: choose another name, or remove it with fleetd context remove %[1]s", name)}
			}
			all.Contexts[name] = serverContext{Server: sh.server, CA: absolute(sh.ca), User: user, Token: token}
			if all.Current = orElse(all.Current, name); all.Current == name {
				fmt.Fprintf(sh.Out, "%s is the current context\n", name)
			}
			return sh.writeContexts(all)
		}),
	}
	c.Flags().StringVar(&tokenFile, "token-file", "", "file whose first line is a token of fleetd token create; - is the standard input")
	c.Flags().StringVar(&user, "user", "", "whose token it is, for fleetd context list")
	return c
}

// validContextName refuses what --context a,b could not name.
func validContextName(name string) error {
	if name == "" || strings.ContainsAny(name, ", \t\n") {
		return usage("context %q: the name has no commas and no spaces", name)
	}
	return nil
}
