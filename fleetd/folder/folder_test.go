package folder

import (
	"fmt"
	"strings"
	"testing"
)

var settings = File{Settings, "folder: museum\n"}

// What is wrong with the files themselves is found before anything reads what is in them.
func TestFolderIsBounded(t *testing.T) {
	many := make([]File, MaxTexts)
	for i := range many {
		many[i] = File{fmt.Sprintf("acts/a%d.yaml", i), "act: a"}
	}
	assets := make([]Asset, MaxFiles)
	for i := range assets {
		assets[i] = Asset{Path: fmt.Sprintf("assets/a%d.wav", i)}
	}
	for what, c := range map[string]struct {
		files  []File
		assets []Asset
		want   string // path, code, and how the hint begins
	}{
		"no fleet.yaml":  {nil, nil, "fleet.yaml no_folder write it: folder: NAME"},
		"too many texts": {append(many, settings), nil, " too_many split the folder"},
		"too many files": {[]File{settings}, assets, " too_many split the folder"},
		"too many bytes": {[]File{settings, {"acts/a.yaml", strings.Repeat("#", MaxBytes)}}, nil, " too_big split the folder"},
		"a long text": {[]File{settings, {"acts/a.yaml", "policy: a\n" + strings.Repeat("#", MaxText)}}, nil,
			"acts/a.yaml too_big split it in two"},
		"a path upwards":       {[]File{settings, {"../a.yaml", "act: a"}}, nil, "../a.yaml bad_path write a path below the folder"},
		"a path from the root": {[]File{settings, {"/etc/a.yaml", "act: a"}}, nil, "/etc/a.yaml bad_path write a path"},
		"a roundabout path":    {[]File{settings, {"acts/./a.yaml", "act: a"}}, nil, "acts/./a.yaml bad_path write a path"},
		"a path of Windows":    {[]File{settings, {`acts\a.yaml`, "act: a"}}, nil, `acts\a.yaml bad_path write a path`},
		"a long path": {[]File{settings, {strings.Repeat("a", 300) + ".yaml", "act: a"}}, nil,
			strings.Repeat("a", 300) + ".yaml bad_path write a path"},
		"a file twice":     {[]File{settings, settings}, nil, "fleet.yaml duplicate_id send it once"},
		"an asset outside": {[]File{settings}, []Asset{{Path: "../gong.wav"}}, "../gong.wav bad_path write a path"},
		"two policies": {[]File{settings, {"a.yaml", "policy: a"}, {"b.yaml", "policy: a"}}, nil,
			"b.yaml duplicate_id give one of them another name"},
		"a policy without name": {[]File{settings, {"a.yaml", "policy: [a]"}}, nil, "a.yaml bad_id write a to z"},
		"no kind":               {[]File{settings, {"a.yaml", "name: a"}}, nil, "a.yaml no_kind begin it with act:"},
	} {
		_, found := Read(c.files, c.assets)
		if len(found) != 1 || !strings.HasPrefix(found[0].Path+" "+found[0].Code+" "+found[0].Hint, c.want) {
			t.Errorf("%s: %+v, want %q", what, found, c.want)
		}
	}
}

func TestFirstFieldSaysWhatAFileIs(t *testing.T) {
	for text, want := range map[string]string{
		"act: bow\nactions: []": "act bow", "# site: no\npolicy: night\nplace: 1": "policy night",
		"schedule: morning\nsite: lobby\nevent: opening": "schedule morning",
		"site: Main Hall\nzone: UTC":                     "site Main Hall", `{"policy": "night", "content": {"story": {"id": "site"}}}`: "policy night", "story: evening\nacts: []": "story evening",
	} {
		if kind, id := kindOf([]byte(text)); string(kind)+" "+id != want {
			t.Errorf("%q is %s %s, want %s", text, kind, id, want)
		}
	}
}

func TestDigestOfAPlanTellsItsNumbers(t *testing.T) {
	p := Plan{Changes: make([]Change, 5), Deletes: 2, Robots: 40}
	if got, ok := CountsOf(digestOf(p)); !ok || got != p.Counts() || got.String() != "3 changes, 2 deletions, 40 robots" {
		t.Errorf("%s tells %+v, %t", digestOf(p), got, ok)
	}
	if _, ok := CountsOf("something else"); ok {
		t.Error("something else is no digest")
	}
}
