package recorder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/foxglove/mcap/go/mcap"
)

// Span is one file of a ring.
type Span struct {
	Path  string
	Bytes int64
	Contents
	Err error // its content is damaged
}

// List returns the files of a folder, the oldest first. robotd may be writing the newest.
func List(dir string) ([]Span, error) {
	all, err := files(dir)
	if err != nil {
		return nil, err
	}
	var spans []Span
	for _, f := range all {
		s := Span{Path: f.path, Bytes: f.bytes}
		var ok bool
		if s.Contents, ok = indexed(f.path); !ok {
			s.Contents, err = readFile(f.path, visitor{})
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile
			}
			s.Err = err
		}
		spans = append(spans, s)
	}
	return spans, nil
}

// indexed returns what the index of a closed file says of it, but not how many records are
// missing.
func indexed(path string) (c Contents, ok bool) {
	f, err := os.Open(path) // a path of the ring
	if err != nil {
		return c, false
	}
	defer f.Close()
	r, err := mcap.NewReader(f)
	if err != nil {
		return c, false
	}
	defer r.Close()
	info, err := r.Info()
	if err != nil || info.Statistics == nil {
		return c, false
	}
	c = Contents{Closed: true, Messages: info.Statistics.MessageCount, Chunks: len(info.ChunkIndexes), Topics: map[string]uint64{}}
	if c.Messages > 0 {
		// nanoseconds since 1970 fit an int64 until 2262
		c.From, c.To = time.Unix(0, int64(info.Statistics.MessageStartTime)).UTC(), time.Unix(0, int64(info.Statistics.MessageEndTime)).UTC()
	}
	for id, n := range info.Statistics.ChannelMessageCounts {
		if ch := info.Channels[id]; ch != nil {
			c.Topics[ch.Topic] += n
		}
	}
	return c, true
}

// Read calls each with every message of a file, which is valid during the call.
func Read(path string, each func(topic string, at time.Time, message []byte)) error {
	_, err := readFile(path, visitor{message: func(_ *mcap.Schema, ch *mcap.Channel, m *mcap.Message) error {
		each(ch.Topic, logTime(m), m.Data)
		return nil
	}})
	return err
}

// Newest returns the time of the newest record of a folder; the zero time if it has none.
func Newest(spans []Span) (newest time.Time) {
	for _, s := range spans {
		if s.To.After(newest) {
			newest = s.To
		}
	}
	return newest
}

// exportChunk is larger than chunkBytes, because an export is not cut off.
const exportChunk = 256 << 10

// Export writes the records of spans from one time until another into one MCAP file, and
// returns how many there were. A zero time is no limit. What is damaged is left out, which
// the error says after everything else was written; another error means that it was not.
func Export(to io.Writer, spans []Span, from, until time.Time) (uint64, error) {
	m, opts, err := newMCAP(to)
	if err != nil {
		return 0, err
	}
	opts.ChunkSize = exportChunk
	c := newCopier(m)
	var faults []error
	for _, s := range spans {
		if s.Messages > 0 && (!from.IsZero() && s.To.Before(from) || !until.IsZero() && s.From.After(until)) {
			continue
		}
		_, err := readFile(s.Path, visitor{
			metadata: m.WriteMetadata,
			message: func(schema *mcap.Schema, ch *mcap.Channel, msg *mcap.Message) error {
				if at := logTime(msg); at.Before(from) || !until.IsZero() && at.After(until) {
					return nil
				}
				return c.message(schema, ch, msg)
			},
		})
		var bad damaged
		switch {
		case errors.As(err, &bad):
			faults = append(faults, fmt.Errorf("%s: %w", filepath.Base(s.Path), err))
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile
		case err != nil:
			return c.count, err
		}
	}
	if err := m.Close(); err != nil { // callers accept damage, but not a file whose end is missing
		return c.count, err
	}
	return c.count, errors.Join(faults...)
}

// Verify reads a whole file: the checksum of each chunk, and whether its index says what is in
// it. The error says what is wrong; a file without an index is not wrong.
func Verify(path string) (Contents, error) {
	var inFile []mcap.ChunkIndex
	var stated *mcap.Statistics
	c, err := readFile(path, visitor{
		chunk:   func(i *mcap.ChunkIndex) { inFile = append(inFile, *i) },
		summary: func(s *mcap.Statistics) { stated = s },
	})
	if err != nil || !c.Closed {
		return c, err
	}
	if stated == nil || stated.MessageCount != c.Messages || int(stated.ChunkCount) != len(inFile) {
		return c, errors.New("its index does not say what is in it")
	}
	f, err := os.Open(path) // a path that a person named
	if err != nil {
		return c, err
	}
	defer f.Close()
	for _, i := range inFile { // each points at a chunk
		var op [1]byte
		// an offset that is not in the file is an error of ReadAt
		if _, err := f.ReadAt(op[:], int64(i.ChunkStartOffset)); err != nil || mcap.OpCode(op[0]) != mcap.OpChunk {
			return c, fmt.Errorf("its index points at byte %d, where no chunk begins", i.ChunkStartOffset)
		}
	}
	return c, nil
}
