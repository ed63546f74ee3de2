package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/auth"
	"troupe/schema/golden"
	"troupe/schema/verb"
)

// allowed asks for something as a role, and reports whether the answer is another one than 403. A refusal
// has to name the roles that could.
func allowed(t *testing.T, mux *http.ServeMux, role auth.RoleRow, method, path, body string) bool {
	t.Helper()
	who := auth.Everybody{Principal: auth.User{Name: "anna", Roles: []auth.Role{role.Role}}.Principal(auth.KindSession)}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer := httptest.NewRecorder()
	Guard(mux, slog.New(slog.DiscardHandler), anyHost, who).ServeHTTP(answer, r)
	if answer.Code != http.StatusForbidden {
		return true
	}
	if text := answer.Body.String(); !strings.Contains(text, KindNotAllowed.Type()) || !strings.Contains(text, "this needs the role ") ||
		!strings.Contains(text, "admin") {
		t.Errorf("%s %s as %s: the refusal does not name the role that could: %s", method, path, role.Role, text)
	}
	return false
}

// TestRolesMayDoWhatTheTableSays writes the table of the documentation from the answers to real requests of
// each role: for every operation of the API and every verb of a command.
func TestRolesMayDoWhatTheTableSays(t *testing.T) {
	var out strings.Builder
	out.WriteString("# Roles\n\nWhat each role may do, as a test observes it: `go test ./fleetd/api -run Roles -update` writes this page.\n" +
		"A user has one or more roles, and may do what any of them may. [operate](operate.md#accounts) explains accounts.\n\n| role | |\n" +
		"|---|---|\n")
	head, line := "", ""
	for _, role := range auth.Roles {
		fmt.Fprintf(&out, "| %s | %s |\n", role.Role, role.Purpose)
		head += " " + string(role.Role) + " |"
		line += ":-:|"
	}
	row := func(cells func(auth.RoleRow) bool) string {
		text := ""
		for _, role := range auth.Roles {
			if cells(role) {
				text += " x |"
			} else {
				text += " |"
			}
		}
		return text
	}
	var rows []string
	everyRoute(t, func(mux *http.ServeMux, path string, o *huma.Operation) {
		if rowOf(o).Right == auth.SelfProving {
			return
		}
		cells := row(func(role auth.RoleRow) bool { return allowed(t, mux, role, o.Method, path, "") })
		if !strings.Contains(cells, "x") {
			t.Errorf("nobody may %s", o.OperationID)
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s |%s\n", o.OperationID, o.Summary, cells))
	})
	slices.Sort(rows)
	fmt.Fprintf(&out, "\n## Operations of the API\nfleetd describes them at `/docs`. Signing in, enrolment and health need no role.\n\n"+
		"| operation | |%s\n|---|---|%s\n%s", head, line, strings.Join(rows, ""))

	mux := http.NewServeMux()
	routes(mux, Deps{Log: slog.New(slog.DiscardHandler), Now: time.Now})
	fmt.Fprintf(&out, "\n## Commands to robots\nThe operation `command` asks for the right of its verb.\n"+
		"An author renews and releases only the lease that `try-text` took for them.\n\n| verb |%s\n|---|%s\n", head, line)
	for _, v := range verb.All {
		cells := row(func(role auth.RoleRow) bool {
			return allowed(t, mux, role, http.MethodPost, Prefix+"/commands", fmt.Sprintf(`{"verb":%q,"selector":{"all":true}}`, v.ID()))
		})
		fmt.Fprintf(&out, "| `%s` |%s\n", v.ID(), cells)
	}
	golden.Compare(t, "../../docs/roles.md", out.String())
}

func TestViewerMayOnlyLook(t *testing.T) {
	viewer, _ := auth.RoleOf(auth.Viewer)
	everyRoute(t, func(mux *http.ServeMux, path string, o *huma.Operation) {
		right := rowOf(o).Right
		if right == auth.SelfProving || right&auth.Own != 0 {
			return
		}
		looks := o.Method == http.MethodGet && o.OperationID != "drive" && right&(auth.Administer|auth.Audit|auth.Records) == 0 ||
			slices.Contains([]string{"validate-texts", "get-timeline-of-text", "diff-folder", "next-instants"}, o.OperationID)
		if got := allowed(t, mux, viewer, o.Method, path, ""); got != looks {
			t.Errorf("a viewer may %s: %v", o.OperationID, got)
		}
	})
	mux := http.NewServeMux()
	routes(mux, Deps{Log: slog.New(slog.DiscardHandler), Now: time.Now})
	for _, v := range verb.All {
		if allowed(t, mux, viewer, http.MethodPost, Prefix+"/commands", fmt.Sprintf(`{"verb":%q,"selector":{"all":true}}`, v.ID())) {
			t.Errorf("a viewer may send %s", v.ID())
		}
	}
}
