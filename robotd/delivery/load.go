package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// piece is one blob of a content: itself, or one of its files.
type piece struct {
	SHA256 string
	Size   int64
}

func (p piece) sound(data []byte) bool {
	sum := sha256.Sum256(data)
	return int64(len(data)) == p.Size && hex.EncodeToString(sum[:]) == p.SHA256
}

func pieceOf(p schema.StoryPin) piece { return piece{p.SHA256, p.Size} }

// load is a content on its way: what came of it so far, and what is missing.
type load[C any] struct {
	now     piece // asked for
	arrived []byte
	stored  bool   // it is a file, and on the disk
	wrong   string // what came for a file and was wrong
	part    int64  // bytes of a file that are here
	best    int64  // the most that was there in any attempt
	corrupt int    // how often the wrong bytes came for it

	main    []byte // the content's own, once they are right
	content *C
	faults  []schema.Problem // of reading it
	got     []Blob
	missing []piece
	done    int64 // bytes
	total   int64
}

// begin starts with the content's own bytes.
func (l *load[C]) begin(p piece) { *l = load[C]{now: p, total: p.Size} }

func (l *load[C]) progress() *int {
	percent := 0
	if l.total > 0 {
		percent = int(100 * (l.done + l.part) / l.total)
	}
	return &percent
}

// take adds what arrived and was right, and moves on to the next piece; false
// when there is none.
func (l *load[C]) take(j *Judge[C], held []string) (more bool) {
	l.done += l.now.Size
	l.part, l.best = 0, 0
	if l.main == nil {
		l.main = l.arrived
		l.content, l.faults = j.Read(l.main)
		if len(schema.Errors(l.faults)) == 0 {
			l.list(j.files(l.content), held)
		}
	} else if !l.stored {
		l.got = append(l.got, Blob{l.now.SHA256, l.arrived})
	}
	l.arrived, l.stored, l.corrupt = nil, false, 0
	if len(l.missing) == 0 {
		return false
	}
	l.now, l.missing = l.missing[0], l.missing[1:]
	return true
}

// list notes the files that are not on the disk.
func (l *load[C]) list(files []score.Asset, held []string) {
	for _, f := range files {
		p := piece{f.SHA256, f.Size}
		if !slices.Contains(held, f.SHA256) && !slices.Contains(l.missing, p) {
			l.missing = append(l.missing, p)
			l.total += f.Size
		}
	}
}

// blobs is everything of it that has to be written.
func (l *load[C]) blobs(own string) []Blob {
	return append([]Blob{{own, l.main}}, l.got...)
}

// held lists the files that are on the disk and known to be right.
func (s *State[C]) held() []string {
	var out []string
	for _, l := range []*Loaded[C]{s.active, s.staged} {
		if l != nil {
			for _, f := range l.Files {
				out = append(out, f.SHA256)
			}
		}
	}
	return out
}

// fetch asks for the bytes of the desired state, or for what of them is missing.
func (s *State[C]) fetch(now Now, c *Config[C], on Event, out []Effect) []Effect {
	s.attempts++
	s.fruitless++
	if on != OnRetry && on != OnCorrupt || s.load.now == (piece{}) {
		s.load.begin(pieceOf(*s.desired.Pin))
	}
	return s.ask(now, c, on, out)
}

func (s *State[C]) ask(now Now, c *Config[C], on Event, out []Effect) []Effect {
	s.why, s.candidate = outcome{}, nil
	s.load.arrived, s.load.stored, s.load.wrong, s.load.part = nil, false, "", 0
	s.deadline = now.Mono + c.patience(s.fruitless)
	out = s.take(on, out)
	return append(out, Fetch{SHA256: s.load.now.SHA256, Size: s.load.now.Size, File: s.load.now.Size > c.MaxBytes})
}

// patience is how long one attempt may take, or go on bringing nothing of a file:
// each time longer, for a line may be slow, and what came of a blob that did not
// come whole is lost.
func (c *Config[C]) patience(attempts int) time.Duration {
	return c.Fetch * time.Duration(min(max(attempts, 1), 6))
}

func (s *State[C]) fetched(now Now, c *Config[C], b Fetched, out []Effect) []Effect {
	if s.phase != schema.DeployFetching || b.SHA256 != s.load.now.SHA256 {
		return out // nobody waits for it any more
	}
	file := s.load.now.Size > c.MaxBytes
	switch {
	case file && b.Reason == schema.ReasonBadDigest:
		s.load.wrong = b.Detail
	case b.Reason != "":
		return s.fail(now, c, OnNotFetched, outcome{reason: b.Reason, detail: b.Detail}, out)
	}
	s.load.arrived, s.load.stored = b.Bytes, file && b.Stored && b.Reason == ""
	out = append(out, StopFetch{b.SHA256})
	return s.take(OnArrived, out)
}

