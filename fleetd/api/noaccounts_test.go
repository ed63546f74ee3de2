package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"troupe/fleetd/accounts"
	"troupe/fleetd/auth"
)

// unread is an authenticator whose accounts are not read yet.
type unread struct{}

func (unread) Authenticate(*http.Request) (auth.Principal, error) {
	return auth.Principal{}, accounts.ErrNoAccounts
}

func TestNobodyIsAskedToSignInWhileNobodyCan(t *testing.T) {
	w := httptest.NewRecorder()
	authenticate(unread{}, http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/api/v1/stops", nil))
	if body := w.Body.String(); w.Code != http.StatusServiceUnavailable || !strings.Contains(body, "stop robots at the robots") ||
		strings.Contains(body, "fleetd login") {
		t.Errorf("%d %s", w.Code, body)
	}
}
