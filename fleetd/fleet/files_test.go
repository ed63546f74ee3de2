package fleet_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
)

// TestExportIsImportedWithoutAChange exports everything in each form and imports it again.
func TestExportIsImportedWithoutAChange(t *testing.T) {
	onBoth(t, func(w *world) {
		furnished(w)
		w.must("PUT", "/assets/gong", soundOf("gong", 20), nil)
		w.must("PUT", "/acts/ring", "act: ring\nactions:\n- {type: sound, start_ms: 0, timeout_ms: 900, sound: gong}\n", nil, "If-Match", "*")
		w.must("POST", "/acts/ring/publish", audit.Attribution{}, nil)
		var before struct{ Entries []api.Entry }
		w.must("GET", "/acts", nil, &before)
		for _, query := range []string{"format=csv&kind=act&id=welcome&id=bow&id=ring", "format=yaml&kind=act&id=welcome&id=bow&id=ring",
			"format=zip&kind=act&id=ring", "format=csv&kind=story&id=museum", "format=zip&kind=story&id=museum"} {
			status, file := request(w.T, w.Handler(), "GET", "/library/export?"+query, nil)
			if status != http.StatusOK {
				w.Fatalf("export %s: %d %s", query, status, file)
			}
			format, _, _ := strings.Cut(strings.TrimPrefix(query, "format="), "&")
			done := w.imports(format, file, "")
			for _, e := range done.Entries {
				if !e.Unchanged || e.New {
					w.Errorf("%s: %+v", query, e)
				}
			}
			if !done.Saved || len(done.Entries) == 0 {
				w.Errorf("%s: %+v", query, done)
			}
		}
		var after struct{ Entries []api.Entry }
		w.must("GET", "/acts", nil, &after)
		if len(after.Entries) != len(before.Entries) {
			w.Errorf("%d acts became %d", len(before.Entries), len(after.Entries))
		}
		for i, e := range after.Entries {
			if e.DraftRev != before.Entries[i].DraftRev {
				w.Errorf("the import saved %s again", e.ID)
			}
		}
	})
}

// TestArchiveHasOnlyAssetsOfTheWantedKind exports an act whose sound is of the robots' own, while
// fleetd has a map of that name, and whose picture has the name of a sound.
func TestArchiveHasOnlyAssetsOfTheWantedKind(t *testing.T) {
	inWorld(t, func(w *world) {
		w.must("PUT", "/assets/lobby", `{"walls": []}`, nil)
		w.must("PUT", "/assets/gong", soundOf("gong", 20), nil)
		w.must("PUT", "/acts/ring", "act: ring\nactions:\n- {type: sound, start_ms: 0, timeout_ms: 900, sound: lobby}\n"+
			"- {type: face, start_ms: 0, end_ms: 500, face: gong}\n- {type: sound, start_ms: 0, timeout_ms: 900, sound: gong}\n", nil,
			"If-Match", "*")
		status, file := request(w.T, w.Handler(), "GET", "/library/export?format=zip&kind=act&id=ring", nil)
		archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
		if status != http.StatusOK || err != nil {
			w.Fatalf("export: %d %s", status, file)
		}
		var names []string
		for _, f := range archive.File {
			names = append(names, f.Name)
		}
		if want := []string{"acts/ring.yaml", "sounds/gong.wav"}; !slices.Equal(names, want) {
			w.Errorf("the archive has %q, want %q", names, want)
		}
		if done := w.imports("zip", file, ""); !done.Saved || !done.Entries[0].Unchanged {
			w.Errorf("imported again: %+v", done)
		}
	})
}

// imports imports a file and returns the answer.
func (w *world) imports(format string, file []byte, query string) api.Import {
	w.Helper()
	status, text := request(w.T, w.Handler(), "POST", "/library/import?format="+format+query, string(file), "Content-Type",
		"application/octet-stream")
	var done api.Import
	if err := json.Unmarshal(text, &done); err != nil || status != http.StatusOK {
		w.Fatalf("import %s: %d %s", format, status, text)
	}
	return done
}

