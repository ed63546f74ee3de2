package sim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// compressedRate, in bytes per second, estimates the length of a file whose header
// does not contain one.
const compressedRate = 16_000

// longestFile bounds the length that a header claims.
const longestFile = time.Hour

// soundLength returns how long the sound in a story's file lasts: for WAV from its
// header, for other formats estimated from the size.
func (s *Sim) soundLength(asset string) (time.Duration, error) {
	if s.config.Assets == "" {
		return time.Second, nil
	}
	f, err := os.Open(filepath.Join(s.config.Assets, filepath.Base(asset)))
	if err != nil {
		return 0, fmt.Errorf("open the sound file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("stat the sound file: %w", err)
	}
	length, err := lengthOfWAV(f)
	if errors.Is(err, errNoWAV) {
		length, err = time.Duration(info.Size())*time.Second/compressedRate, nil
	}
	return min(length, longestFile), err
}

var errNoWAV = errors.New("not a WAV file")

// lengthOfWAV computes the length from the chunks of a RIFF file before its samples.
func lengthOfWAV(r io.ReadSeeker) (time.Duration, error) {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || !bytes.Equal(head[:4], []byte("RIFF")) || !bytes.Equal(head[8:], []byte("WAVE")) {
		return 0, errNoWAV
	}
	rate := uint32(0) // bytes per second
	for {
		var chunk struct {
			ID   [4]byte
			Size uint32
		}
		if err := binary.Read(r, binary.LittleEndian, &chunk); err != nil {
			return 0, errors.New("the WAV file has no samples")
		}
		next := int64(chunk.Size) + int64(chunk.Size%2)
		switch string(chunk.ID[:]) {
		case "fmt ":
			var format struct {
				Kind, Channels uint16
				Samples, Bytes uint32 // per second
			}
			if err := binary.Read(r, binary.LittleEndian, &format); err != nil {
				return 0, errors.New("the WAV file has no usable format chunk")
			}
			rate = format.Bytes
			next -= int64(binary.Size(format))
		case "data":
			if rate == 0 {
				return 0, errors.New("the WAV file has no usable format chunk")
			}
			return time.Duration(chunk.Size) * time.Second / time.Duration(rate), nil
		}
		if _, err := r.Seek(max(next, 0), io.SeekCurrent); err != nil {
			return 0, errors.New("the WAV file has no samples")
		}
	}
}
