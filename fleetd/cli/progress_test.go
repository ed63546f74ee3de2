package cli

import (
	"strings"
	"testing"
)

func TestProgressIsOneLineThatIsCleared(t *testing.T) {
	var out strings.Builder
	p := progressLine{&out, 24, "mode set", "robots"}
	p.show(3, 8)
	p.clear()
	if want := "\rmode set: 3 of 8 robots\x1b[K\r\x1b[K"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	out.Reset()
	p.what = "say\x1b[2J hello"
	p.show(3, 8)
	if want := "\rsay\\u001b[2J hello: 3 …\x1b[K"; out.String() != want {
		t.Errorf("untrusted text wider than the terminal: printed %q, want %q", out.String(), want)
	}
}

func TestProgressIsSilentWithoutATerminal(t *testing.T) {
	var err strings.Builder
	line := (&shell{Streams: Streams{Err: &err}}).progress("mode set", "robots")
	line.show(3, 8)
	line.clear()
	if err.Len() > 0 {
		t.Errorf("printed %q", err.String())
	}
}
