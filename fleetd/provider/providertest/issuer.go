// Package providertest is a small OpenID Connect provider for tests: discovery, keys, a page that
// signs everybody in at once as the person that the test names, and a token endpoint that takes
// each code once.
package providertest

import (
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
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
)

// What fleetd is called at the issuer.
const (
	ClientID     = "troupe"
	ClientSecret = "the secret of fleetd"
)

// key signs ID tokens. Making one takes long, so all issuers share it.
var key = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// Issuer is the provider. It is a handler for browsers and fleetd, and a transport that answers
// fleetd without a network.
type Issuer struct {
	url   string
	about oidctest.Server

	mu     sync.Mutex
	away   bool
	denies bool
	claims map[string]any // of the next person; those of the protocol may be replaced
	codes  map[string]url.Values
}

// New makes an issuer with this URL, which signs nobody in yet.
func New(address string) *Issuer {
	i := &Issuer{url: address, claims: map[string]any{}, codes: map[string]url.Values{}}
	i.about.PublicKeys = []oidctest.PublicKey{{PublicKey: key().Public(), KeyID: "1", Algorithm: "RS256"}}
	i.about.SetIssuer(address)
	return i
}

// SignInAs makes the issuer sign in a person with these groups.
func (i *Issuer) SignInAs(name string, groups ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.denies, i.claims = false, map[string]any{"sub": "id of " + name, "preferred_username": name, "name": "Dr. " + name, "groups": groups}
}

// Claim changes a claim of the next person; nil leaves it out.
func (i *Issuer) Claim(name string, value any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.claims[name] = value; value == nil {
		delete(i.claims, name)
	}
}

// Claimed is a claim of the next person.
func (i *Issuer) Claimed(name string) any {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.claims[name]
}

// Denies makes the issuer sign nobody in until the next person.
func (i *Issuer) Denies() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.denies = true
}

// Away sets whether the issuer answers fleetd.
func (i *Issuer) Away(away bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.away = away
}

// RoundTrip answers fleetd's requests without a network.
func (i *Issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	i.mu.Lock()
	away := i.away
	i.mu.Unlock()
	if away {
		return nil, io.ErrUnexpectedEOF
	}
	w := httptest.NewRecorder()
	i.ServeHTTP(w, r)
	return w.Result(), nil
}

// ServeHTTP implements http.Handler.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.away && r.URL.Path != "/auth": // the person reached it
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == "/auth":
		i.authorize(w, r)
	case r.URL.Path == "/token":
		i.token(w, r)
	default:
		i.about.ServeHTTP(w, r)
	}
}

// authorize is the person's visit: it sends the browser back.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "fleetd asks wrongly", http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}, "session_state": {"of the issuer"}}
	if i.denies {
		back.Set("error", "access_denied")
	} else {
		code := rand.Text()
		i.codes[code] = q
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token exchanges a code for an ID token.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	form, _ := url.ParseQuery(string(body))
	asked, known := i.codes[form.Get("code")]
	delete(i.codes, form.Get("code"))
	id, secret, _ := r.BasicAuth()
	challenge := sha256.Sum256([]byte(form.Get("code_verifier")))
	w.Header().Set("Content-Type", "application/json")
	if err != nil || !known || id != ClientID || secret != url.QueryEscape(ClientSecret) ||
		base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge") {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	now := time.Now()
	claims := map[string]any{"iss": i.url, "aud": ClientID, "nonce": asked.Get("nonce"), "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	maps.Copy(claims, i.claims)
	text, err := json.Marshal(claims)
	if err != nil {
		panic(err) // claims of a test
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"access_token": "unused", "token_type": "Bearer", "id_token": oidctest.SignIDToken(key(),
		"1", "RS256", string(text))})
}
