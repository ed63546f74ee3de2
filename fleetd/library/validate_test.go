package library

import (
	"fmt"
	"slices"
	"testing"

	"troupe/schema"
)

// A folder is validated as if it had been published already, and nothing of it is.
func TestTextsAreValidatedTogether(t *testing.T) {
	w := newWorld()
	w.catalogue = Catalogue{Sounds: []string{"chime"}, Faces: []string{"smile", "wink"}}
	for _, act := range []string{"old", "bad"} {
		saved, _ := Save(w.rows(), KindAct, actText(act, "smile"), nil, w.by(""))
		w.apply(t, saved.Changes)
		p, _ := Publish(w.rows(), KindAct, act, nil, w.by(""))
		w.apply(t, p.Changes)
	}
	removed, _ := Delete(w.rows(), KindAct, "old", &Expect{}, w.by(""))
	w.apply(t, removed.Changes)
	act := func(id, what string) Source { return Source{KindAct, actText(id, what)} }
	story := func(acts ...string) Source { return Source{KindStory, storyText("x", acts)} }
	gong := Asset{Name: "gong", Media: MediaOgg}
	for _, row := range []struct {
		what   string
		texts  []Source
		assets []Asset
		want   []string // code and pointer of each problem of the last text
	}{
		{"a story alone", []Source{story("new")}, nil, []string{"unknown_act /acts/0/act: "}},
		{"an act with a name like that of another", []Source{story("badd")}, nil, []string{"unknown_act /acts/0/act: did you mean bad?"}},
		{"the same before others are published", []Source{act("bads", "smile"), story("badd")}, nil,
			[]string{"unknown_act /acts/0/act: did you mean bads?"}},
		{"with its act", []Source{act("new", "smile"), story("new")}, nil, nil},
		{"before its act", []Source{story("new"), act("new", "smile"), story("new")}, nil, nil},
		{"with an act that has errors", []Source{act("new", "wrong"), story("new")}, nil,
			[]string{"unknown_act /acts/0/act: correct these first"}},
		{"with an act that has errors, and was published without", []Source{act("bad", "wrong"), story("bad")}, nil, nil},
		{"with an act that cannot be read", []Source{act("new", "unreadable"), story("new")}, nil, []string{"unknown_act /acts/0/act: "}},
		{"with an act that has an unknown field", []Source{{KindAct, []byte(`{"act":"new","actions":[{"type":"head","start_ms":0,"timeout_ms":2000,"yaw":0.5}]}`)}, story("new")}, nil, []string{"unknown_act /acts/0/act: correct these first"}},
		{"a deleted act", []Source{story("old")}, nil, []string{"unknown_act /acts/0/act: it was deleted by anna: recover it, or leave it out"}},
		{"a deleted act again", []Source{act("old", "wink"), story("old")}, nil, nil},
		{"an unknown sound", []Source{act("new", "smile+gong"), story("new")}, nil,
			[]string{"not_in_catalogue /acts/0/act: upload it under this name: fleetd asset put FILE --name NAME"}},
		{"a sound of the folder", []Source{act("new", "smile+gong"), story("new")}, []Asset{gong}, nil},
		{"a sound of the folder in an act", []Source{story("new"), act("new", "smile+gong")}, []Asset{gong}, nil},
		{"an act before the one that it performs", []Source{act("new", "smile"), act("encore", "performs:last"), act("last", "smile"),
			story("encore"), act("encore", "performs:last")}, nil,
			[]string{"not_in_catalogue /actions/1/face: upload it under this name: fleetd asset put FILE --name NAME"}},
		{"an act with one that has errors", []Source{act("new", "wrong"), act("encore", "performs:new")}, nil,
			[]string{"unknown_act /actions/0/act: correct these first",
				"not_in_catalogue /actions/1/face: upload it under this name: fleetd asset put FILE --name NAME"}},
		{"an act that performs itself by way of another", []Source{act("new", "performs:encore"), act("encore", "performs:new")}, nil,
			[]string{"cycle /actions/0/act: name another act here, or leave one of these actions out",
				"not_in_catalogue /actions/1/face: upload it under this name: fleetd asset put FILE --name NAME"}},
		{"an image of the folder for a sound", []Source{act("new", "smile+gong")}, []Asset{{Name: "gong", Media: MediaPNG}},
			[]string{"not_in_catalogue /actions/1/sound: upload it under this name: fleetd asset put FILE --name NAME"}},
	} {
		for from, rows := range map[string]Rows{"all rows": w.rows(), "what it needs": w.read(ForValidate(row.texts))} {
			checked, problems := Validate(rows, row.texts, row.assets)
			if len(problems) > 0 || len(checked) != len(row.texts) {
				t.Fatalf("%s: %v, %v", row.what, checked, problems)
			}
			var got []string
			for _, p := range checked[len(checked)-1].Problems {
				hint := p.Hint
				if row.want != nil && row.want[0] == fmt.Sprintf("%s %s: ", p.Code, p.Pointer) {
					hint = "" // any
				}
				got = append(got, fmt.Sprintf("%s %s: %s", p.Code, p.Pointer, hint))
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("%s, from %s: %q, want %q", row.what, from, got, row.want)
			}
		}
	}
	if s, _ := newSnapshot(w.rows()); len(s.notDeleted(KindAct)) != 1 || len(s.notDeleted(KindStory)) != 0 || len(w.assets) != 0 {
		t.Error("a validation saved something")
	}
	checked, _ := Validate(w.rows(), []Source{act("new", "smile"), story("new")}, nil)
	if checked[0].ID != "new" || checked[1].ID != "x" || len(schema.Errors(checked[0].Problems)) > 0 {
		t.Errorf("got %+v", checked)
	}
}
