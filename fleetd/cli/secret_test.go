package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
)

func TestPromptWithoutALineIsNamed(t *testing.T) {
	sh := &shell{Streams: Streams{In: strings.NewReader("")}}
	if _, err := sh.secret(t.Context(), "your old password", ""); err == nil ||
		!strings.HasPrefix(err.Error(), "your old password: nothing was read; ") {
		t.Errorf("got %v", err)
	}
}

// A terminal is read without end: nothing but a person ends the read.
func TestCtrlCEndsAQuestion(t *testing.T) {
	in, person := io.Pipe()
	t.Cleanup(func() { person.Close() })
	ctx, interrupt := context.WithCancel(t.Context())
	sh := &shell{Streams: Streams{In: in, Err: os.Stderr}}
	answered := make(chan error, 1)
	go func() {
		_, err := sh.askLine(ctx, "Name of the fleet", "troupe")
		answered <- err
	}()
	interrupt()
	if err := <-answered; err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("got %v", err)
	}
}
