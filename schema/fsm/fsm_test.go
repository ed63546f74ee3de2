package fsm

import (
	"strings"
	"testing"
)

type (
	state string
	event string
)

var door = Table[state, event]{
	{From: In[state]("open"), On: "push", To: "shut", Why: "a push closes it"},
	{From: In[state]("shut"), On: "pull", To: "open", Why: "a pull opens it"},
	{From: In[state]("shut"), On: "turn-key", To: "locked", Why: "the key locks"},
	{From: In[state]("locked"), On: "turn-key", To: "shut", Why: "the key unlocks"},
}

func TestNextRefusesUnlistedEvents(t *testing.T) {
	if row, ok := door.Next("shut", "turn-key"); !ok || row.To != "locked" || row.Why != "the key locks" {
		t.Errorf("shut on turn-key: got %+v, %v", row, ok)
	}
	if row, ok := door.Next("locked", "pull"); ok {
		t.Errorf("locked on pull is not listed, got %+v", row)
	}
	if got := door.Accepts("shut"); len(got) != 2 || got[0] != "pull" || got[1] != "turn-key" {
		t.Errorf("shut accepts %v", got)
	}
}

func TestCheckReportsEveryError(t *testing.T) {
	if got := door.Check("open", []state{"open", "shut", "locked"}); len(got) != 0 {
		t.Fatalf("a valid table has errors: %q", got)
	}
	for _, c := range []struct {
		name string
		t    Table[state, event]
		want string
	}{
		{"duplicate", append(Table[state, event]{{From: In[state]("open"), On: "push", To: "locked", Why: "x"}}, door...),
			"two rows for open on push"},
		{"no why", Table[state, event]{{From: In[state]("open"), On: "push", To: "shut"}}, "has no Why"},
		{"nowhere", Table[state, event]{{On: "push", To: "shut", Why: "x"}}, "starts nowhere"},
		{"unknown", Table[state, event]{{From: In[state]("open"), On: "push", To: "ajar", Why: "x"}}, "leads to ajar, which is not a state"},
		{"unreached", door[:2], "nothing leads to locked"},
		{"trap", door[:3], "nothing leaves locked"},
	} {
		got := strings.Join(c.t.Check("open", []state{"open", "shut", "locked"}), "\n")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: want %q in:\n%s", c.name, c.want, got)
		}
	}
}

func TestMermaidJoinsArrows(t *testing.T) {
	got := append(Table[state, event]{{From: In[state]("open"), On: "wind", To: "shut", Why: "x"}}, door...).Mermaid("open")
	want := "stateDiagram-v2\n    [*] --> open\n    open --> shut: wind, push\n    shut --> open: pull\n    shut --> locked: turn-key\n" +
		"    locked --> shut: turn-key\n"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
