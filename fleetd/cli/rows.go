package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
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
	"make-access-token": as(madeTokenText),
}

// as makes the text of an answer of one type.
func as[T any](print func(sh *shell, out io.Writer, got T)) func(*shell, io.Writer, any) {
	return func(sh *shell, out io.Writer, got any) { print(sh, out, *got.(*T)) }
}

// groups are the commands that have only commands below them, and what they are about.
var groups = map[string]string{
	"alert":   "present problems of robots: list, ack",
	"session": "sign-ins in browsers",
	"token":   "access tokens, with which programs make requests as a user",
}

// addOperations adds the commands that are made from rows, below the groups that they name. A group that root does not
// have is made.
func (sh *shell) addOperations(root *cobra.Command) {
	for _, o := range api.Operations() {
		if o.Use == "" {
			continue
		}
		words, _, _ := o.CommandLine()
		at := root
		for _, word := range words[:len(words)-1] {
			i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == word })
			if i < 0 {
				at.AddCommand(group(word, groups[word]))
				i = slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == word })
			}
			at = at.Commands()[i]
		}
		at.AddCommand(sh.operationCommand(o))
	}
}

// operationCommand makes the command of a row.
func (sh *shell) operationCommand(o operation.Operation) *cobra.Command {
	words, arguments, flags := o.CommandLine()
	at := strings.Index(o.Use, words[len(words)-1])
	c := &cobra.Command{
		Use: o.Use[at:], Short: orElse(o.Short, lowerFirst(o.Summary)), Long: o.Long, Example: "  fleetd " + strings.ReplaceAll(o.Example, "\n", "\n  fleetd "), Args: argumentsLike(arguments),
	}
	if c.Long == "" && o.Description != "" {
		c.Long = o.Summary + ". " + o.Description
	}
	var robots targets
	given := map[string]func() any{} // by the flag
	for _, p := range flags {
		switch {
		case p.Type == reflect.TypeFor[selector.Selector]():
			robots.flags(c)
		case p.Flag != "":
			given[p.Flag] = addFlag(c.Flags(), p)
			if p.Required && p.Default == "" && p.Type.Kind() == reflect.String {
				_ = c.MarkFlagRequired(p.Flag)
			}
		}
	}
	c.RunE = run(func(cmd *cobra.Command, args []string) error {
		ask := rowRequest{operation: o, query: url.Values{}, body: map[string]any{}, path: map[string]string{}}
		for _, p := range flags {
			switch {
			case p.Type == reflect.TypeFor[selector.Selector]():
				chosen, err := robots.selector(args[min(len(args), len(arguments)):])
				if err != nil {
					return err
				}
				ask.set(p, chosen)
			case p.Name == "by":
				ask.set(p, sh.by)
			case p.Flag != "" && cmd.Flags().Changed(p.Flag):
				ask.set(p, given[p.Flag]())
			}
		}
		for i, a := range arguments {
			switch {
			case i >= len(args):
			case a.Again && a.In != "path":
				ask.set(a.Param, args[i:])
			case !a.Again:
				ask.set(a.Param, args[i])
			}
		}
		if last := len(arguments) - 1; last >= 0 && arguments[last].Again && arguments[last].In == "path" { // one request each
			for _, arg := range args[last:] {
				ask.set(arguments[last].Param, arg)
				if err := sh.sendRow(cmd, ask); err != nil {
					return err
				}
			}
			return nil
		}
		return sh.sendRow(cmd, ask)
	})
	return c
}

// argumentsLike accepts as many arguments as a row has.
func argumentsLike(all []operation.Argument) cobra.PositionalArgs {
	least, most := 0, len(all)
	for _, a := range all {
		if !a.Optional {
			least++
		}
		if a.Again {
			most = -1
		}
	}
	switch {
	case most < 0 && least > 0:
		return atLeastOne
	case most < 0:
		return cobra.ArbitraryArgs
	case least == 1 && most == 1:
		return exactlyOne
	}
	return cobra.RangeArgs(least, most)
}

