// Package folder reads a fleet from files, and writes it as files: the acts, stories, activities, assets, places, policies, sites and
// schedules of a folder that people keep in git. It says of each object what an apply of the folder would do.
package folder

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/library"
	"troupe/schema"
	"troupe/schema/score"
)

// Settings is the file that makes a directory a folder of a fleet, and names it.
const Settings = "fleet.yaml"

// Rollouts is the directory for plans of rollouts; an apply reads one only if it is named.
const Rollouts = "rollouts"

// Limits of a folder.
const (
	MaxFiles = 2000     // with assets
	MaxTexts = 1000     // files that are not assets
	MaxBytes = 8 << 20  // of all texts together
	MaxText  = 64 << 10 // of one text but places
	maxPath  = 255      // bytes
	maxDepth = 16       // nesting of a text
)

// Codes of problems of files.
const (
	CodeBadPath  = "bad_path"
	CodeNoFolder = "no_folder"
	CodeNoKind   = "no_kind"
)

// File is a text of a folder.
type File struct {
	Path string `json:"path" maxLength:"255" doc:"in the folder, with / between its parts"`
	Text string `json:"text"`
}

// Asset is a sound, an image or a map of a folder; its name is that of the file without its extension.
type Asset struct {
	Path   string `json:"path" maxLength:"255"`
	SHA256 string `json:"sha256" pattern:"^[0-9a-f]{64}$" patternDescription:"SHA-256 in lower case"`
	Size   int64  `json:"size" minimum:"1"`
	Media  string `json:"media" doc:"media type, as its first bytes say"`
}

// Name is the name of the asset.
func (a Asset) Name() string { return strings.TrimSuffix(path.Base(a.Path), path.Ext(a.Path)) }

// Kind is what a file is.
type Kind string

// The kinds, in the order in which an apply goes through them.
const (
	KindAsset    Kind = "asset"
	KindAct      Kind = "act"
	KindActivity Kind = "activity"
	KindStory    Kind = "story"
	KindPlaces   Kind = "places"
	KindPolicy   Kind = "policy"
	KindSite     Kind = "site"
	KindSchedule Kind = "schedule"
)

// Kinds lists the kinds in their order.
var Kinds = []Kind{KindAsset, KindAct, KindActivity, KindStory, KindPlaces, KindPolicy, KindSite, KindSchedule}

// directories are where an export writes the files of a kind. A text may lie anywhere: its first field says what it is.
var directories = map[Kind]string{
	KindAsset: "assets", KindAct: library.Plurals[library.KindAct], KindActivity: library.Plurals[library.KindActivity],
	KindStory:  library.Plurals[library.KindStory],
	KindPlaces: "places", KindPolicy: "policies", KindSite: "sites", KindSchedule: "schedules",
}

// Ref names an object.
type Ref struct {
	Kind Kind   `json:"kind" enum:"asset,act,activity,story,places,policy,site,schedule"`
	ID   string `json:"id"`
}

func (r Ref) String() string { return string(r.Kind) + " " + r.ID }

// Fleet is what a folder says.
type Fleet struct {
	Name    string // by which fleetd knows what the folder brought
	Library library.Folder
	Objects []Object // places, policies, sites and schedules
}

// Object is a text that is not of the library.
type Object struct {
	Ref
	Path string
	Text []byte
	JSON []byte // of Text
}

// IsAsset reports whether a file is an asset, by its name.
func IsAsset(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".wav", ".ogg", ".mp3", ".flac", ".png", ".jpg", ".jpeg":
		return true
	case ".json":
		return in(name, directories[KindAsset])
	}
	return false
}

// IsText reports whether a file is a text that a folder has to explain, by its name. Others, such as a README, are left alone.
func IsText(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return !in(name, directories[KindAsset]) && !in(name, Rollouts)
	}
	return false
}

func in(name, directory string) bool {
	return slices.Contains(strings.Split(path.Dir(name), "/"), directory)
}

