package audit_test

import (
	"os"
	"slices"
	"testing"

	"troupe/fleetd/audit"
	"troupe/schema/enums"
)

func TestEveryActionHasWordsOnce(t *testing.T) {
	source, err := os.ReadFile("action.go")
	if err != nil {
		t.Fatal(err)
	}
	all, err := enums.Parse(source)
	if err != nil || len(all) != 1 {
		t.Fatalf("found %d enums, %v", len(all), err)
	}
	var listed []audit.Action
	for _, row := range audit.Actions {
		if listed = append(listed, row.Action); row.Text == "" {
			t.Errorf("%s has no words", row.Action)
		}
	}
	var want []audit.Action
	for _, v := range all[0].Values {
		want = append(want, audit.Action(v.Text))
	}
	if !slices.Equal(listed, want) {
		t.Errorf("the table has\n%v\nand the constants are\n%v", listed, want)
	}
}
