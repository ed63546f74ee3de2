package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// book is the content in these tests: a story of one line ("name act act ...").
// An act that begins with + needs a file with that text; with ++ the file is too
// large for a blob.
type book struct {
	name  string
	acts  []string
	files []score.Asset
}

// world is the rest of the robot: a judge that reads books, acts that may be
// missing, and a disk.
type world struct {
	s       *State[book]
	cfg     Config[book]
	facts   Facts
	now     Now
	missing map[string]bool
	names   map[string]string // digest -> name
	saved   Persisted
	blobs   map[string][]byte
	files   map[string]int64 // files on disk that the saved state refers to
	stored  map[string]int64 // files on disk that it does not refer to yet
	covered map[string]bool  // transitions that were taken
}

const noon schema.Time = 1_800_000_000_000

func newWorld() *world {
	w := &world{missing: map[string]bool{}, names: map[string]string{}, blobs: map[string][]byte{}, files: map[string]int64{},
		stored: map[string]int64{}, covered: map[string]bool{}}
	w.cfg = Defaults(sign.Story, Judge[book]{Read: w.read, Identity: func(b *book) (string, int64) { return b.name, 1 },
		Files: func(b *book) []score.Asset { return b.files }, Fit: w.fit})
	w.now.Wall = noon
	w.s, _ = Restore(w.now, &w.cfg, Persisted{}, DiskContents{}, "", nil)
	return w
}

func (w *world) read(data []byte) (*book, []schema.Problem) {
	words := strings.Fields(string(data))
	if words[0] == "nonsense" {
		return nil, []schema.Problem{schema.NewProblem("/acts/0", "bad_value", "this is no act", "write one")}
	}
	if words[0] == "future" {
		return nil, []schema.Problem{schema.NewProblem("/schema", "unsupported_version", "version 2 is not understood", "have a newer release")}
	}
	b := &book{name: words[0], acts: words[1:]}
	for _, act := range words[1:] {
		if strings.HasPrefix(act, "+") {
			p := w.pin(act)
			b.files = append(b.files, score.Asset{Name: act[1:], Kind: score.AssetSound, SHA256: p.SHA256, Size: p.Size})
		}
	}
	return b, nil
}

func (w *world) fit(b *book) Fit[book] {
	f := Fit[book]{Content: b}
	for _, act := range b.acts {
		if w.missing[act] {
			f.Pruned = append(f.Pruned, act)
		} else {
			f.Names = append(f.Names, act)
		}
	}
	if len(f.Names) == 0 {
		f.Reason, f.Pointer, f.Detail = schema.ReasonStoryEmpty, "/story/acts", "no act of it can be performed here"
	}
	return f
}

// pin returns the pin of the story with this line.
func (w *world) pin(text string) *schema.ContentPin {
	sum := sha256.Sum256([]byte(text))
	digest := hex.EncodeToString(sum[:])
	name := strings.Fields(text)[0]
	w.names[digest] = name
	size := int64(len(text))
	if large(text) {
		size = fileBytes
	}
	return &schema.ContentPin{ID: name, Rev: 1, SHA256: digest, Size: size}
}

// fileBytes is the size of a file that is too large for a blob.
const fileBytes = 1_000_000

func large(text string) bool { return strings.HasPrefix(text, "++") }

// digest finds a digest by the name of its story.
func (w *world) digest(name string) string {
	for d, n := range w.names {
		if n == name {
			return d
		}
	}
	return strings.Repeat("0", 64)
}

// save does what the disk does: it keeps the blobs that the state refers to.
func (w *world) save(e Save) {
	w.saved = e.Persisted
	for _, b := range e.Blobs {
		w.blobs[b.SHA256] = b.Bytes
	}
	keep := e.Persisted.Digests()
	for _, d := range keep {
		if size, ok := w.stored[d]; ok {
			w.files[d] = size
			delete(w.stored, d)
		}
	}
	for d := range w.blobs {
		if !slices.Contains(keep, d) {
			delete(w.blobs, d)
		}
	}
	for d := range w.files {
		if !slices.Contains(keep, d) {
			delete(w.files, d)
		}
	}
}

func (w *world) step(in Input) []Effect {
	return w.cover(Step(w.s, w.now, &w.cfg, w.facts, in, nil))
}

func (w *world) restart(actsDigest string) []Effect {
	var out []Effect
	w.s, out = Restore(w.now, &w.cfg, w.saved, DiskContents{w.blobs, w.files}, actsDigest, nil)
	return w.cover(out)
}

func (w *world) cover(effects []Effect) []Effect {
	for _, e := range effects {
		if e, ok := e.(PublishReport); ok && e.On != "" {
			w.covered[fmt.Sprintf("%s on %s", e.From, e.On)] = true
		}
	}
	return effects
}
