package api

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/auth"
)

func TestDocsShowEveryOperationOffline(t *testing.T) {
	var mux *http.ServeMux
	var described []*huma.Operation
	everyRoute(t, func(m *http.ServeMux, _ string, o *huma.Operation) { mux, described = m, append(described, o) })
	answer := request(mux, rights(auth.View), "GET", "/docs")
	page := answer.Body.String()
	if answer.Code != 200 || !strings.HasPrefix(answer.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("%d %s", answer.Code, page)
	}
	for _, o := range described {
		for _, text := range []string{`<section id="` + o.OperationID + `">`, "<code>" + o.Path + "</code>"} {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page lacks %s", o.OperationID, text)
			}
		}
	}
	if !strings.Contains(page, "<code>fleetd robot list</code>") {
		t.Error("the page names no command lines")
	}
	anchors := map[string]bool{}
	for _, m := range regexp.MustCompile(`id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		anchors["#"+m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		switch link := m[1]; {
		case strings.HasPrefix(link, "#") && !anchors[link]:
			t.Errorf("%s leads nowhere", link)
		case !strings.HasPrefix(link, "#") && (!strings.HasPrefix(link, "/") || strings.HasPrefix(link, "//")):
			t.Errorf("the page loads %s", link)
		}
	}
	policy := answer.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(page, "<script") ||
		strings.Contains(page, "style=") {
		t.Errorf("policy %q", policy)
	}
	if style := request(mux, rights(auth.View), "GET", "/docs/style.css"); style.Code != 200 ||
		!strings.HasPrefix(style.Header().Get("Content-Type"), "text/css") {
		t.Errorf("style: %d %s", style.Code, style.Header().Get("Content-Type"))
	}
}
