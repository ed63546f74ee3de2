package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/auth"
)

// rights is an authenticator that gives everybody the same rights.
type rights auth.Rights

func (r rights) Authenticate(*http.Request) (auth.Principal, error) {
	return auth.Principal{ID: "anna", Kind: auth.KindToken, Rights: auth.Rights(r)}, nil
}

// anyHost allows every name in the Host header.
func anyHost(string) bool { return true }

// everyRoute calls do with every route of the API.
func everyRoute(t *testing.T, do func(mux *http.ServeMux, path string, o *huma.Operation)) (n int) {
	t.Helper()
	mux := http.NewServeMux()
	h := routes(mux, Deps{Log: slog.New(slog.DiscardHandler), Now: time.Now})
	for path, item := range h.OpenAPI().Paths {
		path = strings.NewReplacer("{id}", "x1", "{name}", "x1", "{serial}", "ab", "{rev}", "1", "{digest}", strings.Repeat("0", 64), "{record}",
			"x1", "{key}", "x1").Replace(path)
		for _, o := range []*huma.Operation{item.Get, item.Put, item.Post, item.Delete, item.Patch, item.Options, item.Head, item.Trace} {
			if o != nil {
				do(mux, path, o)
				n++
			}
		}
	}
	return n
}

func request(mux *http.ServeMux, who auth.Authenticator, method, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	Guard(mux, slog.New(slog.DiscardHandler), anyHost, who).ServeHTTP(answer, httptest.NewRequest(method, path, nil))
	return answer
}

func TestEveryRouteRefusesPrincipalWithoutItsRight(t *testing.T) {
	var selfProving []string
	n := everyRoute(t, func(mux *http.ServeMux, path string, o *huma.Operation) {
		right := rowOf(o).Right
		if right == 0 {
			t.Errorf("%s has no right", o.OperationID)
			return
		}
		if right == auth.SelfProving {
			selfProving = append(selfProving, o.OperationID)
			return
		}
		answer := request(mux, rights(auth.All&^right), o.Method, path)
		body := answer.Body.String()
		if answer.Code != 403 || !strings.Contains(body, KindNotAllowed.Type()) {
			t.Errorf("%s without %v is answered with %d %s", o.OperationID, right, answer.Code, body)
			return
		}
		for _, text := range []string{"anna", right.String(), `"hint":"this needs the role ` + auth.RolesWith(right)} {
			if !strings.Contains(body, text) {
				t.Errorf("%s: the refusal does not say %q: %s", o.OperationID, text, body)
			}
		}
	})
	if n < 50 {
		t.Errorf("only %d routes were found", n)
	}
	slices.Sort(selfProving)
	if want := []string{"enrol", "finish-login", "health", "renew", "send-record", "sign-in", "sign-in-ways", "sign-out"}; !slices.Equal(
		selfProving, want) {
		t.Errorf("every principal may call %v, want %v", selfProving, want)
	}
}

// Requests that only look need the right to look, and nothing else has it. A WebSocket begins
// with a GET, whatever it is for.
func TestRequestThatChangesNeedsMoreThanView(t *testing.T) {
	everyRoute(t, func(_ *http.ServeMux, _ string, o *huma.Operation) {
		right := rowOf(o).Right
		if right == auth.SelfProving || right&(auth.Own|auth.Audit|auth.Records) != 0 || right == auth.Administer && o.Method == http.MethodGet {
			return // everybody who is signed in; and what only auditors, operators or administrators see
		}
		if looks := o.Method == http.MethodGet && o.OperationID != "drive" || slices.Contains([]string{"validate-texts", "get-timeline-of-text",
			"diff-folder", "next-instants"}, o.OperationID); looks != (right&auth.View != 0) {
			t.Errorf("%s (%s) needs the right to %v", o.OperationID, o.Method, right)
		}
	})
}

func TestCommandNeedsTheRightOfItsClass(t *testing.T) {
	for verb, want := range map[string]auth.Rights{
		"mode/set": auth.Command, "manual/say": auth.Manual, "control/acquire": auth.Manual, "safety/halt": auth.Stop, "sys/cancel": auth.Command,
		"sys/reboot": auth.Administer, "no/verb": auth.Command,
	} {
		if got := rightOf(verb); got != want {
			t.Errorf("%s needs the right to %v, want %v", verb, got, want)
		}
	}
	mux := http.NewServeMux()
	routes(mux, Deps{Log: slog.New(slog.DiscardHandler), Now: time.Now})
	answer := httptest.NewRecorder()
	body := strings.NewReader(`{"verb":"manual/say","selector":{"all":true}}`)
	r := httptest.NewRequest("POST", Prefix+"/commands", body)
	r.Header.Set("Content-Type", "application/json")
	Guard(mux, slog.New(slog.DiscardHandler), anyHost, rights(auth.All&^auth.Manual)).ServeHTTP(answer, r)
	if answer.Code != 403 || !strings.Contains(answer.Body.String(), "manual") {
		t.Errorf("manual/say without the right is answered with %d %s", answer.Code, answer.Body)
	}
}

// The guard is the only way to a principal: without it nobody has a right.
func TestRouteRefusesWithoutGuard(t *testing.T) {
	everyRoute(t, func(mux *http.ServeMux, path string, o *huma.Operation) {
		if rowOf(o).Right == auth.SelfProving {
			return
		}
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(o.Method, path, nil))
		if body := answer.Body.String(); answer.Code != 401 || !strings.Contains(body, KindSignIn.Type()) ||
			!strings.Contains(body, "fleetd login") || answer.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s without a principal is answered with %d %s", o.OperationID, answer.Code, body)
		}
	})
}

// The audit is only appended to: no request changes or removes an entry.
func TestNoRouteChangesTheAudit(t *testing.T) {
	found := 0
	everyRoute(t, func(_ *http.ServeMux, path string, o *huma.Operation) {
		if !strings.Contains(path, "/audit") {
			return
		}
		if found++; o.Method != http.MethodGet {
			t.Errorf("%s changes the audit: %s %s", o.OperationID, o.Method, path)
		}
	})
	if found < 3 {
		t.Errorf("only %d routes of the audit were found", found)
	}
}
