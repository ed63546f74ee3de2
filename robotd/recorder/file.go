package recorder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"
)

// When a chunk ends and is written to the disk. What a chunk holds is lost if robotd is killed
// before.
const (
	chunkBytes  = 16 << 10
	chunkTime   = 5 * time.Second // of samples alone, which an idle robot has 4 times a second
	chunkUrgent = time.Second     // if it holds anything else
	syncEvery   = 10 * time.Second
)

// partSuffix ends the name of a file while it is rewritten to close it.
const partSuffix = ".part"

// About is what the files say of their origin.
type About struct{ Robot, Boot, Version string }

// newMCAP begins an MCAP file. The chunk size of the options may be changed at any time.
func newMCAP(w io.Writer) (*mcap.Writer, *mcap.WriterOptions, error) {
	// One goroutine and a small window: a chunk is a few KiB.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(64<<10), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, nil, fmt.Errorf("open the compressor: %w", err)
	}
	opts := &mcap.WriterOptions{IncludeCRC: true, Chunked: true, ChunkSize: chunkBytes,
		Compressor: mcap.NewCustomCompressor(mcap.CompressionZSTD, z)}
	m, err := mcap.NewWriter(w, opts)
	if err == nil {
		err = m.WriteHeader(&mcap.Header{Library: "troupe robotd"})
	}
	if err != nil {
		return nil, nil, err
	}
	return m, opts, nil
}

// begin writes what the files say of their origin, and the schema of every channel.
func begin(m *mcap.Writer, about About) error {
	if err := m.WriteMetadata(&mcap.Metadata{Name: "robotd",
		Metadata: map[string]string{"robot": about.Robot, "boot": about.Boot, "version": about.Version}}); err != nil {
		return err
	}
	for i, c := range channels {
		text, err := schemaOf(c)
		if err != nil {
			return err
		}
		id := uint16(i + 1)
		if err := m.WriteSchema(&mcap.Schema{ID: id, Name: "troupe." + c.of.Name(), Encoding: "jsonschema", Data: text}); err != nil {
			return err
		}
		if err := m.WriteChannel(&mcap.Channel{ID: id, SchemaID: id, Topic: c.topic, MessageEncoding: "json"}); err != nil {
			return err
		}
	}
	return nil
}

// writer writes the newest file of a ring.
type writer struct {
	ring  *ring
	about About
	open  func(path string) (outFile, error)

	path   string
	n      int64
	to     *counted // nil = no file is open
	mcap   *mcap.Writer
	opts   *mcap.WriterOptions
	due    time.Time // when the present chunk shall end; zero = it is empty
	synced time.Time
	seq    map[uint16]uint32
}

func openFile(path string) (outFile, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // a path of the ring
}

// write adds a record, encoded as data. After an error the next one begins a new file.
func (w *writer) write(at time.Time, r Record, data []byte) error {
	if w.to != nil && w.to.bytes >= w.ring.fileLimit() {
		if err := w.close(); err != nil {
			return err
		}
	}
	if w.to == nil {
		if err := w.create(at); err != nil {
			return errors.Join(err, w.abandon())
		}
	}
	channel := channelOf(r)
	delay := chunkUrgent
	switch r := r.(type) {
	case Sample:
		delay = chunkTime
	case Transition:
		if r.Machine == "safety" { // robotd may be about to fail
			delay = 0
		}
	}
	if due := at.Add(delay); w.due.IsZero() || due.Before(w.due) {
		w.due = due
	}
	w.opts.ChunkSize = chunkBytes
	if !at.Before(w.due) {
		w.opts.ChunkSize = 0 // the chunk ends with this message
	}
	w.seq[channel]++
	before := len(w.mcap.ChunkIndexes)
	t := uint64(at.UnixNano()) // not negative: at is after 1970
	if err := w.mcap.WriteMessage(&mcap.Message{ChannelID: channel, Sequence: w.seq[channel], LogTime: t, PublishTime: t,
		Data: data}); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", w.path, err), w.abandon())
	}
	if len(w.mcap.ChunkIndexes) > before {
		w.due = time.Time{}
	}
	if at.Sub(w.synced) >= syncEvery {
		w.synced = at
		if err := w.to.Sync(); err != nil {
			return errors.Join(fmt.Errorf("write %s: %w", w.path, err), w.abandon())
		}
	}
	return nil
}

// endChunkWithNextRecord makes the next record end the present chunk.
func (w *writer) endChunkWithNextRecord() {
	if !w.isFlushed() {
		w.due = time.Unix(0, 0)
	}
}

// isFlushed reports whether no written record is still in an open chunk in memory.
func (w *writer) isFlushed() bool { return w.to == nil || w.due.IsZero() }

func (w *writer) create(at time.Time) error {
	if err := w.ring.removeUntilFree(); err != nil {
		return err
	}
	w.n, w.path = w.ring.next, filepath.Join(w.ring.dir, fileName(w.ring.next, at))
	f, err := w.open(w.path)
	if err != nil {
		return fmt.Errorf("begin a recording: %w", err)
	}
	w.ring.next++
	w.to, w.due, w.synced, w.seq = &counted{outFile: f, ring: w.ring}, time.Time{}, at, map[uint16]uint32{}
	if w.mcap, w.opts, err = newMCAP(w.to); err == nil {
		err = begin(w.mcap, w.about)
	}
	if err != nil {
		return fmt.Errorf("begin a recording: %w", err)
	}
	return nil
}

// close ends the open file with its index.
func (w *writer) close() error {
	if w.to == nil {
		return nil
	}
	err := w.mcap.Close()
	if err == nil {
		err = w.to.Sync()
	}
	return errors.Join(err, w.abandon())
}

// abandon leaves the open file as it is.
func (w *writer) abandon() error {
	if w.to == nil {
		return nil
	}
	err := w.to.Close()
	w.ring.closed(file{w.path, w.n, w.to.bytes})
	w.to = nil
	return err
}
