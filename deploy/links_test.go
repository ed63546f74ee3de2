package deploy

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// TestMarkdownLinksResolve checks every relative link of every page: the file or
// folder exists, and an anchor is a heading of its page.
func TestMarkdownLinksResolve(t *testing.T) {
	root := os.DirFS("..")
	pages := map[string]markdown{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(root, name)
		pages[name] = parseMarkdown(string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for name, page := range pages {
		for _, l := range page.links {
			checked++
			if problem := resolve(root, pages, name, l.target); problem != "" {
				t.Errorf("%s:%d: %s: %s", name, l.line, l.target, problem)
			}
		}
	}
	if len(pages) < 5 || checked < 50 {
		t.Errorf("only %d links on %d pages: the test looks in the wrong place", checked, len(pages))
	}
}

// resolve says why a relative link of a page leads nowhere.
func resolve(root fs.FS, pages map[string]markdown, from, target string) string {
	at, anchor, _ := strings.Cut(target, "#")
	at, err := url.PathUnescape(at)
	if err != nil {
		return err.Error()
	}
	name := from
	if at != "" {
		name = path.Join(path.Dir(from), filepath.ToSlash(at))
	}
	if _, err := fs.Stat(root, name); err != nil {
		return "there is no " + name
	}
	if anchor != "" && !pages[name].anchors[anchor] {
		return fmt.Sprintf("%s has no heading #%s", name, anchor)
	}
	return ""
}

type markdown struct {
	links   []markdownLink
	anchors map[string]bool
}

type markdownLink struct {
	line   int
	target string
}

var (
	inlineLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	inlineCode = regexp.MustCompile("`[^`]*`")
	heading    = regexp.MustCompile(`^#{1,6} (.+)$`)
)

// parseMarkdown finds links without a scheme, and headings, outside of code.
func parseMarkdown(text string) markdown {
	page := markdown{anchors: map[string]bool{}}
	code := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if code {
			continue
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			page.addHeading(m[1])
		}
		for _, m := range inlineLink.FindAllStringSubmatch(inlineCode.ReplaceAllString(line, ""), -1) {
			if !strings.Contains(m[1], ":") {
				page.links = append(page.links, markdownLink{i + 1, m[1]})
			}
		}
	}
	return page
}

// addHeading adds a heading's anchor as GitHub makes it; a heading that is
// repeated gets a number.
func (m markdown) addHeading(text string) {
	slug := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, text)
	for i, free := 0, slug; ; free = fmt.Sprintf("%s-%d", slug, i) {
		if i++; !m.anchors[free] {
			m.anchors[free] = true
			return
		}
	}
}

func TestMarkdownLinksAreFound(t *testing.T) {
	page := parseMarkdown("# The `top` of it\n[a](b.md#c), [web](https://x.example) and `[not](this)`\n```sh\n# no heading\n[nor](this)\n" +
		"```\n## Again\n## Again\n")
	if len(page.links) != 1 || page.links[0] != (markdownLink{2, "b.md#c"}) {
		t.Errorf("links: %v", page.links)
	}
	for _, want := range []string{"the-top-of-it", "again", "again-1"} {
		if !page.anchors[want] {
			t.Errorf("no anchor %s among %v", want, page.anchors)
		}
	}
	root := os.DirFS(t.TempDir())
	for target, want := range map[string]string{"gone.md": "there is no docs/gone.md", "#gone": "there is no docs/p.md"} {
		if got := resolve(root, nil, "docs/p.md", target); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}
