package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/robotd/recorder"
	"troupe/schema"
)

func TestOpenRecordingIsNoFaultWhileRobotdRuns(t *testing.T) {
	var out strings.Builder
	printContents(&out, "r1/00000000.mcap", recorder.Contents{}, nil)
	if !strings.Contains(out.String(), "robotd is writing it, which is no fault, or was killed") {
		t.Error(out.String())
	}
}

// fleetd robot record has the same flag.
func TestExportTakesTheFileByOut(t *testing.T) {
	c := recordExportCommand(func() string { return t.TempDir() })
	if f := c.Flags().Lookup("out"); f == nil || f.Shorthand != "o" || !strings.Contains(c.Use+c.Example, "--out ") {
		t.Errorf("%+v in %s", f, c.Use)
	}
}

func TestShowPrintsWhatWasRecorded(t *testing.T) {
	dir := t.TempDir()
	r := recorder.New(dir, 1<<20, recorder.About{Robot: "r1", Boot: "b1", Version: "v1"}, slog.New(slog.DiscardHandler))
	go r.Run()
	noon := time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
	r.Put(noon.Add(-time.Hour), recorder.Alert{Level: schema.AlertWarn, Type: "device_hot", Source: "head"})
	r.Put(noon.Add(-time.Second), recorder.Command{Client: "op1", Verb: "safety/stop", Payload: []byte(`{"id":"a1"}`)})
	r.Put(noon, recorder.Sample{Safety: schema.SafetyStop, Mode: schema.ModeMnl})
	r.Put(noon.Add(20*time.Millisecond), recorder.Transition{Machine: "safety", From: "ENABLED", To: "STOP", Why: "it was requested"})
	r.Close()
	<-r.Done()
	spans, err := recorder.List(filepath.Join(dir, recorder.Folder))
	if err != nil || len(spans) != 1 {
		t.Fatalf("%+v, %v", spans, err)
	}
	const (
		asked  = "2026-05-17T11:59:59.000Z  /command     op1 safety/stop {\"id\":\"a1\"}\n"
		change = "2026-05-17T12:00:00.020Z  /transition  safety: ENABLED -> STOP (it was requested)\n"
		alert  = "2026-05-17T11:00:00.000Z  /alert       warn device_hot head\n"
	)
	for _, c := range []struct{ args, want string }{
		{"", asked + change},
		{"--last 500ms", change},
		{"--from 2026-05-17T11:00:00Z --to 2026-05-17T11:30:00Z", alert},
		{"--channel sample,/transition", "2026-05-17T12:00:00.000Z  /sample      STOP mnl\n" + change},
		{"--last 2h " + spans[0].Path, alert + asked + change},
	} {
		var out strings.Builder
		cmd := command()
		cmd.SetOut(&out)
		cmd.SetArgs(append([]string{"record", "show", "--data", dir}, strings.Fields(c.args)...))
		if err := cmd.Execute(); err != nil || out.String() != c.want {
			t.Errorf("record show %s: %v\n%swant\n%s", c.args, err, out.String(), c.want)
		}
	}
	for _, args := range [][]string{{"show"}, {"export", "--out", filepath.Join(dir, "none.mcap")}, {"export", "--out", "-"}} {
		cmd := command()
		cmd.SetOut(io.Discard)
		cmd.SetArgs(append(append([]string{"record"}, args...), "--data", dir, "--from", "2026-05-18T00:00:00Z"))
		if err := cmd.Execute(); err == nil ||
			!strings.Contains(err.Error(), "the recordings are of 2026-05-17 11:00:00 to 2026-05-17 12:00:00") {
			t.Errorf("%v: %v", args, err)
		}
	}
}
