package deploy

import (
	"strings"
	"testing"
	"testing/fstest"

	"troupe/deploy/layers"
)

// sampleRules is a small set of rules in which a test can violate each rule.
func sampleRules() importRules {
	return importRules{
		layers: []layers.Layer{
			{What: "contract", Pure: true, Folders: []string{"schema"}},
			{What: "decisions", Pure: true, Folders: []string{"robotd/mode", "robotd/act", "fleetd/library", "fleetd/util"}},
			{What: "side effects", Folders: []string{"broker/link", "robotd/disk"}},
			{What: "assemblies", Clock: true, Folders: []string{"robotd/robot", "broker/server"}},
			{What: "test support", Clock: true, Folders: []string{"broker/brokertest", "robotd/bodytest"}},
			{What: "main packages", Clock: true, Folders: []string{"robotd", "deploy/e2e"}},
		},
		programImports: map[string][]string{
			"schema": {}, "broker": {"schema"}, "robotd": {"schema", "broker/link"}, "fleetd": {"schema"}, "deploy": {"robotd"},
		},
		testSupport: map[string]bool{"broker/brokertest": true, "robotd/bodytest": true},
		onlyImporter: map[string]string{
			"github.com/eclipse/paho.mqtt.golang": "broker/link",
			"github.com/mochi-mqtt/server/v2":     "broker/server",
		},
		refusedImports: map[importEdge]string{{"robotd/robot", "robotd/act"}: "the mode decides"},
		assemblies:     map[string]string{"robotd/robot": "Robot"},
		modes:          modeNames{program: "robotd", within: "robotd/mode", constants: []string{"ModeAto"}, values: []string{"ato"}},
		maySleep:       []string{"deploy/e2e"},
	}
}

