// Command lint has the checks that go vet and staticcheck lack. go vet -vettool runs it on one package after the
// other, and keeps what it found with the build, so that only what changed is checked again.
package main

import (
	"go/ast"
	"go/types"
	"os"
	"strings"
	"unicode/utf8"

	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() { unitchecker.Main(errorlint.NewAnalyzer(), lines, actions) }

const maxColumns = 140 // a tab is one

// lines leaves out lines with a raw string, such as the tags of a field or the text of a query, and generated files.
var lines = &analysis.Analyzer{
	Name: "lines", Doc: "reports long lines",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, f := range pass.Files {
			if ast.IsGenerated(f) {
				continue
			}
			file := pass.Fset.File(f.FileStart)
			raw := map[int]bool{}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, is := n.(*ast.BasicLit); is && strings.HasPrefix(s.Value, "`") {
					for at := file.Line(s.Pos()); at <= file.Line(s.End()); at++ {
						raw[at] = true
					}
				}
				return true
			})
			text, err := os.ReadFile(file.Name())
			if err != nil {
				return nil, err
			}
			n := 0
			for line := range strings.Lines(string(text)) {
				if n++; utf8.RuneCountInString(line) > maxColumns+1 && !raw[n] {
					pass.Reportf(file.LineStart(n), "the line has %d columns, more than %d", utf8.RuneCountInString(line)-1, maxColumns)
				}
			}
		}
		return nil, nil
	},
}

// actions is there because the compiler takes any text for an audit.Action.
var actions = &analysis.Analyzer{
	Name: "actions", Doc: "reports actions of the audit that are no constants",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, f := range pass.Files {
			if strings.HasSuffix(pass.Fset.File(f.FileStart).Name(), "_test.go") || f.Name.Name == "audit" {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				s, is := n.(*ast.BasicLit)
				if !is || s.Value == `""` {
					return true
				}
				if named, is := types.Unalias(pass.TypesInfo.TypeOf(s)).(*types.Named); is && named.String() == "troupe/fleetd/audit.Action" {
					pass.Reportf(s.Pos(), "%s is no action of the audit: use a constant of fleetd/audit", s.Value)
				}
				return true
			})
		}
		return nil, nil
	},
}
