package robot

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// incomingDir lies in the directory of assets: large files on their way, each
// under its SHA-256, as much as there is of it. They survive a restart.
const incomingDir = "incoming"

type incoming struct{ dir string }

func (i incoming) path(sha string) string { return filepath.Join(i.dir, sha) }

func (i incoming) remove(sha string) error {
	if err := os.Remove(i.path(sha)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a file that was on its way: %w", err)
	}
	return nil
}

// tidy removes what nobody wants any more: the oldest first, until at most so many bytes
// are there beside those that are wanted.
func (i incoming) tidy(most int64, wanted func(sha string) bool) error {
	entries, err := os.ReadDir(i.dir)
	if err != nil {
		return fmt.Errorf("read the directory of files on their way: %w", err)
	}
	var left []fs.FileInfo
	var bytes int64
	for _, e := range entries {
		if wanted != nil && wanted(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil {
			left, bytes = append(left, info), bytes+info.Size()
		}
	}
	slices.SortFunc(left, func(a, b fs.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, info := range left {
		if bytes <= most {
			break
		}
		if err := i.remove(info.Name()); err != nil {
			return err
		}
		bytes -= info.Size()
	}
	return nil
}