func TestEveryViolationIsReported(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             string // part of the one sentence
	}{
		{"an unlisted folder", "robotd/dance/dance.go",
			`package dance`, "robotd/dance is in no layer"},
		{"an import of an unlisted folder", "robotd/mode/mode.go",
			`package mode; import _ "troupe/robotd/dance"`, "imports robotd/dance, which is in no layer"},
		{"an import upwards", "robotd/mode/mode.go",
			`package mode; import _ "troupe/robotd/robot"`, "not below its own layer"},
		{"an import upwards under another name", "robotd/mode/mode.go",
			`package mode; import other "troupe/robotd/robot"; var _ = other.X`, "not below its own layer"},
		{"an import within a layer", "robotd/mode/mode.go",
			`package mode; import _ "troupe/robotd/act"`, "not below its own layer"},
		{"an import within a layer in a test", "robotd/mode/mode_test.go",
			`package mode; import _ "troupe/robotd/act"`, "not below its own layer"},
		{"a refused import downwards", "robotd/robot/robot.go",
			`package robot; import _ "troupe/robotd/act"`, "which it may not: the mode decides"},
		{"an import of another program", "robotd/robot/robot.go",
			`package robot; import _ "troupe/fleetd/library"`, "of the other programs robotd may import only"},
		{"an import of the broker's server", "robotd/main.go",
			`package main; import _ "troupe/broker/server"`, "of the other programs robotd may import only"},
		{"test support in a program", "robotd/robot/robot.go",
			`package robot; import _ "troupe/broker/brokertest"`, "which only tests may import"},
		{"a goroutine in a pure package", "robotd/mode/mode.go",
			`package mode; func f() { go f() }`, "starts a goroutine in a pure package"},
		{"parallel tests of a pure package", "robotd/mode/mode_test.go",
			`package mode; import "testing"; func TestX(t *testing.T) { t.Parallel() }`, "runs tests of a pure package in parallel"},
		{"network in a pure package", "robotd/mode/mode.go",
			`package mode; import _ "net/http"`, "in a pure package"},
		{"files in a pure package", "robotd/mode/mode.go",
			`package mode; import _ "os"`, "in a pure package"},
		{"a database in a pure package", "fleetd/library/library.go",
			`package library; import _ "database/sql"`, "in a pure package"},
		{"a log in a pure package", "robotd/mode/mode.go",
			`package mode; import _ "log/slog"`, "in a pure package"},
		{"MQTT in a pure package", "robotd/mode/mode.go",
			`package mode; import _ "github.com/eclipse/paho.mqtt.golang"`, "which only broker/link may"},
		{"the MQTT client elsewhere", "robotd/robot/robot_test.go",
			`package robot; import _ "github.com/eclipse/paho.mqtt.golang/packets"`, "which only broker/link may"},
		{"the MQTT server elsewhere", "broker/link/link_test.go",
			`package link; import _ "github.com/mochi-mqtt/server/v2/listeners"`, "which only broker/server may"},
		{"the clock in a pure package", "robotd/mode/mode.go",
			`package mode; import "time"; var x = time.Now()`, "line 1 reads the clock (time.Now)"},
		{"the clock as a value", "robotd/disk/disk.go",
			`package disk; import "time"; var clock = time.Now`, "reads the clock (time.Now)"},
		{"the clock under another name", "robotd/disk/disk.go",
			`package disk; import when "time"; var x = when.Since`, "reads the clock (time.Since)"},
		{"the clock through a dot import", "robotd/disk/disk.go",
			`package disk; import . "time"; var x = Now()`, "with a dot"},
		{"a timer in a pure package", "robotd/mode/mode.go",
			`package mode; import "time"; var x = time.NewTimer(1)`, "waits (time.NewTimer)"},
		{"sleep in a unit test", "robotd/disk/disk_test.go",
			`package disk; import "time"; func f() { time.Sleep(1) }`, "sleeps"},
		{"sleep in a pure package", "robotd/mode/mode.go",
			`package mode; import "time"; func f() { time.Sleep(1) }`, "waits (time.Sleep)"},
		{"a bubble that the race detector does not survive", "robotd/disk/disk_test.go",
			`package disk; import "testing/synctest"; func f() { synctest.Test(nil, nil) }`, "line 1 calls synctest.Test"},
		{"a component that holds the assembly", "robotd/robot/writer.go",
			`package robot; type writer struct { name string; r *Robot }`, "line 1: a field holds the assembly"},
		{"a component that embeds the assembly", "robotd/robot/writer.go",
			`package robot; type writer struct { *Robot }`, "a field holds the assembly"},
		{"a field of another package that holds assemblies", "robotd/main.go",
			`package main; import all "troupe/robotd/robot"; type program struct { robots map[string]*all.Robot }`, "a field holds the assembly"},
		{"the name of a mode outside its package", "robotd/robot/robot.go",
			`package robot; import wire "troupe/schema"; func f(m wire.ModeID) bool { return m == wire.ModeAto }`, "line 1: names the mode ModeAto"},
		{"a mode by its value", "robotd/robot/robot.go",
			`package robot; var performs = map[string]bool{"ato": true}`, "line 1: names the mode ato"},
		{"a package named util", "fleetd/util/x.go",
			`package util`, "does not say what"},
		{"a package not named like its folder", "robotd/mode/mode.go",
			`package moods`, "same name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, _, err := sampleRules().check(fstest.MapFS{c.file: {Data: []byte(c.text)}})
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != 1 || !strings.HasPrefix(found[0], c.file+": ") || !strings.Contains(found[0], c.want) {
				t.Fatalf("%s\nis reported as %q; want one sentence with %q", c.text, found, c.want)
			}
		})
	}
}

