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

// incomingDir is a folder below assetsDir with partial downloads of large files, each named
// by its SHA-256. They survive a restart.
const incomingDir = "incoming"

type incoming struct{ dir string }

func (i incoming) path(sha string) string { return filepath.Join(i.dir, sha) }

func (i incoming) remove(sha string) error {
	if err := os.Remove(i.path(sha)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a partial download: %w", err)
	}
	return nil
}

// tidy removes files that are not wanted any more, the oldest first, until at most so many
// bytes of them are left.
func (i incoming) tidy(most int64, wanted func(sha string) bool) error {
	entries, err := os.ReadDir(i.dir)
	if err != nil {
		return fmt.Errorf("read the folder of partial downloads: %w", err)
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
