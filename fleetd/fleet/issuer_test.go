package fleet_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"troupe/fleetd/provider/providertest"
)

const issuerURL = "https://id.example"

// issuer is an OpenID Connect provider within the process.
type issuer struct {
	*providertest.Issuer
	t *testing.T
}

func newIssuer(t *testing.T) *issuer { return &issuer{providertest.New(issuerURL), t} }

// authorize is the person's visit at the issuer: it returns where the browser goes next.
func (i *issuer) authorize(address string) (back string) {
	i.t.Helper()
	w := httptest.NewRecorder()
	i.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	back = w.Result().Header.Get("Location")
	if back == "" || !strings.HasPrefix(address, issuerURL+"/auth?") {
		i.t.Fatalf("the browser is sent to %s, which answers %d %s", address, w.Code, w.Body)
	}
	return back
}
