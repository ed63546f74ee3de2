package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/folder"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/schema"
	"troupe/schema/score"
)

// folderFiles is a folder as it is on the disk.
type folderFiles struct {
	api.FolderFiles
	path   string
	assets map[string]string // path in the folder of the bytes of a digest
}

// readFolder reads the files of a folder, and returns everything that keeps them from being read: sizes and kinds of files are
// looked at before anything in them.
func readFolder(dir string) (*folderFiles, []library.FileProblem, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", dir, errors.Unwrap(err))
	}
	defer root.Close()
	f := &folderFiles{path: dir, assets: map[string]string{}}
	var found []library.FileProblem
	refuse := func(name, code, detail, hint string) {
		found = append(found, library.FileProblem{Path: name, Problem: schema.NewProblem("", code, detail, hint)})
	}
	files, bytes := 0, int64(0)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			refuse(name, folder.CodeBadPath, "it is a symbolic link, which may lead out of the folder", "put the file itself into the folder")
			return nil
		case d.IsDir() || !folder.IsText(name) && !folder.IsAsset(name):
			return nil
		case !d.Type().IsRegular():
			refuse(name, folder.CodeBadPath, "it is not a file", "remove it from the folder")
			return nil
		}
		if problems := folder.CheckPath(name); len(problems) > 0 {
			found = append(found, library.FileProblem{Path: name, Problem: problems[0]})
			return nil
		}
		if files++; files > folder.MaxFiles {
			return errFolderTooBig
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		limit := folder.MaxBytesOf(name)
		if info.Size() > limit {
			refuse(name, score.CodeTooBig, fmt.Sprintf("it has %d bytes, at most %d are read", info.Size(), limit), "split it in two, or shorten it")
			return nil
		}
		body, err := readWithin(root, name, limit)
		if err != nil {
			return err
		}
		if folder.IsAsset(name) {
			f.addAsset(name, body, &found)
			return nil
		}
		if bytes += int64(len(body)); bytes > folder.MaxBytes {
			return errFolderTooBig
		}
		if problems := score.NotText(body); len(problems) > 0 {
			found = append(found, library.FileProblem{Path: name, Problem: problems[0]})
			return nil
		}
		f.Files = append(f.Files, folder.File{Path: name, Text: string(body)})
		return nil
	})
	if errors.Is(err, errFolderTooBig) {
		return nil, nil, fmt.Errorf("%s has over %d files, or over %d bytes of texts; split it in two folders, each with a fleet.yaml of its own",
			dir, folder.MaxFiles, folder.MaxBytes)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", dir, err)
	}
	return f, found, nil
}

var errFolderTooBig = errors.New("the folder is too big")

func readWithin(root *os.Root, name string, limit int64) ([]byte, error) {
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit+1))
}

func (f *folderFiles) addAsset(name string, body []byte, found *[]library.FileProblem) {
	sum := sha256.Sum256(body)
	a := folder.Asset{Path: name, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(body))}
	media, _, problems := library.CheckFile(a.Name(), body)
	for _, p := range problems {
		p.Pointer = ""
		*found = append(*found, library.FileProblem{Path: name, Problem: p})
	}
	if len(problems) > 0 {
		return
	}
	a.Media = string(media)
	f.Assets = append(f.Assets, a)
	f.assets[a.SHA256] = name
}

// folderFlags are those of diff and apply.
type folderFlags struct {
	path            string
	prune, takeOver bool
	now             bool
	rollout         string // file
}

func (g *folderFlags) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&g.path, "file", "f", "", "the folder")
	f.BoolVar(&g.prune, "prune", false, "delete what an earlier apply of this folder brought and the folder no longer has")
	f.BoolVar(&g.takeOver, "take-over", false, "take over what another folder brought")
	f.BoolVar(&g.now, "now", false, "give robots what policies say at once, without a rollout")
	f.StringVar(&g.rollout, "rollout", "", "file that says how the rollouts go by which robots get what policies say, as for fleetd rollout "+
		"create --plan; default: a canary, then waves")
	c.MarkFlagsMutuallyExclusive("now", "rollout")
	_ = c.MarkFlagRequired("file") // it is defined above
}

