package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"troupe/fleetd/api"
	"troupe/fleetd/library"
	"troupe/schema"
	"troupe/schema/score"
)

// timelineFlags are those of get --timeline.
type timelineFlags struct {
	on    bool
	files []string
	lang  string
	rev   int64
	width int
	ascii bool
}

func (f *timelineFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "timeline", false, "draw what each unit does by time")
	c.Flags().StringArrayVarP(&f.files, "file", "f", nil, "with --timeline: draw what these files or folders hold; asks no server")
	c.Flags().StringVar(&f.lang, "lang", "", "with --timeline: the language of the texts, such as de")
	c.Flags().Int64Var(&f.rev, "rev", 0, "a published revision, in place of the draft")
	c.Flags().IntVar(&f.width, "width", 0, "with --timeline: columns of the drawing; default: those of the terminal, or 80")
	c.Flags().BoolVar(&f.ascii, "ascii", false, "with --timeline: draw with ASCII only; default: if the locale is not UTF-8")
}

// showTimeline draws the timeline of one act or story of fleetd, or of those in files.
func (sh *shell) showTimeline(ctx context.Context, kind string, names []string, f *timelineFlags) error {
	if len(f.files) == 0 {
		var got api.Timeline
		if err := sh.do(ctx, "get-timeline-"+kind, given{"id": names[0], "lang": f.lang, "rev": f.rev}, &got); err != nil {
			return err
		}
		return sh.show(got, func(w io.Writer) { f.draw(sh, w, got) })
	}
	all, err := sh.timelinesOf(kind, names, f)
	if err != nil {
		return err
	}
	return sh.show(all, func(w io.Writer) {
		for i, t := range all {
			if i > 0 {
				fmt.Fprintln(w)
			}
			f.draw(sh, w, t)
		}
	})
}

// timelinesOf returns the timelines of the acts or stories in files, or of those with
// these names. Acts that they perform are looked up in the same files.
func (sh *shell) timelinesOf(kind string, names []string, f *timelineFlags) ([]api.Timeline, error) {
	sources, err := sh.sources(f.files, kind) // of folders: acts, too
	if err != nil {
		return nil, err
	}
	acts, read := map[string]score.Act{}, make([]int, 0, len(sources))
	bad := 0
	for i, s := range sources {
		if s.id == "" { // it cannot be read: see why
			_, found := score.ParseAct(s.text)
			sh.problems(s, found)
			continue
		}
		wanted := s.kind == kind && (len(names) == 0 || slices.Contains(names, s.id))
		if wanted {
			read = append(read, i)
		}
		if s.kind != "act" {
			continue
		}
		a, found := score.ParseAct(s.text)
		if len(found) == 0 {
			found = score.ValidateActWith(a, score.In(acts))
		}
		if errs := schema.Errors(found); len(errs) == 0 {
			acts[a.ID] = a
		} else if n := sh.problems(s, errs); wanted {
			bad += n
		}
	}
	if len(read) == 0 {
		return nil, fmt.Errorf("%s: no %s", strings.Join(f.files, ", "), strings.Join(append([]string{kind}, names...), " "))
	}
	var out []api.Timeline
	for _, i := range read {
		if bad > 0 {
			break
		}
		s := sources[i]
		t := api.Timeline{Kind: kind, ID: s.id}
		var found []schema.Problem
		if kind == "act" {
			t.Timeline, found = score.ActTimeline(acts[s.id], score.In(acts), f.lang)
		} else {
			t.Timeline, found = storyTimeline(library.Kind(kind), s.text, acts, f.lang)
		}
		for i := range found {
			if found[i].Code == score.CodeUnknownAct {
				found[i].Hint = "name its file with -f, too, or correct its name; without -f fleetd draws what it has, with the acts that it has"
			}
		}
		bad += sh.problems(s, found)
		out = append(out, t)
	}
	if bad > 0 {
		return nil, fmt.Errorf("without a valid %s there is no timeline", kind)
	}
	return out, nil
}

func storyTimeline(kind library.Kind, text []byte, acts map[string]score.Act, lang string) (score.Timeline, []schema.Problem) {
	story, found := library.StoryOf(kind, text)
	if len(found) == 0 {
		found = schema.Errors(score.ValidateStory(story, score.In(acts)))
	}
	if len(found) > 0 {
		return score.Timeline{}, found
	}
	return score.StoryTimeline(story, score.In(acts), lang)
}

// problems prints the problems of a text, and returns their number.
func (sh *shell) problems(s source, found []schema.Problem) int {
	for _, p := range found {
		fmt.Fprintln(sh.Err, formatProblem(p, s.path, s.text))
	}
	return len(found)
}

func (f *timelineFlags) draw(sh *shell, w io.Writer, t api.Timeline) {
	d := drawing{width: cmp.Or(f.width, sh.columns()), ascii: f.ascii || !sh.utf8()}
	title := t.ID
	if t.Kind == "story" {
		title += ", one round"
	}
	d.draw(w, title, t.Timeline)
	fmt.Fprintln(w)
	d.list(w, t.Timeline)
}

// columns returns the width of the terminal; 80 without one.
func (sh *shell) columns() int {
	columns, _ := sh.terminalSize()
	return columns
}

// terminalSize is the size of the terminal in columns and lines; COLUMNS and LINES of the environment come first.
func (sh *shell) terminalSize() (columns, lines int) {
	columns, lines = 80, 24
	if f, ok := unsanitized(sh.Out).(*os.File); ok {
		if c, l, err := term.GetSize(int(f.Fd())); err == nil && c > 0 && l > 0 {
			columns, lines = c, l
		}
	}
	for name, size := range map[string]*int{"COLUMNS": &columns, "LINES": &lines} {
		if n, err := strconv.Atoi(sh.Env(name)); err == nil && n > 0 {
			*size = n
		}
	}
	return columns, lines
}

// utf8 reports whether the locale is UTF-8, or not set.
func (sh *shell) utf8() bool {
	locale := cmp.Or(sh.Env("LC_ALL"), sh.Env("LC_CTYPE"), sh.Env("LANG"), "UTF-8")
	locale = strings.ToLower(locale)
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}