// addFlag adds the flag of a parameter, and returns what reads its value for a request.
func addFlag(f *pflag.FlagSet, p operation.Param) func() any {
	t := p.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch kind := t.Kind(); {
	case p.Unit == "ms":
		v := f.Duration(p.Flag, 0, p.Doc)
		return func() any { return v.Milliseconds() }
	case p.Unit == "ago":
		v := f.Duration(p.Flag, 0, p.Doc)
		return func() any { return time.Now().Add(-*v).UTC().Format(time.RFC3339Nano) }
	case kind == reflect.Bool:
		v := f.Bool(p.Flag, false, p.Doc)
		return func() any { return *v }
	case kind == reflect.Slice:
		v := f.StringSlice(p.Flag, nil, p.Doc)
		return func() any { return *v }
	case kind >= reflect.Int && kind <= reflect.Uint64:
		v := f.Int64(p.Flag, 0, p.Doc)
		f.Lookup(p.Flag).DefValue = orElse(p.Default, "0")
		return func() any { return *v }
	case kind == reflect.String:
		v := f.String(p.Flag, p.Default, p.Doc)
		return func() any { return *v }
	}
	panic("no flag can have a " + t.String() + ": " + p.Name)
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

// sendRow sends a request and shows its answer.
func (sh *shell) sendRow(cmd *cobra.Command, r rowRequest) error {
	o := r.operation
	path := o.Route()
	for name, value := range r.path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	a := apiRequest{method: o.Method, path: path, query: r.query}
	if _, hasBody := o.In.FieldByName("Body"); hasBody {
		a.body = r.body
	}
	answer, has := o.Out.FieldByName("Body")
	if !has {
		if err := sh.call(cmd.Context(), a, nil); err != nil {
			return err
		}
		fmt.Fprintln(sh.Out, r.sentence(nil))
		return nil
	}
	got := reflect.New(answer.Type)
	if err := sh.call(cmd.Context(), a, got.Interface()); err != nil {
		return err
	}
	return sh.show(got.Interface(), func(out io.Writer) {
		text, told := texts[o.ID]
		switch {
		case told:
			text(sh, out, got.Interface())
		case o.Columns != "":
			columnsTable(out, o.Columns, got.Elem())
		default:
			fmt.Fprintln(out, r.sentence(got.Interface()))
		}
	})
}

// placeholder is a parameter, or a field of the answer after a dot.
var placeholder = regexp.MustCompile(`\{\.?[a-z_]+\}`)

// sentence is what a row says when it is done.
func (r *rowRequest) sentence(answer any) string {
	fields := map[string]any{}
	if text, err := json.Marshal(answer); err == nil {
		_ = json.Unmarshal(text, &fields) // what is no object has no fields
	}
	return placeholder.ReplaceAllStringFunc(r.operation.Done, func(name string) string {
		name = strings.Trim(name, "{}")
		if field, ofAnswer := strings.CutPrefix(name, "."); ofAnswer {
			return fmt.Sprint(fields[field])
		}
		return r.path[name]
	})
}

// column is one column of a table: its header, the place of its cells in JSON or a method of the row, and the text of
// a cell that is empty.
var column = regexp.MustCompile(`^(.+) ([\w.]+(?:\(\))?)(?:=(.+))?$`)

// columnsTable writes what an answer lists, or the one thing that it is, as a table of these columns.
func columnsTable(out io.Writer, columns string, answer reflect.Value) {
	rows := []reflect.Value{answer}
	for f := range answer.Type().Fields() {
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.String {
			rows = rows[:0]
			for i := range answer.FieldByIndex(f.Index).Len() {
				rows = append(rows, answer.FieldByIndex(f.Index).Index(i))
			}
		}
	}
	w := newTable(out)
	var headers []string
	var places [][]string
	for one := range strings.SplitSeq(columns, " | ") {
		parts := column.FindStringSubmatch(one)
		headers, places = append(headers, parts[1]), append(places, parts[2:])
	}
	fmt.Fprintln(w, strings.Join(headers, "\t"))
	for _, row := range rows {
		cells := make([]any, len(places))
		for i, place := range places {
			cells[i] = dash(orElse(cellAt(row, place[0]), place[1]))
		}
		writeRow(w, cells...)
	}
	_ = w.Flush() // a write error shows at the next write
}

// cellAt is the text of a place in a row.
func cellAt(v reflect.Value, place string) string {
	if method, is := strings.CutSuffix(place, "()"); is {
		return fmt.Sprint(v.MethodByName(method).Call(nil)[0])
	}
	for name := range strings.SplitSeq(place, ".") {
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
