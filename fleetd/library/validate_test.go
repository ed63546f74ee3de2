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
	act := func(id, mood string) Text { return Text{KindAct, actText(id, mood)} }
	story := func(acts ...string) Text { return Text{KindStory, storyText("x", acts)} }
	gong := Asset{Name: "gong", Media: MediaOgg}
	for _, row := range []struct {
		what   string
		texts  []Text
		assets []Asset
		want   []string // code and pointer of each problem of the last text
	}{
		{"a story alone", []Text{story("new")}, nil, []string{"unknown_act /acts/0/act: "}},
		{"an act with a name like that of another", []Text{story("badd")}, nil, []string{"unknown_act /acts/0/act: did you mean bad?"}},
		{"the same before others are published", []Text{act("bads", "smile"), story("badd")}, nil, []string{"unknown_act /acts/0/act: did you mean bads?"}},
		{"with its act", []Text{act("new", "smile"), story("new")}, nil, nil},
		{"before its act", []Text{story("new"), act("new", "smile"), story("new")}, nil, nil},
		{"with an act that has errors", []Text{act("new", "wrong"), story("new")}, nil, []string{"unknown_act /acts/0/act: correct its errors first"}},
		{"with an act that has errors, and was published without", []Text{act("bad", "wrong"), story("bad")}, nil, nil},
		{"with an act that cannot be read", []Text{act("new", "unreadable"), story("new")}, nil, []string{"unknown_act /acts/0/act: "}},
		{"with an act that has an unknown field", []Text{{KindAct, []byte(`{"act":"new","actions":[{"type":"head","start_ms":0,"timeout_ms":2000,"yaw":0.5}]}`)}, story("new")}, nil, []string{"unknown_act /acts/0/act: correct its errors first"}},
		{"a deleted act", []Text{story("old")}, nil, []string{"unknown_act /acts/0/act: it was deleted by anna: recover it, or leave it out"}},
		{"a deleted act again", []Text{act("old", "wink"), story("old")}, nil, nil},
		{"an unknown sound", []Text{act("new", "smile+gong"), story("new")}, nil, []string{"not_in_catalogue /acts/0/act: put it as an asset of this name"}},
		{"a sound of the folder", []Text{act("new", "smile+gong"), story("new")}, []Asset{gong}, nil},
		{"a sound of the folder in an act", []Text{story("new"), act("new", "smile+gong")}, []Asset{gong}, nil},
		{"an act before the one that it performs", []Text{act("new", "smile"), act("encore", "performs:last"), act("last", "smile"), story("encore"), act("encore", "performs:last")}, nil, []string{"not_in_catalogue /actions/1/face: put it as an asset of this name"}},
		{"an act with one that has errors", []Text{act("new", "wrong"), act("encore", "performs:new")}, nil, []string{"unknown_act /actions/0/act: correct its errors first", "not_in_catalogue /actions/1/face: put it as an asset of this name"}},
		{"an act that performs itself by way of another", []Text{act("new", "performs:encore"), act("encore", "performs:new")}, nil, []string{"cycle /actions/0/act: name another act here, or leave one of these actions out", "not_in_catalogue /actions/1/face: put it as an asset of this name"}},
		{"an image of the folder for a sound", []Text{act("new", "smile+gong")}, []Asset{{Name: "gong", Media: MediaPNG}}, []string{"not_in_catalogue /actions/1/sound: put it as an asset of this name"}},
	} {
		for from, rows := range map[string]Rows{"all rows": w.rows(), "what it needs": w.need(ForValidate(row.texts))} {
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
	if s, _ := newSnapshot(w.rows()); len(s.live(KindAct)) != 1 || len(s.live(KindStory)) != 0 || len(w.assets) != 0 {
		t.Error("a validation saved something")
	}
	checked, _ := Validate(w.rows(), []Text{act("new", "smile"), story("new")}, nil)
	if checked[0].ID != "new" || checked[1].ID != "x" || len(schema.Errors(checked[0].Problems)) > 0 {
		t.Errorf("got %+v", checked)
	}
}
