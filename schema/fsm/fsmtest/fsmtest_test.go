package fsmtest

import (
	"flag"
	"testing"

	"troupe/schema/fsm"
)

var lamp = fsm.Table[string, string]{
	{From: fsm.In("off"), On: "press", To: "on", Why: "somebody wants light"},
	{From: fsm.In("on"), On: "press", To: "off", Why: "somebody has seen enough"},
}

// count is a testing.TB that only counts its failures.
type count struct {
	testing.TB
	failures int
}

func (c *count) Helper()               {}
func (c *count) Error(...any)          { c.failures++ }
func (c *count) Errorf(string, ...any) { c.failures++ }

func TestValidTableAndDiagramPass(t *testing.T) {
	Check(t, lamp, "off", []string{"off", "on"})
	CheckDiagram(t, "testdata/lamp.md", lamp, "off")
}

func TestEveryErrorFails(t *testing.T) {
	c := count{TB: t}
	Check(&c, lamp[:1], "off", []string{"off", "on", "broken"}) // on has no way out; broken has no way in or out
	if c.failures != 3 {
		t.Errorf("%d failures", c.failures)
	}
}

func TestDiagramOfAnotherTableFails(t *testing.T) {
	flags := flag.Lookup("update")
	was := flags.Value.String()
	t.Cleanup(func() { _ = flags.Value.Set(was) })
	_ = flags.Value.Set("false") // never write the wrong table
	c := count{TB: t}
	CheckDiagram(&c, "testdata/lamp.md", lamp[:1], "off")
	if c.failures != 1 {
		t.Errorf("%d failures", c.failures)
	}
}

func TestUnusedTransitionIsReported(t *testing.T) {
	table, c := append(fsm.Table[string, string]{{From: fsm.In("on", "off"), On: "kick", To: "off", Why: "it was kicked"}}, lamp...),
		count{TB: t}
	CheckEveryRowIsNeeded(&c, &table, func() string {
		at := "off"
		for _, on := range []string{"press", "press", "kick"} {
			row, ok := table.Next(at, on)
			if !ok {
				panic("refused")
			}
			at = row.To
		}
		return at
	})
	if c.failures != 1 || len(table) != 3 || len(table[0].From) != 2 {
		t.Errorf("%d failures, want 1 for the kick of a lamp that is on; the table has %d rows", c.failures, len(table))
	}
}
