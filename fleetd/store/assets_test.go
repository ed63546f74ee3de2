package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"
	"time"

	"troupe/fleetd/audit"
	plan "troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
	"troupe/schema/score"
)

// file is a sound of size bytes; its content depends on text.
func file(text string, size int) library.File {
	body := append(
		[]byte("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x01\x00\x00\x00"+text),
		bytes.Repeat([]byte(text), size/len(text)+1)...)[:size]
	sum := sha256.Sum256(body)
	return library.File{SHA256: hex.EncodeToString(sum[:]), Media: library.MediaWAV, Body: body}
}

func asset(name string, f library.File, seconds int) library.Asset {
	return library.Asset{Name: name, SHA256: f.SHA256, Size: int64(len(f.Body)), Media: f.Media, ChangedAt: at(seconds), ChangedBy: "anna"}
}

const (
	small = 1000
	large = 256<<10*3 + 1 // four parts
)

func assetsAreReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	whole, gong, bell := file("whole", 256<<10), file("gong", small), file("bell", large)
	c := library.Changes{
		Files:  []library.File{gong, bell, whole, gong},
		Assets: []library.Asset{asset("gong", gong, 1), asset("bell", bell, 2), asset("chime", gong, 3), asset("whole", whole, 4)},
	}
	apply(t, s, c)
	assets := must[[]library.Asset](t)
	wantEqual(t, "assets", assets(s.Assets(t.Context())), []library.Asset{c.Assets[1], c.Assets[2], c.Assets[0], c.Assets[3]})
	wantEqual(t, "one", must[library.Asset](t)(s.Asset(t.Context(), "bell")), c.Assets[1])
	_, err := s.Asset(t.Context(), "none")
	wantErr(t, "an unknown asset", err, store.ErrNotFound)

	apply(t, s, library.Changes{Files: []library.File{bell}, Assets: []library.Asset{asset("gong", bell, 9)}})
	wantEqual(t, "put again", must[library.Asset](t)(s.Asset(t.Context(), "gong")), asset("gong", bell, 9))
	apply(t, s, library.Changes{Removed: []string{"gong"}})
	_, err = s.Asset(t.Context(), "gong")
	wantErr(t, "a removed asset", err, store.ErrNotFound)
	err = s.Tx(t.Context(), func(tx *store.Tx) error {
		return tx.Apply(t.Context(), library.Changes{Removed: []string{"gong"}}, at(9))
	})
	wantErr(t, "removing it again", err, store.ErrConflict)

	transact(t, s, func(tx *store.Tx) error {
		rows, err := tx.LibraryFor(t.Context(), func(r library.Reader) { r.Assets(); r.FileBytes() }, selector.Selector{})
		wantEqual(t, "what a plan sees", rows.Assets, []library.Asset{c.Assets[1], c.Assets[2], c.Assets[3]})
		if want := int64(len(gong.Body) + len(bell.Body) + len(whole.Body)); rows.FileBytes != want {
			t.Errorf("all files have %d bytes, want %d", rows.FileBytes, want)
		}
		return err
	})
	wantEqual(t, "a small one is a blob", must[[]byte](t)(s.Blob(t.Context(), gong.SHA256)), gong.Body)
	wantEqual(t, "one of a whole part too", len(must[[]byte](t)(s.Blob(t.Context(), whole.SHA256))), len(whole.Body))
	_, err = s.Blob(t.Context(), bell.SHA256)
	wantErr(t, "a large one as a blob", err, store.ErrNotFound)
}

func filesAreReadInParts(t *testing.T, address string) {
	s := storetest.Open(t, address)
	for _, size := range []int{13, 256 << 10, 256<<10 + 1, large} {
		f := file("f", size)
		apply(t, s, library.Changes{Files: []library.File{f}})
		got := must[*store.File](t)(s.File(t.Context(), f.SHA256))
		if got.Size != int64(size) || got.Media != f.Media {
			t.Errorf("a file of %d bytes: size %d, media %s", size, got.Size, got.Media)
		}
		if err := iotest.TestReader(got, f.Body); err != nil {
			t.Errorf("a file of %d bytes: %v", size, err)
		}
		if _, err := got.Seek(-1, io.SeekStart); err == nil {
			t.Error("a seek before the beginning succeeded")
		}
	}
	_, err := s.File(t.Context(), "none")
	wantErr(t, "an unknown file", err, store.ErrNotFound)
}

// performed is a story that needs files and is the default story of r1.
func performed(files ...library.File) library.Changes {
	c := published(1)
	for _, f := range files {
		c.Files = append(c.Files, f)
		c.Revisions[0].Files = append(c.Revisions[0].Files, f.SHA256)
	}
	c.Defaults = []library.Default{desiredStory("r1", 1, "s1", 1)}
	return c
}

