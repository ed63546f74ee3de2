package deploy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// mostFields bounds a struct. What needs more holds the state of several components,
// and each of them can then be read and changed only together with the others.
const mostFields = 40

// allowedWide are structs that have more nevertheless.
var allowedWide = map[string]string{}

// wideStructs returns the structs of a file tree with more than mostFields, by folder and
// name, with the number of their fields. Tests are not looked at.
func wideStructs(root fs.FS) (map[string]int, error) {
	wide := map[string]int{}
	err := fs.WalkDir(root, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && at != "." && (strings.HasPrefix(path.Base(at), ".") || path.Base(at) == "node_modules") {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(at) != ".go" || strings.HasSuffix(at, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(root, at)
		if err != nil {
			return err
		}
		tree, err := parser.ParseFile(token.NewFileSet(), at, text, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse: %w", err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				count := 0
				for _, f := range s.Fields.List {
					count += max(1, len(f.Names)) // an embedded field has no name of its own
				}
				if count > mostFields {
					wide[path.Dir(at)+"."+spec.Name.Name] = count
				}
			}
			return true
		})
		return nil
	})
	return wide, err
}

func TestNoStructHasTooManyFields(t *testing.T) {
	wide, err := wideStructs(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for name, fields := range wide {
		if _, ok := allowedWide[name]; !ok {
			t.Errorf("%s has %d fields, at most %d are wanted: divide it by what changes together", name, fields, mostFields)
		}
	}
	for name := range allowedWide {
		if wide[name] == 0 {
			t.Errorf("%s has at most %d fields: take it off the exceptions", name, mostFields)
		}
	}
}

func TestStructWithTooManyFieldsIsFound(t *testing.T) {
	source := "package p\ntype narrow struct { " + strings.Repeat("a, b int\n", mostFields/2) + "}\ntype wide struct { narrow\n" +
		strings.Repeat("a, b int\n", mostFields/2) + "}\n"
	wide, err := wideStructs(fstest.MapFS{"p/p.go": {Data: []byte(source)}})
	if err != nil || len(wide) != 1 || wide["p.wide"] != mostFields+1 {
		t.Errorf("found %v, %v", wide, err)
	}
}
