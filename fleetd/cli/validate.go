package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/library"
	"troupe/schema"
	"troupe/schema/score"
)

func (sh *shell) validateCommand() *cobra.Command {
	var paths []string
	var online bool
	c := &cobra.Command{
		Use: "validate -f FILE...", Short: "show all problems of acts, stories and activities in files or folders, without a server",
		Args: cobra.NoArgs,
		Long: `Show all problems of files or folders, each as file:line:column, what is wrong, and what to do.
Nothing is sent and nothing is saved. Stories, activities and acts may name acts that are among
the files, published or not.

--online asks fleetd, which also knows the acts that it has, and which sounds and faces the
robots have; sounds and images in the folders count as uploaded.`,
		Example: "  fleetd validate -f museum/\n  fleetd validate -f museum/welcome.yaml --online\n  fleetd validate -f museum/ -o json",
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			all, err := sh.sources(paths, "")
			if err != nil {
				return err
			}
			assets, err := newAssetsOf(paths)
			if err != nil {
				return err
			}
			results, err := sh.validate(cmd.Context(), all, assets, online)
			if err != nil {
				return err
			}
			bad := notValid(results)
			err = sh.show(results, func(w io.Writer) {
				for _, v := range results {
					if v.Valid {
						fmt.Fprintf(w, "%s: %s %s is valid\n", v.File, v.Kind, v.ID)
					}
				}
			})
			if err == nil && bad > 0 {
				err = &failure{code: exitError, err: fmt.Errorf("%d of %d files are not valid", bad, len(all))}
			}
			return err
		}),
	}
	fileFlag(c, &paths)
	c.Flags().BoolVar(&online, "online", false, "ask fleetd, which knows its own acts and what robots have")
	return c
}

func notValid(results []fileValidity) (n int) {
	for _, v := range results {
		if !v.Valid {
			n++
		}
	}
	return n
}

// fileValidity is the result of a validation for one file.
type fileValidity struct {
	File string `json:"file"`
	Kind string `json:"kind"`
	api.Validity
}

// validate finds the problems of texts, as if the assets and the acts among them were
// published, and prints them, unless the results are printed as JSON.
func (sh *shell) validate(ctx context.Context, all []source, assets []api.NewAsset, online bool) ([]fileValidity, error) {
	found, err := validateOffline(all, assets)
	if err == nil && online {
		err = sh.validateOnline(ctx, all, assets, found)
	}
	if err != nil {
		return nil, err
	}
	results := make([]fileValidity, len(all))
	// The texts of catalogue warnings that an act has shown; acts come first. A story that performs the
	// act does not repeat them.
	printedForActs := map[string]bool{}
	for i, s := range all {
		problems := append(append([]schema.Problem{}, found[i].Problems...), duplicateName(all, i)...) // not nil: JSON has []
		results[i] = fileValidity{s.path, s.kind, api.Validity{ID: orElse(found[i].ID, s.id), Problems: problems,
			Valid: len(schema.Errors(problems)) == 0}}
		for j, p := range problems {
			if p.Code == library.CodeActDraft {
				p.Hint = "publish it first with fleetd act publish, or give its file too with -f" // a file is published, not the draft of its name
				problems[j] = p
			}
			if p.Code == score.CodeNotInCatalogue {
				if s.kind != "act" && printedForActs[p.Detail] {
					continue
				}
				printedForActs[p.Detail] = printedForActs[p.Detail] || s.kind == "act"
			}
			if sh.forPeople() {
				fmt.Fprintln(sh.Err, formatProblem(p, s.path, s.text))
			}
		}
	}
	return results, nil
}

// validateOffline makes the same plan as fleetd, for a library that is empty.
func validateOffline(all []source, assets []api.NewAsset) ([]library.Checked, error) {
	texts, files := make([]library.Source, len(all)), make([]library.Asset, len(assets))
	for i, s := range all {
		texts[i] = library.Source{Kind: library.Kind(orElse(s.kind, "act")), Body: s.text}
	}
	for i, a := range assets {
		files[i] = library.Asset{Name: a.Name, Media: library.AnyMedia(score.AssetKind(a.Kind))}
	}
	found, problems := library.Validate(library.Rows{}, texts, files)
	if len(problems) > 0 {
		return nil, fmt.Errorf("validate: %s", problems[0])
	}
	for at, v := range found {
		if all[at].kind == "" {
			found[at] = library.Checked{Problems: missingKindProblems(v.Problems)}
			continue
		}
		for i := range v.Problems {
			if p := &v.Problems[i]; p.Code == score.CodeUnknownAct && p.Hint == score.UnknownActHint {
				p.Detail += " among these files"
				p.Hint = "correct its name, or give its file too with -f; --online asks fleetd, which may have it"
			}
		}
	}
	return found, nil
}

// missingKindProblems returns the problems of a file that names no kind: that it is no YAML, or else that
// the kind is missing.
func missingKindProblems(problems []schema.Problem) []schema.Problem {
	if len(problems) > 0 && problems[0].Pointer == "" {
		return problems
	}
	p := schema.NewProblem("", score.CodeMissing, "the file names neither an act nor a story nor an activity",
		"begin it with act:, story: or activity: and an id, such as act: welcome")
	p.Line, p.Column = 1, 1
	return []schema.Problem{p}
}

// validateOnline replaces what was found offline by fleetd's answer, which knows more. A
// text that cannot be sent keeps what was found.
func (sh *shell) validateOnline(ctx context.Context, all []source, assets []api.NewAsset, found []library.Checked) error {
	request := api.Validation{Assets: assets}
	var asked []int // for which of all
	for i, s := range all {
		if utf8.Valid(s.text) && s.kind != "" {
			request.Texts = append(request.Texts, api.SourceText{Kind: s.kind, Text: string(s.text)})
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	var got api.Validities
	if err := sh.call(ctx, apiRequest{method: http.MethodPost, path: "library/validate", body: request}, &got); err != nil {
		return err
	}
	if len(got.Results) != len(asked) {
		return fmt.Errorf("read fleetd's answer: it has %d results for %d texts", len(got.Results), len(asked))
	}
	for at, v := range got.Results {
		found[asked[at]] = library.Checked{ID: v.ID, Problems: v.Problems}
	}
	return nil
}

// duplicateName returns the problem of a file whose name an earlier file has, too.
func duplicateName(all []source, i int) []schema.Problem {
	s := all[i]
	first := slices.IndexFunc(all, func(o source) bool { return o.kind == s.kind && o.id == s.id })
	if s.id == "" || first == i {
		return nil
	}
	p := schema.NewProblem("/"+s.kind, score.CodeDuplicateID, fmt.Sprintf("%s is also the name of the %s in %s", s.id, s.kind,
		all[first].path), "give one of them another name, or remove one file")
	if p = score.Locate(s.text, []schema.Problem{p})[0]; p.Line == 0 {
		return nil // the file cannot be read; that comes first
	}
	return []schema.Problem{p}
}
