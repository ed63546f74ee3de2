package deploy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"troupe/fleetd/cli"
	"troupe/schema/verb"
)

// What a robot says to people (hints of alerts, refusals, reasons) names commands by their
// verbs. An operator with fleetd alone must have each of them.
func TestEveryVerbThatRobotsNameIsACommandOfFleetd(t *testing.T) {
	named := map[string]token.Position{}
	word := regexp.MustCompile(`\b([a-z]+)/([a-z-]+)\b`)
	for _, root := range []string{"../robotd", "../schema/reason.go"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if l, is := n.(*ast.BasicLit); is && l.Kind == token.STRING {
					text, _ := strconv.Unquote(l.Value)
					for _, m := range word.FindAllStringSubmatch(text, -1) {
						if _, known := verb.Of(m[1], m[2]); known {
							named[m[0]] = files.Position(n.Pos())
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(named) < 5 {
		t.Fatalf("only these verbs were found: %v", named)
	}
	otherwise := map[string]string{"safety/stop": "stop", "sys/adopt": "adopt", "sys/cancel": "command cancel", "sys/query": "command get"}
	for v, at := range named {
		line := strings.ReplaceAll(v, "/", " ")
		if other := otherwise[v]; other != "" {
			line = other
		}
		var out strings.Builder
		code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: io.Discard}, "v0", append(strings.Fields(line), "--help")...)
		if code != 0 || !strings.Contains(out.String(), "fleetd "+line+" ") {
			t.Errorf("%s names %s, which fleetd has no command for", at, v)
		}
	}
}
