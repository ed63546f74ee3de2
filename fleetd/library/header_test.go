package library

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// wavOf is a WAV file: its kind, bits and rate, what its header says of the samples, and their bytes.
func wavOf(kind, bits, channels uint16, rate, says uint32, samples int) []byte {
	var b bytes.Buffer
	b.WriteString("RIFF....WAVEfmt \x10\x00\x00\x00")
	block := channels * bits / 8
	for _, v := range []any{kind, channels, rate, rate * uint32(block), block, bits} {
		_ = binary.Write(&b, binary.LittleEndian, v)
	}
	b.WriteString("data")
	_ = binary.Write(&b, binary.LittleEndian, says)
	b.Write(make([]byte, samples))
	return b.Bytes()
}

// pageOf is a page of Ogg at a place in samples.
func pageOf(place uint64, packet string) string {
	return "OggS\x00\x02" + string(binary.LittleEndian.AppendUint64(nil, place)) + strings.Repeat("\x00", 12) + "\x01" +
		string(rune(len(packet))) + packet
}

func TestHeaderSaysWhatAFileIs(t *testing.T) {
	var pixel, photo bytes.Buffer
	if err := png.Encode(&pixel, image.NewGray(image.Rect(0, 0, 64, 32))); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 8, 16)), nil); err != nil {
		t.Fatal(err)
	}
	vorbis := "\x01vorbis\x00\x00\x00\x00\x02\x44\xac\x00\x00"
	flac := "fLaC\x00\x00\x00\x22" + strings.Repeat("\x00", 10) + string(binary.BigEndian.AppendUint64(nil, 16_000<<44|1<<41|15<<36|32_000))
	mp3 := "\xff\xfb\x90\xc4" + strings.Repeat("\x00", 16_000-4)
	for name, c := range map[string]struct {
		body []byte
		want Details
	}{
		"16 bits":        {wavOf(1, 16, 1, 16_000, 32_000, 32_000), Details{Format: "wav-pcm16", LengthMS: 1000, RateHz: 16_000, Channels: 1}},
		"24 bits":        {wavOf(1, 24, 2, 48_000, 288_000, 288_000), Details{Format: "wav-pcm24", LengthMS: 1000, RateHz: 48_000, Channels: 2}},
		"floating point": {wavOf(3, 32, 1, 8000, 32_000, 32_000), Details{Format: "wav-float32", LengthMS: 1000, RateHz: 8000, Channels: 1}},
		"Vorbis": {[]byte(pageOf(0, vorbis) + pageOf(88_200, "x")), Details{Format: "ogg-vorbis", LengthMS: 2000, RateHz: 44_100,
			Channels: 2}},
		"Opus": {[]byte(pageOf(0, "OpusHead\x01\x01\x38\x01\x80\xbb\x00\x00\x00") + pageOf(48_312, "x")),
			Details{Format: "ogg-opus", LengthMS: 1000, RateHz: 48_000, Channels: 1}},
		"FLAC": {[]byte(flac), Details{Format: "flac", LengthMS: 2000, RateHz: 16_000, Channels: 2}},
		"MP3":  {[]byte(mp3), Details{Format: "mp3", LengthMS: 1000, RateHz: 44_100, Channels: 1}},
		"MP3 behind two tags, one with a footer, and rubbish": {
			[]byte("ID3\x04\x00\x10\x00\x00\x00\x02xx3DI\x04\x00\x10\x00\x00\x00\x02" + "ID3\x03\x00\x00\x00\x00\x00\x01y" + "rubbish" + mp3),
			Details{Format: "mp3", LengthMS: 1000, RateHz: 44_100, Channels: 1},
		},
		"MP3 behind a tag": {[]byte("ID3\x04\x00\x00\x00\x00\x00\x02xx" + mp3), Details{Format: "mp3", LengthMS: 1000, RateHz: 44_100,
			Channels: 1}},
		"PNG":  {pixel.Bytes(), Details{Format: "png", Width: 64, Height: 32}},
		"JPEG": {photo.Bytes(), Details{Format: "jpeg", Width: 8, Height: 16}},
	} {
		if _, got, problems := CheckFile("x", c.body); len(problems) > 0 || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, problems, c.want)
		}
	}
}

func TestFileThatNothingPlaysIsRefused(t *testing.T) {
	huge := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x75\x30\x00\x00\x75\x30\x01\x00\x00\x00\x00\x4e\x5c\xc5\x17"
	for name, c := range map[string]struct {
		body []byte
		want string
	}{
		"compressed": {wavOf(2, 4, 1, 22_050, 1600, 1600),
			"its samples are compressed or of 4 bits (WAVE format 2), which robots do not play"},
		"no rate":     {wavOf(1, 16, 1, 0, 3200, 3200), "it has 0 samples a second, not 4000 to 192000"},
		"only a head": {[]byte("RIFF$\x00\x00\x00WAVE"), "it has no samples"},
		"no samples":  {wavOf(1, 16, 1, 16_000, 0, 0), "it has no samples"},
		"of a stream": {wavOf(1, 16, 1, 16_000, 0, 3200),
			"its header does not say how many samples follow, as of a recording that was not ended"},
		"cut off":           {wavOf(1, 16, 1, 16_000, 3200, 3000), "200 bytes of its samples are missing"},
		"a video":           {[]byte(pageOf(0, "\x80theora")), "it is a video"},
		"Vorbis, no sample": {[]byte(pageOf(0, "\x01vorbis\x00\x00\x00\x00\x02\x44\xac\x00\x00")), "it has no samples"},
		"a tag alone":       {[]byte("ID3\x04\x00\x00\x00\x00\x00\x02xx"), "no frame of sound follows its tag"},
		"900 megapixels":    {[]byte(huge), "it has 30000 x 30000 pixels, at most 16 million are shown"},
		"no pixels": {[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + strings.Repeat("\x00", 8) + "\x08\x02\x00\x00\x00\x00\x00\x00\x00"),
			"its header is not that of an image"},
	} {
		_, _, problems := CheckFile("x", c.body)
		if len(problems) != 1 || !strings.HasPrefix(problems[0].Detail, "x is not usable: "+c.want) || problems[0].Hint == "" {
			t.Errorf("%s: %v, want %s", name, problems, c.want)
		}
	}
}

// FuzzHeader reads arbitrary bytes as a file: a header never makes it panic.
func FuzzHeader(f *testing.F) {
	f.Add(wavOf(1, 16, 1, 16_000, 32, 32))
	f.Add([]byte(pageOf(0, "\x01vorbis\x00\x00\x00\x00\x02\x44\xac\x00\x00") + pageOf(88_200, "x")))
	f.Add([]byte("ID3\x04\x00\x00\x00\x00\x00\x02xx\xff\xfb\x90\xc4"))
	f.Fuzz(func(_ *testing.T, body []byte) { CheckFile("x", body) })
}
