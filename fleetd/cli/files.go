package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
)

// importCommand saves what a file contains as drafts.
func (sh *shell) importCommand() *cobra.Command {
	var path, why string
	var columns []string
	var dryRun, skipWrong bool
	c := &cobra.Command{
		Use: "import -f FILE", Short: "save the acts, stories and activities of a file as drafts, all or none of them", Args: cobra.NoArgs,
		Long: `Save the acts, stories and activities of a file as drafts, all or none of them. The file is YAML
with one or several documents, a ZIP archive of a folder, or a list in CSV: one row for each
action of an act or each act of a story, in columns that its header names, such as

  story,name.en,repeat,order,act
  day,Day,loop,1,welcome
  ,,,2,farewell

--map gives a column with another header its field, or ignores it. An export shows every field.
--dry-run shows what would be saved, and every problem by row and column. --skip-wrong leaves out the
acts, stories and activities that have errors, and saves the others. Nothing is published.`,
		Example: "  fleetd import -f stories.csv --dry-run\n  fleetd import -f stories.csv --map 'Geschichte=story' --map 'Notiz='\n" +
			"  fleetd import -f museum.zip",
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			body, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("read %w", err)
			}
			format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
			if format != "csv" && format != "zip" {
				format = "yaml"
			}
			r := sh.request("import-library", given{"format": format, "map": columns, "dry_run": true, "skip_wrong": skipWrong, "why": why})
			ask := r.http()
			ask.body, ask.timeout = binaryBody(body), uploadTimeout
			var done api.Import
			if err := sh.call(cmd.Context(), ask, &done); err != nil {
				return err
			}
			for _, p := range done.Problems {
				fmt.Fprintln(sh.Err, importProblem(path, p))
			}
			if !dryRun && (!importFails(done) || skipWrong && done.Skips) {
				ask.query.Set("dry_run", "false")
				done = api.Import{} // json.Unmarshal keeps fields that the answer omits
				if err := sh.call(cmd.Context(), ask, &done); err != nil {
					return err
				}
			}
			if err := sh.show(done, func(w io.Writer) { importTable(w, done) }); err != nil {
				return err
			}
			if importFails(done) && !done.Saved && !(dryRun && skipWrong && done.Skips) {
				return &failure{code: exitError, err: fmt.Errorf("%s is not valid; nothing was imported", path)}
			}
			return nil
		}),
	}
	f := c.Flags()
	f.StringVarP(&path, "file", "f", "", "the file: .yaml, .csv or .zip")
	f.StringArrayVar(&columns, "map", nil, "for lists: Header=field says what a column is, Header= ignores it; may be repeated")
	f.BoolVar(&dryRun, "dry-run", false, "only show what would be saved")
	f.BoolVar(&skipWrong, "skip-wrong", false, "leave out what has errors, and save the rest")
	whyFlag(c, &why)
	_ = c.MarkFlagRequired("file") // it is defined above
	return c
}

func importFails(done api.Import) bool {
	for _, p := range done.Problems {
		if p.Severity == "error" {
			return true
		}
	}
	return false
}

func importProblem(path string, p api.ImportProblem) string {
	at := path
	if p.File != "" {
		at += ":" + p.File
	}
	switch {
	case p.Row > 0:
		at += " row " + strconv.Itoa(p.Row)
		if p.Cell != "" {
			at += ", " + p.Cell
		}
	case p.Line > 0:
		at += fmt.Sprintf(":%d:%d", p.Line, p.Column)
	}
	text := at + ": " + p.Detail
	if p.Hint != "" {
		text += "; " + p.Hint
	}
	return text
}

func importTable(out io.Writer, done api.Import) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	would := ""
	if !done.Saved {
		would = "would be "
	}
	for _, e := range done.Entries {
		state := would + "changed"
		switch {
		case e.Errors > 0:
			state = countText(e.Errors, "error")
		case importFails(done) && !done.Saved:
			state = "valid"
		case e.Unchanged:
			state = "unchanged"
		case e.New:
			state = would + "new"
		}
		writeRow(w, e.Kind+" "+e.ID, state)
	}
	for _, name := range done.Assets {
		writeRow(w, "asset "+name, would+"uploaded")
	}
	_ = w.Flush() // a write error shows at the next write
}

// exportCommand writes drafts into a file.
func (sh *shell) exportCommand(kind string) *cobra.Command {
	var format, path string
	c := &cobra.Command{
		Use: "export [NAME...]", Short: "write drafts into a file: YAML, a ZIP archive with what they use, or a list in CSV",
		Long:    "Write the named drafts into a file, or all of them if none is named. Importing the file again changes nothing.",
		Example: "  fleetd " + kind + " export welcome\n  fleetd " + kind + " export --format csv --out list.csv",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			r := sh.request("export-library", given{"kind": kind, "id": args, "format": format})
			a := r.http()
			a.timeout = uploadTimeout
			var body []byte
			if err := sh.call(cmd.Context(), a, &body); err != nil {
				return err
			}
			if path == "" {
				_, err := unsanitized(sh.Out).Write(body)
				return err
			}
			if err := os.WriteFile(path, body, 0o644); err != nil {
				return fmt.Errorf("write %w", err)
			}
			return nil
		}),
	}
	c.Flags().StringVar(&format, "format", "yaml", "yaml, csv or zip")
	c.Flags().StringVar(&path, "out", "", "the file; default: the standard output")
	return c
}
