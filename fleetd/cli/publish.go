package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/schema/score"
)

// source is one file of an act, story or activity.
type source struct {
	path, kind, id string
	text           []byte
}

// sources reads files and folders, and returns acts first, so that stories find them. Of
// a folder it reads the kind only, and acts for stories and activities, or everything if wanted
// is empty; a file that is named is read whatever its kind.
func (sh *shell) sources(paths []string, wanted string) ([]source, error) {
	var out []source
	for _, path := range paths {
		if path == "-" {
			text, err := io.ReadAll(sh.In)
			if err != nil {
				return nil, fmt.Errorf("read the standard input: %w", err)
			}
			out = append(out, sourceOf("-", text, wanted))
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, errors.Unwrap(err))
		}
		files := []string{path}
		if info.IsDir() {
			if files, err = sourceFiles(path); err != nil {
				return nil, err
			}
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", file, errors.Unwrap(err))
			}
			if s := sourceOf(file, text, wanted); !info.IsDir() || wanted == "" || s.kind == wanted || wanted != "act" && s.kind == "act" {
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

// sourceFiles lists the YAML and JSON files of a folder and its subfolders.
func sourceFiles(folder string) ([]string, error) {
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

// sourceOf reads the kind and name from a text; a text without a kind gets defaultKind.
func sourceOf(path string, text []byte, defaultKind string) source {
	kind, id := score.NameOf(text)
	return source{path: path, kind: orElse(kind, defaultKind), id: id, text: text}
}

func fileFlag(c *cobra.Command, paths *[]string) {
	c.Flags().StringArrayVarP(paths, "file", "f", nil, "file or folder, - for the standard input; may be repeated")
	if err := c.MarkFlagRequired("file"); err != nil {
		panic(err) // the flag is defined above
	}
}

// publishCommand makes the command that publishes a kind, or with an empty kind whatever is
// in the files.
func (sh *shell) publishCommand(kind string) *cobra.Command {
	var paths, acts []string
	var why string
	var dryRun bool
	c := &cobra.Command{
		Use: "publish (-f FILE... | NAME...)", Short: "publish files or drafts, each as its next revision",
		Long: `Save files as drafts and publish each as its next revision, all or none of them; or publish the
named drafts, one after the other, or one draft and the acts of --with-act in one transaction. From
a folder, sounds and images are uploaded first, then acts are published, then stories, or
activities; act publish publishes only the acts. Robots keep the revision that they have until the story or
activity is assigned to them again. --dry-run shows what would change.`,
		Example: "  fleetd " + kind + " publish -f museum/ --dry-run\n  fleetd " + kind + " publish welcome",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			switch {
			case kind == "" && len(paths) == 0:
				return usage("%s needs -f FILE", cmd.CommandPath())
			case (len(paths) == 0) == (len(args) == 0):
				return usage("%s needs either -f FILE or names of drafts", cmd.CommandPath())
			case dryRun && len(paths) == 0:
				return usage("--dry-run needs -f FILE")
			case len(acts) > 0 && len(args) != 1:
				return usage("--with-act needs the name of one draft")
			case len(paths) > 0:
				return sh.publishFiles(cmd.Context(), kind, paths, api.Publication{Attribution: audit.Attribution{Who: sh.by, Why: why},
					DryRun: dryRun})
			}
			return sh.publishDrafts(cmd.Context(), kind, args, api.ToPublish{Attribution: audit.Attribution{Who: sh.by, Why: why}, Acts: acts})
		}),
	}
	if kind == "" {
		c.Use, c.Short, c.Args = "publish -f FILE...", "publish acts, stories and activities from files or folders, all or none of them",
			cobra.NoArgs
		c.Long = `Save files as drafts and publish each as its next revision, all or none of them. From a folder,
sounds and images are uploaded first, then acts are published, then stories and activities.
Robots keep the revision that they have until the story or activity is assigned to them again. --dry-run shows what
would change.`
		c.Example = "  fleetd publish -f museum/ --dry-run\n  fleetd publish -f museum/ --why 'winter opening'"
	}
	c.Flags().StringArrayVarP(&paths, "file", "f", nil, "file or folder, - for the standard input; may be repeated")
	c.Flags().StringVar(&why, "why", "", "what changed, for the audit")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	if kind != "" {
		c.Flags().StringArrayVar(&acts, "with-act", nil, "publish the draft of this act too, before it and in one transaction; may be repeated")
	}
	return c
}

// publishFiles publishes files and folders, all or none. Sounds and images of folders are
// uploaded before; by themselves they change nothing that is published.
func (sh *shell) publishFiles(ctx context.Context, kind string, paths []string, request api.Publication) error {
	all, err := sh.sources(paths, kind)
	if err != nil {
		return err
	}
	var assets []api.NewAsset
	if kind != "act" {
		if assets, err = newAssetsOf(paths); err != nil {
			return err
		}
	}
	results, err := sh.validate(ctx, all, assets, true)
	if err != nil {
		return err
	}
	if bad := notValid(results); bad > 0 {
		return &failure{code: exitError, err: fmt.Errorf("%d of %d files are not valid; nothing was published", bad, len(all))}
	}
	for _, s := range all {
		request.Texts = append(request.Texts, api.SourceText{Kind: s.kind, Text: string(s.text)})
	}
	if request.DryRun {
		request.Assets = assets
		if err := sh.newAssetLines(ctx, assets); err != nil {
			return err
		}
	} else if kind != "act" {
		if err := sh.putAssetsOf(ctx, paths, request.Why); err != nil {
			return err
		}
	}
	var done api.Publications
	if err := sh.call(ctx, apiRequest{method: http.MethodPost, path: "library/publish", body: request}, &done); err != nil {
		return err
	}
	return sh.show(done.Results, func(w io.Writer) { publishedLines(w, done.Results, request.DryRun) })
}

// newAssetLines says which assets would be uploaded.
func (sh *shell) newAssetLines(ctx context.Context, assets []api.NewAsset) error {
	if len(assets) == 0 {
		return nil
	}
	var got api.AssetList
	if err := sh.do(ctx, "list-assets", nil, &got); err != nil {
		return err
	}
	for _, a := range assets {
		word := "would be uploaded"
		if slices.ContainsFunc(got.Assets, func(have api.Asset) bool { return have.Name == a.Name && have.SHA256 == a.SHA256 }) {
			word = "unchanged"
		}
		fmt.Fprintf(sh.Err, "asset %s %s (%d bytes, sha256 %s)\n", a.Name, word, a.Size, a.SHA256[:12])
	}
	return nil
}

// publishDrafts publishes the drafts with these names, until one is refused.
func (sh *shell) publishDrafts(ctx context.Context, kind string, ids []string, request api.ToPublish) error {
	var done []api.Published
	for _, id := range ids {
		r := sh.request("publish-"+kind, given{"id": id})
		a := r.http()
		a.body, a.file = request, id
		var p api.PublishedWith
		err := sh.call(ctx, a, &p)
		if err != nil && len(done) > 0 {
			err = errors.Join(sh.show(done, func(w io.Writer) { publishedLines(w, done, false) }), err)
		}
		if err != nil {
			return err
		}
		done = append(append(done, p.Acts...), p.Published)
	}
	return sh.show(done, func(w io.Writer) { publishedLines(w, done, false) })
}

// staleLine names what uses an earlier revision of what was published or uploaded.
func staleLine(w io.Writer, what, earlier string, users []string) {
	if len(users) > 0 {
		fmt.Fprintf(w, "  %s that use an earlier %s of it: %s; publish them again to update them\n", what, earlier, strings.Join(users, ", "))
	}
}

func publishedLines(w io.Writer, done []api.Published, dryRun bool) {
	for _, p := range done {
		word := "published"
		switch {
		case p.Unchanged:
			word = "unchanged"
		case dryRun:
			word = "would be published"
		}
		fmt.Fprintf(w, "%s %s revision %d %s (%d bytes, sha256 %s)\n", p.Kind, p.ID, p.Revision.Rev, word, p.Revision.Size,
			p.Revision.SHA256[:12])
		staleLine(w, "stories", "revision", p.Stale)
		staleLine(w, "activities", "revision", p.StaleActivities)
	}
}