func filesOfStoriesAreEnqueued(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	gong, bell := file("gong", small), file("bell", large)
	c := performed(gong, bell)
	c.Outbox = []library.Message{{Topic: schema.TopicBlob, Target: gong.SHA256}, {Topic: schema.TopicBlob, Target: c.Revisions[0].SHA256}}
	apply(t, s, c)
	want := map[string]string{gong.SHA256: string(gong.Body), c.Revisions[0].SHA256: string(c.Revisions[0].Body)}
	for what, out := range map[string][]store.Outgoing{"now": withBodies(t, s, must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0))),
		"published again": withBodies(t, s, must[[]store.Outgoing](t)(s.RetainedDocuments(t.Context())))} {
		got := map[string]string{}
		for _, o := range out {
			if o.Topic == schema.TopicBlob {
				got[o.Target] = string(o.Payload)
			}
		}
		wantEqual(t, "the blobs that are published "+what, got, want)
	}
	err := s.Tx(t.Context(), func(tx *store.Tx) error {
		v := revision(library.KindStory, "s1", 2)
		v.Files = []string{"none"}
		return tx.Apply(t.Context(), library.Changes{Revisions: []library.Revision{v}}, at(9))
	})
	wantErr(t, "a revision with a file that is not there", err, store.ErrNotFound)
}

// A file is kept while an asset or a published story refers to it, and until it has a certain
// age.
func unreferencedFilesAreRemoved(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	gong, bell, drum, late := file("gong", small), file("bell", large), file("drum", large+1), file("late", small)
	c := performed(gong)
	c.Files = append(c.Files, bell, drum)
	c.Assets = []library.Asset{asset("bell", bell, 1)}
	apply(t, s, c) // at 3 s
	transact(t, s, func(tx *store.Tx) error {
		return tx.Apply(t.Context(), library.Changes{Files: []library.File{late}}, at(50))
	})
	forgotten := must[int64](t)
	if n := forgotten(s.PruneFiles(t.Context(), at(3))); n != 0 {
		t.Errorf("%d files were deleted too early", n)
	}
	if n := forgotten(s.PruneFiles(t.Context(), at(40))); n != 1 {
		t.Errorf("%d files were deleted, want 1", n)
	}
	for what, row := range map[string]struct {
		file library.File
		kept bool
	}{"that a story needs": {gong, true}, "that has a name": {bell, true}, "that nothing leads to": {drum, false},
		"that came lately": {late, true}} {
		f, err := s.File(t.Context(), row.file.SHA256)
		if row.kept != (err == nil) || !row.kept && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the file %s: %v", what, err)
			continue
		}
		if row.kept {
			if body, err := io.ReadAll(f); err != nil || !bytes.Equal(body, row.file.Body) {
				t.Errorf("the file %s has %d bytes, %v", what, len(body), err)
			}
		}
	}
	// A deleted file can be saved again.
	apply(t, s, library.Changes{Files: []library.File{drum}, Assets: []library.Asset{asset("drum", drum, 60)}})
	if body, err := io.ReadAll(must[*store.File](t)(s.File(t.Context(), drum.SHA256))); err != nil || !bytes.Equal(body, drum.Body) {
		t.Errorf("saved again it has %d bytes, %v", len(body), err)
	}
}

