package backup

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Reassemble makes a whole backup of the database of one and the files of another, as somebody can who does not know the
// passphrase.
func Reassemble(t *testing.T, databaseOf, filesOf []byte, change func(m *Manifest)) []byte {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var m Manifest
	member := func(of []byte, name string) func(io.Writer) error {
		path := filepath.Join(t.TempDir(), "read")
		if err := os.WriteFile(path, of, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		m = b.Manifest
		text, err := io.ReadAll(b.section(name))
		if err != nil {
			t.Fatal(err)
		}
		return func(to io.Writer) error {
			_, err := io.Copy(to, bytes.NewReader(text))
			return err
		}
	}
	w := &writer{f: out}
	database, files := member(databaseOf, databaseMember), member(filesOf, filesMember)
	w.at = m.MadeAt
	if err := w.add(databaseMember, database); err != nil {
		t.Fatal(err)
	}
	if err := w.add(filesMember, files); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&m)
	}
	if err := w.finish(m); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return text
}
