package deploy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"troupe/schema"
)

// TestEveryReasonOccursInATest: a reason that no test expects may be one that no program
// gives any more.
func TestEveryReasonOccursInATest(t *testing.T) {
	occurs := map[string]bool{} // names of constants, and words of traces and scripts
	word := regexp.MustCompile(`[a-z0-9_]+`)
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		switch {
		case d.IsDir():
		case strings.HasSuffix(path, "_test.go"):
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if name, is := n.(*ast.Ident); is {
					occurs[name.Name] = true
				}
				return true
			})
		case strings.HasSuffix(path, ".trace") || strings.HasSuffix(path, ".txtar"):
			text, err := os.ReadFile(path)
			for _, w := range word.FindAllString(string(text), -1) {
				occurs[w] = true
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	names := reasonNames(t)
	for _, r := range schema.Reasons {
		if !occurs[string(r.Reason)] && !occurs[names[string(r.Reason)]] {
			t.Errorf("no test expects the reason %s", r.Reason)
		}
	}
}

// reasonNames returns the names of the constants of the reasons, by their values.
func reasonNames(t *testing.T) map[string]string {
	file, err := parser.ParseFile(token.NewFileSet(), "../schema/reason.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is && len(spec.Names) == 1 && len(spec.Values) == 1 {
			if value, is := spec.Values[0].(*ast.BasicLit); is && value.Kind == token.STRING {
				s, _ := strconv.Unquote(value.Value)
				names[s] = spec.Names[0].Name
			}
		}
		return true
	})
	if names["busy"] != "ReasonBusy" {
		t.Fatalf("these constants were found: %v", names)
	}
	return names
}
