package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"troupe/schema/golden"
)

// draw runs one command line on the files of testdata/timeline.
func draw(t *testing.T, environ []string, args ...string) string {
	var out, problems bytes.Buffer
	s := Streams{In: strings.NewReader(""), Out: &out, Err: &problems, Environ: environ}
	if code := Main(t.Context(), s, "v0-test", args...); code != exitOK {
		t.Fatalf("%q: exit code %d\n%s", args, code, problems.String())
	}
	return out.String()
}

func TestTimelineIsDrawn(t *testing.T) {
	const folder = "testdata/timeline"
	for name, c := range map[string]struct {
		environ []string
		args    []string
	}{
		"tour":       {nil, []string{"act", "show", "-f", folder, "tour"}},
		"tour-ascii": {[]string{"LANG=C"}, []string{"act", "show", "-f", folder, "tour"}},
		"tour-ja":    {[]string{"LANG=ja_JP.UTF-8"}, []string{"act", "show", "-f", folder, "tour", "--lang", "ja"}},
		"tour-wide":  {[]string{"COLUMNS=130"}, []string{"act", "show", "-f", folder, "tour"}},
		"day":        {nil, []string{"story", "show", "-f", folder, "day"}},
		"rest":       {nil, []string{"act", "show", "-f", folder + "/rest.yaml", "--ascii", "--width", "60"}},
	} {
		t.Run(name, func(t *testing.T) {
			golden.Compare(t, folder+"/"+name+".txt", draw(t, c.environ, append(c.args, "--timeline")...))
		})
	}
}

func TestDrawingIsAsWideAsTheTerminal(t *testing.T) {
	for _, ascii := range []string{"--ascii=false", "--ascii"} {
		for _, lang := range []string{"en", "ja"} {
			for width := minWidth; width < 200; width += 7 {
				text := draw(t, nil, "story", "show", "-f", "testdata/timeline", "--timeline", "--lang", lang, ascii, "--width", fmt.Sprint(width))
				for _, line := range strings.Split(text, "\n") {
					if n := uniseg.StringWidth(line); n > width {
						t.Errorf("a line of %d columns in a drawing of %d: %q", n, width, line)
					}
				}
			}
		}
	}
}
