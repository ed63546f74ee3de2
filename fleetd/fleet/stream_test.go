package fleet_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/schema/testlog"
)

// stream is a reader of fleetd's stream.
type stream struct {
	w     *world
	lines chan [2]string // event, data
}

func (w *world) stream(query string) *stream {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "GET", w.URL()+api.Prefix+"/stream"+query, nil)
	if err != nil {
		w.Fatal(err)
	}
	response, err := w.client().Do(r)
	if err != nil {
		w.Fatal(err)
	}
	s := &stream{w, make(chan [2]string, 1000)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		event := ""
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				event = name
			} else if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				s.lines <- [2]string{event, data}
			}
		}
	}()
	w.Cleanup(func() {
		cancel()
		<-done
		response.Body.Close()
	})
	return s
}

// next is the data of the next message of this name.
func (s *stream) next(event string) string { return s.until(event, "") }

// until is the data of the next message of this name that holds text.
func (s *stream) until(event, text string) string {
	s.w.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for {
		select {
		case line := <-s.lines:
			if line[0] == event && strings.Contains(line[1], text) {
				return line[1]
			}
		case <-limit.C:
			s.w.Fatalf("the stream sent no %s with %q", event, text)
		}
	}
}

func logger(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(testlog.Writer(t, "fleetd"), nil))
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