// planFolder reads a folder and asks fleetd what an apply would do. Every problem of every file is printed.
func (sh *shell) planFolder(ctx context.Context, g folderFlags, why string) (*folderFiles, api.FolderPlan, error) {
	var plan api.FolderPlan
	f, found, err := readFolder(g.path)
	if err != nil {
		return nil, plan, err
	}
	f.Prune, f.TakeOver, f.Now, f.Attribution = g.prune && len(found) == 0, g.takeOver, g.now, sh.attribution(why)
	if f.Rollout, err = sh.rolloutFile(g.rollout); err != nil {
		return nil, plan, err
	}
	err = sh.call(ctx, apiRequest{method: http.MethodPost, path: "folder/diff", body: f.FolderFiles, timeout: uploadTimeout}, &plan)
	if refused := (*failure)(nil); errors.As(err, &refused) && refused.problem != nil && (refused.problem.Of(api.KindInvalid) ||
		len(found) > 0) || err == nil && len(found) > 0 {
		if err != nil {
			for _, e := range refused.problem.Errors {
				found = append(found, library.FileProblem{Path: e.File, Problem: e.Problem})
			}
		}
		return nil, plan, sh.badFolder(f, found)
	}
	if err != nil {
		return nil, plan, err
	}
	for _, p := range plan.Warnings {
		fmt.Fprintln(sh.Err, formatProblem(p.Problem, filepath.Join(g.path, p.Path), f.text(p.Path)))
	}
	return f, plan, nil
}

// rolloutFile reads how rollouts go; without a file, as they do by default.
func (sh *shell) rolloutFile(name string) (spec rollout.Spec, err error) {
	if name == "" {
		return spec, nil
	}
	text, body, err := sh.readAsJSON(name)
	if err != nil {
		return spec, err
	}
	spec, found := schema.DecodeStrict[rollout.Spec](body)
	if len(schema.Errors(found)) == 0 {
		_, found = spec.Complete()
	}
	if found = schema.Errors(found); len(found) == 0 {
		return spec, nil
	}
	lines := make([]string, len(found))
	for i, p := range found {
		p.Pointer = strings.TrimPrefix(p.Pointer, "/spec")
		lines[i] = formatProblem(p, name, text)
	}
	return spec, usage("%s", strings.Join(lines, "\n"))
}

// badFolder prints the problems of a folder in the order of its files.
func (sh *shell) badFolder(f *folderFiles, found []library.FileProblem) error {
	found = folder.Sorted(found)
	for _, p := range found {
		fmt.Fprintln(sh.Err, formatProblem(p.Problem, filepath.Join(f.path, p.Path), f.text(p.Path)))
	}
	return &failure{code: exitError, err: fmt.Errorf("%s has %s; nothing was changed", f.path, countText(len(found), "error"))}
}

// text is a text of the folder; nil if it has none of this path.
func (f *folderFiles) text(name string) []byte {
	for _, file := range f.Files {
		if file.Path == name {
			return []byte(file.Text)
		}
	}
	return nil
}

func (sh *shell) diffFolderCommand() *cobra.Command {
	var g folderFlags
	c := &cobra.Command{
		Use: "diff -f DIR", Short: "show what an apply of a folder would change, and which robots it reaches", Args: cobra.NoArgs,
		Long: `Show what fleetd apply -f DIR would change, as unified diffs, and which robots it reaches. Nothing is changed. The
exit code is 0 if nothing would change, 8 if something would, and another one if the folder has errors or fleetd does not answer.`,
		Example: "  fleetd diff -f museum\n  fleetd diff -f museum --prune",
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			_, plan, err := sh.planFolder(cmd.Context(), g, "")
			if err != nil {
				return err
			}
			if err := sh.show(plan, func(w io.Writer) { folderDiff(w, plan) }); err != nil || plan.Empty() {
				return err
			}
			return &failure{code: exitDiffers}
		}),
	}
	g.flags(c)
	return c
}

