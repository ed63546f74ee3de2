package records

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"troupe/schema"
)

// Bounds of what is read into memory at once.
const (
	mcapRecordMost = 32 << 20
	chunkMost      = 32 << 20
)

// contents is what a file has.
type contents struct {
	records  uint64
	from, to time.Time
	robot    string
}

// verify reads a whole file and checks the checksum of each chunk.
func verify(path string) (c contents, err error) {
	f, err := os.Open(path) // a path of the folder
	if err != nil {
		return c, err
	}
	defer f.Close()
	lexer, err := mcap.NewLexer(f, &mcap.LexerOptions{ValidateChunkCRCs: true, MaxRecordSize: mcapRecordMost,
		MaxDecompressedChunkSize: chunkMost})
	if err != nil {
		return c, err
	}
	defer lexer.Close()
	whole := false
	var buf []byte
	for {
		token, record, err := lexer.Next(buf)
		if cap(record) > cap(buf) {
			buf = record
		}
		switch {
		case errors.Is(err, io.EOF) && !whole:
			return c, io.ErrUnexpectedEOF
		case errors.Is(err, io.EOF):
			return c, nil
		case err != nil:
			return c, err
		}
		switch token {
		case mcap.TokenMetadata:
			m, err := mcap.ParseMetadata(record)
			if err != nil {
				return c, err
			}
			if m.Name == "robotd" {
				c.robot = m.Metadata["robot"]
			}
		case mcap.TokenMessage:
			m, err := mcap.ParseMessage(record)
			if err != nil {
				return c, err
			}
			at := time.Unix(0, int64(m.LogTime)) // until 2262
			if c.records == 0 || at.Before(c.from) {
				c.from = at
			}
			if c.records == 0 || at.After(c.to) {
				c.to = at
			}
			c.records++
		case mcap.TokenFooter:
			whole = true
		}
	}
}

// accept says why a file is not the record of a robot; nil = it is, and r says what it has.
func accept(r *Record, c contents, err error) *Refused {
	switch {
	case err != nil:
		return refuse(Unreadable, "ask for it again; robotd record verify on the robot says whether its recordings are damaged",
			"what arrived is no whole MCAP file: %v", err)
	case c.robot != "" && c.robot != r.Robot:
		return refuse(OtherRobot, fmt.Sprintf("look which robot is called %s", r.Robot), "what arrived was recorded by robot %s, not by %s",
			c.robot, r.Robot)
	case c.records == 0:
		return refuse(Unreadable, "ask for a longer time", "the flight record that arrived has no messages")
	}
	r.Messages, r.From, r.To = c.records, schema.TimeOf(c.from), schema.TimeOf(c.to)
	return nil
}
