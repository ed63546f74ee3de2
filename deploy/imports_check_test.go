package deploy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// module is what our own imports begin with.
const module = "troupe/"

// A wall is the rules; wall_test.go has ours and says what each means.
type wall struct {
	ladder         []rung
	houses         map[string][]string
	testSupport    map[string]bool
	allowedImports map[imported]string
	allowedClocks  map[string]string
	onlyIn         map[string]string
	assemblies     map[string]string
	sleepers       []string

	// used are the exceptions, by their key, that some file needed.
	used map[any]bool
}

// imported is one folder of ours in the import list of another.
type imported struct{ by, what string }

// source is one Go file, by what the rules ask of it.
type source struct {
	path    string
	folder  string
	name    string // of the package
	test    bool
	imports map[string]string // path to local name
	tree    *ast.File
	set     *token.FileSet
}

// unwelcome names say that something had no place.
var unwelcome = []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "types", "base", "misc"}

// impure are imports, with all below them, that make a room do something.
// Parsing an address is not doing something.
var impure = []string{
	"net", "os", "io/ioutil", "syscall", "log", "database/sql", "plugin", "unsafe", "C",
	"github.com/eclipse/paho.mqtt.golang", "github.com/mochi-mqtt/server/v2",
	"github.com/jackc/pgx/v5", "go.etcd.io/bbolt", "modernc.org/sqlite",
}

var pureAfterAll = []string{"net/netip", "net/url"}

// check reads every Go file under the root and returns what breaks the rules,
// each as a sentence with its place, and the number of files read.
func (w wall) check(root fs.FS) (found []string, files int, err error) {
	w.used = map[any]bool{}
	err = fs.WalkDir(root, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(at)
		if d.IsDir() {
			if at != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" || at == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(at) != ".go" {
			return nil
		}
		s, err := read(root, at)
		if err != nil {
			return err
		}
		files++
		found = append(found, w.file(s)...)
		return nil
	})
	if err != nil {
		return nil, files, err
	}
	return append(found, w.listings()...), files, nil
}

func read(root fs.FS, at string) (*source, error) {
	text, err := fs.ReadFile(root, at)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, at, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	s := &source{
		path: at, folder: path.Dir(at), name: tree.Name.Name, test: strings.HasSuffix(at, "_test.go"),
		imports: map[string]string{}, tree: tree, set: set,
	}
	for _, spec := range tree.Imports {
		what, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", at, spec.Path.Value, err)
		}
		local := path.Base(what)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		s.imports[what] = local
	}
	return s, nil
}

// height is a folder's place on the ladder.
func (w wall) height(folder string) (int, bool) {
	for i, r := range w.ladder {
		if slices.Contains(r.folders, folder) {
			return i, true
		}
	}
	return 0, false
}

// file is every rule on one file.
func (w wall) file(s *source) (found []string) {
	say := func(format string, args ...any) {
		found = append(found, s.path+": "+fmt.Sprintf(format, args...))
	}
	height, ok := w.height(s.folder)
	if !ok {
		say("folder %s is on no rung: find its place on the ladder in deploy/wall_test.go and list it there", s.folder)
		return found
	}
	at := w.ladder[height]
	w.packageName(s, say)
	for what := range sorted(s.imports) {
		if own, ok := strings.CutPrefix(what, module); ok {
			w.ownImport(s, height, own, say)
			continue
		}
		if home, ok := w.homeOf(what); ok && s.folder != home {
			say("imports %s, which only %s may: use what %s offers", what, home, home)
			continue
		}
		if at.pure && !s.test && within(what, impure) && !within(what, pureAfterAll) {
			say("imports %s in a room that only decides: return the decision and let whoever assembles the program do it", what)
		}
	}
	w.time(s, at, say)
	w.fields(s, say)
	return found
}

// fields is who holds an assembly. Tests do: they look at the whole.
func (w wall) fields(s *source, say func(string, ...any)) {
	if s.test {
		return
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		t, ok := n.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range t.Fields.List {
			ast.Inspect(field.Type, func(n ast.Node) bool {
				switch n.(type) {
				case *ast.FuncType, *ast.StructType: // who is given one does not hold it; and that one comes by itself
					return false
				}
				if w.isAssembly(s, n) {
					say("line %d: a field holds the assembly: give the part what it needs of it through its constructor", s.set.Position(field.Pos()).Line)
				}
				_, qualified := n.(*ast.SelectorExpr)
				return !qualified // the name behind the dot is another package's
			})
		}
		return true
	})
}

// isAssembly reports whether the node is the name of an assembly.
func (w wall) isAssembly(s *source, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ident:
		return w.assemblies[s.folder] == n.Name
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if !ok {
			return false
		}
		for folder, name := range w.assemblies {
			if s.imports[module+folder] == x.Name && n.Sel.Name == name {
				return true
			}
		}
	}
	return false
}

