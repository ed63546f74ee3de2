// Command lint has the checks that go vet and staticcheck lack. go vet -vettool runs it on one package after the
// other, and keeps what it found with the build, so that only what changed is checked again.
package main

import (
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() { unitchecker.Main(errorlint.NewAnalyzer(), lines) }

const maxColumns = 140 // a tab is one

// wrapped are the folders in which no line is longer than maxColumns. A line with a raw string, such as the tags of
// a field or the text of a query, may be.
var wrapped = []string{
	"broker/access", "broker/brokertest", "broker/link", "broker/server", "broker/websocket",
	"robotd/download", "robotd/page", "robotd/recorder", "robotd/report",
}

var lines = &analysis.Analyzer{
	Name: "lines", Doc: "reports long lines",
	Run: func(pass *analysis.Pass) (any, error) {
		folder, _, _ := strings.Cut(strings.TrimPrefix(pass.Pkg.Path(), "troupe/"), " ") // of a test: PATH [PATH.test]
		folder = strings.TrimSuffix(folder, "_test")                                     // of a test outside of its package
		if !slices.ContainsFunc(wrapped, func(w string) bool { return folder == w || strings.HasPrefix(folder, w+"/") }) {
			return nil, nil
		}
		for _, f := range pass.Files {
			file := pass.Fset.File(f.FileStart)
			text, err := os.ReadFile(file.Name())
			if err != nil {
				return nil, err
			}
			n := 0
			for line := range strings.Lines(string(text)) {
				if n++; utf8.RuneCountInString(line) > maxColumns+1 && !strings.Contains(line, "`") {
					pass.Reportf(file.LineStart(n), "the line has %d columns, more than %d", utf8.RuneCountInString(line)-1, maxColumns)
				}
			}
		}
		return nil, nil
	},
}
