package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema/score"
)

// source is one file of an act, story or activity.
type source struct {
	path, kind, id string
	text           []byte
}

// sources reads files and folders, and returns acts first, so that stories find them. Of
// a folder it reads the kind only, and acts for stories and activities, or everything if only
// is empty; a file that is named is read whatever its kind.
func (sh *shell) sources(paths []string, only string) ([]source, error) {
	var out []source
	for _, path := range paths {
		if path == "-" {
			text, err := io.ReadAll(sh.In)
			if err != nil {
				return nil, fmt.Errorf("read the standard input: %w", err)
			}
			out = append(out, sourceOf("-", text, only))
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
		}
		files := []string{path}
		if info.IsDir() {
			if files, err = documents(path); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", file, errors.Unwrap(err))
			}
			if s := sourceOf(file, text, only); !info.IsDir() || only == "" || s.kind == only || only != "act" && s.kind == "act" {
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b source) int { return strings.Compare(a.kind, b.kind) })
	return score.PerformedFirst(out, func(s source) score.Act {
		var a score.Act // none for a story
		if s.kind == "act" {
			a, _ = score.ParseAct(s.text)
		}
		return a
	}), nil
}

// documents lists the YAML and JSON files of a folder and its subfolders.
func documents(folder string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".yaml", ".yml", ".json":
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", folder, errors.Unwrap(err))
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s contains no .yaml, .yml or .json file", folder)
	}
	return out, nil
}

// sourceOf reads the kind and name from a text; what is neither is of the kind otherwise.
func sourceOf(path string, text []byte, otherwise string) source {
	kind, id := score.NameOf(text)
	return source{path: path, kind: orElse(kind, otherwise), id: id, text: text}
}

func fileFlag(c *cobra.Command, paths *[]string) {
	c.Flags().StringArrayVarP(paths, "file", "f", nil, "file or folder, - for the standard input; may be repeated")
	if err := c.MarkFlagRequired("file"); err != nil {
		panic(err) // the flag is defined above
	}
}

func (sh *shell) publishCommand(kind string) *cobra.Command {
	var paths []string
	var why string
	c := &cobra.Command{
		Use: "publish (-f FILE... | NAME...)", Short: "publish files or drafts, each as its next revision",
		Long: `Save files as drafts and publish each as its next revision; or publish the named drafts. From
a folder, sounds and images are uploaded first, then acts are published, then stories, or
activities; act publish publishes only the acts. Robots keep the revision that they have until
it is assigned to them again.`,
		Example: "  fleetd " + kind + " publish -f museum/\n  fleetd " + kind + " publish welcome",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if (len(paths) == 0) == (len(args) == 0) {
				return usage("%s publish needs either -f FILE or names of drafts", kind)
			}
			var done []api.Published
			err := sh.publishAll(cmd.Context(), kind, paths, args, why, &done)
			if err != nil && len(done) == 0 {
				return err
			}
			return errors.Join(sh.show(done, func(w io.Writer) { publishedLines(w, done) }), err)
		}),
	}
	c.Flags().StringArrayVarP(&paths, "file", "f", nil, "file or folder, - for the standard input; may be repeated")
	c.Flags().StringVar(&why, "why", "", "what changed, for the audit")
	return c
}

// publishAll publishes files, or the drafts with these names, until one is refused.
func (sh *shell) publishAll(ctx context.Context, kind string, paths, ids []string, why string, done *[]api.Published) error {
	for _, id := range ids {
		p, err := sh.publishDraft(ctx, kind, id, why, source{})
		if err != nil {
			return err
		}
		*done = append(*done, p)
	}
	all, err := sh.sources(paths, kind)
	if err != nil {
		return err
	}
	if kind != "act" {
		if err := sh.putAssetsOf(ctx, paths); err != nil {
			return err
		}
	}
	for _, s := range all {
		p, err := sh.publish(ctx, s, why)
		if err != nil {
			return err
		}
		*done = append(*done, p)
	}
	return nil
}

// publish saves a text as a draft and publishes it. A text with errors is not saved.
func (sh *shell) publish(ctx context.Context, s source, why string) (api.Published, error) {
	results, err := sh.validate(ctx, []source{s}, nil, true)
	if err != nil {
		return api.Published{}, err
	}
	v := results[0]
	if !v.Valid {
		return api.Published{}, &failure{exitError, fmt.Errorf("%s is not valid; it was not saved", s.path)}
	}
	a := apiRequest{method: http.MethodPut, path: plural(s.kind) + "/" + url.PathEscape(v.ID), query: url.Values{"by": {sh.by}}, body: s.text, file: s.path}
	if err := sh.call(ctx, a, nil); err != nil {
		return api.Published{}, err
	}
	return sh.publishDraft(ctx, s.kind, v.ID, why, s)
}

func (sh *shell) publishDraft(ctx context.Context, kind, id, why string, s source) (api.Published, error) {
	var p api.Published
	a := apiRequest{method: http.MethodPost, path: plural(kind) + "/" + url.PathEscape(id) + "/publish", body: api.Signed{By: sh.by, Why: why}, file: orElse(s.path, id)}
	return p, sh.call(ctx, a, &p)
}

// staleLine names what uses an earlier revision of what was published or uploaded.
func staleLine(w io.Writer, what, earlier string, users []string) {
	if len(users) > 0 {
		fmt.Fprintf(w, "  %s that use an earlier %s of it: %s; publish them again to update them\n", what, earlier, strings.Join(users, ", "))
	}
}

func publishedLines(w io.Writer, done []api.Published) {
	for _, p := range done {
		word := "published"
		if p.Unchanged {
			word = "unchanged"
		}
		fmt.Fprintf(w, "%s %s revision %d %s (%d bytes, sha256 %s)\n", p.Kind, p.ID, p.Revision.Rev, word, p.Revision.Size, p.Revision.SHA256[:12])
		staleLine(w, "stories", "revision", p.Stale)
		staleLine(w, "activities", "revision", p.StaleActivities)
	}
}
