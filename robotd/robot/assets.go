package robot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"troupe/robotd/delivery"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// assetsDir is a folder of the data directory with the files of contents (sounds, faces,
// maps), each named by its SHA-256, for bodies that play from files. Small files arrived as
// blobs: robot.db has them too, and the files here are copies. Large files are only here.
const assetsDir = "assets"

// assets belongs to the goroutine that opens it, and afterwards to the writer.
type assets struct {
	dir      string
	incoming incoming
	kept     map[sign.Kind][]score.Asset
}

// openAssets makes the folder contain exactly the files of the saved contents, and returns
// which of the large files are complete. Partial downloads stay as they are.
func openAssets(data string, kept map[sign.Kind]delivery.Persisted,
	blobs map[string][]byte) (_ *assets, large map[string]int64, err error) {
	dir := filepath.Join(data, assetsDir)
	a := &assets{dir: dir, incoming: incoming{filepath.Join(dir, incomingDir)}, kept: map[sign.Kind][]score.Asset{}}
	if err := os.MkdirAll(a.incoming.dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the directory of assets: %w", err)
	}
	large = map[string]int64{}
	awaits := false
	for kind, k := range kept {
		awaits = awaits || onItsWay(k)
		a.kept[kind] = filesOf(k)
		for _, f := range a.kept[kind] {
			switch {
			case !f.IsBlob():
				if a.isComplete(f) {
					large[f.SHA256] = f.Size
				}
			case blobs[f.SHA256] != nil:
				was, err := os.ReadFile(a.path(f.SHA256))
				if err == nil && bytes.Equal(was, blobs[f.SHA256]) {
					continue
				}
				if err := a.write(f.SHA256, blobs[f.SHA256]); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	if !awaits {
		if err := a.incoming.tidy(0, nil); err != nil {
			return nil, nil, err
		}
	}
	return a, large, a.sweep()
}

// onItsWay reports whether the newest desired document still waits for its files.
func onItsWay(k delivery.Persisted) bool {
	switch k.Phase {
	case schema.DeployRejected, schema.DeployRolledBack, schema.DeployWithdrawn:
		return false
	}
	has := func(a *delivery.Accepted) bool { return a != nil && a.Rev == k.Desired.Rev }
	return k.Desired.Pin != nil && !has(k.Active) && !has(k.Staged)
}

// filesOf lists the files of the saved contents of a kind.
func filesOf(k delivery.Persisted) []score.Asset {
	var out []score.Asset
	for _, c := range []*delivery.Accepted{k.Active, k.Previous, k.Staged} {
		if c != nil {
			out = append(out, c.Files...)
		}
	}
	return out
}

func (a *assets) path(sha string) string { return filepath.Join(a.dir, sha) }

// isComplete reads a file and reports whether it is complete and has its digest.
func (a *assets) isComplete(want score.Asset) bool {
	f, err := os.Open(a.path(want.SHA256))
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(f, want.Size+1))
	return err == nil && n == want.Size && hex.EncodeToString(sum.Sum(nil)) == want.SHA256
}

// add writes the files of a save, before the save itself is written.
func (a *assets) add(s delivery.Save) error {
	files, needed := filesOf(s.Persisted), filesOf(delivery.Persisted{Active: s.Persisted.Active, Staged: s.Persisted.Staged})
	for _, b := range s.Blobs {
		if slices.ContainsFunc(files, func(f score.Asset) bool { return f.SHA256 == b.SHA256 }) {
			if err := a.write(b.SHA256, b.Bytes); err != nil {
				return err
			}
		}
	}
	for _, f := range files {
		if f.IsBlob() {
			continue
		}
		from := a.incoming.path(f.SHA256)
		if _, err := os.Stat(a.path(f.SHA256)); err == nil {
			if arrived, err := os.Stat(from); err != nil || arrived.Size() != f.Size {
				continue
			}
			// It was fetched although there is a file of that name, so that one is damaged.
			if err := os.Remove(a.path(f.SHA256)); err != nil {
				return fmt.Errorf("replace a damaged asset: %w", err)
			}
		}
		// A hard link, so that the download stays if the save fails. Not every file
		// system has hard links.
		err := os.Link(from, a.path(f.SHA256))
		if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
			err = os.Rename(from, a.path(f.SHA256))
		}
		if errors.Is(err, fs.ErrNotExist) && !slices.ContainsFunc(needed, func(n score.Asset) bool { return n.SHA256 == f.SHA256 }) {
			continue // lost, and of the previous content alone: that must not keep the next one away
		}
		if err != nil {
			return fmt.Errorf("put an asset in its place: %w", err)
		}
		if err := syncFolder(a.dir); err != nil {
			return fmt.Errorf("put an asset in its place: %w", err)
		}
	}
	return nil
}

// removeUnused removes files that no content refers to any more, after a save was written.
func (a *assets) removeUnused(s delivery.Save) error {
	a.kept[s.Kind] = filesOf(s.Persisted)
	var errs []error
	for _, f := range a.kept[s.Kind] {
		if !f.IsBlob() {
			errs = append(errs, a.incoming.remove(f.SHA256))
		}
	}
	return errors.Join(append(errs, a.sweep())...)
}

// write writes a file atomically, so that no reader sees a part of it.
func (a *assets) write(sha string, data []byte) error {
	path := a.path(sha)
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
		if e.Name() == incomingDir || a.wanted(e.Name()) {
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
		if slices.ContainsFunc(files, func(f score.Asset) bool { return f.SHA256 == name }) {
			return true
		}
	}
	return false
}

// syncFolder makes a new name in the folder survive a loss of power.
func syncFolder(dir string) error {
	f, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
