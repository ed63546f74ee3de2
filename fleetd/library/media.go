package library

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema/score"
)

// Media is the media type of a file, detected from its first bytes.
type Media string

// The media types that robots support. SVG is not supported: it may contain programs and load
// other documents.
const (
	MediaWAV  Media = "audio/wav"
	MediaOgg  Media = "audio/ogg"
	MediaMP3  Media = "audio/mpeg"
	MediaFLAC Media = "audio/flac"
	MediaPNG  Media = "image/png"
	MediaJPEG Media = "image/jpeg"
	MediaJSON Media = "application/json" // a map
)

// Kind returns what acts use it for.
func (m Media) Kind() score.AssetKind {
	switch m {
	case MediaPNG, MediaJPEG:
		return score.AssetFace
	case MediaJSON:
		return score.AssetMap
	}
	return score.AssetSound
}

// Extension returns the end of the name of such a file.
func (m Media) Extension() string {
	return map[Media]string{MediaWAV: ".wav", MediaOgg: ".ogg", MediaMP3: ".mp3", MediaFLAC: ".flac", MediaPNG: ".png", MediaJPEG: ".jpg",
		MediaJSON: ".json"}[m]
}

// AnyMedia returns one of the media types of a kind, for a file of which only the kind is known.
func AnyMedia(kind score.AssetKind) Media {
	switch kind {
	case score.AssetFace:
		return MediaPNG
	case score.AssetMap:
		return MediaJSON
	}
	return MediaWAV
}

// MediaOf detects the media type of a file.
func MediaOf(body []byte) (Media, bool) {
	begins := func(text string) bool { return bytes.HasPrefix(body, []byte(text)) }
	switch {
	case begins("RIFF") && len(body) >= 12 && string(body[8:12]) == "WAVE":
		return MediaWAV, true
	case begins("OggS\x00"):
		return MediaOgg, true
	case begins("fLaC"):
		return MediaFLAC, true
	case begins("ID3") || isFrameOfMP3(body):
		return MediaMP3, true
	case begins("\x89PNG\r\n\x1a\n"):
		return MediaPNG, true
	case begins("\xff\xd8\xff"):
		return MediaJPEG, true
	case begins("{") && jsontext.Value(body).IsValid():
		return MediaJSON, true
	}
	return "", false
}

// isFrameOfMP3 reports whether body starts with a frame header of MPEG layer III: eleven sync
// bits, a valid version, the layer, a valid bit rate and a valid sample rate.
func isFrameOfMP3(body []byte) bool {
	if len(body) < 4 || body[0] != 0xff || body[1]&0xe0 != 0xe0 {
		return false
	}
	version, layer, bitRate, sampleRate := body[1]>>3&3, body[1]>>1&3, body[2]>>4, body[2]>>2&3
	return version != 1 && layer == 1 && bitRate != 0 && bitRate != 15 && sampleRate != 3
}