// CheckPath returns what is wrong with the path of a file in a folder; none if it stays within it.
func CheckPath(name string) []schema.Problem {
	why := ""
	switch {
	case name == "" || len(name) > maxPath:
		why = fmt.Sprintf("it has %d bytes, not 1 to %d", len(name), maxPath)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		why = "it is not printable text"
	case strings.Contains(name, `\`):
		why = `it contains \`
	case strings.HasPrefix(name, "/") || slices.Contains(strings.Split(name, "/"), ".."):
		why = "it leaves the folder"
	case path.Clean(name) != name:
		why = "it is written in a roundabout way"
	default:
		return nil
	}
	return []schema.Problem{schema.NewProblem("", CodeBadPath, fmt.Sprintf("%q cannot be the path of a file: %s", name, why),
		"write a path below the folder, such as acts/welcome.yaml")}
}

// Read returns what the files of a folder say, or everything that is wrong with them but for what their texts contain.
func Read(files []File, assets []Asset) (Fleet, []library.FileProblem) {
	var f Fleet
	var found []library.FileProblem
	refuse := func(name string, problems ...schema.Problem) {
		for _, p := range problems {
			found = append(found, library.FileProblem{Path: name, Problem: p})
		}
	}
	bytes, first := 0, map[string]bool{}
	for _, file := range files {
		bytes += len(file.Text)
	}
	switch {
	case len(files) > MaxTexts:
		refuse("", schema.NewProblem("", score.CodeTooMany, fmt.Sprintf("the folder has %d texts, at most %d are read", len(files),
			MaxTexts), "split the folder in two, each with a fleet.yaml of its own"))
	case len(files)+len(assets) > MaxFiles:
		refuse("", schema.NewProblem("", score.CodeTooMany, fmt.Sprintf("the folder has %d files, at most %d are read",
			len(files)+len(assets), MaxFiles), "split the folder in two, each with a fleet.yaml of its own"))
	case bytes > MaxBytes:
		refuse("", schema.NewProblem("", score.CodeTooBig, fmt.Sprintf("the texts have %d bytes, at most %d are read", bytes, MaxBytes),
			"split the folder in two, each with a fleet.yaml of its own"))
	}
	if len(found) > 0 {
		return f, found
	}
	objects := map[Ref]string{}
	for _, file := range files {
		problems := CheckPath(file.Path)
		if first[file.Path] {
			problems = append(problems, schema.NewProblem("", score.CodeDuplicateID, "the folder has this file twice", "send it once"))
		}
		if first[file.Path] = true; len(problems) > 0 {
			refuse(file.Path, problems...)
			continue
		}
		if path.Clean(file.Path) == Settings {
			var problems []schema.Problem
			f.Name, problems = readSettings([]byte(file.Text))
			refuse(file.Path, problems...)
			continue
		}
		refuse(file.Path, f.read(file, objects)...)
	}
	if !first[Settings] {
		refuse(Settings, schema.NewProblem("", CodeNoFolder, "the folder has no "+Settings+", which names it",
			"write it: folder: NAME, with a name of its own for each folder, such as folder: museum"))
	}
	for _, a := range assets {
		if problems := CheckPath(a.Path); len(problems) > 0 {
			refuse(a.Path, problems...)
			continue
		}
		f.Library.Assets = append(f.Library.Assets, library.FolderAsset{Path: a.Path, Asset: library.Asset{Name: a.Name(), SHA256: a.SHA256,
			Size: a.Size, Media: library.Media(a.Media)}})
	}
	return f, found
}

func readSettings(text []byte) (string, []schema.Problem) {
	s, _, problems := decode[struct {
		Folder string `json:"folder"`
	}](text, MaxText)
	if len(problems) == 0 && !schema.ValidID(s.Folder) {
		problems = score.Locate(text, []schema.Problem{schema.NewProblem("/folder", score.CodeBadID,
			fmt.Sprintf("%q cannot name a folder", s.Folder),
			"write folder: and a name of a to z, 0 to 9 and -, at most 63 characters, such as folder: museum")})
	}
	return s.Folder, problems
}

// decode reads a text, YAML or JSON, strictly. Its problems have lines.
func decode[T any](text []byte, limit int) (v T, asJSON []byte, found []schema.Problem) {
	asJSON, found = score.ReadYAML(text, limit)
	if len(found) == 0 {
		v, found = schema.DecodeStrictWithin[T](asJSON, maxDepth)
	}
	return v, asJSON, score.Locate(text, found)
}

// read adds a text to what the folder says.
func (f *Fleet) read(file File, objects map[Ref]string) []schema.Problem {
	text := []byte(file.Text)
	if in(file.Path, directories[KindPlaces]) && strings.EqualFold(path.Ext(file.Path), ".json") {
		id := strings.TrimSuffix(path.Base(file.Path), path.Ext(file.Path))
		return f.add(Object{Ref{KindPlaces, id}, file.Path, text, text}, objects)
	}
	kind, id := kindOf(text)
	switch kind {
	case KindAct, KindStory, KindActivity:
		f.Library.Texts = append(f.Library.Texts, library.FolderText{Path: file.Path, Source: library.Source{Kind: library.Kind(kind),
			Body: text}})
		return nil
	case "":
		p := schema.NewProblem("", CodeNoKind, "the file does not say what it is",
			"begin it with act:, story:, activity:, policy:, site: or schedule: and an id; plans of rollouts lie in "+Rollouts+
				"/, places in places/NAME.json, and other files have other extensions")
		p.Line, p.Column = 1, 1
		if _, problems := score.ReadYAML(text, MaxText); len(problems) > 0 {
			return problems
		}
		return []schema.Problem{p}
	}
	asJSON, problems := score.ReadYAML(text, MaxText)
	if len(problems) > 0 {
		return problems
	}
	return f.add(Object{Ref{kind, id}, file.Path, text, asJSON}, objects)
}

func (f *Fleet) add(o Object, objects map[Ref]string) []schema.Problem {
	pointer := "/" + string(o.Kind)
	if o.Kind == KindPlaces {
		pointer = ""
	}
	earlier, twice := objects[o.Ref]
	switch {
	case !schema.ValidID(o.ID) && o.Kind != KindSite || o.ID == "":
		return score.Locate(o.Text, []schema.Problem{schema.NewProblem(pointer, score.CodeBadID, fmt.Sprintf("%q cannot name a %s", o.ID,
			o.Kind), "write a to z, 0 to 9 and -, at most 63 characters")})
	case twice:
		return score.Locate(o.Text, []schema.Problem{schema.NewProblem(pointer, score.CodeDuplicateID,
			fmt.Sprintf("%s is also in %s", o.Ref, earlier), "give one of them another name, or remove one file")})
	}
	objects[o.Ref] = o.Path
	f.Objects = append(f.Objects, o)
	return nil
}

// ownKinds find the first field of what is not of the library. A schedule may have a field site, too.
var ownKinds = []struct {
	kind  Kind
	field *regexp.Regexp
}{{KindPolicy, fieldOf(KindPolicy)}, {KindSchedule, fieldOf(KindSchedule)}, {KindSite, fieldOf(KindSite)}}

func fieldOf(kind Kind) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\{?[ \t]*["']?` + string(kind) + `["']?[ \t]*:`)
}

// kindOf returns what a text is, and the name that it gives itself.
func kindOf(text []byte) (Kind, string) {
	for _, own := range ownKinds {
		if !own.field.Match(text) {
			continue
		}
		asJSON, _ := score.ReadYAML(text, MaxText)
		named, _ := schema.Decode[map[string]jsontext.Value](asJSON)
		var id string
		if v := named[string(own.kind)]; v.Kind() == '"' {
			b, _ := jsontext.AppendUnquote(nil, v) // it is a text
			id = string(b)
		}
		return own.kind, id
	}
	kind, id := score.NameOf(text)
	return Kind(kind), id
}

// MaxBytesOf bounds the bytes of a file, by its name.
func MaxBytesOf(name string) int64 {
	switch {
	case IsAsset(name):
		return score.MaxAsset
	case in(name, directories[KindPlaces]):
		return int64(schema.TopicOf(schema.TopicBlob).MaxBytes)
	}
	return MaxText
}

// Paths returns where the objects of a folder lie.
func (f Fleet) Paths() map[Ref]string {
	paths := map[Ref]string{}
	for _, a := range f.Library.Assets {
		paths[Ref{KindAsset, a.Name}] = a.Path
	}
	for _, t := range f.Library.Texts {
		if _, id := kindOf(t.Body); id != "" {
			paths[Ref{Kind(t.Kind), id}] = t.Path
		}
	}
	for _, o := range f.Objects {
		paths[o.Ref] = o.Path
	}
	return paths
}

// RefOf returns what the text of a folder describes, if it is an object.
func RefOf(file File) (Ref, bool) {
	var f Fleet
	if file.Path == Settings || len(f.read(file, map[Ref]string{})) > 0 {
		return Ref{}, false
	}
	for ref := range f.Paths() {
		return ref, true
	}
	return Ref{}, false
}
