package main

import (
	"bufio"
	"encoding/json"
	"io"
	"time"
)

// An event is one line of go test -json: see `go doc test2json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build-output and build-fail, instead of Package
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// follow gives the summary every event, and a nudge whenever nothing was said
// for a while. It returns the number of lines when the reader ends.
func follow(r io.Reader, s *summary, since func() time.Duration) (lines int, err error) {
	type line struct {
		event event
		plain string // what is no event, word for word
	}
	said := make(chan line)
	failed := make(chan error, 1)
	go func() {
		defer close(said)
		lines := bufio.NewReader(r)
		for {
			text, err := lines.ReadBytes('\n')
			var e event
			switch {
			case len(text) == 0:
			case json.Unmarshal(text, &e) != nil || e.Action == "":
				said <- line{plain: string(text)}
			default:
				said <- line{event: e}
			}
			if err == io.EOF {
				failed <- nil
				return
			}
			if err != nil {
				failed <- err
				return
			}
		}
	}()
	nudge := time.NewTicker(quiet)
	defer nudge.Stop()
	for {
		select {
		case l, ok := <-said:
			if !ok {
				return lines, <-failed
			}
			lines++
			var printed bool
			if l.event.Action == "" {
				printed = s.plain(l.plain)
			} else {
				printed = s.add(l.event)
			}
			if printed {
				nudge.Reset(quiet)
			}
		case <-nudge.C:
			s.stillRunning(since())
		}
	}
}
