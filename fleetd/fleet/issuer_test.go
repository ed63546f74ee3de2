package fleet_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

const (
	issuerURL    = "https://id.example"
	clientID     = "troupe"
	clientSecret = "the secret of fleetd"
)

// issuerKey signs ID tokens. Making one takes long, so all tests share it.
var issuerKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// issuer is a small OpenID Connect provider within the process: discovery, keys, and a token
// endpoint that takes each code once. It signs everybody in as the claims say.
type issuer struct {
	t      *testing.T
	about  oidctest.Server
	away   bool
	claims map[string]any // of the next person; those of the protocol may be replaced
	codes  map[string]url.Values
	n      int
}

func newIssuer(t *testing.T) *issuer {
	i := &issuer{t: t, codes: map[string]url.Values{}}
	i.about.PublicKeys = []oidctest.PublicKey{{PublicKey: issuerKey().Public(), KeyID: "1", Algorithm: "RS256"}}
	i.about.SetIssuer(issuerURL)
	return i
}

// is makes the issuer sign in a person with these groups.
func (i *issuer) is(name string, groups ...string) {
	i.claims = map[string]any{"sub": "id of " + name, "preferred_username": name, "name": "Dr. " + name, "groups": groups}
}

// RoundTrip answers fleetd's requests without a network.
func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	if i.away {
		return nil, io.ErrUnexpectedEOF
	}
	w := httptest.NewRecorder()
	if r.URL.Path == "/token" {
		i.token(w, r)
	} else {
		i.about.ServeHTTP(w, r)
	}
	return w.Result(), nil
}

// authorize is the person's visit at the issuer: it returns where the browser goes next.
func (i *issuer) authorize(address string) (back string) {
	i.t.Helper()
	u, err := url.Parse(address)
	q := u.Query()
	if err != nil || u.Host != "id.example" || u.Path != "/auth" || q.Get("client_id") != clientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		i.t.Fatalf("the browser is sent to %s", address)
	}
	i.n++
	code := "code" + string(rune('0'+i.n))
	i.codes[code] = q
	return q.Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {q.Get("state")}, "session_state": {"of the issuer"}}.Encode()
}

// token exchanges a code for an ID token.
func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	asked, known := i.codes[form.Get("code")]
	delete(i.codes, form.Get("code"))
	id, secret, _ := r.BasicAuth()
	challenge := sha256.Sum256([]byte(form.Get("code_verifier")))
	w.Header().Set("Content-Type", "application/json")
	if err != nil || !known || id != clientID || secret != url.QueryEscape(clientSecret) || base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge") {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	now := time.Now()
	claims := map[string]any{"iss": issuerURL, "aud": clientID, "nonce": asked.Get("nonce"), "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	maps.Copy(claims, i.claims)
	text, err := json.Marshal(claims)
	if err != nil {
		i.t.Error(err)
	}
	answer, err := json.Marshal(map[string]string{"access_token": "unused", "token_type": "Bearer", "id_token": oidctest.SignIDToken(issuerKey(), "1", "RS256", string(text))})
	if err != nil {
		i.t.Error(err)
	}
	_, _ = io.Copy(w, bytes.NewReader(answer))
}
