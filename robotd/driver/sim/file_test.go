package sim

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// wav returns a WAV file with an unknown chunk of odd length before its format chunk.
func wav(t *testing.T, rate, samples uint32) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("RIFF....WAVE")
	for _, v := range []any{
		[]byte("LIST"), uint32(3), []byte("odd\x00"),
		[]byte("fmt "), uint32(16), uint16(1), uint16(1), rate, rate, uint16(1), uint16(8),
		[]byte("data"), samples,
	} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestSoundLengthFromFile(t *testing.T) {
	dir := t.TempDir()
	s := New(Config{Assets: dir})
	for name, row := range map[string]struct {
		text []byte
		want time.Duration
		says string
	}{
		"wav":          {wav(t, 8000, 12000), 1500 * time.Millisecond, ""},
		"far too long": {wav(t, 1, 1<<31), time.Hour, ""},
		"no byte rate": {wav(t, 0, 100), 0, "no usable format chunk"},
		"truncated":    {wav(t, 8000, 12000)[:20], 0, "no samples"},
		"compressed":   {append([]byte("OggS"), make([]byte, 47_996)...), 3 * time.Second, ""},
		"empty":        {nil, 0, ""},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), row.text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := s.soundLength(name)
		if row.says != "" {
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%s: %v, want %q", name, err, row.says)
			}
			continue
		}
		if err != nil || got != row.want {
			t.Errorf("%s: %v, %v, want %v", name, got, err, row.want)
		}
	}
	if _, err := s.soundLength("missing"); err == nil {
		t.Error("no error for a missing file")
	}
}
