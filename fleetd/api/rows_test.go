package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/audit"

	"github.com/danielgtaylor/huma/v2"
)

// Every row has all its parts: what the compiler does not ask for.
func TestEveryRowHasAllItsParts(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Operations() {
		route := o.Method + " " + o.Route()
		if o.ID == "" || o.Summary == "" || o.Tag == "" || o.Right == 0 || seen[o.ID] || seen[route] {
			t.Errorf("the row of %q (%s) lacks its id, summary, tag or right, or there are two", o.ID, route)
		}
		if seen[o.ID], seen[route] = true, true; (o.Example == "") == (o.NoLine == "") {
			t.Errorf("the row of %s has a command line %q, and also says who calls it without: %q", o.ID, o.Example, o.NoLine)
		}
		known := slices.ContainsFunc(audit.Actions, func(a audit.ActionRow) bool { return a.Action == o.Audit }) ||
			strings.HasPrefix(string(o.Audit), "command ")
		if changes := o.Method != http.MethodGet && !o.ReadOnly; changes != known {
			t.Errorf("the row of %s (%s) says %q to the audit", o.ID, route, o.Audit)
		}
		if _, has := o.In.FieldByName("caller"); !has {
			t.Errorf("the input of %s does not embed caller, so its function does not know who asks", o.ID)
		}
	}
	everyRoute(t, func(_ *http.ServeMux, _ string, o *huma.Operation) {
		if _, has := o.Extensions[commandKey]; has != (rowOf(o).NoLine == "") {
			t.Errorf("the description of %s has the command line %v", o.OperationID, o.Extensions)
		}
	})
}
