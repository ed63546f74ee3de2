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

// What a file lasts in which no length is found: as if it had this many bytes a
// second.
const compressedRate = 16_000

// longestFile bounds what a header says.
const longestFile = time.Hour

// played is how long the sound in a file of a story lasts. Of a WAV it stands in
// its header; of the others it is a guess by their size.
func (s *Sim) played(asset string) (time.Duration, error) {
	if s.config.Assets == "" {
		return time.Second, nil
	}
	f, err := os.Open(filepath.Join(s.config.Assets, filepath.Base(asset)))
	if err != nil {
		return 0, fmt.Errorf("open the file of a sound: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("look at the file of a sound: %w", err)
	}
	length, err := lengthOfWAV(f)
	if errors.Is(err, errNoWAV) {
		length, err = time.Duration(info.Size())*time.Second/compressedRate, nil
	}
	return min(length, longestFile), err
}

var errNoWAV = errors.New("this is no WAV")

// lengthOfWAV reads the chunks of a RIFF file up to its samples.
func lengthOfWAV(r io.ReadSeeker) (time.Duration, error) {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || !bytes.Equal(head[:4], []byte("RIFF")) || !bytes.Equal(head[8:], []byte("WAVE")) {
		return 0, errNoWAV
	}
	rate := uint32(0) // bytes a second
	for {
		var chunk struct {
			ID   [4]byte
			Size uint32
		}
		if err := binary.Read(r, binary.LittleEndian, &chunk); err != nil {
			return 0, errors.New("the WAV has no samples")
		}
		next := int64(chunk.Size) + int64(chunk.Size%2)
		switch string(chunk.ID[:]) {
		case "fmt ":
			var format struct {
				Kind, Channels uint16
				Samples, Bytes uint32 // a second
			}
			if err := binary.Read(r, binary.LittleEndian, &format); err != nil {
				return 0, errors.New("the WAV does not say how it is to be played")
			}
			rate = format.Bytes
			next -= int64(binary.Size(format))
		case "data":
			if rate == 0 {
				return 0, errors.New("the WAV does not say how it is to be played")
			}
			return time.Duration(chunk.Size) * time.Second / time.Duration(rate), nil
		}
		if _, err := r.Seek(max(next, 0), io.SeekCurrent); err != nil {
			return 0, errors.New("the WAV has no samples")
		}
	}
}
