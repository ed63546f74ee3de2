// Package atomicfile replaces files as a whole: after a crash or a loss of power at any moment the file is as it was or
// as it is meant to be. It does what renameio does for robotd, and also on Windows, which renameio leaves out.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces a file, or makes it. Whatever mode the old file had, the new one has that one.
func Write(path string, text []byte, mode fs.FileMode) error {
	f, err := Create(path, mode)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Replace()
}

// A File becomes the file of its path when it is complete.
type File struct {
	*os.File
	path  string
	ended bool
}

// Create opens a new file beside the one that Replace replaces.
func Create(path string, mode fs.FileMode) (*File, error) {
	path = filepath.Clean(path)
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return nil, err
	}
	file := &File{File: f, path: path}
	if err := f.Chmod(mode); err != nil && runtime.GOOS != "windows" { // which has no modes
		return nil, errors.Join(err, file.Discard())
	}
	return file, nil
}

// Replace makes the file the one of its path, and returns when a loss of power cannot undo that.
func (f *File) Replace() error {
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Discard())
	}
	if err := f.Close(); err != nil {
		return errors.Join(err, f.Discard())
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return errors.Join(err, f.Discard())
	}
	f.ended = true
	return SyncFolder(filepath.Dir(f.path))
}

// Link makes the file the one of its path if there is none yet, and returns when a loss of power cannot undo that. If there
// is one, it stays and the error is fs.ErrExist. The file system must have hard links.
func (f *File) Link() error {
	err := f.Sync()
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Link(f.Name(), f.path)
	}
	if err := errors.Join(err, f.Discard()); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(f.path))
}

// Discard removes a file that was not made the one of its path; otherwise it does nothing.
func (f *File) Discard() error {
	if f.ended {
		return nil
	}
	f.ended = true
	_ = f.Close() // may be closed
	return os.Remove(f.Name())
}

// SyncFolder makes durable which files a folder has. On Windows, where a folder cannot be synced, it does nothing.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
