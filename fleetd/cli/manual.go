package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"troupe/fleetd/api"
	"troupe/schema/verb"
)

func (sh *shell) controlCommand() *cobra.Command {
	c := sh.verbs("control", "control of robots: acquire, renew, release, takeover")
	c.Long = `Control of a robot. One person at a time holds it, as a lease that must be renewed; manual
commands need it. fleetd holds it in the name of your account, or of --by where nobody signs in.`
	c.Example = "  fleetd control acquire r1 --wait\n  fleetd control renew r1 --ttl-ms 60000 --wait\n  fleetd control release r1 --wait"
	return c
}

func (sh *shell) manualCommand() *cobra.Command {
	c := sh.verbs("manual", "manual commands: "+strings.Join(verb.NamesOf("manual"), ", "))
	c.Long = "Manual commands to a robot in mode mnl. The sender needs control of the robot. fleetd refuses\n" +
		"values that no robot can have; a robot refuses those outside its own range, which is often narrower."
	c.Example = "  fleetd manual say r1 --text 'Good morning' --wait\n  fleetd manual goto r1 --point dock --wait\n  fleetd manual stop r1"
	return c
}

// performCommand asks for a whole act: one of the robot's story, or one in the command.
func (sh *shell) performCommand() *cobra.Command {
	v, _ := verb.Of("act", "perform")
	c := sh.verb(v)
	c.Long = `Perform an act: in mode mnl as a manual command, in mode ato as an interrupt of the story. It
is an act of the robot's story, or a file with a list of actions. In mnl it waits until
earlier ones are done, unless --clear cancels them.`
	c.Example = "  fleetd act perform r1 --act welcome --with guest=Ann --wait\n  fleetd act perform r1 --actions actions.yaml --clear --wait"
	return c
}

// verbs makes a command for each verb of a group, with a flag for each argument in the
// verb table, except for some verbs.
func (sh *shell) verbs(of, short string, except ...string) *cobra.Command {
	return group(of, short, sh.verbsOf(of, except...)...)
}

func (sh *shell) verbsOf(of string, except ...string) []*cobra.Command {
	var all []*cobra.Command
	for _, name := range verb.NamesOf(of) {
		if !slices.Contains(except, name) {
			all = append(all, sh.verb(verb.Must(of, name)))
		}
	}
	return all
}

func (sh *shell) interruptCommand() *cobra.Command {
	c := sh.verbs("interrupt", "interrupts of the story: request, cancel")
	c.Example = "  fleetd interrupt request r1 --handler service --wait\n" +
		"  fleetd interrupt request r1 --handler power --interrupter power --wait\n  fleetd interrupt cancel r1 --id service-1 --wait"
	return c
}

func (sh *shell) interrupterCommand() *cobra.Command {
	return sh.verbs("interrupter", "who may request interrupts: run, stop")
}

func (sh *shell) intentCommand() *cobra.Command {
	c := sh.verbs("intent", "what people want of robots: post")
	c.Example = "  fleetd intent post r1 --name greet --text 'Hello, I am Ann' --slots guest=Ann --wait\n" +
		"  fleetd intent post r1 --name greet --emotion joy --confidence 0.9"
	return c
}

func (sh *shell) controllerCommand() *cobra.Command {
	return sh.verbs("controller", "load and unload modes")
}

func (sh *shell) logCommand() *cobra.Command { return sh.verbs("log", "the log on the robot: on, off") }

// sysCommand leaves out query and cancel, which fleetd sends by itself, replay, which is for programs
// that follow the events of a robot, and adopt, which has a command of its own.
func (sh *shell) sysCommand() *cobra.Command {
	c := sh.verbs("sys", "the robot's program and its faults: ping, resync, ack-fault, reboot", "query", "cancel", "replay", "adopt")
	c.Example = "  fleetd sys ack-fault r1 --source battery --wait"
	return c
}

