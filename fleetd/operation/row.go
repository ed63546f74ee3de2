// Package operation describes what people and programs can ask of fleetd: each operation is one row, with the types
// of its input and its answer and the function that does it. From the row follow its route and its description in the
// HTTP API, who may do it, what its entry in the audit says, its command, and the line that the console shows for it.
//
// An input is a struct as huma reads it: fields with the tag path or query, and a field Body whose fields have the
// tag json. The tag doc says what a field is, also in the help of the flag that is made from it. The tag cli is
// FLAG,UNIT,INITIAL: the flag if it is not named like the field (- = no flag), how it is written on the command line (see
// Param.Unit), and what is sent if it is not given.
package operation

import (
	"context"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
)

// Row is what is said of an operation.
type Row struct {
	ID     string // such as ack-alert; stable
	Method string
	Path   string // below the prefix of the API, with {parameters}
	Tag    string // group in the description
	Right  auth.Rights

	Summary     string // one line in the imperative, without a full stop
	Description string // sentences

	// Audit is what the entry in the audit says was done; empty of what only reads.
	Audit audit.Action
	// ReadOnly is set if it changes nothing, although its method may.
	ReadOnly bool
	// FleetWide is set if it is about what belongs to no site: principals with sites may not.
	FleetWide bool
	// AtRoot is set if Path is not below the prefix of the API.
	AtRoot bool
	// MaxBody bounds the body of a request, in bytes; 0 = 1 MiB. For more, api.Guard must allow the path, too.
	MaxBody int64
	// More completes the description for huma, such as with how long a body may take; may be nil.
	More func(*huma.Operation)

	// Example is a command line that does it, without the name of the program; empty if it is Use. A test runs it. More
	// lines are only in the help.
	Example string
	// Without is set if that line does not call the operation: what it does instead, such as "without fleetd".
	Without string
	// NoLine says who calls the operation, if it has no line.
	NoLine string

	// Use is set if the command is made from this row: its words, and its arguments in capitals. The arguments are
	// the parameters of the path in their order, and then fields of the input by their names. ROBOT... stands for the selector
	// of the input, if it has one. One that ends with ... may be given several times. Every other field of the input is
	// a flag, unless Param.Flag is empty.
	Use string
	// Short is the line about the command in the help; empty if it is the summary.
	Short string
	// Long is the help; empty if it is the summary and the description.
	Long string
	// Columns are those of the table that shows the answer: "SINCE first_ts | ROBOT robot", with the name that a
	// field has in JSON, and those of the fields that contain it before it with a dot. A method of the row ends with ();
	// =TEXT behind a place stands for an empty cell.
	Columns string
	// None is the text instead of a table without rows.
	None string
	// Done is the text after it was done, instead of a table: {id} is a parameter of the path, {.id} a field of the answer;
	// {.id=TEXT} is TEXT if it is empty, and methods are as in Columns.
	Done string
}

// Prefix is the path prefix of operations.
const Prefix = "/api/v1"

// Route is the whole path, with {parameters}.
func (r Row) Route() string {
	if r.AtRoot {
		return r.Path
	}
	return Prefix + r.Path
}

// Audited is what the entry of the operation in the audit says was done; of a refused request that only reads, the id in
// words.
func (r Row) Audited() audit.Action {
	if r.Audit != "" {
		return r.Audit
	}
	return audit.Action(strings.ReplaceAll(r.ID, "-", " "))
}

// Operation is a row with its input, its answer and its function.
type Operation struct {
	Row
	In, Out reflect.Type // structs as huma knows them: the answer's fields are its headers and Body
	// Mount adds the operation to an API. described is its description as that API completed it.
	Mount func(h huma.API, described huma.Operation)
}

// Table collects operations.
type Table struct{ All []Operation }

// Register adds an operation to a table: a row, and the function that does it, with an *I as huma reads it and an *O as
// huma writes it.
func Register[I, O any](t *Table, r Row, do func(context.Context, *I) (*O, error)) {
	mount := func(h huma.API, described huma.Operation) {
		huma.Register(h, described, func(ctx context.Context, in *I) (*O, error) {
			if isDryRun(in) {
				audit.Written(ctx) // no entry is due unless it is refused: it changes nothing
			}
			return do(ctx, in)
		})
	}
	if r.Example == "" {
		r.Example = r.Use
	}
	t.All = append(t.All, Operation{Row: r, In: reflect.TypeFor[I](), Out: reflect.TypeFor[O](), Mount: mount})
}

// isDryRun reports whether dry_run is set in the query or the body of an input.
func isDryRun(in any) bool {
	query := reflect.Indirect(reflect.ValueOf(in))
	for _, v := range []reflect.Value{query, query.FieldByName("Body")} {
		if v.Kind() != reflect.Struct {
			continue
		}
		if set := v.FieldByName("DryRun"); set.Kind() == reflect.Bool && set.Bool() {
			return true
		}
	}
	return false
}
