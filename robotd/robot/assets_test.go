package robot

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

func TestFilesStayWhileAnyContentNeedsThem(t *testing.T) {
	dir := t.TempDir()
	s, _, _, err := openStore(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	blob := func(text string) delivery.Blob {
		sum := sha256.Sum256([]byte(text))
		return delivery.Blob{SHA256: hex.EncodeToString(sum[:]), Bytes: []byte(text)}
	}
	with := func(id string, files ...delivery.Blob) *delivery.Accepted {
		own := blob(id)
		a := &delivery.Accepted{Rev: 1, Pin: schema.ContentPin{ID: id, Rev: 1, SHA256: own.SHA256, Size: int64(len(own.Bytes))}}
		for _, f := range files {
			a.Files = append(a.Files, score.Asset{Name: "f", Kind: score.AssetSound, SHA256: f.SHA256, Size: int64(len(f.Bytes))})
		}
		return a
	}
	keep := func(k sign.Kind, kept delivery.Persisted, blobs ...delivery.Blob) {
		t.Helper()
		if err := s.save([]effect.Save{effect.SaveContent{Save: delivery.Save{Kind: k, Persisted: kept, Blobs: blobs}}}); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(when string, want ...delivery.Blob) {
		t.Helper()
		var got, names []string
		entries, err := os.ReadDir(filepath.Join(dir, assetsDir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != incomingDir {
				got = append(got, e.Name())
			}
		}
		for _, b := range want {
			names = append(names, b.SHA256)
			if text, err := os.ReadFile(filepath.Join(dir, assetsDir, b.SHA256)); err != nil || string(text) != string(b.Bytes) {
				t.Errorf("%s: %q is read as %q, %v", when, b.Bytes, text, err)
			}
		}
		if slices.Sort(names); !slices.Equal(got, names) {
			t.Errorf("%s: there are %v, want %v", when, got, names)
		}
	}
	gong, bell, hall := blob("gong"), blob("bell"), blob("hall")
	keep(sign.Story, delivery.Persisted{Staged: with("a", gong, bell)}, blob("a"), gong, bell)
	holds("staged", gong, bell)
	keep(sign.Places, delivery.Persisted{Active: with("p", hall)}, blob("p"), hall)
	keep(sign.Story, delivery.Persisted{Active: with("b", bell), Previous: with("a", gong, bell)}, blob("b"))
	holds("the story and the one before it, and places", gong, bell, hall)
	keep(sign.Story, delivery.Persisted{Active: with("b", bell)})
	holds("nothing needs the gong", bell, hall)

	// The next start restores files that were damaged or lost beside robot.db.
	if err := os.WriteFile(filepath.Join(dir, assetsDir, bell.SHA256), []byte("bel"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, assetsDir, hall.SHA256)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, assetsDir, "half.new"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	if s, _, _, err = openStore(dir, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	holds("after a restart", bell, hall)

	// If a file cannot be written, the whole save is refused.
	if err := os.RemoveAll(filepath.Join(dir, assetsDir)); err != nil {
		t.Fatal(err)
	}
	save := effect.SaveContent{Save: delivery.Save{Kind: sign.Story, Persisted: delivery.Persisted{Active: with("c", gong)},
		Blobs: []delivery.Blob{blob("c"), gong}}}
	if err := s.save([]effect.Save{save}); err == nil {
		t.Error("a file that could not be written was kept")
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	s, _, m, err := openStore(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if a := m.Deliveries[sign.Story].Active; a == nil || a.Pin.ID != "b" {
		t.Errorf("the story is %+v", a)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

func TestLostFileOfThePreviousContentDoesNotPreventASave(t *testing.T) {
	s, _, _, err := openStore(t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close() })
	lost := &delivery.Accepted{Rev: 1, Files: []score.Asset{{Name: "f", Kind: score.AssetSound, SHA256: "lost", Size: megabyte}}}
	for _, c := range []struct {
		kept    delivery.Persisted
		refused bool
	}{{delivery.Persisted{Previous: lost}, false}, {delivery.Persisted{Active: lost, Previous: lost}, true},
		{delivery.Persisted{Staged: lost}, true}} {
		err := s.save([]effect.Save{effect.SaveContent{Save: delivery.Save{Kind: sign.Story, Persisted: c.kept}}})
		if (err != nil) != c.refused {
			t.Errorf("%+v: %v", c.kept, err)
		}
	}
}
