package cli

import (
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"troupe/fleetd/api"
)

// A table or a sentence names fields and methods of the answer, which the compiler does not check.
func TestRowsShowWhatTheirAnswersHave(t *testing.T) {
	shown := 0
	for _, o := range api.Operations() {
		answer, has := o.Out.FieldByName("Body")
		if o.Columns == "" && !strings.Contains(o.Done, "{.") {
			continue
		}
		if shown++; !has {
			t.Errorf("%s has no answer to show", o.ID)
			continue
		}
		v := reflect.New(answer.Type).Elem()
		for f := range v.Type().Fields() {
			if f.Type.Kind() == reflect.Slice {
				v.FieldByIndex(f.Index).Set(reflect.MakeSlice(f.Type, 1, 1))
			}
		}
		if o.Columns != "" {
			columnsTable(io.Discard, o.Row, v)
		}
		r := rowRequest{operation: o}
		if text := r.sentence(v); strings.ContainsAny(text, "{}") {
			t.Errorf("%s says %q", o.ID, text)
		}
	}
	if shown < 10 {
		t.Errorf("only %d rows show their answers", shown)
	}
}

// The help of a flag that is made from a row is what the description of the API says of its parameter.
func TestEveryCommandHasHelpThatSaysWhatEachFlagIs(t *testing.T) {
	commands := 0
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		commands++
		var out, errs strings.Builder
		line := append(strings.Fields(c.CommandPath())[1:], "--help")
		if code := Main(t.Context(), Streams{Out: &out, Err: &errs}, "v0", line...); code != 0 || !strings.Contains(out.String(), "Usage:") ||
			errs.Len() > 0 {
			t.Errorf("%s: code %d, %s %s", line, code, out.String(), errs.String())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s --%s has no text", c.CommandPath(), f.Name)
			}
		})
		for _, below := range c.Commands() {
			look(below)
		}
	}
	look(commandLine(Streams{}, "v0"))
	if commands < 150 {
		t.Errorf("only %d commands", commands)
	}
}
