package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemoOnALaptopSpeaksAndShowsItsFace runs the demo whose first robot is this machine. Its
// sound device is a file: aplay is a stand-in, and so is espeak-ng where it is not installed.
func TestDemoOnALaptopSpeaksAndShowsItsFace(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	sound := filepath.Join(folder, "sound")
	programs := map[string]string{"aplay": "exec cat >> " + sound}
	if _, err := exec.LookPath("espeak-ng"); err != nil {
		programs["espeak-ng"] = `echo "RIFF $(cat)"`
	}
	for name, line := range programs {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+line+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := launch(t, "demo", program(t, "demo"), []string{
		"--mqtt", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", t.TempDir(), "--robots", "1",
		"--body", "laptop", "--face", "127.0.0.1:0", "--adapters", "../adapters", "--story", "museum-welcome",
	}, nil, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "PATH="+folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	})
	w := worldAroundDemo(t, p)
	line := p.log.await(t, "demo", "the address of the face", func(line string) bool { return strings.Contains(line, "# the face of r1") })
	page := strings.Fields(line)[1]

	saw := w.lookAt(page)
	if !saw("said", "welcome to the museum") || !saw("screen", "Welcome to the museum") || !saw("face", "smile") {
		t.Errorf("the page at %s does not show what the robot says", page)
	}
	w.awaitPerforming("r1")
	w.until("the sound", func() bool {
		played, _ := os.ReadFile(sound)                   // not there before the first sound
		return strings.Count(string(played), "RIFF") >= 2 // a chime and speech
	})
	w.interruptDemo(p, "r1")
}

// lookAt opens a page with a face, as a browser does. The function that it returns waits until
// the page has shown a text in one of its parts.
func (w *world) lookAt(page string) func(part, text string) bool {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	w.t.Cleanup(cancel)
	get := func(path string) *http.Response {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, page+path, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = answer.Body.Close() })
		if answer.StatusCode != http.StatusOK {
			w.t.Fatalf("%s%s: %s", page, path, answer.Status)
		}
		return answer
	}
	if kind := get("").Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") {
		w.t.Errorf("the page is %s", kind)
	}
	lines, shown := bufio.NewScanner(get("events").Body), map[string]string{}
	return func(part, text string) bool {
		for !strings.Contains(shown[part], text) {
			if !lines.Scan() {
				w.t.Logf("the page has shown %v: %v", shown, lines.Err())
				return false
			}
			data, is := strings.CutPrefix(lines.Text(), "data: ")
			now := map[string]json.RawMessage{}
			if !is || json.Unmarshal([]byte(data), &now) != nil {
				continue
			}
			for name, value := range now {
				shown[name] += string(value) + "\n"
			}
		}
		return true
	}
}
