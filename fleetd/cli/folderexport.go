package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/folder"
	"troupe/fleetd/library"
	"troupe/schema"
)

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
