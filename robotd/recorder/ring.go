package recorder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Folder is where the files lie below a robot's data directory.
const Folder = "recorder"

// The bounds of a ring and of its files.
const (
	maxFiles     = 128      // a robot that is restarted all the time has many small ones
	maxFileBytes = 16 << 20 // bytes of one file; smaller if the ring is small

	// LimitMin is the smallest size of a ring, in bytes.
	LimitMin = 1 << 20
)

const suffix = ".mcap"

// file is one of the ring, as its name says.
type file struct {
	path  string
	n     int64 // rises from file to file, whatever the clock says
	bytes int64
}

// files lists those of a folder, the oldest first.
func files(dir string) ([]file, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the folder of recordings: %w", err)
	}
	var all []file
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "-")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the folder of recordings: %w", err)
		}
		all = append(all, file{filepath.Join(dir, e.Name()), n, info.Size()})
	}
	slices.SortFunc(all, func(a, b file) int { return cmp.Compare(a.n, b.n) })
	return all, nil
}

// fileName names the n-th file by its first record.
func fileName(n int64, at time.Time) string {
	return fmt.Sprintf("%08d-%s%s", n, at.UTC().Format("20060102T150405Z"), suffix)
}

// ring keeps the files of a folder within its limits.
type ring struct {
	dir   string
	limit int64
	free  func(dir string) (int64, error) // bytes that the disk has for everybody
	files []file                          // closed ones, the oldest first
	total int64                           // bytes of all files, the open one among them
	next  int64
}

// openRing reads the folder and removes what a crash left of a file that was being closed.
func openRing(dir string, limit int64) (*ring, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of recordings: %w", err)
	}
	parts, err := filepath.Glob(filepath.Join(dir, "*"+partSuffix))
	if err != nil {
		return nil, fmt.Errorf("read the folder of recordings: %w", err)
	}
	for _, p := range parts {
		if err := os.Remove(p); err != nil {
			return nil, fmt.Errorf("remove a part of a recording: %w", err)
		}
	}
	r := &ring{dir: dir, limit: limit, free: freeBytes}
	if r.files, err = files(dir); err != nil {
		return nil, err
	}
	for _, f := range r.files {
		r.total, r.next = r.total+f.bytes, f.n+1
	}
	return r, nil
}

// fileLimit is the size at which a file is closed.
func (r *ring) fileLimit() int64 { return min(r.limit/8, maxFileBytes) }

// makeRoom removes the oldest files until n more bytes fit.
func (r *ring) makeRoom(n int64) error {
	for r.total+n > r.limit || len(r.files) >= maxFiles {
		if err := r.removeOldest(); err != nil {
			return err
		}
	}
	return nil
}

// reservedBytes is what the recorder leaves free for the robot's own database: a robot whose disk is
// full takes no commands.
const reservedBytes = 128 << 20

// removeUntilFree removes the oldest files until the disk has room for a file besides reservedBytes.
func (r *ring) removeUntilFree() error {
	for {
		free, err := r.free(r.dir)
		if err != nil {
			return fmt.Errorf("free space: %w", err)
		}
		if free >= reservedBytes+r.fileLimit() {
			return nil
		}
		if err := r.removeOldest(); err != nil {
			return fmt.Errorf("the disk has %d MiB left, and %d MiB are reserved for the robot's database: %w", free>>20, reservedBytes>>20, err)
		}
	}
}

var errNoneLeft = errors.New("no older recording is left to remove")

func (r *ring) removeOldest() error {
	if len(r.files) == 0 {
		return errNoneLeft
	}
	f := r.files[0]
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the oldest recording: %w", err)
	}
	r.files, r.total = r.files[1:], r.total-f.bytes
	return nil
}

// closed adds a file that is not written any more. Its bytes were counted when they were
// written.
func (r *ring) closed(f file) { r.files = append(r.files, f) }

// counted is a file whose bytes the ring counts before they are written.
type counted struct {
	outFile
	ring  *ring
	bytes int64
}

// outFile is a file that is being written.
type outFile interface {
	Write(p []byte) (int, error)
	Sync() error
	Close() error
}

func (c *counted) Write(p []byte) (int, error) {
	if err := c.ring.makeRoom(int64(len(p))); err != nil {
		return 0, err
	}
	n, err := c.outFile.Write(p)
	c.bytes += int64(n)
	c.ring.total += int64(n)
	return n, err
}

// reindexCutFile gives the newest file an index if a crash cut it off: it is rewritten, with all
// complete chunks. If that fails, it stays as it is, which readers understand, too.
func (r *ring) reindexCutFile() (err error) {
	last := len(r.files) - 1
	if last < 0 {
		return nil
	}
	f := r.files[last]
	if _, closed := indexed(f.path); closed {
		return nil
	}
	r.files = r.files[:last] // not to be removed for its copy
	copied, path := int64(0), f.path+partSuffix
	defer func() {
		if err != nil {
			r.files = append(r.files, f)
			err = fmt.Errorf("close a recording that was cut off: %w", errors.Join(err, os.Remove(path)))
		}
		r.total -= copied
	}()
	out, err := openFile(path)
	if err != nil {
		return err
	}
	part := &counted{outFile: out, ring: r}
	n, err := Export(part, []Span{{Path: f.path}}, time.Time{}, time.Time{})
	if IsDamage(err) {
		err = nil // what is before the damage is kept
	}
	copied = part.bytes
	if err = errors.Join(err, part.Sync(), part.Close()); err != nil {
		return err
	}
	if n == 0 {
		r.total -= f.bytes
		return errors.Join(os.Remove(path), os.Remove(f.path))
	}
	if err := os.Rename(path, f.path); err != nil {
		return err
	}
	r.total += copied - f.bytes
	f.bytes = copied
	r.files = append(r.files, f)
	return nil
}