func (w wall) packageName(s *source, say func(string, ...any)) {
	name := strings.TrimSuffix(s.name, "_test")
	if slices.Contains(unwelcome, name) || slices.Contains(unwelcome, path.Base(s.folder)) {
		say("a package %s says nothing about what is in it: name it by what it decides, or move its parts to who uses them", name)
	}
	if name != "main" && name != path.Base(s.folder) {
		say("package %s lies in folder %s: give both the same name", name, s.folder)
	}
}

// ownImport is the ladder, the houses and the test folders.
func (w wall) ownImport(s *source, height int, own string, say func(string, ...any)) {
	if own == s.folder {
		return // a test from outside its package
	}
	exception := imported{s.folder, own}
	if _, ok := w.allowedImports[exception]; ok {
		w.used[exception] = true
		return
	}
	to, ok := w.height(own)
	if !ok {
		say("imports %s, which is on no rung: find its place on the ladder in deploy/wall_test.go and list it there", own)
		return
	}
	testsOnly, support := w.testSupport[own]
	if support && s.test {
		return
	}
	_, supports := w.testSupport[s.folder]
	if testsOnly && !supports {
		say("imports %s, which is for tests: move what the program needs of it to where programs may import it", own)
		return
	}
	if to >= height {
		say("imports %s (%s), which is not below its own rung (%s): move the shared part down, or let a rung above both join them",
			own, w.ladder[to].what, w.ladder[height].what)
		return
	}
	house, _, _ := strings.Cut(s.folder, "/")
	other, _, _ := strings.Cut(own, "/")
	if house != other && !within(own, w.houses[house]) {
		say("imports %s, but %s knows of the other houses only %q: share words through schema, or talk over the post", own, house, w.houses[house])
	}
}

func (w wall) homeOf(what string) (string, bool) {
	for library, home := range w.onlyIn {
		if within(what, []string{library}) {
			return home, true
		}
	}
	return "", false
}

// time is who may ask for it, wait for it or sleep through it.
func (w wall) time(s *source, at rung, say func(string, ...any)) {
	local, ok := s.imports["time"]
	if !ok {
		return
	}
	if local == "." {
		say("imports time under no name: name it, so that a reader and this test see who asks for the time")
		return
	}
	_, bubble := s.imports["testing/synctest"]
	ast.Inspect(s.tree, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); !ok || x.Name != local {
			return true
		}
		line := s.set.Position(selector.Pos()).Line
		switch what := selector.Sel.Name; what {
		case "Now", "Since", "Until":
			if !s.test && !at.clock && !w.mayAsk(s) {
				say("line %d asks the clock (time.%s) below the assemblies: take the time as an argument", line, what)
			}
		case "After", "AfterFunc", "NewTimer", "NewTicker", "Tick":
			if !s.test && at.pure && !w.mayAsk(s) {
				say("line %d waits (time.%s) in a room that only decides: return the deadline and let the loop wait for it", line, what)
			}
		case "Sleep":
			switch {
			case s.test && !bubble && !slices.Contains(w.sleepers, s.folder):
				say("line %d sleeps: wait for the event itself, or test inside a testing/synctest bubble, where sleeping costs no time", line)
			case !s.test && at.pure && !w.mayAsk(s):
				say("line %d waits (time.%s) in a room that only decides: return the deadline and let the loop wait for it", line, what)
			}
		}
		return true
	})
}

// mayAsk tells whether the file, or its folder, is an exception among clocks.
func (w wall) mayAsk(s *source) bool {
	for _, listed := range []string{s.path, s.folder} {
		if _, ok := w.allowedClocks[listed]; ok {
			w.used[listed] = true
			return true
		}
	}
	return false
}

// listings is the rules' own order: what is listed twice, without a reason, or
// for nobody any more.
func (w wall) listings() (found []string) {
	seen := map[string]bool{}
	for _, r := range w.ladder {
		for _, folder := range r.folders {
			if seen[folder] {
				found = append(found, fmt.Sprintf("ladder: %s is on two rungs: decide for one", folder))
			}
			seen[folder] = true
		}
	}
	exception := func(list, what, why string, used bool) {
		if why == "" {
			found = append(found, fmt.Sprintf("%s: %s has no reason: give one", list, what))
		}
		if !used {
			found = append(found, fmt.Sprintf("%s: nobody needs %s any more: remove it", list, what))
		}
	}
	for what, why := range w.allowedImports {
		exception("allowedImports", what.by+" to "+what.what, why, w.used[what])
	}
	for where, why := range w.allowedClocks {
		exception("allowedClocks", where, why, w.used[where])
	}
	slices.Sort(found)
	return found
}

// within tells whether a path is one of the given ones or lies below it.
func within(what string, these []string) bool {
	return slices.ContainsFunc(these, func(this string) bool {
		return what == this || strings.HasPrefix(what, this+"/")
	})
}

func sorted(imports map[string]string) func(func(string) bool) {
	paths := make([]string, 0, len(imports))
	for what := range imports {
		paths = append(paths, what)
	}
	slices.Sort(paths)
	return slices.Values(paths)
}
