package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"troupe/fleetd/atomicfile"
)

// partial is a file that is renamed when it is whole. If the program ends before, nothing has its name, and the next
// partial file of that name takes its place.
type partial struct {
	*os.File
	path string // that it is renamed to
}

// beside is the name of the partial file of path.
func beside(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".partial")
}

// newPartial makes a partial file that only its owner can read.
func newPartial(path string) (*partial, error) {
	f, err := os.OpenFile(beside(path), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	p := &partial{f, path}
	locked := tryLock(f)
	// Another program may have renamed the file between these two lines; then this one has locked what is whole.
	mine, err := f.Stat()
	if err == nil {
		var named fs.FileInfo
		if named, err = os.Stat(f.Name()); err == nil && !(locked && os.SameFile(mine, named)) {
			err = errors.New("another program writes it at this moment")
		}
	}
	if err == nil {
		err = errors.Join(f.Chmod(0o600), f.Truncate(0))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", path, err), f.Close())
	}
	return p, nil
}

// commit renames the file, and returns when it is on the disk.
func (p *partial) commit() error {
	if err := p.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	if err := os.Rename(p.Name(), p.path); err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	return errors.Join(atomicfile.SyncFolder(filepath.Dir(p.path)), p.Close())
}

// remove removes a partial file that was not committed.
func (p *partial) remove() error { return errors.Join(os.Remove(p.Name()), p.Close()) }

// mayReplace refuses to replace a file that is no backup, such as the database.
func mayReplace(path string) error {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer f.Close()
	begin := make([]byte, len(databaseMember)+1)
	if _, err := io.ReadFull(f, begin); err != nil || string(begin) != databaseMember+"\x00" {
		return fmt.Errorf("%s exists and is no backup; nothing was changed", path)
	}
	return nil
}
