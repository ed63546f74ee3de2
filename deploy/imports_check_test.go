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

	"troupe/deploy/layers"
)

// module is the prefix of import paths of this module.
const module = "troupe/"

// importRules are the tables of imports_test.go and of deploy/layers, which say what each means.
type importRules struct {
	layers         []layers.Layer
	programImports map[string][]string
	testSupport    map[string]bool
	allowedImports map[importEdge]string
	refusedImports map[importEdge]string
	allowedClocks  map[string]string
	onlyImporter   map[string]string
	assemblies     map[string]string
	modes          modeNames
	maySleep       []string

	// used holds the keys of the exceptions that some file needed.
	used map[any]bool
}

// modeNames says who may name a mode of operation: constants of schema, and values as
// they are written.
type modeNames struct {
	program, within   string // a folder each
	constants, values []string
}

// importEdge is an import of one folder of this module by another.
type importEdge struct{ from, to string }

// source is one Go file with what the rules look at.
type source struct {
	path    string
	folder  string
	name    string // of the package
	test    bool
	imports map[string]string // path to local name
	tree    *ast.File
	set     *token.FileSet
}

// vaguePackageNames do not say what the package does.
var vaguePackageNames = []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "types", "base", "misc"}

// sideEffectImports are the imports, including their subpackages, that a pure
// folder may not have, except for sideEffectFree, which only parses addresses.
var sideEffectImports = []string{
	"net", "os", "io/ioutil", "syscall", "log", "database/sql", "plugin", "unsafe", "C",
	"github.com/eclipse/paho.mqtt.golang", "github.com/mochi-mqtt/server/v2",
	"github.com/jackc/pgx/v5", "go.etcd.io/bbolt", "modernc.org/sqlite",
}

var sideEffectFree = []string{"net/netip", "net/url"}

// check reads every Go file under the root. It returns the violations, each as a
// sentence that begins with the file, and the number of files read.
func (rules importRules) check(root fs.FS) (found []string, files int, err error) {
	rules.used = map[any]bool{}
	err = fs.WalkDir(root, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(at)
		if d.IsDir() {
			if at != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" || at == "bin" || isModule(root, at)) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(at) != ".go" {
			return nil
		}
		s, err := parseFile(root, at)
		if err != nil {
			return err
		}
		files++
		found = append(found, rules.checkFile(s)...)
		return nil
	})
	if err != nil {
		return nil, files, err
	}
	return append(found, rules.checkTables()...), files, nil
}

// isModule reports whether a folder is a module of its own.
func isModule(root fs.FS, at string) bool {
	_, err := fs.Stat(root, path.Join(at, "go.mod"))
	return err == nil
}

func parseFile(root fs.FS, at string) (*source, error) {
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

// layerOf returns the index of the folder's layer.
func (rules importRules) layerOf(folder string) (int, bool) {
	for i, r := range rules.layers {
		if slices.Contains(r.Folders, folder) {
			return i, true
		}
	}
	return 0, false
}

// checkFile checks one file against every rule.
func (rules importRules) checkFile(s *source) (found []string) {
	report := func(format string, args ...any) {
		found = append(found, s.path+": "+fmt.Sprintf(format, args...))
	}
	index, ok := rules.layerOf(s.folder)
	if !ok {
		report("folder %s is in no layer: add it to its layer in deploy/layers", s.folder)
		return found
	}
	at := rules.layers[index]
	rules.checkPackageName(s, report)
	for what := range sortedPaths(s.imports) {
		if own, ok := strings.CutPrefix(what, module); ok {
			rules.checkOwnImport(s, index, own, report)
			continue
		}
		if importer, ok := rules.onlyImporterOf(what); ok && !slices.Contains(strings.Fields(importer), s.folder) {
			report("imports %s, which only %s may: use what %s offers", what, importer, importer)
			continue
		}
		if at.Pure && !s.test && isWithin(what, sideEffectImports) && !isWithin(what, sideEffectFree) {
			report("imports %s in a pure package: return the decision as a value and let the assembling package carry it out", what)
		}
	}
	rules.checkTime(s, at, report)
	checkBubbles(s, report)
	if at.Pure {
		checkOneGoroutine(s, report)
	}
	rules.checkFields(s, report)
	rules.checkModeNames(s, report)
	return found
}

// checkOneGoroutine reports what starts a goroutine. Nothing would notice a race in a pure package,
// since its tests run without the race detector.
func checkOneGoroutine(s *source, report func(string, ...any)) {
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report("line %d starts a goroutine in a pure package: return the decision, and let the assembling package wait",
				s.set.Position(n.Pos()).Line)
		case *ast.SelectorExpr:
			if n.Sel.Name == "Parallel" && s.test {
				report("line %d runs tests of a pure package in parallel: leave t.Parallel out", s.set.Position(n.Pos()).Line)
			}
		}
		return true
	})
}

