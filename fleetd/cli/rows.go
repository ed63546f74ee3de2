package cli

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"troupe/fleetd/api"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
)

// texts print the answer of a command that is made from a row, where neither a table nor one sentence tells it.
var texts = map[string]func(sh *shell, out io.Writer, got any){
	"adopt-robot":                as(func(_ *shell, out io.Writer, b api.Batch) { batchTable(out, b) }),
	"assign":                     as(assignedLines),
	"assign-activities":          as(activitiesAssignedLine),
	"cancel-command":             as(cancelText),
	"desired":                    as(desiredResultLine),
	"get-desired":                as(desiredTable),
	"get-KIND":                   as((*shell).entryDetail),
	"get-uses-KIND":              as(usesTable),
	"list-desired":               as(progressTable),
	"list-assignments":           as(lastAssignmentsTable),
	"list-robot-activities":      as(robotActivitiesTable),
	"revert-assignment":          as(revertedLines),
	"list-assets":                as(assetTable),
	"delete-KIND":                as(deletionLines),
	"explain-condition":          as(func(_ *shell, out io.Writer, got api.Explanation) { fmt.Fprintln(out, explanationText(got)) }),
	"get-command":                as(func(sh *shell, out io.Writer, c api.Command) { sh.commandTable(out, []api.Command{c}) }),
	"list-batches":               as(batchesTable),
	"list-commands":              as(func(sh *shell, out io.Writer, got api.CommandList) { sh.commandTable(out, got.Commands) }),
	"release-stops":              as(releasedText),
	"make-access-token":          as(madeTokenText),
	"make-enrolment-token":       says(enrolmentText),
	"get-identity":               as(identityTables),
	"revoke-robot":               says(revokedLine),
	"list-instance-certificates": as(certificateTables),
	"revoke-certificate":         says(revokedCertificateText),
	"get-decommission":           says(decommissionText),
	"list-orphans":               as(orphanTable),
	"list-points":                as(pointTable),
	"get-robot":                  as(robotDetail),
	"get-policy":                 as(policyText),
	"put-policy":                 as(policyResultText),
	"delete-policy":              as(policyResultText),
	"explain-robot":              as(robotWhyTable),
	"set-labels":                 says(labelsText),
	"label-robots":               says(labeledText),
	"me":                         as(whoText),
	"health":                     says(healthLine),
	"delete-orphan":              says(deletedText),
	"put-site":                   as(siteChangedText),
	"get-site-week":              as(weekText),
	"put-schedule":               as(scheduleText),
	"get-schedule":               as(scheduleText),
	"put-receiver":               says(receiverText),
	"put-route":                  says(routeText),
	"next-instants":              as(func(_ *shell, out io.Writer, got api.ComingInstants) { instantTable(out, got.Next) }),
	"plan-rollout":               as(planText),
	"create-rollout":             as(rolloutText),
	"get-rollout":                as(rolloutText),
	"start-rollout":              as(rolloutText),
	"pause-rollout":              as(rolloutText),
	"resume-rollout":             as(rolloutText),
	"retry-rollout":              as(rolloutText),
	"abort-rollout":              as(rolloutText),
	"rollback-rollout":           as(rolloutText),
	"approve-rollout":            as(rolloutText),
}

// as makes the text of an answer of one type.
func as[T any](print func(sh *shell, out io.Writer, got T)) func(*shell, io.Writer, any) {
	return func(sh *shell, out io.Writer, got any) { print(sh, out, *got.(*T)) }
}

// says makes the text of an answer of one type, in whole lines.
func says[T any](text func(T) string) func(*shell, io.Writer, any) {
	return func(_ *shell, out io.Writer, got any) { fmt.Fprintln(out, text(*got.(*T))) }
}

// finish is what a command does with its request and its arguments, instead of sending it and showing the answer.
type finish func(ctx context.Context, args []string, r rowRequest) error