func (sh *shell) applyFolderCommand() *cobra.Command {
	var g folderFlags
	var why, digest string
	var dryRun bool
	expect := -1
	c := &cobra.Command{
		Use: "apply -f DIR", Short: "make the fleet as a folder says: what is published, assets, places, policies, sites and schedules",
		Args: cobra.NoArgs,
		Long: `Make the fleet as the files of a folder say, all or nothing. To apply a folder again changes nothing. What the folder no
longer has stays; with --prune it is deleted if an earlier apply of this folder brought it, and --expect says how many objects that
are. --if takes the plan that fleetd diff printed: if something changed since, nothing is applied. An apply that takes robots from open
rollouts needs it.`,
		Example: "  fleetd apply -f museum --dry-run\n  fleetd apply -f museum --why 'winter opening'\n" +
			"  fleetd apply -f museum --prune --expect 2",
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			f, plan, err := sh.planFolder(cmd.Context(), g, why)
			if err != nil {
				return err
			}
			if dryRun {
				return sh.show(plan, func(w io.Writer) { appliedFolder(w, plan, true) })
			}
			if plan.Deletes > 0 && expect < 0 {
				appliedFolder(sh.Err, plan, true)
				return &failure{code: exitConflict, err: fmt.Errorf("%s would be deleted; to confirm: fleetd apply -f %s --prune --expect %d",
					countText(plan.Deletes, "object"), g.path, plan.Deletes)}
			}
			if taken := plan.Taken(); taken > 0 && digest == "" {
				appliedFolder(sh.Err, plan, true)
				return &failure{code: exitConflict, err: fmt.Errorf("%s would be taken from open rollouts; to confirm, repeat the command with --if %s",
					countText(taken, "robot"), plan.Digest)}
			}
			if err := sh.putFiles(cmd.Context(), f, plan.Missing, why); err != nil {
				return err
			}
			request := api.FolderRequest{FolderFiles: f.FolderFiles, Digest: orElse(digest, plan.Digest)}
			if expect >= 0 {
				request.ExpectedDeletes = &expect
			}
			var done api.FolderPlan
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodPost, path: "folder/apply", body: request, timeout: uploadTimeout},
				&done); err != nil {
				return err
			}
			return sh.show(done, func(w io.Writer) { appliedFolder(w, done, false) })
		}),
	}
	g.flags(c)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and change nothing")
	c.Flags().StringVar(&digest, "if", "", "the plan that fleetd diff printed; refused if the apply would do something else")
	c.Flags().IntVar(&expect, "expect", -1, "with --prune: how many objects are deleted; refused if it is another number")
	c.Flags().Lookup("expect").DefValue = ""
	whyFlag(c, &why)
	return c
}

// putFiles uploads the files of assets that fleetd does not have.
func (sh *shell) putFiles(ctx context.Context, f *folderFiles, digests []string, why string) error {
	if len(digests) == 0 {
		return nil
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.path, errors.Unwrap(err))
	}
	defer root.Close()
	for _, digest := range digests {
		name := f.assets[digest]
		body, err := readWithin(root, name, score.MaxAsset)
		if err != nil {
			return fmt.Errorf("read %s: %w", filepath.Join(f.path, name), err)
		}
		r := sh.request("put-file", given{"digest": digest, "why": why})
		a := r.http()
		line := sh.progress(name, "KiB")
		a.body, a.file, a.timeout = binaryBody(body), name, uploadTimeout
		a.onSent = func(n int) { line.show(n>>10, len(body)>>10) }
		err = sh.call(ctx, a, nil)
		line.clear()
		if err != nil {
			return err
		}
	}
	return nil
}
