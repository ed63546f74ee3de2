package api

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/library"
	"troupe/fleetd/operation"
	"troupe/schema"
	"troupe/schema/score"
)

// Bounds of an import; score.MaxAsset bounds the file itself.
const (
	maxUnpacked       = 64 << 20 // bytes of all files of an archive
	maxArchived       = 2000     // files of an archive
	maxImported       = 1000     // acts, stories and activities
	maxImportProblems = 1000     // that are listed
)

const importPath = "/library/import"

// Import is what an import does, or would do.
type Import struct {
	DryRun  bool                   `json:"dry_run,omitempty"`
	Saved   bool                   `json:"saved" doc:"what has no errors is saved; otherwise nothing is"`
	Skips   bool                   `json:"skips,omitempty" doc:"some entries have errors, and skip_wrong would save the others"`
	Rows    int                    `json:"rows,omitempty" doc:"of a list, without its header"`
	Columns []library.ImportColumn `json:"columns,omitempty" doc:"of a list"`
	Entries []ImportEntry          `json:"entries"`
	Assets  []string               `json:"assets" doc:"names of the sounds and pictures of an archive"`

	Problems []ImportProblem `json:"problems"`
}

// ImportEntry is one act, story or activity of an import.
type ImportEntry struct {
	Kind      string `json:"kind" enum:"act,story,activity"`
	ID        string `json:"id,omitempty"`
	File      string `json:"file,omitempty" doc:"in the archive"`
	Row       int    `json:"row,omitempty" doc:"its first row of a list"`
	New       bool   `json:"new" doc:"there is no such entry yet"`
	Unchanged bool   `json:"unchanged" doc:"its draft has this content already"`
	Errors    int    `json:"errors"`
}

// ImportProblem is a problem with its place in what is imported.
type ImportProblem struct {
	File string `json:"file,omitempty"`
	Row  int    `json:"row,omitempty" doc:"as a spreadsheet counts: the header is row 1"`
	Cell string `json:"cell,omitempty" doc:"header of the column; left out if it is about the row"`
	schema.Problem
}

// importing is what was read from a file.
type importing struct {
	Import
	texts []library.Source
	files map[string]archived // assets by name
	lists []library.Sheet     // by entry; zero for an entry that is not of a list
	of    []library.SheetEntry
	above []int // lines of the file above an entry of a YAML file, by entry

	skipWrong, dry bool
	unreadable     bool // there is an error that is not of one entry
	textBytes      int  // of all texts and lists
	unlisted       int  // problems that are not among Problems
}

// archived is a sound or picture of an archive.
type archived struct {
	path string
	body []byte
}

// files registers import and export.
func (s *server) files(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "import-library", Method: http.MethodPost, Path: importPath, Tag: "library", Right: auth.Edit,
		Summary: "Save the acts, stories and activities of a file as drafts",
		Description: "The file is YAML (several documents are separated by ---), a list in CSV, or a ZIP archive of these with " +
			"sounds and pictures. Nothing is saved unless all of it is valid; with skip_wrong entries with errors are " +
			"left out and the others saved. A draft with the same content stays as it is. With dry_run the answer says " +
			"what would be saved, and every problem by row and column.",
		Audit:   audit.ActionSave,
		Example: "import -f act.yaml",
		MaxBody: score.MaxAsset,
		More:    s.upload,
	}, func(ctx context.Context, in *struct {
		caller
		Format string   `query:"format" enum:"yaml,csv,zip" required:"true"`
		DryRun bool     `query:"dry_run"`
		Skip   bool     `query:"skip_wrong" doc:"leave out entries with errors, such as an act with a wrong row"`
		Map    []string `query:"map,explode" doc:"for lists: Header=field says which field a column is, Header= ignores it"`
		AttributionQuery
		RawBody []byte `contentType:"application/octet-stream"`
	}) (*answer[Import], error) {
		return s.importFile(ctx, in.principal, in.RawBody, in.Format, in.Map, in.Skip, in.DryRun, in.attribution(in.principal).Because("import"))
	})
	operation.Register(t, operation.Row{
		ID: "export-library", Method: http.MethodGet, Path: "/library/export", Tag: "library", Right: auth.View,
		Summary: "Get drafts as a file",
		Description: "As YAML, as a list in CSV, or as a ZIP archive with the acts, sounds and pictures that they use. Importing " +
			"it again changes nothing.",
		Example: "act export welcome",
	}, func(ctx context.Context, in *struct {
		caller
		Kind   string   `query:"kind" enum:"act,story,activity" required:"true"`
		ID     []string `query:"id,explode" doc:"which; without one all"`
		Format string   `query:"format" enum:"yaml,csv,zip" default:"yaml"`
	}) (*exported, error) {
		return s.exportLibrary(ctx, library.Kind(in.Kind), in.ID, in.Format)
	})
}