// finishes are, by the id of the row, what sends the request of a command where sendEach is not enough: it asks for a
// secret, demands a reason, waits for robots or makes several requests. It may add flags that are no parameters of the
// operation.
var finishes = map[string]func(sh *shell, c *cobra.Command) finish{
	"adopt-robot":          waiting((*shell).awaitBatch),
	"assign":               assignInWaves(waiting((*shell).awaitAssigned), storyOf),
	"assign-activities":    assignInWaves(waiting((*shell).awaitActivities), activitiesOf),
	"cancel-command":       waiting((*shell).awaitCancel),
	"create-rollout":       createRollout,
	"plan-rollout":         planRollout,
	"start-rollout":        startRollout,
	"delete-KIND":          deleteEntry,
	"delete-asset":         deleteAsset,
	"duplicate-KIND":       duplicateDraft,
	"get-robot":            getRobot,
	"list-desired":         listDesired,
	"list-stops":           listStops,
	"release-stops":        releaseStops,
	"restore-KIND":         restoreDraft,
	"revert-assignment":    waiting((*shell).awaitReverted),
	"stop":                 stopRobots,
	"add-user":             addUser,
	"change-user":          setUser,
	"end-session":          endSession,
	"make-enrolment-token": makeEnrolmentToken,
	"revoke-robot":         needsReason("the robot is no longer trusted"),
	"revoke-certificate":   revokeCertificate,
	"decommission":         decommissionRobot,
	"ask-record":           getRecord,
	"list-audit":           listAudit,
	"export-audit":         exportAudit,
	"list-events":          listEvents,
	"put-site":             putDescribed("site"),
	"put-schedule":         putDescribed("schedule"),
	"next-instants":        nextInstants,
	"list-measurements":    robotMeasurements,
	"put-receiver":         putDescribed("receiver"),
	"put-route":            putDescribed("route"),
	"test-receiver":        testReceiver,
}

// needsReason refuses a request without a reason, unless it is a dry run.
func needsReason(what string) func(*shell, *cobra.Command) finish {
	return func(sh *shell, _ *cobra.Command) finish {
		return func(ctx context.Context, _ []string, r rowRequest) error {
			if why, _ := r.body["why"].(string); strings.TrimSpace(why) == "" && r.body["dry_run"] != true {
				return usage("--why is missing: write why %s", what)
			}
			return sh.sendRow(ctx, r)
		}
	}
}

// waiting adds --wait: with it a command waits for what robots do, and shows that and ends with it.
func waiting[T any](await func(sh *shell, ctx context.Context, got T, wait time.Duration) error) func(*shell, *cobra.Command) finish {
	return func(sh *shell, c *cobra.Command) finish {
		var wait time.Duration
		waitFlag(c, &wait)
		return func(ctx context.Context, args []string, r rowRequest) error {
			if wait == 0 || r.body["dry_run"] == true {
				return sh.sendEach(ctx, args, r)
			}
			return r.each(args, func() error {
				var got T
				if err := sh.call(ctx, r.http(), &got); err != nil {
					return err
				}
				return await(sh, ctx, got, wait)
			})
		}
	}
}

// parts are further commands of operations, such as story withdraw of assign. A fixed parameter has no flag: its value is
// always sent, and nil is never sent.
var parts = []struct {
	id, use, short string
	fixed          given
	own            func(sh *shell, c *cobra.Command) finish // instead of that of the operation
}{
	{"assign", "story withdraw ROBOT...", "remove the default story of robots", given{"story": nil, "rev": nil}, nil},
	{"assign-activities", "activity withdraw ROBOT...", "remove all activities of robots", given{"activities": []string{}}, nil},
	{"desired", "desired config [KEY=VALUE...] [ROBOT...]", "change the desired settings", given{"previous": nil}, desiredConfig},
	{"desired", "desired mode MODE ROBOT...", "set the desired mode after start-up", given{"previous": nil}, desiredMode},
	{"desired", "desired places ROBOT...", "set the desired map and named points", given{"previous": nil}, desiredPlaces},
	{"get-rollout", "rollout watch ID", "draw the waves of a rollout until it is over", nil, watchesRollout},
	{"put-site", "site hours SITE", "change the zone, some hours, exceptions or windows of a site", nil, siteHours},
	{"desired", "desired revert KIND ROBOT...", "give robots back the config, mode or places that they had before", nil, revertDesired},
}

// groups are the commands that have only commands below them, and what they are about.
var groups = map[string]string{
	"event":    "what happened to robots: list",
	"desired":  "desired state of robots: config, mode, places, revert, assignments, list, get",
	"alert":    "present problems of robots: list, ack",
	"session":  "sign-ins in browsers",
	"rollout":  "contents on their way to robots in waves: plan, create, start, watch, pause, abort, rollback",
	"pin":      "what people pinned on robots: list, set, remove",
	"schedule": "what happens at which times: list, put, next, runs",
	"token":    "access tokens, with which programs make requests as a user",
}

// operations are the rows, which are made once: every command of a verb takes one.
var operations = sync.OnceValue(api.Operations)

