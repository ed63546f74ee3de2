package library

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // its header is read
	_ "image/png"  // its header is read
)

// Details is what the header of a sound or an image says. Units name the formats that they play or
// show in caps.
type Details struct {
	Format   string `json:"format,omitempty"` // wav-pcm16, ogg-vorbis, mp3, png, ...
	LengthMS int64  `json:"length_ms,omitempty"`
	RateHz   int64  `json:"rate_hz,omitempty"`
	Channels int64  `json:"channels,omitempty"`
	Width    int64  `json:"width,omitempty"` // pixels
	Height   int64  `json:"height,omitempty"`
}

// Bounds of what robots play and show.
const (
	maxPixels   = 16 << 20 // of an image; decoded it takes four bytes for each
	maxChannels = 8
	minRateHz   = 4000
	maxRateHz   = 192_000
	maxLengthMS = 3_600_000
)

// detailsOf reads the header of a file. An error says why nothing can play or show it.
func detailsOf(media Media, body []byte) (d Details, err error) {
	switch media {
	case MediaWAV:
		d, err = wavDetails(body)
	case MediaOgg:
		d, err = oggDetails(body)
	case MediaFLAC:
		d, err = flacDetails(body)
	case MediaMP3:
		d, err = mp3Details(body)
	case MediaPNG, MediaJPEG:
		return imageDetails(body)
	default:
		return Details{}, nil
	}
	switch {
	case err != nil:
		return Details{}, err
	case d.RateHz < minRateHz || d.RateHz > maxRateHz:
		return Details{}, fmt.Errorf("it has %d samples a second, not %d to %d", d.RateHz, minRateHz, maxRateHz)
	case d.Channels < 1 || d.Channels > maxChannels:
		return Details{}, fmt.Errorf("it has %d channels, not 1 to %d", d.Channels, maxChannels)
	case d.LengthMS > maxLengthMS:
		return Details{}, fmt.Errorf("it lasts %d s, longer than an act may", d.LengthMS/1000)
	}
	return d, nil
}

func imageDetails(body []byte) (Details, error) {
	c, format, err := image.DecodeConfig(bytes.NewReader(body))
	switch {
	case err != nil:
		return Details{}, fmt.Errorf("its header is not that of an image: %w", err)
	case c.Width < 1 || c.Height < 1:
		return Details{}, fmt.Errorf("it has %d x %d pixels", c.Width, c.Height)
	case int64(c.Width)*int64(c.Height) > maxPixels:
		return Details{}, fmt.Errorf("it has %d x %d pixels, at most %d million are shown", c.Width, c.Height, maxPixels>>20)
	}
	return Details{Format: format, Width: int64(c.Width), Height: int64(c.Height)}, nil
}

func milliseconds(samples, rate int64) int64 {
	if rate < 1 {
		return 0
	}
	return samples * 1000 / rate
}

// wavDetails reads the chunks of a RIFF file up to its samples.
func wavDetails(body []byte) (d Details, err error) {
	block := int64(0) // bytes of one sample of all channels
	for rest := body[12:]; len(rest) >= 8; {
		id, size := string(rest[:4]), int64(binary.LittleEndian.Uint32(rest[4:]))
		rest = rest[8:]
		switch {
		case id == "fmt " && size >= 16 && int64(len(rest)) >= size:
			kind, bits := binary.LittleEndian.Uint16(rest), binary.LittleEndian.Uint16(rest[14:])
			if kind == 0xfffe && size >= 26 { // extensible: the kind is behind the channels' places
				kind = binary.LittleEndian.Uint16(rest[24:])
			}
			d.Channels, d.RateHz = int64(binary.LittleEndian.Uint16(rest[2:])), int64(binary.LittleEndian.Uint32(rest[4:]))
			block = d.Channels * int64(bits/8)
			switch {
			case kind == 1 && (bits == 8 || bits == 16 || bits == 24 || bits == 32):
				d.Format = fmt.Sprintf("wav-pcm%d", bits)
			case kind == 3 && bits == 32:
				d.Format = "wav-float32"
			default:
				return d, fmt.Errorf("its samples are compressed or of %d bits (WAVE format %d), which robots do not play", bits, kind)
			}
		case id == "data" && block == 0:
			return d, errors.New("it has no format before its samples")
		case id == "data" && (size == 0 && len(rest) > 8 || size == 0xffffffff):
			return d, errors.New("its header does not say how many samples follow, as of a recording that was not ended")
		case id == "data" && size < block:
			return d, errors.New("it has no samples")
		case id == "data" && size > int64(len(rest)):
			return d, fmt.Errorf("%d bytes of its samples are missing", size-int64(len(rest)))
		case id == "data":
			d.LengthMS = milliseconds(size/block, d.RateHz)
			return d, nil
		}
		if size += size % 2; size > int64(len(rest)) {
			break
		}
		rest = rest[size:]
	}
	return d, errors.New("it has no samples")
}

