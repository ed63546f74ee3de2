package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
	"troupe/schema/score"
)

// world is a robot around a delivery: a judge that reads stories of one line
// ("name act act ..."), acts that may be missing, and a disk.
type world struct {
	s       *State
	c       Config
	f       Facts
	now     Now
	missing map[string]bool
	names   map[string]string // digest -> name
	kept    Kept
	blobs   map[string][]byte
	covered map[string]bool // edges that were taken
}

const noon schema.Time = 1_800_000_000_000

func newWorld() *world {
	w := &world{missing: map[string]bool{}, names: map[string]string{}, blobs: map[string][]byte{}, covered: map[string]bool{}}
	w.c = Defaults(Judge{Read: read, Fit: w.fit})
	w.now.Wall = noon
	w.s, _ = Restore(w.now, &w.c, Kept{}, nil, "", nil)
	return w
}

func read(data []byte) (*score.Blob, []schema.Problem) {
	words := strings.Fields(string(data))
	if words[0] == "nonsense" {
		return nil, []schema.Problem{schema.Fault("/acts/0", "bad_value", "this is no act", "write one")}
	}
	b := &score.Blob{Story: score.Story{ID: words[0]}}
	for _, act := range words[1:] {
		b.Story.Acts = append(b.Story.Acts, score.Step{Act: act})
	}
	return b, nil
}

func (w *world) fit(b *score.Blob) Fit {
	f := Fit{Story: score.Story{ID: b.Story.ID}}
	for _, step := range b.Story.Acts {
		if w.missing[step.Act] {
			f.Pruned = append(f.Pruned, step.Act)
		} else {
			f.Story.Acts = append(f.Story.Acts, step)
		}
	}
	if len(f.Story.Acts) == 0 {
		f.Reason, f.Pointer, f.Detail = schema.ReasonStoryEmpty, "/story/acts", "no act of it can be performed here"
	}
	return f
}

// pin names the story of one line.
func (w *world) pin(text string) *schema.StoryPin {
	sum := sha256.Sum256([]byte(text))
	digest := hex.EncodeToString(sum[:])
	name := strings.Fields(text)[0]
	w.names[digest] = name
	return &schema.StoryPin{ID: name, Rev: 1, SHA256: digest, Size: int64(len(text))}
}

// digest finds a story by its name.
func (w *world) digest(name string) string {
	for d, n := range w.names {
		if n == name {
			return d
		}
	}
	return strings.Repeat("0", 64)
}

// save does what the disk does: it keeps the blobs that are referred to.
func (w *world) save(e Save) {
	w.kept = e.Kept
	if e.Blob != nil {
		w.blobs[e.SHA256] = e.Blob
	}
	keep := e.Kept.Digests()
	for d := range w.blobs {
		if !slices.Contains(keep, d) {
			delete(w.blobs, d)
		}
	}
}

func (w *world) step(in Input) []Effect {
	return w.noteEdges(Step(w.s, w.now, &w.c, w.f, in, nil))
}

func (w *world) restart(actsDigest string) []Effect {
	var out []Effect
	w.s, out = Restore(w.now, &w.c, w.kept, w.blobs, actsDigest, nil)
	return w.noteEdges(out)
}

func (w *world) noteEdges(effects []Effect) []Effect {
	for _, e := range effects {
		if e, ok := e.(Tell); ok && e.On != "" {
			w.covered[fmt.Sprintf("%s on %s", e.From, e.On)] = true
		}
	}
	return effects
}