// The files of a set are published with it, are known to plans, and are kept.
func filesOfSetsAreKept(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	gong, bell := file("gong", small), file("bell", large)
	apply(t, s, library.Changes{Files: []library.File{gong, bell}})
	body := []byte(`{"a":"set"}`)
	sum := sha256.Sum256(body)
	set := hex.EncodeToString(sum[:])
	assign := func(rev int64, files ...library.File) {
		t.Helper()
		c := plan.Changes{Topic: schema.TopicDesiredActivities,
			Documents: []plan.Robot{{ID: "r1", Current: plan.Document{Rev: rev, Payload: []byte("{}")}}}}
		for _, f := range files {
			c.Blob, c.SHA256 = body, set
			c.Files = append(c.Files, score.Asset{SHA256: f.SHA256, Size: int64(len(f.Body))})
		}
		transact(t, s, func(tx *store.Tx) error {
			rows, err := tx.DesiredRows(t.Context(), c.Topic, selector.All())
			if err == nil && (rows.Files[gong.SHA256] != small || rows.Files[bell.SHA256] != large) {
				t.Errorf("the plan sees the files %v", rows.Files)
			}
			return errors.Join(err, tx.ApplyDesired(t.Context(), c, audit.Attribution{Who: "anna", At: at(5)}))
		})
	}
	assign(1, gong, bell)
	var published []string
	for _, o := range must[[]store.Outgoing](t)(s.RetainedDocuments(t.Context())) {
		if o.Topic == schema.TopicBlob {
			published = append(published, o.Target)
		}
	}
	want := []string{gong.SHA256, set}
	slices.Sort(want)
	wantEqual(t, "blobs", published, want)
	if n := must[int64](t)(s.PruneFiles(t.Context(), at(100))); n != 0 {
		t.Errorf("%d files were deleted that a set refers to", n)
	}
	assign(2)
	if n := must[int64](t)(s.PruneFiles(t.Context(), at(100))); n != 2 {
		t.Errorf("%d files were deleted after the set, want 2", n)
	}
	must[int](t)(s.RemoveUnusedBlobs(t.Context(), at(100), at(200)))
	if n := must[int](t)(s.RemoveUnusedBlobs(t.Context(), at(300), at(300))); n != 2 {
		t.Errorf("%d blobs are removed, want the set and its sound", n)
	}
}

// The broker keeps a blob while any desired document needs it: as the bytes of a story, as a
// file of a story, or as a set.
func unusedBlobsAreRemovedFromTheBroker(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	gong, bell := file("gong", small), file("bell", small+1)
	one := performed(gong, bell) // s1 revision 1 with both, performed by r1
	two := revision(library.KindStory, "s1", 2)
	two.Files = []string{gong.SHA256}
	one.Entries[0].Rev = 2
	one.Revisions = append(one.Revisions, two)
	one.Defaults = append(one.Defaults, desiredStory("r2", 1, "s1", 2))
	all := []string{gong.SHA256, bell.SHA256, one.Revisions[0].SHA256, two.SHA256}
	for _, sha := range all {
		one.Outbox = append(one.Outbox, library.Message{Topic: schema.TopicBlob, Target: sha})
	}
	apply(t, s, one)
	var marked int64
	forgets := func(when string, then, now int, want ...string) {
		t.Helper()
		if n := must[int](t)(s.RemoveUnusedBlobs(t.Context(), at(then), at(now))); n != len(want) {
			t.Errorf("%s: %d blobs are removed, want %d", when, n, len(want))
		}
		got := map[string]bool{}
		for _, o := range must[[]store.Outgoing](t)(s.Unsent(t.Context(), 0, 0)) {
			if o.Seq > marked && o.Topic == schema.TopicBlob && !o.PayloadInBlob {
				got[o.Target] = true
			}
			marked = max(marked, o.Seq)
		}
		wanted := map[string]bool{}
		for _, sha := range want {
			wanted[sha] = true
		}
		wantEqual(t, when, got, wanted)
	}
	day := int(24 * time.Hour / time.Second)
	forgets("all are needed", 10, 10)
	apply(t, s, library.Changes{Defaults: []library.Default{desiredStory("r1", 2, "s1", 2)}}) // no robot performs revision 1 any more
	forgets("one is needed no more since just now", 20-day, 20)
	forgets("a day later", 20+day-day, 20+day, bell.SHA256, one.Revisions[0].SHA256)
	forgets("and only once", 30+day-day, 30+day)

	// Published again, unused, and needed again before the day is over.
	again := library.Changes{Defaults: []library.Default{desiredStory("r1", 3, "s1", 1)},
		Outbox: []library.Message{{Topic: schema.TopicBlob, Target: bell.SHA256}}}
	apply(t, s, again)
	apply(t, s, library.Changes{Defaults: []library.Default{desiredStory("r1", 4, "", 0)}})
	forgets("bell is needed no more", 40+day-day, 40+day)
	apply(t, s, library.Changes{Defaults: []library.Default{desiredStory("r1", 5, "s1", 1)}})
	forgets("and is needed again", 40+2*day-day, 40+2*day)
	apply(t, s, library.Changes{Defaults: []library.Default{desiredStory("r1", 6, "", 0), desiredStory("r2", 2, "", 0)}})
	forgets("nobody performs anything", 50+2*day-day, 50+2*day)
	if err := s.RecordPublishedBlob(t.Context(), "some-other"); err != nil {
		t.Fatal(err)
	}
	forgets("what was published meanwhile stays for a day", 50+2*day, 50+3*day, gong.SHA256, bell.SHA256, two.SHA256)
	wantEqual(t, "what the broker must hold has no blob", len(must[[]store.Outgoing](t)(s.RetainedDocuments(t.Context()))), 2)
}