func (s *server) importFile(ctx context.Context, p auth.Principal, body []byte, format string, columns []string, skipWrong, dry bool,
	by audit.Attribution) (*answer[Import], error) {
	end, err := s.heavy.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	in := importing{Import: Import{DryRun: dry, Entries: []ImportEntry{}, Assets: []string{}, Problems: []ImportProblem{}},
		files: map[string]archived{}, skipWrong: skipWrong, dry: dry}
	mapped := map[string]string{}
	for _, m := range columns {
		header, field, _ := strings.Cut(m, "=")
		mapped[header] = field
	}
	switch format {
	case "csv":
		in.addList("", body, mapped)
	case "zip":
		in.addArchive(body, mapped)
	default:
		in.addYAML("", body)
	}
	if len(in.texts) == 0 && !in.unreadable {
		in.fault("", schema.NewProblem("", "empty", "there is nothing to import", "a file begins with act:, story: or activity:"))
	}
	if in.unreadable {
		return in.answer()
	}
	assets, err := s.importAssets(ctx, p, &in, by)
	if err != nil {
		return nil, err
	}
	done, problems, err := s.Library.Import(ctx, p, in.texts, assets, skipWrong, dry || in.unreadable, by)
	if err := s.failed(err, "library", inDocument(problems)); err != nil {
		return nil, err
	}
	in.take(done)
	return in.answer()
}

// importAssets stores the sounds and pictures of an archive; dry only describes them. By
// themselves they change nothing that is published.
func (s *server) importAssets(ctx context.Context, p auth.Principal, in *importing, by audit.Attribution) ([]library.Asset, error) {
	var assets []library.Asset
	for _, name := range in.Assets {
		file := in.files[name]
		media, details, problems := library.CheckFile(name, file.body)
		for _, p := range problems {
			in.fault(file.path, p)
		}
		if len(problems) > 0 {
			continue
		}
		assets = append(assets, library.Asset{Name: name, Media: media, Details: details, Size: int64(len(file.body))})
	}
	if in.dry || in.unreadable {
		return assets, nil
	}
	// Check the texts first: with an error nothing of the archive is stored.
	checked, problems, err := s.Library.Import(ctx, p, in.texts, assets, in.skipWrong, true, by)
	if err := s.failed(err, "library", inDocument(problems)); err != nil {
		return nil, err
	}
	if checked.Saved == nil {
		return assets, nil
	}
	for i, a := range assets {
		up, problems, err := s.Library.PutAsset(ctx, p, a.Name, in.files[a.Name].body, by)
		if err := s.failed(err, "asset "+a.Name, inDocument(problems)); err != nil {
			return nil, err
		}
		assets[i] = up.Asset
	}
	return assets, nil
}

func (in *importing) wrong() bool {
	return in.unlisted > 0 || slices.ContainsFunc(in.Problems, func(p ImportProblem) bool { return p.Severity == schema.SeverityError })
}

