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
	"strings"
	"troupe/fleetd/operation"
)

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
