package backup

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/vault"
)

// maxFiles bounds the files of a backup together, in bytes: they are read into memory.
const maxFiles = 64 << 20

// Names of files that no setting names.
const (
	// SettingsFile has the settings that stood in the environment, as the environment file of a service.
	SettingsFile = "fleetd.env"
	// StopsFile has the stops that the database did not have yet.
	StopsFile = "stops"
	// SealKeyFile has the key that seals secrets in the database, if no setting names its file and it does not follow from
	// the fleet's keys.
	SealKeyFile = "seal-key.default"
	// AlsoFolder has the files that only the person who makes the backup knows of.
	AlsoFolder = "also"
)

// Source is a file or a folder to back up.
type Source struct {
	Setting string // that names it; empty = none does
	Name    string // in the backup; empty = it follows from the setting or the path
	Path    string
	Missing bool // it may be missing or empty
}

// sealedFile is one file of a backup.
type sealedFile struct {
	Member
	body []byte
}

// readSources reads all files, and reports all that cannot be read. The root's key is for root alone and belongs into a safe:
// if this user may not read it, noRootKey says so, and is no error.
func readSources(sources []Source, read func(path string) ([]byte, error)) (files []sealedFile, noRootKey string, err error) {
	var problems []error
	total := int64(0)
	add := func(name string, s Source, from string) {
		info, err := os.Stat(from)
		if err == nil && info.IsDir() {
			err = s.problem(fmt.Errorf("%s is a link to a folder, which is not followed: move the folder there, or take the link away", from))
		}
		if err == nil && !info.Mode().IsRegular() {
			return // such as a socket
		}
		if err == nil && total+info.Size() > maxFiles {
			err = fmt.Errorf("the files have more than %d MiB together", maxFiles>>20)
		}
		var body []byte
		if err == nil {
			body, err = read(from)
		}
		if errors.Is(err, fs.ErrPermission) && filepath.Base(from) == vault.RootKeyFile {
			noRootKey = err.Error()
			return
		}
		if err != nil {
			problems = append(problems, err)
			return
		}
		total += int64(len(body))
		full, err := filepath.Abs(from)
		if err != nil {
			full = from
		}
		files = append(files, fileOf(Member{Name: name, Mode: uint32(info.Mode().Perm()), From: full, Setting: s.Setting}, body))
	}
	for _, s := range sources {
		info, err := os.Stat(s.Path)
		switch {
		case s.Missing && (errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0):
		case err != nil:
			problems = append(problems, s.problem(err))
		case !info.IsDir():
			add(s.name(filepath.Base(s.Path)), s, s.Path)
		default:
			root, err := filepath.EvalSymlinks(s.Path) // WalkDir does not follow a link, also not its root
			before := len(files) + len(problems)
			if err == nil {
				err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
					if err != nil || d.IsDir() {
						return err
					}
					below, err := filepath.Rel(root, p)
					if err == nil {
						add(s.name(filepath.ToSlash(below)), s, filepath.Join(s.Path, below))
					}
					return err
				})
			}
			if err == nil && len(files)+len(problems) == before {
				err = fmt.Errorf("%s has no file: name the folder that has them", s.Path)
			}
			if err != nil {
				problems = append(problems, s.problem(err))
			}
		}
	}
	return files, noRootKey, errors.Join(problems...)
}

// problem is an error of the source, with the setting that names it.
func (s Source) problem(err error) error {
	if s.Setting == "" {
		return err
	}
	return fmt.Errorf("setting %s: %w", s.Setting, err)
}

// name is the name in the backup of a file of the source.
func (s Source) name(below string) string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Setting != "":
		return path.Join(s.Setting, below)
	}
	full, err := filepath.Abs(s.Path)
	if err != nil {
		full = s.Path
	}
	full = strings.TrimLeft(filepath.ToSlash(strings.TrimPrefix(full, filepath.VolumeName(full))), "/")
	if path.Base(full) == below {
		return path.Join(AlsoFolder, full)
	}
	return path.Join(AlsoFolder, full, below)
}

func fileOf(m Member, body []byte) sealedFile {
	sum := sha256.Sum256(body)
	m.Bytes, m.SHA256 = int64(len(body)), hex.EncodeToString(sum[:])
	return sealedFile{m, body}
}

// settingsFile is the file with settings of the environment, name=value; it is false if there are none.
func settingsFile(environ []string) (sealedFile, bool) {
	var text strings.Builder
	for _, pair := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(pair, "=")
		if strings.ContainsAny(value, " \t\"'\\#$") {
			value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(value) + `"`
		}
		text.WriteString(name + "=" + value + "\n")
	}
	return fileOf(Member{Name: SettingsFile, Mode: 0o600}, []byte(text.String())), text.Len() > 0
}

// writeFiles writes the archive of files, with the manifest first.
func writeFiles(to io.Writer, m Manifest, files []sealedFile) error {
	text, err := m.encode()
	if err != nil {
		return err
	}
	out := tar.NewWriter(to)
	for _, f := range slices.Concat([]sealedFile{{Member{Name: manifestMember, Bytes: int64(len(text)), Mode: 0o600}, text}}, files) {
		err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Size: f.Bytes, Mode: int64(f.Mode),
			ModTime: time.Unix(m.MadeAt.Unix(), 0)})
		if err == nil {
			_, err = out.Write(f.body)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Name, err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write the files: %w", err)
	}
	return nil
}

// readFiles reads what writeFiles wrote, and checks it.
func readFiles(from io.Reader) (m Manifest, files []sealedFile, err error) {
	all, err := io.ReadAll(io.LimitReader(from, maxFiles+maxManifest))
	if err != nil {
		return m, nil, fmt.Errorf("%w: %s: %w", ErrDamaged, filesMember, err)
	}
	in := tar.NewReader(bytes.NewReader(all))
	for n := 0; ; n++ {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var body []byte
		if err == nil {
			body, err = io.ReadAll(in)
		}
		if err != nil {
			return m, nil, fmt.Errorf("%w: %s: %w", ErrDamaged, filesMember, err)
		}
		if n == 0 {
			if m, err = decodeManifest(body); err != nil {
				return m, nil, err
			}
			continue
		}
		if n >= len(m.Members) || !filepath.IsLocal(filepath.FromSlash(header.Name)) {
			return m, nil, fmt.Errorf("%w: %s is not in the manifest", ErrDamaged, header.Name)
		}
		want := m.Members[n] // the first one is the database
		got := fileOf(want, body)
		if header.Name != want.Name || got.Member != want {
			return m, nil, fmt.Errorf("%w: %s is not as the manifest says", ErrDamaged, header.Name)
		}
		files = append(files, got)
	}
	if len(m.Members) != len(files)+1 || m.Members[0].Name != databaseName {
		return m, nil, fmt.Errorf("%w: files of the manifest are missing", ErrDamaged)
	}
	return m, files, nil
}