// fault adds an error that is not of one entry: nothing can be saved.
func (in *importing) fault(file string, p schema.Problem) {
	in.unreadable = true
	in.list(ImportProblem{File: file, Problem: p})
}

// list adds a problem to those that are listed, or counts it.
func (in *importing) list(p ImportProblem) {
	if len(in.Problems) == maxImportProblems {
		in.unlisted++
		return
	}
	in.Problems = append(in.Problems, p)
}

// hasRoom reports whether the texts of a file are within the bounds of an import, and adds a problem if not.
func (in *importing) hasRoom(file string, text []byte) bool {
	if in.textBytes += len(text); in.textBytes > maxTexts {
		in.fault(file, schema.NewProblem("", score.CodeTooBig, fmt.Sprintf("the texts have over %d bytes", maxTexts),
			"import a part of them at a time"))
	} else if len(in.texts) > maxImported {
		in.fault(file, schema.NewProblem("", score.CodeTooMany, fmt.Sprintf("there are over %d acts, stories and activities", maxImported),
			"import a part of them at a time"))
	}
	return in.textBytes <= maxTexts && len(in.texts) <= maxImported
}

func (in *importing) add(kind library.Kind, e ImportEntry, text []byte, list library.Sheet, of library.SheetEntry) {
	e.Kind = string(kind)
	in.Entries = append(in.Entries, e)
	in.texts = append(in.texts, library.Source{Kind: kind, Body: text})
	in.lists, in.of, in.above = append(in.lists, list), append(in.of, of), append(in.above, 0)
}

func (in *importing) addList(file string, body []byte, mapped map[string]string) {
	if !in.hasRoom(file, body) {
		return
	}
	list, found := library.ReadCSV(body, mapped)
	in.Rows += list.Rows
	in.Columns = append(in.Columns, list.Columns...)
	for _, p := range found {
		in.list(ImportProblem{File: file, Row: p.Row, Cell: p.Header, Problem: p.Problem})
	}
	ofEntries := 0
	for _, e := range list.Entries {
		ofEntries += e.Faults
		_, id := score.NameOf(e.Text)
		in.add(list.Kind, ImportEntry{ID: id, File: file, Row: e.Row}, e.Text, list, e)
	}
	in.unreadable = in.unreadable || list.Unlisted+len(found) > ofEntries
	in.unlisted += list.Unlisted
	in.hasRoom(file, nil)
}

// addYAML adds the documents of a file.
func (in *importing) addYAML(file string, body []byte) {
	if !in.hasRoom(file, body) {
		return
	}
	const between = "\n---"
	body = append([]byte("\n"), body...)
	next := 0
	for text := range bytes.SplitSeq(body, []byte(between)) {
		end := next + len(text)
		next = end + len(between)
		if text = bytes.TrimLeft(text, "\n"); len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		above := bytes.Count(body[:end-len(text)], []byte("\n")) - 1 // one was added
		if !in.hasRoom(file, nil) {
			return
		}
		kind, id := score.NameOf(text)
		if kind == "" {
			in.fault(file, schema.NewProblem("", score.CodeMissing, "it names neither an act nor a story nor an activity",
				"begin it with act:, story: or activity: and an id, such as act: welcome"))
			continue
		}
		in.add(library.Kind(kind), ImportEntry{ID: id, File: file}, text, library.Sheet{}, library.SheetEntry{})
		in.above[len(in.above)-1] = above
	}
}

