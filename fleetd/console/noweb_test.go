//go:build noweb

package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestNoticeInsteadOfTheConsole(t *testing.T) {
	answer := httptest.NewRecorder()
	Handler("", func(*http.Request) bool { return true }).ServeHTTP(answer, httptest.NewRequest("GET", "/robots", nil))
	if body := answer.Body.String(); answer.Code != 200 || !strings.Contains(body, "noweb") || strings.Contains(body, "<script") {
		t.Errorf("%d %s", answer.Code, body)
	}
}
