package latch

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"troupe/schema"
)

// Robots of every release read the file that another release wrote.
func TestStoredStateKeepsItsWords(t *testing.T) {
	const stored = `{"latches":[{"id":"a","level":"stop","since":"1970-01-01T00:00:00.001Z","phase":"loose"},` +
		`{"id":"b","level":"stop","since":"1970-01-01T00:00:00.001Z","phase":"written"},` +
		`{"id":"c","level":"stop","since":"1970-01-01T00:00:00.001Z","phase":"illegible"}],"let":[{"id":"d","from":"robot","rev":4}]}`
	var s Latched
	if err := json.Unmarshal([]byte(stored), &s); err != nil {
		t.Fatal(err)
	}
	for i, want := range []Phase{Unrecorded, Recorded, Unreadable} {
		if got := s.Latches[i].Phase; got != want {
			t.Errorf("phase %d is read as %s, want %s", i, got, want)
		}
	}
	again, err := schema.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(again)); got != stored {
		t.Errorf("the state is stored as\n%s\nwant\n%s", got, stored)
	}
}