// verbCommand makes the command line of a verb. args are the verb's arguments.
func (sh *shell) verbCommand(v verb.Verb, use string, args func(c *cobra.Command, words []string) (map[string]any, error)) *cobra.Command {
	o := sh.request("command", nil).operation
	o.Use, o.Short, o.Description, o.Example = use, v.Purpose, "", ""
	fixed, isStop := given{"verb": v.ID(), "args": nil}, v.Class == verb.ClassStop
	if isStop { // no conditions and no arguments; it waits for the answers
		maps.Copy(fixed, given{"dry_run": nil, "expected_count": nil, "ttl_ms": nil})
	}
	return sh.operationCommand(o, fixed, func(sh *shell, c *cobra.Command) finish {
		var wait time.Duration
		var when api.Condition
		if isStop {
			wait = stopWait
		} else {
			c.Flags().StringVar((*string)(&when.Mode), "if-mode", "", "only if the robot is in this mode")
			c.Flags().Int64Var(&when.StoryRev, "if-story-rev", 0, "only if the robot's active story has this revision")
		}
		waitFlag(c, &wait)
		return func(ctx context.Context, words []string, r rowRequest) error {
			given, err := args(c, words)
			if err != nil {
				return err
			}
			if r.body["if"] = when; len(given) > 0 {
				r.body["args"] = given
			}
			return sh.sendCommand(ctx, r, given, wait)
		}
	})
}

// verb makes the command line of a verb, with a flag for each argument in the verb table.
func (sh *shell) verb(v verb.Verb) *cobra.Command {
	c := sh.verbCommand(v, v.Name+" ROBOT...", func(c *cobra.Command, _ []string) (map[string]any, error) {
		return sh.argsFromFlags(c.Flags(), v)
	})
	if v.Class == verb.ClassStop {
		return c
	}
	for _, a := range v.Args() {
		if a.Name == "why" { // --why is a flag of every command, and fleetd adds it to the arguments
			continue
		}
		f, name := c.Flags(), flagOf(a)
		switch a.Type {
		case verb.TypeNumber:
			f.Float64(name, 0, a.Purpose)
		case verb.TypeInteger:
			f.Int64(name, 0, a.Purpose)
		case verb.TypeBoolean:
			f.Bool(name, false, a.Purpose)
		case verb.TypeObject:
			f.StringArray(name, nil, a.Purpose+": `name=value`; may be repeated")
		case verb.TypeArray:
			f.String(name, "", a.Purpose+"; from a `FILE`, - for the standard input")
		case verb.TypeAny:
			f.String(name, "", a.Purpose+"; JSON, anything else is a string")
		default:
			f.String(name, "", a.Purpose)
		}
		if a.Required {
			if err := c.MarkFlagRequired(name); err != nil {
				panic(err) // the flag was defined above
			}
		}
	}
	return c
}

func flagOf(a verb.Arg) string { return strings.ReplaceAll(a.Name, "_", "-") }

// argsFromFlags returns the arguments whose flags were given.
func (sh *shell) argsFromFlags(f *pflag.FlagSet, v verb.Verb) (map[string]any, error) {
	args := map[string]any{}
	for _, a := range v.Args() {
		name := flagOf(a)
		if v.Class == verb.ClassStop || a.Name == "why" || !f.Changed(name) {
			continue
		}
		switch a.Type { // no errors: each flag was defined with the type it is read with
		case verb.TypeNumber:
			args[a.Name], _ = f.GetFloat64(name)
		case verb.TypeInteger:
			args[a.Name], _ = f.GetInt64(name)
		case verb.TypeBoolean:
			args[a.Name], _ = f.GetBool(name)
		case verb.TypeObject:
			pairs, _ := f.GetStringArray(name)
			values := map[string]string{}
			for _, pair := range pairs {
				key, value, ok := strings.Cut(pair, "=")
				if !ok {
					return nil, usage("--%s %q: write name=value", name, pair)
				}
				values[key] = value
			}
			args[a.Name] = values
		case verb.TypeArray:
			path, _ := f.GetString(name)
			_, list, err := sh.readAsJSON(path)
			if err != nil {
				return nil, err
			}
			args[a.Name] = list
		case verb.TypeAny:
			text, _ := f.GetString(name)
			args[a.Name] = settingOf(text)
		default:
			args[a.Name], _ = f.GetString(name)
		}
	}
	return args, nil
}
