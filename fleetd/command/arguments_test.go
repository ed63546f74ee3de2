package command

import (
	"encoding/json"
	"testing"

	"troupe/schema"
)

// sent returns the arguments of the only command in x.
func sent(t *testing.T, x Expansion) string {
	t.Helper()
	if len(x.Commands) != 1 {
		t.Fatalf("%d commands, skipped %+v", len(x.Commands), x.Skipped)
	}
	var payload struct{ Args json.RawMessage }
	if err := json.Unmarshal(x.Commands[0].Payload, &payload); err != nil {
		t.Fatal(err)
	}
	return string(payload.Args)
}

func TestFleetdAddsOnlySupportedArguments(t *testing.T) {
	verbs := []string{"safety/enable"}
	for _, c := range []struct {
		name string
		caps *schema.Caps
		args string
		want string
	}{
		{"no caps received", nil, ``, `{"seen_boot":"b1","seen_mono_ms":7}`},
		{"lists both", &schema.Caps{Verbs: verbs, Arguments: map[string][]string{"safety/enable": {"seen_mono_ms", "seen_boot"}}}, ``, `{"seen_boot":"b1","seen_mono_ms":7}`},
		{"lists one", &schema.Caps{Verbs: verbs, Arguments: map[string][]string{"safety/enable": {"seen_mono_ms"}}}, ``, `{"seen_mono_ms":7}`},
		{"lists none for this verb", &schema.Caps{Verbs: verbs, Arguments: map[string][]string{"mode/set": {"mode"}}}, ``, ``},
		{"lists no verb with arguments", &schema.Caps{Verbs: verbs, Arguments: map[string][]string{}}, ``, ``},
		{"earlier release, lists features only", &schema.Caps{Verbs: verbs, Features: []schema.Feature{schema.FeatureReplay}}, ``, `{"seen_boot":"b1","seen_mono_ms":7}`},
		{"earlier release, lists verbs only", &schema.Caps{Verbs: verbs}, ``, `{"seen_mono_ms":7}`},
		{"given arguments are sent unchanged", &schema.Caps{Verbs: verbs, Arguments: map[string][]string{"safety/enable": {"seen_mono_ms", "seen_boot"}}}, `{"seen_mono_ms":5}`, `{"seen_mono_ms":5}`},
	} {
		target := Target{Robot: "r1", Present: true, Caps: c.caps, SeenMonoMS: 7, SeenBoot: "b1"}
		x, problems := Expand(Request{Verb: "safety/enable", Args: []byte(c.args), Selector: "r1"}, []Target{target}, morning, sequentialIDs())
		if len(problems) > 0 {
			t.Errorf("%s: %v", c.name, problems)
			continue
		}
		if got := sent(t, x); got != c.want {
			t.Errorf("%s: sent %s, want %s", c.name, got, c.want)
		}
	}
}

// An argument is never left out silently: the robot would do something else.
func TestRobotWithoutSupportForArgumentIsSkipped(t *testing.T) {
	older := &schema.Caps{Verbs: []string{"manual/sound", "safety/stop"}, Arguments: map[string][]string{"manual/sound": {"sound", "volume"}}}
	newer := &schema.Caps{Verbs: older.Verbs, Arguments: map[string][]string{"manual/sound": {"sound", "volume", "loop"},
		"safety/stop": {"why", "latch"}}}
	targets := []Target{{Robot: "r1", Caps: older}, {Robot: "r2", Caps: newer}, {Robot: "r3"}}
	play := Request{Verb: "manual/sound", Args: []byte(`{"sound":"bell","loop":true}`), Selector: "--all"}

	x, problems := Expand(play, targets, morning, sequentialIDs())
	if len(problems) > 0 || len(x.Commands) != 2 || x.Commands[0].Robot != "r2" || x.Commands[1].Robot != "r3" {
		t.Fatalf("commands %+v, problems %v", x.Commands, problems)
	}
	want := Skip{"r1", schema.ReasonBadRequest, "its caps do not list the argument loop of manual/sound"}
	if len(x.Skipped) != 1 || x.Skipped[0] != want {
		t.Errorf("skipped %+v, want %+v", x.Skipped, want)
	}

	_, problems = Expand(play, targets[:1], morning, sequentialIDs())
	if len(problems) != 1 || problems[0].Detail != "no robot would get the command: 1 are selected and skipped; r1: "+want.Detail {
		t.Errorf("refused with %+v", problems)
	}

	// If its caps list no arguments, the robot itself refuses unknown ones.
	x, problems = Expand(play, []Target{{Robot: "r1", Caps: &schema.Caps{Verbs: older.Verbs}}}, morning, sequentialIDs())
	if len(problems) > 0 || sent(t, x) != `{"loop":true,"sound":"bell"}` {
		t.Errorf("commands %+v, problems %v", x.Commands, problems)
	}

	x, problems = Expand(Request{Verb: "safety/stop", Args: []byte(`{"latch":"stop-1"}`), Selector: "r1"}, targets[:1], morning, sequentialIDs())
	if len(problems) > 0 || sent(t, x) != `{"latch":"stop-1"}` {
		t.Errorf("a stop must be sent whatever the caps list: %+v %v", x, problems)
	}
}