// arriving gives a file that still comes more time, and tells how far it is.
func (s *State[C]) arriving(now Now, c *Config[C], a Arriving, out []Effect) []Effect {
	l := &s.load
	if s.phase != schema.DeployFetching || a.SHA256 != l.now.SHA256 || a.Bytes <= l.part || a.Bytes > l.now.Size {
		return out
	}
	was := *l.progress()
	l.part = a.Bytes
	if l.part-l.best >= l.now.Size/100 {
		l.best, s.fruitless = l.part, 1
	}
	s.deadline = now.Mono + c.patience(s.fruitless)
	if *l.progress() == was {
		return out
	}
	return append(out, Tell{From: s.phase, To: s.phase, Why: "more of the file is here", Report: s.Report()})
}

func (s *State[C]) verify(now Now, c *Config[C], out []Effect) []Effect {
	l := &s.load
	if l.stored || l.now.sound(l.arrived) {
		if l.take(&c.Judge, s.held()) {
			return s.ask(now, c, OnFiles, out)
		}
		return s.take(OnSound, out)
	}
	came := l.wrong
	if came == "" {
		came = fmt.Sprintf("%d bytes came for %s, where %d with this digest were promised", len(l.arrived), short(l.now.SHA256), l.now.Size)
	}
	if l.corrupt++; l.corrupt < 2 {
		return s.fetch(now, c, OnCorrupt, out)
	}
	pointer := "/story/sha256"
	if l.main != nil {
		pointer = "/assets"
	}
	s.why = outcome{schema.ReasonBadDigest, pointer, came}
	return s.takeSaved(OnCorruptAgain, out)
}

func short(digest string) string { return digest[:min(12, len(digest))] }

// validate asks the judge, and writes what passes.
func (s *State[C]) validate(c *Config[C], out []Effect) []Effect {
	pin, l := *s.desired.Pin, &s.load
	if errs := schema.Errors(l.faults); len(errs) > 0 {
		s.why = outcome{schema.ReasonStoryInvalid, errs[0].Pointer, errs[0].String()}
		if errs[0].Code == string(schema.ReasonUnsupportedVersion) {
			s.why.reason = schema.ReasonUnsupportedVersion
		}
		return s.takeSaved(OnRefused, out)
	}
	if s.why = c.Judge.other(l.content, &pin); s.why != (outcome{}) {
		return s.takeSaved(OnRefused, out)
	}
	fit := c.Judge.Fit(l.content)
	if fit.Reason != "" {
		s.why = outcomeOf(fit)
		return s.takeSaved(OnRefused, out)
	}
	accepted := Accepted{Rev: s.desired.Rev, Story: pin, Apply: s.desired.Apply, Files: c.Judge.files(l.content)}
	s.candidate = &Loaded[C]{Accepted: accepted, Content: l.content, Fit: fit}
	k := s.kept()
	k.Staged = &s.candidate.Accepted
	out = append(out, Save{Kind: s.kind, Kept: k, Rev: s.desired.Rev, Blobs: l.blobs(pin.SHA256)})
	s.load = load[C]{}
	return out
}

func (s *State[C]) written(now Now, c *Config[C], w Written, out []Effect) []Effect {
	if w.Rev == 0 && w.Refused != "" {
		s.unsaved = now.Mono + saveAgain
		return out
	}
	if s.candidate == nil || w.Rev != s.candidate.Rev {
		return out
	}
	l := s.candidate
	s.candidate = nil
	if w.Refused != "" {
		return s.fail(now, c, OnDiskRefused, outcome{reason: w.Refused, detail: "it could not be written to the robot's disk"}, out)
	}
	s.staged = l
	if len(l.Fit.Pruned) > 0 {
		out = append(out, pruned(l))
	}
	return s.take(OnWritten, out)
}

func pruned[C any](l *Loaded[C]) Note {
	if l.Fit.Reason != "" {
		return Note{Reason: l.Fit.Reason, Detail: l.Fit.Detail}
	}
	return Note{Reason: schema.ReasonStoryPruned, Detail: fmt.Sprintf("%s is performed without %v", l.Story.ID, l.Fit.Pruned)}
}

// fail waits for another attempt: 1, 2, 4 ... seconds, and from the beginning once
// one has brought more of a file.
func (s *State[C]) fail(now Now, c *Config[C], on Event, why outcome, out []Effect) []Effect {
	if s.phase == schema.DeployFetching {
		out = append(out, StopFetch{s.load.now.SHA256})
	}
	s.why, s.deadline = why, now.Mono+backoff(s.fruitless, c.MaxBackoff)
	return s.take(on, out)
}
