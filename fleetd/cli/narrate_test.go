package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"troupe/schema"
	"troupe/schema/golden"
)

// The events are those of a robot that played a day of visitors.
func TestDayIsToldAsAStory(t *testing.T) {
	golden.Compare(t, "testdata/watch/day.txt", tellEvents(t, "testdata/watch/day.jsonl"))
}

func tellEvents(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := &narrator{story: "museum-welcome", act: func(_, id string) actText {
		return map[string]actText{"welcome": {"Welcome", "Good morning, and welcome to the museum."}}[id].or(id)
	}}
	var out strings.Builder
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e schema.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		for _, line := range n.tell(e) {
			at := n.at(e.TS)
			fmt.Fprintf(&out, "%-8s  %-6s  %s\n", at.scenario, line.Kind, line.Text)
		}
	}
	return out.String()
}

func (a actText) or(id string) actText {
	if a.name == "" {
		a.name = id
	}
	return a
}
