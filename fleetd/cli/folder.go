package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
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
		return nil, nil, fmt.Errorf("%s has over %d files, or over %d bytes of texts; split it in two folders, each with a fleet.yaml of its own", dir, folder.MaxFiles, folder.MaxBytes)
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
	f.StringVar(&g.rollout, "rollout", "", "file that says how the rollouts go by which robots get what policies say, as for fleetd rollout create --plan; default: a canary, then waves")
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
		Example: "  fleetd apply -f museum --dry-run\n  fleetd apply -f museum --why 'winter opening'\n  fleetd apply -f museum --prune --expect 2",
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
				return &failure{code: exitConflict, err: fmt.Errorf("%s would be taken from open rollouts; to confirm, repeat the command with --if %s", countText(taken, "robot"), plan.Digest)}
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

// folderDiff prints a plan with its diffs.
func folderDiff(w io.Writer, p api.FolderPlan) {
	for _, c := range p.Changes {
		fmt.Fprintln(w, changeLine(c, effectWords[c.Effect].would))
		if c.Diff != "" {
			fmt.Fprint(w, c.Diff)
		}
	}
	folderRest(w, p)
	if p.Empty() {
		fmt.Fprintln(w, "no difference")
		return
	}
	fmt.Fprintf(w, "%s; plan %s\n", p.Counts(), p.Digest)
}

// appliedFolder prints what an apply did, or would do.
func appliedFolder(w io.Writer, p api.FolderPlan, dryRun bool) {
	for _, c := range p.Changes {
		words := effectWords[c.Effect]
		if dryRun {
			fmt.Fprintln(w, changeLine(c, words.would))
		} else {
			fmt.Fprintln(w, changeLine(c, words.did))
		}
	}
	folderRest(w, p)
	word := "applied"
	if dryRun {
		word = "to apply"
	}
	if p.Empty() {
		fmt.Fprintf(w, "folder %s: nothing %s, %d unchanged\n", p.Folder, word, p.Unchanged)
		return
	}
	fmt.Fprintf(w, "folder %s: %s %s, %d unchanged\n", p.Folder, p.Counts(), word, p.Unchanged)
}

var effectWords = map[library.Effect]struct{ would, did string }{
	library.EffectCreate:    {"create", "created"},
	library.EffectChange:    {"change", "changed"},
	library.EffectText:      {"change the comments of", "changed the comments of"},
	library.EffectRepublish: {"publish", "published"},
	library.EffectDelete:    {"delete", "deleted"},
}

func changeLine(c folder.Change, word string) string {
	line := word + " " + c.Ref.String()
	if c.Rev > 0 && c.Effect != library.EffectText {
		line += fmt.Sprintf(" revision %d", c.Rev)
	}
	line += " (" + c.Path + ")"
	if c.Why != "" {
		line += ": " + c.Why
	}
	if len(c.Robots) > 0 {
		line += fmt.Sprintf("; %s keep an earlier revision until they are given this one", library.RobotsText(c.Robots))
	}
	return line
}

// folderRest prints which robots a plan reaches, and what it leaves and takes.
func folderRest(w io.Writer, p api.FolderPlan) {
	for _, r := range p.Reaches {
		reachLines(w, r)
	}
	if len(p.Leaves) > 0 {
		fmt.Fprintf(w, "not in the folder any more, and left: %s; --prune deletes it\n", refsText(p.Leaves))
	}
	if len(p.Takes) > 0 {
		fmt.Fprintf(w, "%s unchanged that belong to the folder from now on\n", countText(len(p.Takes), "object"))
	}
}

// reachLines prints which robots get what a policy says, and how.
func reachLines(w io.Writer, r folder.Reach) {
	if n := len(r.Robots); n > 0 {
		how := "at once"
		if len(r.Waves) > 0 {
			how = "in a rollout"
			if r.Rollout != "" {
				how = "in rollout " + r.Rollout
			}
			if r.State == string(rollout.WaitingForApproval) {
				how += ", which a second person has to approve"
			}
			var words []string
			for _, wave := range r.Waves {
				if wave.Robots > 0 {
					words = append(words, fmt.Sprintf("%s %d", wave.Name, wave.Robots))
				}
			}
			how += ": " + strings.Join(words, ", ")
		}
		fmt.Fprintf(w, "policy %s: %s to %s %s\n", r.Policy, r.Content, countText(n, "robot"), how)
		fmt.Fprintf(w, "  %s\n", library.RobotsText(r.Robots))
	}
	if r.Pinned > 0 {
		fmt.Fprintf(w, "policy %s: %s keep what a person pinned\n", r.Policy, countText(r.Pinned, "robot"))
	}
	if len(r.Left) > 0 {
		fmt.Fprintf(w, "policy %s: no policy decides any more for %s, which keep what they have\n", r.Policy, library.RobotsText(r.Left))
	}
	if r.Taken > 0 {
		fmt.Fprintf(w, "  %s taken from open rollouts\n", countText(r.Taken, "robot"))
	}
	for _, no := range r.Refused {
		fmt.Fprintf(w, "  will be refused by %s\n", no)
	}
}