// TestListWithAWrongRowImportsNothing imports a list with one wrong cell, dry and in earnest.
func TestListWithAWrongRowImportsNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		list := "Akt;order;type;start_ms;end_ms\nwave;1;wait;0;500\nwave;2;wait;500;100\nnod;1;wait;0;500\n"
		done := w.imports("csv", []byte(list), "&dry_run=true&map=Akt=act")
		if done.Saved || done.Rows != 3 || len(done.Entries) != 2 || done.Entries[0].Errors != 1 || done.Entries[1].Errors != 0 {
			w.Errorf("a dry run: %+v", done)
		}
		if p := done.Problems[0]; p.Row != 3 || p.Cell != "end_ms" || p.Severity != "error" {
			w.Errorf("the problem is %+v", p)
		}
		_, text := request(w.T, w.Handler(), "POST", "/library/import?format=csv&map=Akt=act", list, "Content-Type", "application/octet-stream")
		if !bytes.Contains(text, []byte("row 3, end_ms: ")) {
			w.Errorf("the refusal is %s", text)
		}
		var all struct{ Entries []api.Entry }
		w.must("GET", "/acts", nil, &all)
		if len(all.Entries) != 0 {
			w.Errorf("saved %+v", all.Entries)
		}
		// Asked to leave out what is wrong, it saves the rest: here an act with a wrong value, and
		// one with a cell that cannot be read.
		for _, wrong := range []string{list, strings.Replace(list, "500;100", "500;later", 1)} {
			if done = w.imports("csv", []byte(wrong), "&map=Akt=act&dry_run=true"); !done.Skips || done.Problems[0].Row != 3 ||
				done.Problems[0].Cell != "end_ms" {
				w.Errorf("it does not say that the rest can be saved: %+v", done)
			}
			done = w.imports("csv", []byte(wrong), "&map=Akt=act&skip_wrong=true")
			w.must("GET", "/acts", nil, &all)
			if !done.Saved || done.Entries[0].Errors != 1 || done.Entries[0].New || len(all.Entries) != 1 || all.Entries[0].ID != "nod" {
				w.Errorf("without the wrong act: %+v, saved %+v", done, all)
			}
		}
		done = w.imports("csv", []byte(strings.Replace(list, "500;100", "500;900", 1)), "&map=Akt=act")
		if !done.Saved || !done.Entries[0].New {
			w.Errorf("the corrected list: %+v", done)
		}
		w.must("GET", "/acts", nil, &all)
		if len(all.Entries) != 2 {
			w.Errorf("saved %+v", all.Entries)
		}
	})
}

// TestDryRunOfAnImportFindsASoundWithABadName imports an archive whose second sound cannot be stored.
func TestDryRunOfAnImportFindsASoundWithABadName(t *testing.T) {
	inWorld(t, func(w *world) {
		file := archiveOf(t, [2]string{"nod.yaml", "act: nod\nactions:\n- {type: wait, start_ms: 0, end_ms: 500}\n"},
			[2]string{"gong.wav", soundOf("gong", 20)}, [2]string{"sounds/Door Bell.wav", soundOf("bell", 20)})
		done := w.imports("zip", file.Bytes(), "&dry_run=true")
		if len(done.Problems) != 1 || done.Problems[0].File != "sounds/Door Bell.wav" || done.Problems[0].Severity != "error" {
			w.Errorf("a dry run: %+v", done.Problems)
		}
		status, text := request(w.T, w.Handler(), "POST", "/library/import?format=zip", file.String(), "Content-Type", "application/octet-stream")
		if status != http.StatusUnprocessableEntity || !bytes.Contains(text, []byte("sounds/Door Bell.wav: ")) {
			w.Errorf("the answer is %d %s", status, text)
		}
		var all struct{ Assets []api.Asset }
		w.must("GET", "/assets", nil, &all)
		if len(all.Assets) != 0 {
			w.Errorf("stored %+v", all.Assets)
		}
	})
}

