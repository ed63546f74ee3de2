package deploy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"troupe/schema"
)

// TestEveryEventOfRobotdHasRow reads the calls that record an event: a type that is written
// out has a row in schema.Events. What is composed at run time is checked by the tests of
// robotd/brain, which check the invariants of each step (auditor_test.go).
func TestEveryEventOfRobotdHasRow(t *testing.T) {
	recorded := map[string]bool{}
	err := filepath.WalkDir("../robotd", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if kind, is := eventType(n); is {
				if recorded[kind] = true; schema.EventOf(kind).Level == "" {
					t.Errorf("%s: the event %s has no row in schema.Events", files.Position(n.Pos()), kind)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !recorded["mode_changed"] || !recorded["alert_cleared"] {
		t.Fatalf("only these events were found: %v", recorded)
	}
}

// eventType is the type that a call records, if it is written out.
func eventType(n ast.Node) (kind string, is bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 && len(call.Args) != 5 {
		return "", false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "Event" && f.Sel.Name != "recordEvent" && f.Sel.Name != "EventOf" {
		return "", false
	}
	arg, ok := call.Args[0].(*ast.BasicLit)
	if !ok || arg.Kind != token.STRING {
		return "", false
	}
	kind, err := strconv.Unquote(arg.Value)
	return kind, err == nil
}
