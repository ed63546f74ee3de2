// Package testlog shows the logs of a failed test: of each the last lines, and the name of a file with
// all of it. A log has what a program or a part of it printed, up to every packet of a broker.
package testlog

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// folder has a folder for each failed test. It is relative to the root of the module.
const folder = ".cache/e2e"

// What is printed of a log.
const (
	lastLines = 50
	lineBytes = 500 // of each of these lines
)

// Writer returns a writer for a log. If the test fails, its end is shown when the test ends.
func Writer(t testing.TB, name string) io.Writer {
	w := &writer{}
	t.Cleanup(func() { Show(t, name, w.String()) })
	return w
}

type writer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *writer) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// Show prints the end of a log if the test has failed. If that is not all of it, all of it is written
// to a file.
func Show(t testing.TB, name, text string) {
	t.Helper()
	if !t.Failed() || text == "" {
		return
	}
	shown, lines := tail(text)
	if shown == text {
		t.Logf("log of %s:\n%s", name, text)
		return
	}
	path, err := keep(t.Name(), name, text)
	if err != nil {
		path = fmt.Sprintf("lost: %v", err)
	}
	t.Logf("log of %s, its end; all %d lines: %s\n%s", name, lines, path, shown)
}

// tail returns the last lines of a text, and how many lines it has.
func tail(text string) (last string, lines int) {
	all := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	var b strings.Builder
	for _, line := range all[max(0, len(all)-lastLines):] {
		if len(line) > lineBytes {
			line = fmt.Sprintf("%s... %d more bytes\n", strings.ToValidUTF8(line[:lineBytes], ""), len(line)-lineBytes)
		}
		b.WriteString(line)
	}
	if strings.HasSuffix(text, "\n") && !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	return b.String(), len(all)
}

// started is where the test binary started, which is the folder of its package.
var started, _ = os.Getwd()

// kept has the folders of the tests that failed in this process. What an earlier process left in
// one is removed.
var kept = struct {
	sync.Mutex
	emptied map[string]bool
}{emptied: map[string]bool{}}

var unusual = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// keep writes a log to a file of its own and returns its path relative to the root of the module.
func keep(test, name, text string) (string, error) {
	root := started
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(root) == root {
			return "", fmt.Errorf("find the root of the module of %s: no go.mod", started)
		}
		root = filepath.Dir(root)
	}
	kept.Lock()
	defer kept.Unlock()
	in := filepath.Join(folder, unusual.ReplaceAllString(test, "-"))
	if !kept.emptied[in] {
		kept.emptied[in] = true
		if err := os.RemoveAll(filepath.Join(root, in)); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(filepath.Join(root, in), 0o755); err != nil {
		return "", err
	}
	base := filepath.Join(in, unusual.ReplaceAllString(name, "-"))
	for n := 1; ; n++ {
		path := base + ".log"
		if n > 1 { // a program of this name was started again
			path = fmt.Sprintf("%s-%d.log", base, n)
		}
		file, err := os.OpenFile(filepath.Join(root, path), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return "", err
		}
		if _, err := file.WriteString(text); err != nil {
			_ = file.Close() // the error of the write is the cause
			return "", err
		}
		return path, file.Close()
	}
}
