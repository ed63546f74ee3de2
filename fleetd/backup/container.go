package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
	"time"
)

// Members of the file, in their order.
const (
	databaseMember = "database.zst.age"
	filesMember    = "files.tar.age"
	manifestMember = "manifest.json"
	sumsMember     = "SHA256SUMS"
)

var memberNames = []string{databaseMember, filesMember, manifestMember, sumsMember}

// databaseName is the database among the members of the sealed manifest.
const databaseName = "database"

const (
	block   = 512       // bytes of a tar header, to which members are padded
	trailer = 2 * block // zeros that end a tar archive
	// maxManifest bounds the members that are read into memory.
	maxManifest = 4 << 20
)

// ErrDamaged says that a file is not a whole backup as it was written.
var ErrDamaged = errors.New("the backup is damaged or cut")

// headerOf is the header of a member. Its bytes follow from the arguments.
func headerOf(name string, size int64, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	err := tar.NewWriter(&out).WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: time.Unix(at.Unix(), 0), Format: tar.FormatGNU,
	})
	if err == nil && out.Len() != block {
		err = fmt.Errorf("it has %d bytes", out.Len())
	}
	if err != nil {
		return nil, fmt.Errorf("write the header of %s: %w", name, err)
	}
	return out.Bytes(), nil
}

func padding(size int64) int64 { return (block - size%block) % block }

// writer writes the members of a backup into a file.
type writer struct {
	f       *os.File
	end     int64 // of the members written so far
	at      time.Time
	members []Member
}

// counter counts and hashes what is written to it.
type counter struct {
	hash.Hash
	n int64
}

func newCounter() *counter { return &counter{Hash: sha256.New()} }

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return c.Hash.Write(b)
}

func (c *counter) member(name string) Member {
	return Member{Name: name, Bytes: c.n, SHA256: hex.EncodeToString(c.Sum(nil))}
}

