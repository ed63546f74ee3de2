package cli

import (
	"fmt"
	"strings"
	"testing"
)

func TestActsArePublishedAfterThoseThatTheyPerform(t *testing.T) {
	act := func(id string, nested ...string) source {
		var b strings.Builder
		fmt.Fprintf(&b, "act: %s\nactions:\n  - {type: wait, start_ms: 0, end_ms: 9}\n", id)
		for _, other := range nested {
			fmt.Fprintf(&b, "  - {type: act, start_ms: 0, act: %s}\n", other)
		}
		return source{kind: "act", id: id, text: []byte(b.String())}
	}
	var got []string
	for _, s := range performedFirst([]source{act("a", "c", "elsewhere"), act("b"), act("c", "d"), act("d", "a"), {kind: "story", id: "s"}}) {
		got = append(got, s.id)
	}
	if order := strings.Join(got, " "); order != "d c a b s" {
		t.Errorf("the order is %s", order)
	}
}
