package robot

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/robotd/effect"
)

func TestLogOnTheRobotIsBoundedAndOffByDefault(t *testing.T) {
	dir := t.TempDir()
	note := effect.LogTransition{Machine: "mode", From: "ready", To: "stopping", Why: strings.Repeat("x", 100)}
	run := func(effects ...effect.Effect) {
		r := newLocalLog(dir, 2000, slog.New(slog.DiscardHandler))
		for _, e := range effects {
			r.take(e)
		}
		r.close()
		go r.run()
		<-r.done
	}
	run(note)
	if _, err := os.Stat(filepath.Join(dir, logDir)); err == nil {
		t.Error("the log was written although it is off")
	}
	many := []effect.Effect{effect.SetLocalLog{On: true}}
	for range 100 {
		many = append(many, note)
	}
	run(append(many, effect.LogAlert{Type: "unit_error", Source: "head", Detail: "broken"}, effect.SaveEvent{Payload: []byte(`{"type":"booted"}`)}, effect.SetLocalLog{}, note)...)
	newest, err := os.ReadFile(filepath.Join(dir, logDir, logFile))
	if err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile(filepath.Join(dir, logDir, olderFile))
	if err != nil {
		t.Fatal(err)
	}
	if len(newest) > 2000 || len(older) > 2000 || len(older) < 1800 {
		t.Errorf("the files have %d and %d bytes", len(newest), len(older))
	}
	lines := bytes.Split(bytes.TrimSpace(newest), []byte("\n"))
	if last := string(lines[len(lines)-1]); !strings.HasSuffix(last, `"event":{"type":"booted"}}`) {
		t.Errorf("the last line is %s", last)
	}
	run(effect.SetLocalLog{On: true}, note) // goes on after a restart
	again, err := os.ReadFile(filepath.Join(dir, logDir, logFile))
	if err != nil || len(again) <= len(newest) && !bytes.Contains(again, []byte("ready")) {
		t.Errorf("after a restart the file has %d bytes: %v", len(again), err)
	}
}
