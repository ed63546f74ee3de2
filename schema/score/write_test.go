package score

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestYAMLThatIsWrittenReadsBackTheSame writes every act of the library as YAML and reads it
// again.
func TestYAMLThatIsWrittenReadsBackTheSame(t *testing.T) {
	files, err := filepath.Glob("../../deploy/library/acts/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a, problems := ParseAct(text)
		if len(problems) > 0 {
			t.Fatal(file, problems)
		}
		written, err := ToYAML(a)
		if err != nil {
			t.Fatal(file, err)
		}
		if again, problems := ParseAct(written); len(problems) > 0 || !reflect.DeepEqual(a, again) {
			t.Errorf("%s reads back differently: %v\n%s", file, problems, written)
		}
	}
}

// TestEveryTextSurvivesYAML writes texts that YAML may take for something else.
func TestEveryTextSurvivesYAML(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, s string) {
		a := Act{ID: "a", Name: Text{"no": s}, Actions: []Action{{Do: Say{Text: Text{"en": s}}}}}
		written, err := ToYAML(a)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if again, problems := ParseAct(written); len(problems) > 0 || again.Name["no"] != s || again.Actions[0].Text()["en"] != s {
			t.Fatalf("%q reads back as %v %v\n%s", s, again, problems, written)
		}
	}
	for _, s := range []string{"", "no", "Yes", "on", "~", "null", "1", "1.5", "0x1f", "12:30", "2026-01-01", "a: b", "a #b", "- x", "*a", "&a", "!a", "{a", "'", `"`, "a\nb", " a ", "\t", "=", "<<", "ä", "日本", "عربي", "\u2028", "\u0085"} {
		check(t, s)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.String().Draw(t, "text")) })
}

// TestYAMLIsWrittenAsAuthorsWriteIt keeps what fits into one line in one line.
func TestYAMLIsWrittenAsAuthorsWriteIt(t *testing.T) {
	a, _ := ParseAct([]byte(`{"actions":[{"face":"smile","start_ms":0,"type":"face"},{"type":"say","start_ms":500,"timeout_ms":8000,"text":{"de":"` + strings.Repeat("Guten Tag ", 12) + `","en":"Hello ${guest}"}}],"act":"greet","name":{"en":"Greet"},"parameters":{"guest":{"type":"string"}}}`))
	got, err := ToYAML(a)
	want := `act: greet
name: {en: Greet}
parameters: {guest: {type: string}}
actions:
  - {type: face, start_ms: 0, face: smile}
  - type: say
    start_ms: 500
    timeout_ms: 8000
    text:
      de: "` + strings.Repeat("Guten Tag ", 12) + `"
      en: "Hello ${guest}"
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// An action in JSON is one object with the fields of all types.
func TestFieldsOfOneNameHaveOneType(t *testing.T) {
	first := map[string]reflect.StructField{}
	for _, row := range Table {
		for _, f := range jsonFields(reflect.TypeOf(row.Do)) {
			name := nameOf(f)
			if f.Type.Kind() == reflect.Pointer && f.Type != reflect.TypeFor[*float64]() {
				t.Errorf("%s of %s is a %v: only numbers are pointers", name, row.Type, f.Type)
			}
			if was, ok := first[name]; ok && (was.Name != f.Name || was.Type != f.Type) {
				t.Errorf("%s of %s is %s %v, that of another type %s %v", name, row.Type, f.Name, f.Type, was.Name, was.Type)
			}
			first[name] = f
		}
	}
}
