// Package cli is fleetd's command line: serve, and a command for everything the
// HTTP API offers.
//
// It decides the syntax of requests, the layout of answers and the exit code. The
// API decides what is allowed and what happens. Data goes to the standard output,
// messages for people to the standard error.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"troupe/schema"
	"troupe/schema/program"
)

// Streams are the standard streams and the environment of one run.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	Environ  []string // name=value
}

// Env returns the value of an environment variable, "" if it is not set.
func (s Streams) Env(name string) string {
	for _, pair := range s.Environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// System returns the streams and environment of this process.
func System() Streams {
	return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Environ: os.Environ()}
}

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, s Streams, version string, args ...string) int {
	s.Out, s.Err = sanitizingWriter{s.Out}, sanitizingWriter{s.Err}
	root := commandLine(s, version)
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitUsage // cobra's own errors are always errors in the command line
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(s.Err, "fleetd:", text)
	}
	if code == exitUsage {
		fmt.Fprintln(s.Err, "fleetd: see fleetd --help, and --help of each command")
	}
	return code
}

// shell is what all commands share: streams and global flags.
type shell struct {
	Streams
	version string
	server  string
	ca      string // file
	output  string
	by      string
	context string        // name of the context to use; empty = the current one
	token   string        // sent as bearer token
	cookie  *http.Cookie  // of the session that login opens
	lines   *bufio.Reader // of passwords that are not typed

	several     []*shell // one for each of several contexts, see takesContexts
	usedContext string   // the context that server is from; empty = it was named otherwise
	noServer    error    // why it is not known which server a request goes to
}

func commandLine(s Streams, version string) *cobra.Command {
	sh := &shell{Streams: s, version: version}
	root := &cobra.Command{
		Use:   "fleetd",
		Short: "server of a fleet of performing robots, and its client",
		Long: `fleetd serve runs the server: it keeps stories and history in a database, speaks MQTT to
robots and HTTP to people. Commands that read and write files only, such as validate, schema,
condition check, ca init, ca server, ca instance, key and openapi, need no server, and neither do setup and doctor;
backup and restore work on the database itself; every other one sends a request to a running fleetd.

No stop here is an emergency stop: each is a message that software carries out.

Targets are robots by name (r1 r2), by label (-l site=museum; a robot must match every label
given), or --all.

Exit codes: 0 done, 1 error, 2 the command line is wrong, 3 done for some robots only,
4 no answer in time, 5 conflict or confirmation needed, 6 not allowed,
8 a diff found differences.`,
		Example: `  fleetd serve --dev
  fleetd robot list
  fleetd story publish -f deploy/library
  fleetd story assign museum-welcome -l site=museum --wait
  fleetd mode set ato r1 r2 --wait
  fleetd stop --all`,
		SilenceUsage: true, SilenceErrors: true,
		Version: version,
		Args:    commandsOnly,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := root.PersistentFlags()
	f.StringVar(&sh.server, "server", orElse(s.Env("TROUPE_SERVER"), "http://127.0.0.1:8080"),
		"address of fleetd (TROUPE_SERVER); default: that of the current context (fleetd login). The flag takes precedence over "+
			"TROUPE_CONTEXT, and cannot be combined with --context. With TROUPE_TOKEN set, contexts are ignored: then give --server or "+
			"TROUPE_SERVER, too")
	f.StringVar(&sh.context, "context", s.Env("TROUPE_CONTEXT"), "server and sign-in of a context (TROUPE_CONTEXT); fleetd context list "+
		"shows them. fleetd stop, stop list and stop release take several, as a,b")
	f.StringVar(&sh.ca, "server-ca", s.Env("TROUPE_SERVER_CA"),
		"file with the CA certificates to trust for an https server (TROUPE_SERVER_CA); default: those of the system")
	f.StringVarP(&sh.output, "output", "o", "table", "table, wide, json, yaml or name")
	f.StringVar(&sh.by, "by", orElse(s.Env("TROUPE_BY"), s.Env("USER")),
		"your name for the audit where nobody signs in (TROUPE_BY); else it is that of your account")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if strings.HasPrefix(cmd.Name(), cobra.ShellCompRequestCmd) {
			return nil // the flags of the line to complete are not read yet
		}
		if err := sh.chooseServer(cmd); err != nil {
			return err
		}
		if !slices.Contains(outputs, sh.output) {
			return usage("-o %s: write %s", sh.output, anyOf(outputs))
		}
		return nil
	}
	root.AddCommand(
		sh.serveCommand(), sh.setupCommand(), sh.doctorCommand(), sh.caCommand(), sh.robotCommand(), sh.libraryCommand("act"),
		sh.libraryCommand("story"), sh.libraryCommand("activity"), sh.conditionCommand(), sh.assetCommand(), sh.siteCommand(),
		sh.modeCommand(), sh.controllerCommand(), sh.autoCommand(), sh.interruptCommand(), sh.interrupterCommand(), sh.intentCommand(),
		sh.lifeCommand(), sh.safetyCommand(), sh.controlCommand(), sh.driveCommand(), sh.manualCommand(),
		sh.sysCommand(), sh.logCommand(), sh.keyCommand(), sh.policyCommand(),
		sh.commandCommand(), sh.logsCommand(), sh.auditCommand(), sh.versionCommand(),
		sh.backupCommand(), sh.restoreCommand(),
		sh.loginCommand(), sh.logoutCommand(), sh.contextCommand(), sh.userCommand(),
	)
	root.AddCommand(sh.validateCommand(), sh.publishCommand(""), sh.importCommand(), sh.exportFolderCommand(), sh.diffFolderCommand(),
		sh.applyFolderCommand(), sh.schemaCommand(), sh.openapiCommand(), program.Describe())
	sh.addOperations(root)
	root.SetVersionTemplate("fleetd {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	nameAlternatives(root)
	readNumbersAsWritten(root)
	sh.complete(root)
	return root
}

// readNumbersAsWritten makes the numeric flags of a command and of those below it refuse 010, which is 8 to pflag.
func readNumbersAsWritten(c *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{c.PersistentFlags(), c.Flags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			if schema.IsNumeric(f.Value.Type()) {
				f.Value = schema.NumberFlag{Flag: f.Value}
			}
		})
	}
	for _, below := range c.Commands() {
		readNumbersAsWritten(below)
	}
}

// group makes the command of a noun. Without a subcommand it prints its help, with an
// unknown one it fails.
func group(use, short string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: commandsOnly, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	c.AddCommand(verbs...)
	return c
}

// commandsOnly refuses the arguments of a command that has only commands below it.
func commandsOnly(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return nil
}

// run gives every error of a command an exit code.
func run(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := do(cmd, args)
		var f *failure
		switch {
		case err == nil:
			return nil
		case errors.As(err, &f):
			if text := flagErrors(cmd, f.problem); text != "" {
				f.err = errors.New(text)
			}
			if f.unknown {
				f.err = suggestNames(cmd, args, f.err)
			}
			return err
		}
		return &failure{code: exitError, err: err}
	}
}

// isTerminal reports whether w is a terminal, so that progress may be drawn.
func isTerminal(w io.Writer) bool {
	f, ok := unsanitized(w).(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
