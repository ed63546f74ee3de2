package delivery

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// piece is one blob to fetch: a content or one of its files.
type piece struct {
	SHA256 string
	Size   int64
}

func (p piece) matches(data []byte) bool {
	sum := sha256.Sum256(data)
	return int64(len(data)) == p.Size && hex.EncodeToString(sum[:]) == p.SHA256
}

func pieceOf(p schema.ContentPin) piece { return piece{p.SHA256, p.Size} }

// load is a content that is being fetched: what has arrived and what is missing.
type load[C any] struct {
	current      piece // the requested one
	arrived      []byte
	stored       bool   // current is a file and is on disk
	digestError  string // what was wrong with a received file
	partBytes    int64  // bytes of a file that have arrived
	bestBytes    int64  // the most bytes of it that any attempt brought
	corruptCount int    // how often it arrived with a wrong digest
	damaged      string // what was wrong, once that happened twice

	body       []byte // the content's own bytes, once verified
	content    *C
	problems   []schema.Problem // of parsing it
	files      []Blob           // files that have arrived
	missing    []piece
	doneBytes  int64
	totalBytes int64
}

// begin starts with the content itself.
func (l *load[C]) begin(p piece) { *l = load[C]{current: p, totalBytes: p.Size} }

func (l *load[C]) progress() *int {
	percent := 0
	if l.totalBytes > 0 {
		percent = int(100 * (l.doneBytes + l.partBytes) / l.totalBytes)
	}
	return &percent
}

// take adds the verified piece and goes on to the next one; it returns false if
// there is none.
func (l *load[C]) take(j *Judge[C], onDisk []string) (more bool) {
	l.doneBytes += l.current.Size
	l.partBytes, l.bestBytes = 0, 0
	if l.body == nil {
		l.body = l.arrived
		l.content, l.problems = j.Read(l.body)
		if len(schema.Errors(l.problems)) == 0 {
			l.addMissing(j.files(l.content), onDisk)
		}
	} else if !l.stored {
		l.files = append(l.files, Blob{l.current.SHA256, l.arrived})
	}
	l.arrived, l.stored, l.corruptCount, l.damaged = nil, false, 0, ""
	if len(l.missing) == 0 {
		return false
	}
	l.current, l.missing = l.missing[0], l.missing[1:]
	return true
}

// addMissing adds the files that are not on disk to the missing pieces.
func (l *load[C]) addMissing(files []score.Asset, onDisk []string) {
	for _, f := range files {
		p := piece{f.SHA256, f.Size}
		if !slices.Contains(onDisk, f.SHA256) && !slices.Contains(l.missing, p) {
			l.missing = append(l.missing, p)
			l.totalBytes += f.Size
		}
	}
}

// blobs lists the blobs to write.
func (l *load[C]) blobs(own string) []Blob {
	return append([]Blob{{own, l.body}}, l.files...)
}