// add writes a member. Its size is known only afterwards, so its header is written last.
func (w *writer) add(name string, fill func(io.Writer) error) error {
	if _, err := w.f.Seek(w.end+block, io.SeekStart); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	c := newCounter()
	out := bufio.NewWriterSize(io.MultiWriter(w.f, c), 256<<10)
	if err := fill(out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	header, err := headerOf(name, c.n, w.at)
	if err != nil {
		return err
	}
	_, err = w.f.Write(make([]byte, padding(c.n)))
	if err == nil {
		_, err = w.f.WriteAt(header, w.end)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	w.members = append(w.members, c.member(name))
	w.end += block + c.n + padding(c.n)
	return nil
}

// finish writes the manifest, with the members so far, and the digests.
func (w *writer) finish(m Manifest) error {
	m.Members = w.members
	text, err := m.encode()
	if err != nil {
		return err
	}
	write := func(text []byte) func(io.Writer) error {
		return func(out io.Writer) error {
			_, err := out.Write(text)
			return err
		}
	}
	if err := w.add(manifestMember, write(text)); err != nil {
		return err
	}
	if err := w.add(sumsMember, write(sumsOf(w.members))); err != nil {
		return err
	}
	if _, err := w.f.WriteAt(make([]byte, trailer), w.end); err != nil {
		return fmt.Errorf("write the end of the backup: %w", err)
	}
	w.end += trailer
	return nil
}

func sumsOf(members []Member) []byte {
	var text strings.Builder
	for _, m := range members {
		fmt.Fprintf(&text, "%s  %s\n", m.SHA256, m.Name)
	}
	return []byte(text.String())
}

// file is an open backup whose structure and digests are right.
type file struct {
	*os.File
	Manifest
	size    int64
	members map[string]extent
}

// extent is where a member is in the file.
type extent struct{ at, size int64 }

// open opens a backup and reads all of it. Each byte is as it was written, unless somebody forged it: what the sealed
// members say is authentic.
func open(ctx context.Context, path string, progress Progress) (_ *file, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	b := &file{File: f, size: info.Size(), members: map[string]extent{}}
	if err := b.readStructure(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := b.checkDigests(ctx, progress); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// readStructure finds the members.
func (b *file) readStructure() error {
	at := int64(0)
	for i, name := range memberNames {
		found := make([]byte, block)
		if _, err := b.ReadAt(found, at); err != nil {
			return b.cut(i)
		}
		header, err := tar.NewReader(bytes.NewReader(found)).Next()
		if i == 0 && (err != nil || header.Name != name) {
			return fmt.Errorf("%w, or no backup of fleetd: it does not begin with %s", ErrDamaged, name)
		}
		if err != nil || header.Name != name || header.Size < 0 {
			return fmt.Errorf("%w: the header of %s", ErrDamaged, name)
		}
		if header.Size > b.size-at {
			return fmt.Errorf("%w: it ends within %s", ErrDamaged, name)
		}
		if want, err := headerOf(name, header.Size, header.ModTime); err != nil || !bytes.Equal(found, want) {
			return fmt.Errorf("%w: the header of %s", ErrDamaged, name)
		}
		b.members[name] = extent{at + block, header.Size}
		at += block + header.Size
		if err := b.expectZeros(at, padding(header.Size)); err != nil {
			return err
		}
		at += padding(header.Size)
	}
	if at+trailer != b.size {
		return fmt.Errorf("%w: it has %d bytes and should have %d", ErrDamaged, b.size, at+trailer)
	}
	return b.expectZeros(at, trailer)
}

func (b *file) cut(i int) error {
	return fmt.Errorf("%w: it ends before %s", ErrDamaged, memberNames[i])
}

func (b *file) expectZeros(at, n int64) error {
	found := make([]byte, n)
	if _, err := b.ReadAt(found, at); err != nil {
		return fmt.Errorf("%w: it ends after %d bytes", ErrDamaged, b.size)
	}
	if len(bytes.Trim(found, "\x00")) > 0 {
		return fmt.Errorf("%w: byte %d and the ones after it", ErrDamaged, at)
	}
	return nil
}

// checkDigests reads all members and the manifest.
func (b *file) checkDigests(ctx context.Context, progress Progress) error {
	var members []Member
	for _, name := range memberNames[:3] {
		c := newCounter()
		if _, err := io.Copy(c, progress.reader(ctx, "check "+name, b.section(name), b.members[name].size)); err != nil {
			return fmt.Errorf("read the backup: %w", err)
		}
		members = append(members, c.member(name))
	}
	sums, err := b.read(sumsMember)
	if err != nil {
		return err
	}
	if !bytes.Equal(sums, sumsOf(members)) {
		for i, line := range strings.Split(strings.TrimSuffix(string(sums), "\n"), "\n") {
			if i < len(members) && line != members[i].SHA256+"  "+members[i].Name {
				return fmt.Errorf("%w: %s does not have the digest that %s says", ErrDamaged, members[i].Name, sumsMember)
			}
		}
		return fmt.Errorf("%w: %s", ErrDamaged, sumsMember)
	}
	text, err := b.read(manifestMember)
	if err != nil {
		return err
	}
	if b.Manifest, err = decodeManifest(text); err != nil {
		return err
	}
	if !bytes.Equal(sumsOf(b.Members), sumsOf(members[:2])) {
		return fmt.Errorf("%w: the manifest has other digests than its members", ErrDamaged)
	}
	return nil
}

func (b *file) section(name string) *io.SectionReader {
	return io.NewSectionReader(b.File, b.members[name].at, b.members[name].size)
}

// read returns a member that has to be small.
func (b *file) read(name string) ([]byte, error) {
	if n := b.members[name].size; n > maxManifest {
		return nil, fmt.Errorf("%w: %s has %d bytes", ErrDamaged, name, n)
	}
	text, err := io.ReadAll(b.section(name))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return text, nil
}
