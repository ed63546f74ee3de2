package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/cli"
	"troupe/schema"
	"troupe/schema/score"
)

// A warning of an act is printed where it is, and not again at each story that names the act.
func TestWarningOfAnActIsPrintedOnce(t *testing.T) {
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked api.Validation
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		var answer api.Validities
		for _, s := range asked.Texts {
			pointer, id := "/actions/0/face", "grin"
			if s.Kind == "story" {
				pointer, id = "/acts/0/act", "party"
			}
			answer.Results = append(answer.Results, api.Validity{ID: id, Valid: true, Problems: []schema.Problem{
				{Pointer: pointer, Severity: schema.SeverityWarning, Code: score.CodeNotInCatalogue, Detail: `no known robot has the face "grin"`},
			}})
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer fleetd.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"grin.yaml":  "act: grin\nactions:\n  - {type: face, start_ms: 0, face: grin}\n  - {type: wait, start_ms: 0, end_ms: 2000}\n",
		"party.yaml": "story: party\nname: {en: Party}\nrepeat: loop\nacts:\n  - {act: grin}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const warning = `no known robot has the face "grin"`
	for folder, want := range map[string]string{dir: "grin.yaml:3:", filepath.Join(dir, "party.yaml"): "party.yaml:5:"} {
		// the story alone names it
		var out, errs strings.Builder
		code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &errs}, "v0", "validate", "-f", folder, "--online", "--server", fleetd.URL)
		if code != 0 || strings.Count(errs.String(), warning) != 1 || !strings.Contains(errs.String(), want) {
			t.Errorf("validate -f %s ended with %d:\n%s", folder, code, &errs)
		}
	}
}
