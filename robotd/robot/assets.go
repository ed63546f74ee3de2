package robot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"troupe/robotd/delivery"
	"troupe/schema/sign"
)

// assetsDir lies in the data directory: the files that contents brought with them
// (sounds, faces, maps), each named by its SHA-256, for bodies that play from
// files. The disk's own file is the truth; this is what of it others can read.
const assetsDir = "assets"

type assets struct {
	dir  string
	kept map[sign.Kind][]string // digests
}

// openAssets makes the directory hold exactly the files of what is kept.
func openAssets(data string, kept map[sign.Kind]delivery.Kept, blobs map[string][]byte) (*assets, error) {
	a := &assets{dir: filepath.Join(data, assetsDir), kept: map[sign.Kind][]string{}}
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of assets: %w", err)
	}
	for kind, k := range kept {
		a.kept[kind] = filesOf(k)
		for _, sha := range a.kept[kind] {
			was, err := os.ReadFile(filepath.Join(a.dir, sha))
			if err == nil && bytes.Equal(was, blobs[sha]) || blobs[sha] == nil {
				continue
			}
			if err := a.write(sha, blobs[sha]); err != nil {
				return nil, err
			}
		}
	}
	return a, a.sweep()
}

// filesOf lists the files that a kind keeps beside its contents.
func filesOf(k delivery.Kept) []string {
	var out []string
	for _, c := range []*delivery.Accepted{k.Active, k.Previous, k.Staged} {
		if c != nil {
			for _, f := range c.Files {
				out = append(out, f.SHA256)
			}
		}
	}
	return out
}

// add writes the files of a save, before it is kept.
func (a *assets) add(s delivery.Save) error {
	files := filesOf(s.Kept)
	for _, b := range s.Blobs {
		if slices.Contains(files, b.SHA256) {
			if err := a.write(b.SHA256, b.Bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle removes what nothing refers to any more, once a save is kept.
func (a *assets) settle(s delivery.Save) error {
	a.kept[s.Kind] = filesOf(s.Kept)
	return a.sweep()
}

// write puts a file in its place as a whole, so that nobody reads half of one.
func (a *assets) write(sha string, data []byte) error {
	path := filepath.Join(a.dir, sha)
	err := os.WriteFile(path+".new", data, 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return fmt.Errorf("write an asset: %w", err)
	}
	return nil
}

func (a *assets) sweep() error {
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		return fmt.Errorf("read the directory of assets: %w", err)
	}
	for _, e := range entries {
		if a.wanted(e.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(a.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an asset: %w", err)
		}
	}
	return nil
}

func (a *assets) wanted(name string) bool {
	for _, files := range a.kept {
		if slices.Contains(files, name) {
			return true
		}
	}
	return false
}
