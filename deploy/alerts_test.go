package deploy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"troupe/schema"
)

// TestAlertsAreThoseOfTheTable compares schema.Alerts with the source of robotd, and of fleetd, which raises some
// for a robot: a type that a call of Raise names has a row, and each row is a text or a reason there. Types composed at
// run time are checked by the auditor in the tests of robotd/brain, which checks the invariants of
// each step.
func TestAlertsAreThoseOfTheTable(t *testing.T) {
	rows := map[string]bool{} // whether the type was found
	for _, a := range schema.Alerts {
		rows[a.Type] = slices.ContainsFunc(schema.Reasons, func(r schema.ReasonText) bool { return string(r.Reason) == a.Type })
	}
	raised, named := 0, map[string]string{} // constants of package schema
	for _, files := range parsed(t, "../schema") {
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == len(spec.Values) {
					for i, name := range spec.Names {
						if text, ok := textOf(spec.Values[i]); ok {
							named[name.Name] = text
						}
					}
				}
				return true
			})
		}
	}
	for dir, files := range parsed(t, "../robotd", "../fleetd") {
		consts := map[string]string{}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == len(spec.Values) {
					for i, name := range spec.Names {
						if text, ok := textOf(spec.Values[i]); ok {
							consts[name.Name] = text
						}
					}
				}
				text, ok := textOf(n)
				if s, selected := n.(*ast.SelectorExpr); selected {
					if x, of := s.X.(*ast.Ident); of && x.Name == "schema" {
						text, ok = named[s.Sel.Name]
					}
				}
				if _, row := rows[text]; ok && row {
					rows[text] = true
				}
				return true
			})
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				kind, is := raisedType(n, consts)
				if !is {
					return true
				}
				raised++
				if _, row := rows[kind]; !row {
					t.Errorf("%s raises the alert %s, which has no row in schema.Alerts", dir, kind)
				}
				return true
			})
		}
	}
	for kind, found := range rows {
		if !found {
			t.Errorf("no code names the alert %s of schema.Alerts", kind)
		}
	}
	if raised < 15 {
		t.Fatalf("only %d calls of Raise were found", raised)
	}
}

// parsed has the files of the programs in some folders, by package.
func parsed(t *testing.T, folders ...string) map[string][]*ast.File {
	out := map[string][]*ast.File{}
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "node_modules" {
				return fs.SkipDir
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err == nil {
				out[filepath.Dir(path)] = append(out[filepath.Dir(path)], file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// raisedType is the type of the alert that a call of Raise or a RaiseAlert raises, if it is a text or
// a constant.
func raisedType(n ast.Node, consts map[string]string) (kind string, is bool) {
	var of ast.Expr
	switch n := n.(type) {
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "Raise" || len(n.Args) < 5 {
			return "", false
		}
		of = n.Args[0]
	case *ast.CompositeLit:
		if f, ok := n.Type.(*ast.SelectorExpr); !ok || f.Sel.Name != "RaiseAlert" || len(n.Elts) == 0 {
			return "", false
		}
		field, ok := n.Elts[0].(*ast.KeyValueExpr)
		if !ok {
			return "", false
		}
		of = field.Value
	default:
		return "", false
	}
	if name, ok := of.(*ast.Ident); ok {
		kind, is = consts[name.Name]
		return kind, is && kind != ""
	}
	return textOf(of)
}

func textOf(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