// addOperations adds the commands that are made from rows, below the groups that they name. A group that root does not
// have is made.
func (sh *shell) addOperations(root *cobra.Command) {
	for _, o := range operations() {
		if o.Use != "" {
			addBelow(root, o, sh.operationCommand(o, nil, nil))
		}
		for _, p := range parts {
			if p.id == o.ID {
				part := o
				part.Use, part.Short, part.Long, part.Description, part.Example = p.use, p.short, "", "", ""
				addBelow(root, part, sh.operationCommand(part, p.fixed, p.own))
			}
		}
	}
}

// addBelow adds the command of a row to its group. If the group has a command of this name already, the two become one:
// activity list does what it did, and activity list ROBOT what the row says.
func addBelow(at *cobra.Command, o operation.Operation, c *cobra.Command) {
	words, _, _ := o.CommandLine()
	below := func(word string) *cobra.Command {
		i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == word })
		if i < 0 {
			return nil
		}
		return at.Commands()[i]
	}
	for _, word := range words[:len(words)-1] {
		if below(word) == nil {
			at.AddCommand(group(word, groups[word]))
		}
		at = below(word)
	}
	alone := below(c.Name())
	if alone == nil {
		at.AddCommand(c)
		return
	}
	run, name := alone.RunE, firstArg(c)
	alone.Use, alone.Args = alone.Use+" ["+name+"]", cobra.MaximumNArgs(1)
	alone.Long = orElse(alone.Long, alone.Short) + "; with " + name + " " + c.Short
	alone.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return c.RunE(cmd, args)
		}
		return run(cmd, args)
	}
}

// operationCommand makes the command of a row. What is fixed has no flag; own comes instead of what finishes has.
func (sh *shell) operationCommand(o operation.Operation, fixed given, own func(*shell, *cobra.Command) finish) *cobra.Command {
	words, arguments, flags := o.CommandLine()
	flags = slices.DeleteFunc(slices.Clone(flags), func(p operation.Param) bool { _, is := fixed[p.Name]; return is })
	at := strings.Index(o.Use, words[len(words)-1])
	c := &cobra.Command{
		Use: o.Use[at:], Short: orElse(o.Short, lowerFirst(o.Summary)), Long: o.Long,
		Example: strings.TrimSuffix("  fleetd "+strings.ReplaceAll(o.Example, "\n", "\n  fleetd "), "  fleetd "),
	}
	if c.Long == "" && o.Description != "" {
		c.Long = o.Summary + ". " + o.Description
	}
	var robots targets
	selects := false
	values := map[string]func() (any, error){} // by the flag
	for _, p := range flags {
		switch {
		case p.Type == reflect.TypeFor[selector.Selector]():
			robots.flags(c)
			selects = true
		case p.Flag != "":
			values[p.Flag] = addFlag(c.Flags(), p)
			if p.Required && p.Default == "" && p.Type.Kind() == reflect.String && p.Name != "why" {
				_ = c.MarkFlagRequired(p.Flag)
			}
		}
	}
	c.Args = argumentsLike(arguments, selects)
	end := finish(sh.sendEach)
	if own == nil {
		own, _ = ofRow(finishes, o.ID)
	}
	if own != nil {
		end = own(sh, c)
	} else if i := slices.IndexFunc(arguments, func(a operation.Argument) bool { return a.In == "" }); i >= 0 {
		panic("the command of " + o.ID + " has an argument that is no parameter: " + arguments[i].Word)
	}
	c.RunE = run(func(cmd *cobra.Command, args []string) error {
		ask := sh.request(o.ID, nil)
		for _, p := range o.Params() {
			if value := fixed[p.Name]; value != nil {
				ask.set(p, value)
			}
		}
		names := args[min(len(args), len(arguments)):]
		if last := len(arguments) - 1; last >= 0 && arguments[last].Joined && robots.any() { // flags select robots, so no argument does
			args, names = append(args[:last:last], strings.Join(args[last:], ",")), nil
		} else if last >= 0 && arguments[last].Word == "KEY=VALUE" { // before and after names
			names = slices.DeleteFunc(slices.Clone(args[last:]), func(arg string) bool { return strings.Contains(arg, "=") })
		}
		for _, p := range flags {
			switch {
			case p.Type == reflect.TypeFor[selector.Selector]():
				chosen, err := robots.selector(names)
				if err != nil {
					return err
				}
				ask.set(p, chosen)
			case p.Flag != "" && cmd.Flags().Changed(p.Flag) || p.Initial != "":
				value, err := values[p.Flag]()
				if err != nil {
					return err
				}
				ask.set(p, value)
			}
		}
		for i, a := range arguments {
			switch {
			case i >= len(args) || a.In == "":
			case strings.Trim(args[i], " ,") == "": // a variable that is not set; no story means to withdraw it
				return usage("which %s? %q names none", strings.ToLower(a.Word), args[i])
			case a.Again && a.In != "path":
				ask.set(a.Param, args[i:])
			case a.Joined:
				ask.set(a.Param, strings.FieldsFunc(args[i], func(r rune) bool { return r == ',' }))
			default:
				ask.set(a.Param, args[i])
			}
		}
		return end(cmd.Context(), args, ask)
	})
	return c
}

