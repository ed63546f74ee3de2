package robot

import (
	"testing"

	"troupe/schema"
)

// Whoever leaves out, or writes differently, what lets go of a stop has not let go
// of it.
func TestAStopThatDoesNotSayThatItIsOverIsNot(t *testing.T) {
	const head = `{"rev":11,"authority":"5f0c2f0e-6a3c-4e0e-9d5c-0f6a3e1b2c4d","ts":"2026-01-01T00:00:00.000Z"`
	for _, c := range []struct {
		kind schema.TopicKind
		rest string
		over bool
	}{
		{schema.TopicFleetStop, `,"active":false}`, true},
		{schema.TopicFleetStop, `}`, false},
		{schema.TopicFleetStop, `,"active":null}`, false},
		{schema.TopicFleetStop, `,"Active":false}`, false},
		{schema.TopicDesiredStop, `,"stops":[]}`, true},
		{schema.TopicDesiredStop, `}`, false},
		{schema.TopicDesiredStop, `,"stops":null}`, false},
		{schema.TopicDesiredStop, `,"Stops":[]}`, false},
	} {
		doc := stopDocument(c.kind, []byte(head+c.rest)).Document
		if over := doc.Problem == "" && len(doc.Stops) == 0; over != c.over {
			t.Errorf("%s %s: %+v", c.kind, c.rest, doc)
		}
	}
}
