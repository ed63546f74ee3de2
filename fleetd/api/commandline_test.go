package api

import (
	"net/http"
	"slices"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

func TestEveryOperationHasItsCommandLine(t *testing.T) {
	var described []string
	everyRoute(t, func(_ *http.ServeMux, path string, o *huma.Operation) {
		described = append(described, o.OperationID)
		_, forPeople := commandLines[o.OperationID]
		_, forRobots := withoutCommandLine[o.OperationID]
		if forPeople == forRobots {
			t.Errorf("%s %s: the operation %s needs a row in commandLines, or in withoutCommandLine if only robotd calls it", o.Method, path, o.OperationID)
		}
		if _, ok := o.Extensions[commandKey]; ok != forPeople {
			t.Errorf("%s: %s in the description is %v", o.OperationID, commandKey, o.Extensions)
		}
	})
	for _, table := range []map[string]string{commandLines, otherWays, withoutCommandLine} {
		for id := range table {
			if !slices.Contains(described, id) {
				t.Errorf("there is no operation %s", id)
			}
		}
	}
}
