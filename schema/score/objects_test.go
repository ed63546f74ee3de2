package score_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"troupe/schema"
	"troupe/schema/score"
)

var bow = score.Act{ID: "bow", Parameters: map[string]score.Parameter{"guest": {Type: "string"}, "depth": {Type: "string"}},
	Actions: []score.Action{{EndMS: new(int64(900)), Do: score.Wait{}}}}

func library(id string) (score.Act, bool) {
	bow.ID = id
	return bow, slices.Contains([]string{"bow", "welcome", "goodbye"}, id)
}

func errorsOf(kind, text string) []schema.Problem {
	var found []schema.Problem
	switch kind {
	case "act":
		_, _, found = score.CheckAct([]byte(text), library)
	case "story":
		_, _, found = score.CheckStory([]byte(text), library)
	case "activity":
		_, _, found = score.CheckActivity([]byte(text), library)
	}
	return schema.Errors(found)
}

// The reference has every field that the decoder accepts, once, and says what it is for.
func TestReferenceHasEveryField(t *testing.T) {
	for _, o := range score.Objects {
		listed := map[string]int{}
		for _, f := range o.Fields {
			listed[f.Name]++
			complete(t, o.Name, f)
		}
		if o.Name == "action" {
			for _, row := range score.Table {
				for _, f := range row.Fields {
					listed[f.Name] = 1
					complete(t, string(row.Type), f)
				}
			}
		}
		of := o.Type
		if o.Name == "action" {
			of = score.Wire
		}
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if listed[name] != 1 {
				t.Errorf("the field %s of %s is listed %d times", name, o.Name, listed[name])
			}
			delete(listed, name)
		}
		if len(listed) > 0 {
			t.Errorf("%s has no fields %v", o.Name, listed)
		}
	}
}

func complete(t *testing.T, where string, f score.Field) {
	if f.Doc == "" || f.Example == "" || strings.HasSuffix(f.Doc, ".") {
		t.Errorf("%s: %s has no text or no example, or its text ends with a period", where, f.Name)
	}
}

const activity = "activity: s\nname: {en: S}\nrepeat: once\nnature: solitary\nacts: [{act: bow}]"

// An example of a field is one: the act with it is valid, and the schema of editors accepts
// it.
func TestExamplesAreValid(t *testing.T) {
	editors := schemas(t)
	acts, stories, activities := []string{}, []string{}, []string{}
	for _, row := range score.Table {
		acts = append(acts, action(row.Example))
		for _, f := range row.Fields {
			acts = append(acts, action(with(t, row, f, f.Example)))
		}
	}
	for _, o := range score.Objects {
		for _, f := range o.Fields {
			switch o.Name {
			case "act":
				acts = append(acts, set(t, "act: a\nactions: [{type: wait, end_ms: 9}]", f.Name, f.Example))
			case "story":
				stories = append(stories, set(t, "story: s\nname: {en: S}\nrepeat: once\nacts: [{act: bow}]", f.Name, f.Example))
			case "step":
				stories = append(stories, set(t, "story: s\nname: {en: S}\nrepeat: once", "acts", "["+set(t, "{act: bow}", f.Name, f.Example)+"]"))
			case "activity":
				activities = append(activities, set(t, activity, f.Name, f.Example))
			case "launch":
				activities = append(activities, set(t, activity, "launch", set(t, "{when: touch}", f.Name, f.Example)))
			case "parameter":
				acts = append(acts, set(t, "act: a\nactions: [{type: wait, end_ms: 9}]", "parameters", "{p: "+set(t, "{type: string}", f.Name,
					f.Example)+"}"))
			case "choice":
				acts = append(acts, action(set(t, "{type: screen, timeout_ms: 900}", "choices", "["+set(t, "{id: a, text: {en: A}}", f.Name, f.Example)+
					"]")))
			}
		}
	}
	for kind, texts := range map[string][]string{"act": acts, "story": stories, "activity": activities} {
		for _, text := range texts {
			found := slices.DeleteFunc(errorsOf(kind, text), func(p schema.Problem) bool { return p.Code == score.CodeUnknownParameter })
			if len(found) > 0 {
				t.Errorf("%s\n%q", text, found)
			}
			if err := accepts(editors[kind], text); err != nil {
				t.Errorf("%s\n%v", text, err)
			}
		}
	}
}

