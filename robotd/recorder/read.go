package recorder

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/go-json-experiment/json"
)

// Bounds of what is read into memory at once.
const (
	maxRecordBytes = 32 << 20
	maxChunkBytes  = 32 << 20
)

// Contents is what a file holds.
type Contents struct {
	From, To time.Time // of the messages; zero = there are none
	Messages uint64
	Topics   map[string]uint64 // messages of each
	Dropped  int64             // records that are missing
	Chunks   int
	// Closed: the file ends with its index. If not, it is being written, or robotd ended
	// before it could close it, and Cut says where it breaks off.
	Closed bool
	Cut    error
}

// visitor gets what a file holds, in the order of the file. Each function may be nil.
type visitor struct {
	metadata func(*mcap.Metadata) error
	message  func(*mcap.Schema, *mcap.Channel, *mcap.Message) error
	chunk    func(*mcap.ChunkIndex) // of the index
	summary  func(*mcap.Statistics)
}

// damaged is an error of the content of a file, not of reading it.
type damaged struct{ error }

// IsDamage reports whether an error of Export or Verify is of what was read: everything else was written.
func IsDamage(err error) bool {
	var bad damaged
	return errors.As(err, &bad)
}

// read reads a whole file and checks the checksum of each chunk. A file that breaks off is no error:
// Contents has everything before that. If the content is wrong, read returns an error and everything
// before.
func read(from io.Reader, v visitor) (c Contents, err error) {
	c.Topics = map[string]uint64{}
	begin := bufio.NewReader(from)
	if head, err := begin.Peek(len(mcap.Magic)); errors.Is(err, io.EOF) && bytes.HasPrefix(mcap.Magic, head) {
		c.Cut = io.ErrUnexpectedEOF // robotd ended before it wrote more
		return c, nil
	}
	lexer, err := mcap.NewLexer(begin,
		&mcap.LexerOptions{ValidateChunkCRCs: true, MaxRecordSize: maxRecordBytes, MaxDecompressedChunkSize: maxChunkBytes})
	if err != nil {
		return c, damaged{fmt.Errorf("it is no MCAP file: %w", err)}
	}
	defer lexer.Close()
	schemas, channels := map[uint16]*mcap.Schema{}, map[uint16]*mcap.Channel{}
	var buf []byte
	for {
		token, record, err := next(lexer, buf)
		if cap(record) > cap(buf) {
			buf = record
		}
		switch {
		case errors.Is(err, io.EOF):
			return c, nil
		case cutOff(err, begin):
			c.Cut = err
			return c, nil
		case err != nil:
			return c, damaged{err}
		}
		if err := c.take(token, record, v, schemas, channels); err != nil {
			return c, err
		}
	}
}

// next reads a record. The library panics if the header of a chunk has a wrong length.
func next(l *mcap.Lexer, buf []byte) (token mcap.TokenType, record []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the header of a chunk is wrong: %v", p)
		}
	}()
	return l.Next(buf)
}

// cutOff reports whether a file ended within a record. A damaged chunk may also decompress to
// less than it says, but is not the end of the file.
func cutOff(err error, rest *bufio.Reader) bool {
	var truncated *mcap.ErrTruncatedRecord
	if !errors.As(err, &truncated) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	_, more := rest.Peek(1)
	return errors.Is(more, io.EOF)
}

func (c *Contents) take(token mcap.TokenType, record []byte, v visitor, schemas map[uint16]*mcap.Schema,
	channels map[uint16]*mcap.Channel) error {
	switch token {
	case mcap.TokenSchema:
		s, err := mcap.ParseSchema(record)
		if err != nil {
			return damaged{err}
		}
		s.Data = append([]byte(nil), s.Data...)
		schemas[s.ID] = s
	case mcap.TokenChannel:
		ch, err := mcap.ParseChannel(record)
		if err != nil {
			return damaged{err}
		}
		channels[ch.ID] = ch
	case mcap.TokenMetadata:
		m, err := mcap.ParseMetadata(record)
		if err != nil {
			return damaged{err}
		}
		if v.metadata != nil {
			return v.metadata(m)
		}
	case mcap.TokenMessage:
		m, err := mcap.ParseMessage(record)
		if err != nil {
			return damaged{err}
		}
		ch := channels[m.ChannelID]
		if ch == nil {
			return damaged{fmt.Errorf("message on channel %d, which the file does not describe", m.ChannelID)}
		}
		c.count(ch, m)
		if v.message != nil {
			return v.message(schemas[ch.SchemaID], ch, m)
		}
	case mcap.TokenChunkIndex:
		i, err := mcap.ParseChunkIndex(record)
		if err != nil {
			return damaged{err}
		}
		c.Chunks++
		if v.chunk != nil {
			v.chunk(i)
		}
	case mcap.TokenStatistics:
		s, err := mcap.ParseStatistics(record)
		if err != nil {
			return damaged{err}
		}
		if v.summary != nil {
			v.summary(s)
		}
	case mcap.TokenFooter:
		c.Closed = true
	}
	return nil
}

func (c *Contents) count(ch *mcap.Channel, m *mcap.Message) {
	at := logTime(m)
	if c.Messages == 0 || at.Before(c.From) {
		c.From = at
	}
	if c.Messages == 0 || at.After(c.To) {
		c.To = at
	}
	c.Messages++
	c.Topics[ch.Topic]++
	if ch.Topic == droppedTopic {
		var d Dropped
		if json.Unmarshal(m.Data, &d) == nil {
			c.Dropped += d.Records
		}
	}
}

func logTime(m *mcap.Message) time.Time { return time.Unix(0, int64(m.LogTime)).UTC() } // nanoseconds since 1970 fit an int64 until 2262

// copier writes messages of several files into one.
type copier struct {
	to      *mcap.Writer
	schemas map[string]uint16
	ids     map[string]uint16 // channels by topic and schema
	count   uint64
}

func newCopier(to *mcap.Writer) *copier {
	return &copier{to: to, schemas: map[string]uint16{}, ids: map[string]uint16{}}
}

func (c *copier) message(s *mcap.Schema, ch *mcap.Channel, m *mcap.Message) error {
	schema := uint16(0)
	key := ch.Topic + "\x00"
	if s != nil {
		var known bool
		text := s.Name + "\x00" + string(s.Data)
		key += text
		if schema, known = c.schemas[text]; !known {
			schema = uint16(len(c.schemas) + 1) // a file has a few, far below 65,536
			c.schemas[text] = schema
			if err := c.to.WriteSchema(&mcap.Schema{ID: schema, Name: s.Name, Encoding: s.Encoding, Data: s.Data}); err != nil {
				return err
			}
		}
	}
	id, known := c.ids[key]
	if !known {
		id = uint16(len(c.ids) + 1) // a file has a few, far below 65,536
		c.ids[key] = id
		if err := c.to.WriteChannel(&mcap.Channel{ID: id, SchemaID: schema, Topic: ch.Topic, MessageEncoding: ch.MessageEncoding,
			Metadata: ch.Metadata}); err != nil {
			return err
		}
	}
	copied := *m
	copied.ChannelID = id
	c.count++
	return c.to.WriteMessage(&copied)
}

// readFile reads one file of a ring.
func readFile(path string, v visitor) (Contents, error) {
	f, err := os.Open(path) // a path of the ring, or one that a person named
	if err != nil {
		return Contents{}, err
	}
	defer f.Close()
	return read(f, v)
}