// verifiedFiles lists the digests of files that are on disk and verified.
func (s *State[C]) verifiedFiles() []string {
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

// fetch starts an attempt to fetch the desired content, or what is missing of it.
func (s *State[C]) fetch(now Now, c *Config[C], on Event, out []Effect) []Effect {
	s.attempts++
	s.fruitless++
	if on != OnRetry && on != OnDigestWrong || s.load.current == (piece{}) {
		s.load.begin(pieceOf(*s.desired.Pin))
	}
	return s.request(now, c, on, out)
}

func (s *State[C]) request(now Now, c *Config[C], on Event, out []Effect) []Effect {
	s.why, s.candidate = cause{}, nil
	s.load.arrived, s.load.stored, s.load.digestError, s.load.partBytes = nil, false, "", 0
	s.deadline = now.Mono + c.fetchTimeout(s.fruitless)
	out = s.take(on, out)
	return append(out, Fetch{SHA256: s.load.current.SHA256, Size: s.load.current.Size, File: s.load.current.Size > c.MaxBytes})
}

// fetchTimeout is how long an attempt may take for a blob, or go without progress
// for a file. It grows with each attempt, since the connection may be slow and the
// bytes of an incomplete blob are lost.
func (c *Config[C]) fetchTimeout(attempts int) time.Duration {
	return c.Fetch * time.Duration(min(max(attempts, 1), 6))
}

func (s *State[C]) fetched(now Now, c *Config[C], b Fetched, out []Effect) []Effect {
	if s.phase != schema.DeployFetching || b.SHA256 != s.load.current.SHA256 {
		return out // it is not wanted any more
	}
	file := s.load.current.Size > c.MaxBytes
	switch {
	case file && b.Reason == schema.ReasonBadDigest:
		s.load.digestError = b.Detail
	case b.Reason != "":
		return s.fail(now, c, OnNotFetched, cause{reason: b.Reason, detail: b.Detail}, out)
	}
	s.load.arrived, s.load.stored = b.Bytes, file && b.Stored && b.Reason == ""
	out = append(out, StopFetch{b.SHA256})
	return s.take(OnArrived, out)
}

// arriving gives a file that makes progress more time and reports the progress.
func (s *State[C]) arriving(now Now, c *Config[C], a Arriving, out []Effect) []Effect {
	l := &s.load
	if s.phase != schema.DeployFetching || a.SHA256 != l.current.SHA256 || a.Bytes <= l.partBytes || a.Bytes > l.current.Size {
		return out
	}
	was := *l.progress()
	l.partBytes = a.Bytes
	if l.partBytes-l.bestBytes >= l.current.Size/100 {
		l.bestBytes, s.fruitless = l.partBytes, 1
	}
	s.deadline = now.Mono + c.fetchTimeout(s.fruitless)
	if *l.progress() == was {
		return out
	}
	return append(out, PublishReport{From: s.phase, To: s.phase, Why: "more of the file is here", Report: s.Report()})
}

func (s *State[C]) verify(now Now, c *Config[C], out []Effect) []Effect {
	l := &s.load
	if l.stored || l.current.matches(l.arrived) {
		if l.take(&c.Judge, s.verifiedFiles()) {
			return s.request(now, c, OnFiles, out)
		}
		return s.take(OnDigestRight, out)
	}
	detail := l.digestError
	if detail == "" {
		detail = fmt.Sprintf("%d bytes arrived for %s; expected %d bytes with this digest", len(l.arrived), short(l.current.SHA256),
			l.current.Size)
	}
	if l.corruptCount++; l.corruptCount < 2 {
		return s.fetch(now, c, OnDigestWrong, out)
	}
	pointer := c.pointer("sha256")
	if l.body != nil {
		pointer = "/assets"
	}
	l.damaged = detail
	return s.fail(now, c, OnDigestWrongAgain, cause{schema.ReasonBadDigest, pointer, detail}, out)
}

func short(digest string) string { return digest[:min(12, len(digest))] }

// validate lets the judge check the content and writes it if it passes.
func (s *State[C]) validate(c *Config[C], out []Effect) []Effect {
	pin, l := *s.desired.Pin, &s.load
	if errs := schema.Errors(l.problems); len(errs) > 0 {
		s.why = cause{schema.ReasonStoryInvalid, errs[0].Pointer, errs[0].String()}
		if errs[0].Code == string(schema.ReasonUnsupportedVersion) {
			s.why.reason = schema.ReasonUnsupportedVersion
		}
		return s.takeSaved(OnRefused, out)
	}
	if s.why = c.Judge.mismatch(l.content, &pin); s.why != (cause{}) {
		return s.takeSaved(OnRefused, out)
	}
	fit := c.Judge.Fit(l.content)
	if fit.Reason != "" {
		s.why = causeOf(fit)
		return s.takeSaved(OnRefused, out)
	}
	accepted := Accepted{Rev: s.desired.Rev, Pin: pin, Apply: s.desired.Apply, Files: c.Judge.files(l.content)}
	s.candidate = &Loaded[C]{Accepted: accepted, Content: l.content, Fit: fit}
	k := s.persisted()
	k.Staged = &s.candidate.Accepted
	out = append(out, Save{Kind: s.kind, Persisted: k, Rev: s.desired.Rev, Blobs: l.blobs(pin.SHA256)})
	s.load = load[C]{}
	return out
}

func (s *State[C]) written(now Now, c *Config[C], w Written, out []Effect) []Effect {
	if w.Rev == 0 && w.Refused != "" {
		s.resaveAt = now.Mono + resaveDelay
		return out
	}
	if s.candidate == nil || w.Rev != s.candidate.Rev {
		return out
	}
	l := s.candidate
	s.candidate = nil
	if w.Refused != "" {
		return s.fail(now, c, OnDiskRefused, cause{reason: w.Refused, detail: "it could not be written to the robot's disk"}, out)
	}
	s.staged = l
	if len(l.Fit.Pruned) > 0 || len(l.Fit.Refused) > 0 {
		out = append(out, pruned(l))
	}
	return s.take(OnWritten, out)
}

func pruned[C any](l *Loaded[C]) RecordEvent {
	switch refused := l.Fit.Refused; {
	case l.Fit.Reason != "":
		return RecordEvent{Reason: l.Fit.Reason, Detail: l.Fit.Detail}
	case len(refused) > 0:
		parts := make([]string, len(refused))
		for i, r := range refused {
			parts[i] = r.ID + ": " + r.Detail
		}
		return RecordEvent{Reason: schema.ReasonStoryPruned, Detail: "left out: " + strings.Join(parts, "; ")}
	case len(l.Fit.Pruned) == 0:
		return RecordEvent{Reason: schema.ReasonStoryPruned, Detail: "nothing of " + l.Pin.ID + " is left out any more"}
	}
	return RecordEvent{Reason: schema.ReasonStoryPruned, Detail: fmt.Sprintf("%s is performed without %v", l.Pin.ID, l.Fit.Pruned)}
}

// fail schedules another attempt after 1, 2, 4 ... seconds. The backoff starts
// again after an attempt that brought more of a file.
func (s *State[C]) fail(now Now, c *Config[C], on Event, why cause, out []Effect) []Effect {
	if s.phase == schema.DeployFetching {
		out = append(out, StopFetch{s.load.current.SHA256})
	}
	s.why, s.deadline = why, now.Mono+backoff(s.fruitless, c.MaxBackoff)
	return s.take(on, out)
}