func refsText(refs []folder.Ref) string {
	words := make([]string, len(refs))
	for i, r := range refs {
		words[i] = r.String()
	}
	return strings.Join(words, ", ")
}

func (sh *shell) exportFolderCommand() *cobra.Command {
	var name string
	var over bool
	c := &cobra.Command{
		Use: "export DIR", Short: "write the fleet as a folder: what is published, assets, places, policies, sites and schedules",
		Args: exactlyOne,
		Long: `Write the fleet as a folder for git. fleetd diff -f DIR then finds no difference. Texts are written as their authors wrote
them, with their comments. A folder has what is published: drafts that were not are only named.

DIR has to be new or empty. With --over the files of a folder that is there are rewritten where the fleet has something else, and
files of objects that the fleet does not have stay.`,
		Example: "  fleetd export museum\n  fleetd export --over museum",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			return sh.exportFolder(cmd.Context(), args[0], name, over)
		}),
	}
	c.Flags().StringVar(&name, "name", "", "name of the folder, for its fleet.yaml; default: that of the directory")
	c.Flags().BoolVar(&over, "over", false, "rewrite the files of a folder that is there")
	return c
}

func (sh *shell) exportFolder(ctx context.Context, dir, name string, over bool) error {
	there := &folderFiles{}
	known := map[folder.Ref]string{}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("read %s: %w", dir, errors.Unwrap(err))
	case slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }) && !over:
		return fmt.Errorf("%s is not empty; name a new directory, or rewrite the folder that is there with --over", dir)
	case over:
		var found []library.FileProblem
		if there, found, err = readFolder(dir); err != nil {
			return err
		}
		f, more := folder.Read(there.Files, there.Assets)
		if found = append(found, more...); len(found) > 0 {
			return sh.badFolder(there, found)
		}
		known, name = f.Paths(), orElse(name, f.Name)
	}
	if name == "" {
		whole, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		if name = strings.ToLower(filepath.Base(whole)); !schema.ValidID(name) {
			return usage("%q cannot name a folder; name it with --name", filepath.Base(whole))
		}
	}
	var got folder.Exported
	r := sh.request("export-folder", given{"name": name})
	a := r.http()
	a.timeout = uploadTimeout
	if err := sh.call(ctx, a, &got); err != nil {
		return err
	}
	return sh.writeFolder(ctx, dir, there, known, got)
}

// writeFolder writes an exported fleet into a directory. fleet.yaml comes last: without it, the directory is no folder.
func (sh *shell) writeFolder(ctx context.Context, dir string, there *folderFiles, known map[folder.Ref]string, got folder.Exported) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", dir, errors.Unwrap(err))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write %s: %w", dir, errors.Unwrap(err))
	}
	defer root.Close()
	written, same := 0, 0
	write := func(name string, body []byte) error {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
		}
		if err := root.WriteFile(name, body, 0o644); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Join(dir, name), err)
		}
		written++
		return nil
	}
	have := map[string]bool{} // files of there that the fleet has, too
	for _, asset := range got.Assets {
		name := orElse(known[folder.Ref{Kind: folder.KindAsset, ID: asset.Name()}], asset.Path)
		have[name] = true
		if there.assets[asset.SHA256] == name {
			same++
			continue
		}
		r := sh.request("get-file", given{"digest": asset.SHA256})
		a := r.http()
		a.timeout = uploadTimeout
		var body []byte
		if err := sh.call(ctx, a, &body); err != nil {
			return err
		}
		if err := write(name, body); err != nil {
			return err
		}
	}
	for _, file := range got.Files {
		name := file.Path
		if ref, ok := folder.RefOf(file); ok {
			name = orElse(known[ref], name)
		}
		have[name] = true
		if text := there.text(name); text != nil && (string(text) == file.Text || name == folder.Settings) {
			same++
			continue
		}
		if err := write(name, []byte(file.Text)); err != nil {
			return err
		}
	}
	for _, ref := range got.Drafts {
		fmt.Fprintf(sh.Err, "fleetd: warning: the draft of %s was not published, and is not in the folder\n", ref)
	}
	for _, name := range slices.Sorted(maps.Values(known)) {
		if !have[name] {
			fmt.Fprintf(sh.Err, "fleetd: warning: the fleet does not have what is in %s; the file stays\n", filepath.Join(dir, name))
		}
	}
	return sh.show(map[string]any{"written": written, "unchanged": same}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s written, %d unchanged\n", dir, countText(written, "file"), same)
	})
}
