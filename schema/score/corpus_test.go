package score

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"troupe/schema"
)

const corpus = "../../testdata/scores"

var (
	known = Act{ID: "known", Parameters: map[string]Parameter{"guest": {Type: "string"}}, Actions: []Action{
		{TimeoutMS: ms(900), Do: Say{Text: Text{"en": "hello ${guest}"}}},
	}}
	small = schema.Caps{Languages: []string{"en"}, Points: []string{"desk"}, Units: []schema.Unit{
		{ID: "speaker", Kind: schema.UnitSpeaker},
		{ID: "face", Kind: schema.UnitFace, Faces: []string{"smile"}},
		{ID: "screen", Kind: schema.UnitScreen, Views: []string{"map"}, Images: []string{"poster"}},
		{ID: "head", Kind: schema.UnitHead, YawRad: &schema.Range{Min: -1, Max: 1}, Motions: []string{"nod"}},
		{ID: "drive", Kind: schema.UnitDrive, MaxSpeedMPS: 0.6, RollRad: &schema.Range{Min: -0.2, Max: 0.2}},
	}}
)

func ms(v int64) *int64 { return &v }

var walk = Act{ID: "walk", Actions: []Action{{Do: Group{Actions: []Action{{TimeoutMS: ms(9000), Do: Goto{Point: "desk"}}}}}}}

var instant = Act{ID: "instant", Actions: []Action{{Do: Face{Face: "smile"}}}}

func shelf(id string) (Act, bool) {
	a, ok := map[string]Act{"known": known, "instant": instant, "walk": walk}[id]
	return a, ok
}

// validate parses and validates a file according to its name: act-, story-, activity- or fit-.
func validate(t *testing.T, file string) []schema.Problem {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	switch kind, _, _ := strings.Cut(filepath.Base(file), "-"); kind {
	case "act":
		a, ps := ParseAct(text)
		if len(ps) == 0 {
			ps = ValidateActWith(a, shelf)
		}
		return ps
	case "story":
		s, ps := ParseStory(text)
		if len(ps) == 0 {
			ps = ValidateStory(s, shelf)
		}
		return ps
	case "activity":
		a, ps := ParseActivity(text)
		if len(ps) == 0 {
			ps = ValidateActivity(a, shelf)
		}
		return ps
	case "fit":
		a, ps := ParseAct(text)
		if len(ps) == 0 {
			ps = Fit(a, small)
		}
		return ps
	}
	t.Fatalf("%s: unknown prefix of the file name", file)
	return nil
}

// The first line of a bad file is "# want: code pointer".
func TestBadFilesAreRefusedAtPointer(t *testing.T) {
	files, _ := filepath.Glob(corpus + "/bad/*.yaml")
	covered := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := bytes.Cut(text, []byte("\n"))
		code, pointer, _ := strings.Cut(strings.TrimPrefix(string(line), "# want: "), " ")
		covered[code] = true
		ps := validate(t, f)
		if !slices.ContainsFunc(ps, func(p schema.Problem) bool { return p.Code == code && p.Pointer == pointer && p.Detail != "" }) {
			t.Errorf("%s: want %s at %q, got %q", filepath.Base(f), code, pointer, ps)
		}
		for _, p := range ps {
			if p.Hint == "" && p.Code != "bad_type" && !(p.Code == CodeBadValue && strings.Contains(p.Detail, "{")) { // the decoder's own
				t.Errorf("%s: no hint in %s", filepath.Base(f), p)
			}
		}
	}
	// Codes of published revisions have their own tests, and a file that is no text has no first line.
	for _, code := range []string{CodeUnreached, CodeUnsupported, CodeWrongKey, CodeEmpty, CodeNotUTF8, CodeMore} {
		covered[code] = true
	}
	for _, code := range codes(t) {
		if !covered[code] {
			t.Errorf("no bad file in %s has the problem %s", corpus, code)
		}
	}
}

func TestGoodFilesHaveNoErrors(t *testing.T) {
	files, _ := filepath.Glob(corpus + "/ok/*.yaml")
	if len(files) < 6 {
		t.Fatalf("found only %q", files)
	}
	for _, f := range files {
		if errs := schema.Errors(validate(t, f)); len(errs) > 0 {
			t.Errorf("%s: %q", filepath.Base(f), errs)
		}
	}
}

// codes reads the values of the Code constants from the source.
func codes(t *testing.T) []string {
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Code") {
			v, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, v)
		}
		return true
	})
	if len(out) < 30 {
		t.Fatalf("found only %d codes", len(out))
	}
	return out
}