// addArchive adds the files of a ZIP archive. Others than texts, lists, sounds and pictures
// are left out.
func (in *importing) addArchive(body []byte, mapped map[string]string) {
	// Each file has such a mark in the directory of an archive, which the reader reads as a whole.
	if bytes.Count(body, []byte("PK\x01\x02")) > maxArchived {
		in.fault("", schema.NewProblem("", score.CodeTooMany, fmt.Sprintf("the archive has over %d files", maxArchived), "split it"))
		return
	}
	archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		in.fault("", schema.NewProblem("", "no_archive", "it is not a ZIP archive", "choose a file that an export made, or pack a folder"))
		return
	}
	left := int64(maxUnpacked)
	for _, f := range archive.File {
		if f.FileInfo().IsDir() || strings.HasPrefix(path.Base(f.Name), ".") {
			continue
		}
		ext := strings.ToLower(path.Ext(f.Name))
		isAsset := slices.Contains([]string{".wav", ".ogg", ".mp3", ".flac", ".png", ".jpg", ".jpeg"}, ext)
		if !isAsset && !slices.Contains([]string{".yaml", ".yml", ".json", ".csv"}, ext) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			in.fault(f.Name, schema.NewProblem("", "no_archive", "it cannot be unpacked", "pack the archive again"))
			return
		}
		text, err := io.ReadAll(io.LimitReader(r, left+1))
		_ = r.Close() // it was read
		if left -= int64(len(text)); err != nil || left < 0 {
			in.fault(f.Name, schema.NewProblem("", score.CodeTooBig, fmt.Sprintf("the archive is damaged, or contains over %d bytes", maxUnpacked),
				"split it"))
			return
		}
		switch {
		case ext == ".csv":
			in.addList(f.Name, text, mapped)
		case !isAsset:
			in.addYAML(f.Name, text)
		default:
			name := strings.TrimSuffix(path.Base(f.Name), path.Ext(f.Name))
			if earlier, twice := in.files[name]; twice {
				in.fault(f.Name, schema.NewProblem("", score.CodeDuplicateID, name+" is also the name of "+earlier.path,
					"give one of them another name"))
				continue
			}
			in.Assets = append(in.Assets, name)
			in.files[name] = archived{f.Name, text}
		}
	}
}

// take takes the result of an import.
func (in *importing) take(done library.Imported) {
	for i, c := range done.Checked {
		e := &in.Entries[i]
		e.ID = orElse(c.ID, e.ID)
		if e.Errors = len(schema.Errors(c.Problems)); in.of[i].Faults > 0 {
			e.Errors = in.of[i].Faults // they were added when the list was read
			continue
		}
		for _, p := range c.Problems {
			at := ImportProblem{File: e.File, Problem: p}
			if at.Line > 0 {
				at.Line += in.above[i]
			}
			if e.Row > 0 {
				cell := in.lists[i].At(in.of[i], p)
				at.Row, at.Cell, at.Line, at.Column = cell.Row, cell.Header, 0, 0
			}
			in.list(at)
		}
		if done.Saved != nil && e.Errors == 0 {
			e.Unchanged = done.Saved[i].Unchanged
			e.New = !e.Unchanged && done.Saved[i].Entry.DraftRev == 1
		}
	}
	in.Saved = done.Saved != nil && !in.DryRun && !in.unreadable
	valid := slices.ContainsFunc(in.Entries, func(e ImportEntry) bool { return e.Errors == 0 })
	in.Skips = in.wrong() && valid && !in.unreadable
}

// answer refuses what is wrong, unless only asked or told to leave it out.
func (in *importing) answer() (*answer[Import], error) {
	if in.unlisted > 0 {
		in.Problems = append(in.Problems, ImportProblem{Problem: schema.NewProblem("", score.CodeMore, fmt.Sprintf("%d more are not listed",
			in.unlisted), "correct the first ones, then import again")})
		in.unlisted = 0
	}
	if in.DryRun || in.Saved || !in.wrong() {
		return &answer[Import]{in.Import}, nil
	}
	var found []Finding
	for _, p := range in.Problems {
		at := p.File
		if p.Row > 0 {
			at = strings.Trim(fmt.Sprintf("%s row %d, %s", p.File, p.Row, p.Cell), " ,")
		}
		if at != "" {
			p.Detail = at + ": " + p.Detail
		}
		found = append(found, Finding{In: "body", Problem: p.Problem})
	}
	return nil, refusal(found)
}