// A limit in the reference is the one that counts.
func TestLimitsAreThoseOfTheReference(t *testing.T) {
	editors := schemas(t)
	for _, row := range score.Table {
		for _, f := range row.Fields {
			if f.Min == f.Max {
				continue
			}
			step := (f.Max - f.Min) / 10
			if f.Name == "period_ms" {
				step = 1
			}
			for v, want := range map[float64]bool{f.Min: true, f.Max: true, f.Min - step: false, f.Max + step: false} {
				text := action(with(t, row, f, strconv.FormatFloat(v, 'f', -1, 64)))
				if ok := len(errorsOf("act", text)) == 0; ok != want {
					t.Errorf("%s %s %v: valid %v", row.Type, f.Name, v, ok)
				}
				if ok := accepts(editors["act"], text) == nil; ok != want {
					t.Errorf("%s %s %v: the schema of editors accepts it %v", row.Type, f.Name, v, ok)
				}
			}
		}
	}
}

// What is valid is accepted by the schema of editors, and each wrong field is refused.
func TestSchemasOfEditors(t *testing.T) {
	editors := schemas(t)
	files, err := filepath.Glob("../../testdata/scores/ok/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	more, _ := filepath.Glob("../../deploy/library/*/*.yaml")
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := score.NameOf(text)
		if editors[kind] == nil {
			t.Errorf("%s is of the kind %q", file, kind)
		} else if err := accepts(editors[kind], string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for kind, wrong := range map[string][]string{
		"act": {
			"act: A B\nactions: [{type: wait, end_ms: 9}]", "act: a", "act: a\nactions: []\ncolour: red",
			"act: a\nactions: [{type: wiat, end_ms: 9}]",
			action("{type: wait, end_ms: 9, face: smile}"), action("{type: wait, timeout_ms: 9}"), action("{type: wait, end_ms: 2s}"),
			action("{type: say, timeout_ms: 9, text: hello}"), action("{type: say, timeout_ms: 9}"),
			action("{type: group, actions: [{type: wait, yaw_rad: 1}]}"),
		},
		"story": {"story: s\nname: {en: S}\nrepeat: often\nacts: [{act: bow}]", "story: s\nname: {en: S}\nrepeat: {times: 0}\n" +
			"acts: [{act: bow}]", "story: s\nname: {en: S}\nrepeat: once\nacts: [bow]"},
		"activity": {"activity: s\nname: {en: S}\nrepeat: once\nnature: shy\nacts: [{act: bow}]", "activity: s\nname: {en: S}\nrepeat: once\n" +
			"nature: solitary\nlaunch: {for: 3}\nacts: [{act: bow}]"},
	} {
		for _, text := range wrong {
			if accepts(editors[kind], text) == nil {
				t.Errorf("the schema accepts\n%s", text)
			}
		}
	}
}

// with returns an action of a row with one of its fields.
func with(t *testing.T, row score.ActionRow, f score.Field, value string) string {
	text := row.Example
	switch {
	case f.Name == "loop":
		text = "{type: sound, start_ms: 0, end_ms: 900, sound: gong}"
	case row.Type == score.TypeScreen && (f.Name == "view" || f.Name == "image"):
		text = "{type: screen, start_ms: 0, end_ms: 900}"
	case f.Name == "x_m" || f.Name == "y_m":
		text = "{type: goto, start_ms: 0, timeout_ms: 900, x_m: 1, y_m: 1}"
	}
	return set(t, text, f.Name, value)
}

// set sets a field of a text.
func set(t *testing.T, text, name, value string) string {
	var object, v any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(text, err)
	}
	if err := yaml.Unmarshal([]byte(value), &v); err != nil {
		t.Fatal(value, err)
	}
	object.(map[string]any)[name] = v
	out, err := schema.Encode(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func action(text string) string {
	return "act: a\nparameters: {guest: {type: string}, house: {type: string}}\nactions: [" + text + "]"
}

func schemas(t *testing.T) map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	for _, o := range score.Objects {
		if !o.File {
			continue
		}
		text, err := schema.JSONSchemas.ReadFile(schema.AuthorSchema(o.Name))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(o.Name, doc); err != nil {
			t.Fatal(err)
		}
		if all[o.Name], err = c.Compile(o.Name); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func accepts(s *jsonschema.Schema, text string) error {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if err := s.Validate(v); err != nil {
		return fmt.Errorf("the schema of editors refuses it: %w", err)
	}
	return nil
}

// The page for authors has a table of actions that people write, with the same rows.
func TestPageForAuthorsListsEveryAction(t *testing.T) {
	page, err := os.ReadFile("../../docs/write-a-story.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range score.Table {
		if !strings.Contains(string(page), "\n| `"+string(row.Type)+"` | ") {
			t.Errorf("the table of actions in docs/write-a-story.md has no row for %s", row.Type)
		}
	}
}
