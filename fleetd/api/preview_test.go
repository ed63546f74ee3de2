package api

import (
	"os"
	"testing"

	"troupe/fleetd/library"
	"troupe/schema"
	"troupe/schema/golden"
)

// TestPreviewHasTheTimelinesOfActs compares the timelines with which the console tests what its drawn robot shows.
func TestPreviewHasTheTimelinesOfActs(t *testing.T) {
	for _, act := range []string{"welcome", "farewell", "curtain-up", "show-the-way"} {
		text, err := os.ReadFile("../../deploy/library/acts/" + act + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		drawn, problems := textTimeline(library.KindAct, text, nil, ofTimes, "en")
		if errs := schema.Errors(problems); len(errs) > 0 {
			t.Fatal(act, errs)
		}
		out, err := schema.Encode(Timeline{Kind: "act", ID: act, Timeline: drawn, Actions: actionsOf(drawn)})
		if err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, "../console/web/src/screens/editor/testdata/"+act+".json", string(out)+"\n")
	}
}