// checkModeNames reports what names a mode. Tests may.
func (rules importRules) checkModeNames(s *source, report func(string, ...any)) {
	m := rules.modes
	if s.test || !isWithin(s.folder, []string{m.program}) || isWithin(s.folder, []string{m.within}) {
		return
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		named := ""
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == s.imports[module+"schema"] && slices.Contains(m.constants, n.Sel.Name) {
				named = n.Sel.Name
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && slices.Contains(m.values, text) {
				named = text
			}
		}
		if named != "" {
			report("line %d: names the mode %s: let its package below %s say what is different about it, see mode.Installed",
				s.set.Position(n.Pos()).Line, named, m.within)
		}
		return true
	})
}

// checkFields reports struct fields that hold an assembly. Tests may have them.
func (rules importRules) checkFields(s *source, report func(string, ...any)) {
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
				case *ast.FuncType, *ast.StructType: // a function's argument is not held; a nested struct is visited by the outer walk
					return false
				}
				if rules.isAssembly(s, n) {
					report("line %d: a field holds the assembly: pass what the component needs of it through its constructor",
						s.set.Position(field.Pos()).Line)
				}
				_, qualified := n.(*ast.SelectorExpr)
				return !qualified // the name after the dot belongs to another package
			})
		}
		return true
	})
}

// isAssembly reports whether the node names an assembly.
func (rules importRules) isAssembly(s *source, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.Ident:
		return rules.assemblies[s.folder] == n.Name
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if !ok {
			return false
		}
		for folder, name := range rules.assemblies {
			if s.imports[module+folder] == x.Name && n.Sel.Name == name {
				return true
			}
		}
	}
	return false
}

func (rules importRules) checkPackageName(s *source, report func(string, ...any)) {
	name := strings.TrimSuffix(s.name, "_test")
	if slices.Contains(vaguePackageNames, name) || slices.Contains(vaguePackageNames, path.Base(s.folder)) {
		report("the package name %s does not say what the package does: name it by what it decides, "+
			"or move its parts to the packages that use them", name)
	}
	if name != "main" && name != path.Base(s.folder) {
		report("package %s is in folder %s: give both the same name", name, s.folder)
	}
}

// checkOwnImport checks an import of this module against layers, programImports
// and testSupport.
func (rules importRules) checkOwnImport(s *source, index int, own string, report func(string, ...any)) {
	if own == s.folder {
		return // an external test of the package
	}
	exception := importEdge{s.folder, own}
	if why, ok := rules.refusedImports[exception]; ok {
		report("imports %s, which it may not: %s", own, why)
		return
	}
	if _, ok := rules.allowedImports[exception]; ok {
		rules.used[exception] = true
		return
	}
	to, ok := rules.layerOf(own)
	if !ok {
		report("imports %s, which is in no layer: add it to its layer in deploy/layers", own)
		return
	}
	testsOnly, support := rules.testSupport[own]
	if support && s.test {
		return
	}
	_, supports := rules.testSupport[s.folder]
	if testsOnly && !supports {
		report("imports %s, which only tests may import: move what the program needs into a package for programs", own)
		return
	}
	if to >= index {
		report("imports %s (%s), which is not below its own layer (%s): move the shared part to a lower layer, or join the two in a higher one",
			own, rules.layers[to].What, rules.layers[index].What)
		return
	}
	from, _, _ := strings.Cut(s.folder, "/")
	other, _, _ := strings.Cut(own, "/")
	if from != other && !isWithin(own, rules.programImports[from]) {
		report("imports %s, but of the other programs %s may import only %q: share types through schema, or communicate over MQTT", own, from,
			rules.programImports[from])
	}
}

func (rules importRules) onlyImporterOf(what string) (string, bool) {
	for library, importer := range rules.onlyImporter {
		if isWithin(what, []string{library}) {
			return importer, true
		}
	}
	return "", false
}

// checkTables checks the tables themselves: it reports folders that are listed
// twice, and exceptions without a reason or without a file that needs them.
func (rules importRules) checkTables() (found []string) {
	seen := map[string]bool{}
	for _, r := range rules.layers {
		for _, folder := range r.Folders {
			if seen[folder] {
				found = append(found, fmt.Sprintf("layers: %s is in two layers: remove it from one", folder))
			}
			seen[folder] = true
		}
	}
	checkException := func(table, what, why string, used bool) {
		if why == "" {
			found = append(found, fmt.Sprintf("%s: %s has no reason: give one", table, what))
		}
		if !used {
			found = append(found, fmt.Sprintf("%s: no file needs %s any more: remove it", table, what))
		}
	}
	for edge, why := range rules.allowedImports {
		checkException("allowedImports", edge.from+" to "+edge.to, why, rules.used[edge])
	}
	for where, why := range rules.allowedClocks {
		checkException("allowedClocks", where, why, rules.used[where])
	}
	slices.Sort(found)
	return found
}

// isWithin reports whether the path is one of the given ones or below one.
func isWithin(what string, these []string) bool {
	return slices.ContainsFunc(these, func(this string) bool {
		return what == this || strings.HasPrefix(what, this+"/")
	})
}

func sortedPaths(imports map[string]string) func(func(string) bool) {
	paths := make([]string, 0, len(imports))
	for what := range imports {
		paths = append(paths, what)
	}
	slices.Sort(paths)
	return slices.Values(paths)
}