func TestTwoFilesOfAnArchiveCannotHaveOneName(t *testing.T) {
	inWorld(t, func(w *world) {
		file := archiveOf(t, [2]string{"sounds/gong.wav", soundOf("gong", 20)}, [2]string{"other/gong.wav", soundOf("gong", 30)})
		done := w.imports("zip", file.Bytes(), "&dry_run=true")
		if len(done.Problems) != 1 || done.Problems[0].File != "other/gong.wav" || !strings.Contains(done.Problems[0].Detail, "sounds/gong.wav") {
			w.Errorf("the problems are %+v", done.Problems)
		}
	})
}

// archiveOf packs files, each with its path and its content.
func archiveOf(t *testing.T, files ...[2]string) *bytes.Buffer {
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for _, f := range files {
		part, err := archive.Create(f[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte(f[1])) // a Buffer takes everything
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return &packed
}

// TestProblemOfALaterDocumentHasItsLineInTheFile imports a YAML file whose third document is wrong.
func TestProblemOfALaterDocumentHasItsLineInTheFile(t *testing.T) {
	inWorld(t, func(w *world) {
		file := "\nact: wave\nactions:\n  - {type: wait, start_ms: 0, end_ms: 500}\n---\n\n---\nact: nod\nactions:\n" +
			"  - {type: wait, start_ms: 0, end_ms: later}\n"
		done := w.imports("yaml", []byte(file), "&dry_run=true")
		if len(done.Problems) != 1 || done.Problems[0].Line != 10 {
			w.Errorf("the error is in line 10, the problems are %+v", done.Problems)
		}
		// The first line of the file counts as 1, too.
		done = w.imports("yaml", []byte(file[strings.LastIndex(file, "act:"):]), "&dry_run=true")
		if len(done.Problems) != 1 || done.Problems[0].Line != 3 {
			w.Errorf("the error is in line 3, the problems are %+v", done.Problems)
		}
	})
}

// TestDraftIsTriedOnOneRobot looks at the commands that a robot gets.
func TestDraftIsTriedOnOneRobot(t *testing.T) {
	inWorld(t, func(w *world) {
		furnished(w)
		trial := api.Trial{SourceText: api.SourceText{Kind: "act", Text: `act: x
parameters: {guest: {type: string, default: you}}
actions:
  - {type: wait, start_ms: 0, end_ms: 500}
  - {type: say, start_ms: 700, timeout_ms: 900, text: {en: "Hello ${guest}", de: Hallo}}
`}, Only: []string{"/actions/1"}, Lang: "en"}
		var done api.Tried
		if p := w.ask("POST", "/robots/r1/try", trial, &done); p != nil {
			w.Fatal(p)
		}
		args := func() string { text, _ := json.Marshal(done.Perform.Args); return string(text) }
		if got := args(); got != `{"actions":[{"start_ms":0,"text":{"en":"Hello you"},"timeout_ms":900,"type":"say"}],"clear":true,"defer":true}` {
			w.Errorf("the robot is asked to perform %s", got)
		}
		trial.Kind, trial.Only, trial.Text = "story", []string{"/acts/1"}, museum
		w.must("POST", "/robots/r1/try", trial, &done)
		if got := args(); !strings.Contains(got, `"method":"exclusive"`) || !strings.Contains(got, "calm") || strings.Contains(got, "smile") {
			w.Errorf("of the story the robot is asked to perform %s", got)
		}
		trial.Only = []string{"/acts/9"}
		if p := w.ask("POST", "/robots/r1/try", trial, nil); p == nil || !p.Of(api.KindInvalid) {
			w.Errorf("nothing to perform: %+v", p)
		}
	})
}