func TestAllowedImportIsNotReported(t *testing.T) {
	found, files, err := sampleRules().check(fstest.MapFS{
		"schema/word.go": {Data: []byte(
			`package schema; import ("time"; "net/url"; "net/netip"); type D time.Duration; var U url.URL; var A netip.Addr`)},
		"robotd/mode/mode.go":      {Data: []byte(`package mode; import ("troupe/schema"; _ "strings"); const ato = schema.ModeAto + "ato"`)},
		"robotd/mode/mode_test.go": {Data: []byte(`package mode_test; import (_ "os"; _ "troupe/robotd/mode"; _ "troupe/broker/brokertest")`)},
		"robotd/mode/bubble_test.go": {Data: []byte(
			`package mode; import ("time"; "testing/synctest"); var _ = synctest.Wait; func f() { time.Sleep(1) }`)},
		"robotd/mode/testdata/bad.go": {Data: []byte(`this is not Go`)},
		".cache/bad.go":               {Data: []byte(`nor this`)},
		"robotd/disk/disk.go":         {Data: []byte(`package disk; import ("os"; "time"); var _ = os.Open; var x = time.NewTimer`)},
		"robotd/robot/robot.go": {Data: []byte(
			`package robot; import ("time"; _ "troupe/broker/link"; _ "troupe/robotd/disk"); var x = time.Now; type Robot struct { each func(*Robot); other disk.Robot }; func f(*Robot) {}`)},
		"robotd/bodytest/body.go":  {Data: []byte(`package bodytest; import _ "troupe/robotd/mode"`)},
		"broker/link/link.go":      {Data: []byte(`package link; import _ "github.com/eclipse/paho.mqtt.golang"`)},
		"broker/server/server.go":  {Data: []byte(`package server; import _ "github.com/mochi-mqtt/server/v2"`)},
		"deploy/e2e/whole_test.go": {Data: []byte(`package e2e; import ("time"; _ "troupe/robotd/robot"); func f() { time.Sleep(1) }`)},
		"robotd/robot/robot_test.go": {Data: []byte(
			`package robot; import "troupe/schema"; type world struct { *Robot }; var mode = schema.ModeAto`)},
		"robotd/main.go": {Data: []byte(`package main; import _ "troupe/robotd/robot"`)},
	})
	if err != nil || len(found) != 0 || files != 12 {
		t.Fatalf("%d files read, %v, reported:\n%s", files, err, strings.Join(found, "\n"))
	}
}

func TestImportExceptionNeedsAReasonAndAUse(t *testing.T) {
	rules := sampleRules()
	tree := fstest.MapFS{
		"robotd/mode/loop.go": {Data: []byte(`package mode; import ("time"; _ "troupe/robotd/act"); var x = time.Now`)},
		"robotd/disk/disk.go": {Data: []byte(`package disk; import "time"; var x = time.Now`)},
	}
	edge := importEdge{"robotd/mode", "robotd/act"}
	reported := func() string {
		found, _, err := rules.check(tree)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(found, "\n")
	}

	rules.allowedImports = map[importEdge]string{edge: "a reason"}
	rules.allowedClocks = map[string]string{"robotd/mode/loop.go": "a reason", "robotd/disk": "a reason"}
	if got := reported(); got != "" {
		t.Fatalf("reported:\n%s", got)
	}

	rules.allowedImports[edge] = ""
	rules.allowedClocks["robotd/disk"] = ""
	if got := reported(); strings.Count(got, "\n") != 1 || strings.Count(got, "has no reason") != 2 {
		t.Fatalf("two exceptions without a reason; reported:\n%s", got)
	}

	rules = sampleRules()
	rules.allowedImports = map[importEdge]string{{"robotd/robot", "robotd/act"}: "a reason"}
	rules.allowedClocks = map[string]string{"schema/old.go": "a reason"}
	tree = fstest.MapFS{"schema/word.go": {Data: []byte(`package schema`)}}
	if got := reported(); strings.Count(got, "\n") != 1 || strings.Count(got, "any more: remove it") != 2 {
		t.Fatalf("two exceptions that no file needs; reported:\n%s", got)
	}

	rules = sampleRules()
	rules.layers = append(rules.layers, layers.Layer{What: "again", Folders: []string{"schema"}})
	if got := reported(); got != "layers: schema is in two layers: remove it from one" {
		t.Fatalf("reported:\n%s", got)
	}
}

func TestFileThatIsNotGoFailsTheCheck(t *testing.T) {
	if _, _, err := sampleRules().check(fstest.MapFS{"schema/word.go": {Data: []byte(`packag schema`)}}); err == nil {
		t.Fatal("a file that cannot be parsed was skipped")
	}
}
