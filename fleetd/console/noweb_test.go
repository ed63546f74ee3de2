//go:build noweb

package console

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestNoticeInsteadOfTheConsole(t *testing.T) {
	answer := httptest.NewRecorder()
	Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/robots", nil))
	if body := answer.Body.String(); answer.Code != 200 || !strings.Contains(body, "noweb") || strings.Contains(body, "<script") {
		t.Errorf("%d %s", answer.Code, body)
	}
}