// oggDetails reads the first packet, and the place of the last page.
func oggDetails(body []byte) (d Details, err error) {
	const head = 27 // bytes before the table of segments
	if len(body) < head || len(body) < head+int(body[26]) {
		return d, errors.New("its first page is not whole")
	}
	packet := body[head+int(body[26]):]
	skip, rate := int64(0), int64(0) // of the places of pages
	switch {
	case bytes.HasPrefix(packet, []byte("\x01vorbis")) && len(packet) >= 16:
		d.Format, d.Channels, d.RateHz = "ogg-vorbis", int64(packet[11]), int64(binary.LittleEndian.Uint32(packet[12:]))
		rate = d.RateHz
	case bytes.HasPrefix(packet, []byte("OpusHead")) && len(packet) >= 16:
		d.Format, d.Channels, d.RateHz = "ogg-opus", int64(packet[9]), 48_000
		skip, rate = int64(binary.LittleEndian.Uint16(packet[10:])), 48_000
	case bytes.HasPrefix(packet, []byte("\x80theora")):
		return d, errors.New("it is a video")
	default:
		return d, errors.New("it contains neither Vorbis nor Opus")
	}
	last := bytes.LastIndex(body, []byte("OggS\x00"))
	if len(body) < last+14 {
		return d, errors.New("its last page is not whole")
	}
	if d.LengthMS = milliseconds(int64(binary.LittleEndian.Uint64(body[last+6:]))-skip, rate); d.LengthMS <= 0 {
		return d, errors.New("it has no samples")
	}
	return d, nil
}

// flacDetails reads the block STREAMINFO, which comes first.
func flacDetails(body []byte) (d Details, err error) {
	if len(body) < 26 || body[4]&0x7f != 0 {
		return d, errors.New("its first block is not whole")
	}
	v := binary.BigEndian.Uint64(body[18:]) // 20 bits rate, 3 channels, 5 bits of a sample, 36 samples
	d = Details{Format: "flac", RateHz: int64(v >> 44), Channels: int64(v>>41&7) + 1}
	d.LengthMS = milliseconds(int64(v&(1<<36-1)), d.RateHz) // 0 = it does not say
	return d, nil
}

// Bit rates of MPEG layer III in kbit/s, of version 1 and of the later ones.
var (
	mp3Rates  = [16]int64{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
	mp3Rates2 = [16]int64{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}
	mp3Hz     = [3]int64{44_100, 48_000, 32_000}
)

// mostBeforeMP3 is how many bytes of padding, or of what a tag left behind, may stand before the first frame.
const mostBeforeMP3 = 64 << 10

// mp3Details reads the first frame behind a tag. Of a file with one bit rate its size says the length,
// of others the number of frames in the first one.
func mp3Details(body []byte) (d Details, err error) {
	for bytes.HasPrefix(body, []byte("ID3")) && len(body) >= 10 {
		size := 10 + (int(body[6]&0x7f)<<21 | int(body[7]&0x7f)<<14 | int(body[8]&0x7f)<<7 | int(body[9]&0x7f))
		if body[5]&0x10 != 0 { // a footer
			size += 10
		}
		body = body[min(len(body), size):]
	}
	for skipped := 0; skipped < mostBeforeMP3 && len(body) >= 4 && !isFrameOfMP3(body); skipped++ { // as players do
		body = body[1:]
	}
	if !isFrameOfMP3(body) {
		return d, errors.New("no frame of sound follows its tag")
	}
	version, rates, samples := body[1]>>3&3, mp3Rates2, int64(576)
	d = Details{Format: "mp3", RateHz: mp3Hz[body[2]>>2&3], Channels: 2}
	switch version {
	case 3:
		rates, samples = mp3Rates, 1152
	case 2:
		d.RateHz /= 2
	case 0:
		d.RateHz /= 4
	}
	if body[3]>>6 == 3 {
		d.Channels = 1
	}
	d.LengthMS = int64(len(body)) * 8 / rates[body[2]>>4]
	for _, mark := range []string{"Xing", "Info"} {
		if at := bytes.Index(body[:min(len(body), 64)], []byte(mark)); at >= 0 && len(body) >= at+12 && body[at+7]&1 != 0 {
			d.LengthMS = milliseconds(int64(binary.BigEndian.Uint32(body[at+8:]))*samples, d.RateHz)
		}
	}
	return d, nil
}