// ofRow returns what a map has for a row. A row of acts, stories or activities may have it under its id with KIND.
func ofRow[V any](all map[string]V, id string) (v V, has bool) {
	if v, has = all[id]; has {
		return v, true
	}
	if i := strings.LastIndexByte(id, '-') + 1; slices.Contains([]string{"act", "story", "activity"}, id[i:]) {
		v, has = all[id[:i]+"KIND"]
	}
	return v, has
}

// argumentsLike accepts as many arguments as a row has, and after them the names of robots if it selects some.
func argumentsLike(all []operation.Argument, selects bool) cobra.PositionalArgs {
	least, most := 0, len(all)
	for _, a := range all {
		if !a.Optional {
			least++
		}
		selects = selects || a.Again
	}
	switch {
	case selects && least > 0:
		return atLeastOne
	case selects:
		return cobra.ArbitraryArgs
	case most == 0:
		return cobra.NoArgs
	case least == 1 && most == 1:
		return exactlyOne
	}
	return cobra.RangeArgs(least, most)
}

// addFlag adds the flag of a parameter, and returns what reads its value for a request.
func addFlag(f *pflag.FlagSet, p operation.Param) func() (any, error) {
	t := p.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	doc := p.Doc
	if len(p.Enum) > 0 {
		doc = strings.TrimSpace(doc + " (" + strings.Join(p.Enum, ", ") + ")")
	}
	initial := orElse(p.Initial, p.Default)
	number, _ := strconv.ParseInt(initial, 10, 64) // of what is no number it is not used
	switch kind := t.Kind(); {
	case p.Unit == "ms":
		v := f.Duration(p.Flag, time.Duration(number)*time.Millisecond, doc)
		return func() (any, error) { return v.Milliseconds(), nil }
	case p.Unit == "when":
		v := f.String(p.Flag, "", doc+" this: how long ago, such as 10m, or a time such as 2026-01-31T09:30:00Z")
		return func() (any, error) { return timeGiven(p.Flag, *v) }
	case kind == reflect.Bool:
		v := f.Bool(p.Flag, false, doc)
		return func() (any, error) { return *v, nil }
	case kind == reflect.Slice:
		v := &[]string{}
		if p.Name == "label" { // its values may have commas
			f.StringArrayVarP(v, p.Flag, "l", nil, doc)
		} else {
			f.StringSliceVar(v, p.Flag, nil, doc)
		}
		return func() (any, error) { return *v, nil }
	case kind >= reflect.Int && kind <= reflect.Uint64:
		v := f.Int64(p.Flag, number, doc)
		return func() (any, error) { return *v, nil }
	case kind == reflect.String || t == reflect.TypeFor[time.Time]():
		v := f.String(p.Flag, initial, doc)
		return func() (any, error) {
			i := slices.IndexFunc(p.Enum, func(one string) bool { return strings.EqualFold(one, *v) })
			switch {
			case i >= 0:
				return p.Enum[i], nil
			case p.Unit == "choice":
				return nil, usage("--%s %s: write %s", p.Flag, *v, anyOf(p.Enum))
			}
			return *v, nil
		}
	}
	panic("no flag can have a " + t.String() + ": " + p.Name)
}

// timeGiven reads how long ago something was, or when.
func timeGiven(flag, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if ago, failed := time.ParseDuration(text); failed == nil && ago > 0 {
		at, err = time.Now().Add(-ago), nil
	}
	if err != nil {
		return "", usage("--%s %s: write how long ago, such as 2h, or a time such as 2026-01-31T09:30:00Z", flag, text)
	}
	return at.UTC().Format(time.RFC3339Nano), nil
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
