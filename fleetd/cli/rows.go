package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"regexp"
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
	"troupe/schema"
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
	"set-labels":                 says(labelsText),
	"label-robots":               says(labeledText),
	"me":                         as(whoText),
	"health":                     says(healthLine),
	"delete-orphan":              says(deletedText),
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
	"assign":               waiting((*shell).awaitAssigned),
	"assign-activities":    waiting((*shell).awaitActivities),
	"cancel-command":       waiting((*shell).awaitCancel),
	"delete-KIND":          deleteEntry,
	"delete-asset":         deleteAsset,
	"duplicate-KIND":       duplicateDraft,
	"list-desired":         listDesired,
	"list-stops":           listStops,
	"release-stops":        needsReason("robots may move again"),
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
	{"desired", "desired revert KIND ROBOT...", "give robots back the config, mode or places that they had before", nil, revertDesired},
}

// groups are the commands that have only commands below them, and what they are about.
var groups = map[string]string{
	"event":   "what happened to robots: list",
	"desired": "desired state of robots: config, mode, places, revert, assignments, list, get",
	"alert":   "present problems of robots: list, ack",
	"session": "sign-ins in browsers",
	"token":   "access tokens, with which programs make requests as a user",
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

// rowRequest is a request for an operation.
type rowRequest struct {
	operation operation.Operation
	path      map[string]string
	query     url.Values
	body      map[string]any
}

// set gives a parameter its value.
func (r *rowRequest) set(p operation.Param, value any) {
	switch p.In {
	case "path":
		r.path[p.Name] = fmt.Sprint(value)
	case "query":
		several, is := value.([]string)
		switch {
		case is && p.Explode:
			r.query[p.Name] = several
			return
		case is:
			value = strings.Join(several, ",")
		}
		r.query.Set(p.Name, fmt.Sprint(value))
	default:
		r.body[p.Name] = value
	}
}

// given are values of parameters, by their names in the request. One that is zero is not sent, unless it is in the path.
type given map[string]any

// request makes a request for an operation, in the name of who uses the command line.
func (sh *shell) request(id string, values given) rowRequest {
	all := operations()
	i := slices.IndexFunc(all, func(o operation.Operation) bool { return o.ID == id })
	r := rowRequest{operation: all[i], query: url.Values{}, body: map[string]any{}, path: map[string]string{}}
	params := r.operation.Params()
	for name, value := range values {
		p := params[slices.IndexFunc(params, func(p operation.Param) bool { return p.Name == name })]
		if p.In == "path" || value != nil && !reflect.ValueOf(value).IsZero() {
			r.set(p, value)
		}
	}
	if i := slices.IndexFunc(params, func(p operation.Param) bool { return p.Name == "by" }); i >= 0 {
		r.set(params[i], sh.by)
	}
	return r
}

// http is the request as it is sent.
func (r *rowRequest) http() apiRequest {
	path := r.operation.Route()
	for name, value := range r.path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	a := apiRequest{method: r.operation.Method, path: path, query: r.query}
	if _, hasBody := r.operation.In.FieldByName("Body"); hasBody {
		a.body = r.body
	}
	return a
}

// do sends a request for an operation and decodes its answer.
func (sh *shell) do(ctx context.Context, id string, values given, into any) error {
	r := sh.request(id, values)
	return sh.call(ctx, r.http(), into)
}

// doAndShow sends a request for an operation and shows the answer.
func (sh *shell) doAndShow(ctx context.Context, id string, values given) error {
	return sh.sendRow(ctx, sh.request(id, values))
}

// sendEach sends a request, or one for each of the arguments if its path has the last of them, and shows the answers.
func (sh *shell) sendEach(ctx context.Context, args []string, r rowRequest) error {
	return r.each(args, func() error { return sh.sendRow(ctx, r) })
}

// each sends the request once, or once for each value of the last argument if that repeats and is in the path
// (adopt ROBOT...). It goes on after a failure without text, which the output has shown, and stops at any other error. It
// returns the first error.
func (r *rowRequest) each(args []string, send func() error) (worst error) {
	_, arguments, _ := r.operation.CommandLine()
	last := len(arguments) - 1
	if last < 0 || !arguments[last].Again || arguments[last].In != "path" {
		return send()
	}
	for _, arg := range args[last:] {
		r.set(arguments[last].Param, arg)
		err := send()
		if f := (*failure)(nil); err != nil && (!errors.As(err, &f) || f.err != nil) {
			return err
		}
		worst = cmp.Or(worst, err)
	}
	return worst
}

// sendRow sends a request and shows its answer.
func (sh *shell) sendRow(ctx context.Context, r rowRequest) error {
	o := r.operation
	answer, has := o.Out.FieldByName("Body")
	if !has {
		if err := sh.call(ctx, r.http(), nil); err != nil {
			return err
		}
		fmt.Fprintln(sh.Out, r.sentence(reflect.Value{}))
		return nil
	}
	got := reflect.New(answer.Type)
	if err := sh.call(ctx, r.http(), got.Interface()); err != nil {
		return err
	}
	return sh.show(got.Interface(), func(out io.Writer) {
		text, told := ofRow(texts, o.ID)
		switch {
		case told:
			text(sh, out, got.Interface())
		case o.Columns != "":
			columnsTable(out, o.Row, got.Elem())
		default:
			fmt.Fprintln(out, r.sentence(got.Elem()))
		}
	})
}

// placeholder is a parameter of the path, or a place in the answer after a dot, and the text if it is empty.
var placeholder = regexp.MustCompile(`\{(\.?)([\w.]+(?:\(\))?)(?:=([^}]+))?\}`)

// sentence is what a row says when it is done.
func (r *rowRequest) sentence(answer reflect.Value) string {
	return placeholder.ReplaceAllStringFunc(r.operation.Done, func(found string) string {
		parts := placeholder.FindStringSubmatch(found)
		if parts[1] == "" {
			return r.path[parts[2]]
		}
		return orElse(cellAt(answer, parts[2]), parts[3])
	})
}

// column is one column of a table: its header, the place of its cells in JSON or a method of the row, and the text of
// a cell that is empty.
var column = regexp.MustCompile(`^(.+) ([\w.]+(?:\(\))?)(?:=(.+))?$`)

// columnsTable writes what an answer lists, or the one thing that it is, as a table of these columns.
func columnsTable(out io.Writer, r operation.Row, answer reflect.Value) {
	rows := []reflect.Value{answer}
	for f := range answer.Type().Fields() {
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.String {
			rows = rows[:0]
			for i := range answer.FieldByIndex(f.Index).Len() {
				rows = append(rows, answer.FieldByIndex(f.Index).Index(i))
			}
		}
	}
	if len(rows) == 0 && r.None != "" {
		fmt.Fprintln(out, r.None)
		return
	}
	var headers []string
	var places [][]string
	for one := range strings.SplitSeq(r.Columns, " | ") {
		parts := column.FindStringSubmatch(one)
		headers, places = append(headers, parts[1]), append(places, parts[2:])
	}
	writeTable(out, strings.Join(headers, "\t"), rows, func(row reflect.Value) []any {
		cells := make([]any, len(places))
		for i, place := range places {
			cells[i] = dash(orElse(cellAt(row, place[0]), place[1]))
		}
		return cells
	})
}

// cellAt is the text of a place in a row.
func cellAt(v reflect.Value, place string) string {
	for name := range strings.SplitSeq(place, ".") {
		if method, is := strings.CutSuffix(name, "()"); is {
			return fmt.Sprint(v.Addr().MethodByName(method).Call(nil)[0])
		}
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return ""
			}
			v = v.Elem()
		}
		v = fieldNamed(v, name)
	}
	switch value := v.Interface().(type) {
	case schema.Time:
		return formatTime(value)
	case bool:
		if value {
			return "yes"
		}
		return ""
	}
	if v.Kind() == reflect.Slice {
		var all []string
		for i := range v.Len() {
			all = append(all, fmt.Sprint(v.Index(i)))
		}
		return strings.Join(all, ", ")
	}
	return fmt.Sprint(v)
}

// fieldNamed returns the field of a struct that has this name in JSON.
func fieldNamed(v reflect.Value, name string) reflect.Value {
	for _, f := range reflect.VisibleFields(v.Type()) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return v.FieldByIndex(f.Index)
		}
	}
	panic(v.Type().String() + " has no field " + name)
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
