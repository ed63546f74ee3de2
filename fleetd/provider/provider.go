// Package provider signs people in with an OpenID Connect provider: it sends the browser
// there, exchanges the code that comes back for an ID token, verifies it, and maps its claims to
// roles and sites. It knows no accounts; package accounts does.
package provider

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// AttemptLifetime bounds how long a person may take at the provider.
	AttemptLifetime = 10 * time.Minute
	// requestWithin bounds one request of the provider.
	requestWithin = 10 * time.Second
	// maxAhead is how far the provider's clock may be ahead.
	maxAhead = 5 * time.Minute
	// retryAfter is the pause after a failed discovery, so that people who try again do not wait
	// for each other's time-outs.
	retryAfter = 3 * time.Second
)

// Reasons why a person is not signed in.
var (
	ErrUnavailable = errors.New("the provider does not answer")
	ErrAttempt     = errors.New("the sign-in was not begun in this browser, or took too long")
	ErrDenied      = errors.New("the provider did not sign the person in")
	ErrToken       = errors.New("the provider's answer is not valid")
	ErrNoName      = errors.New("the provider names no user")
	ErrNotAllowed  = errors.New("the user is not allowed to sign in here")
	ErrNoRole      = errors.New("the provider's claims give no role")
)

// Provider is the OpenID Connect provider of an instance.
type Provider struct {
	config Config
	now    func() time.Time
	key    []byte // of attempts

	mu       sync.Mutex
	found    *oidc.Provider // nil until the discovery succeeded
	failed   error          // of the newest discovery
	failedAt time.Time
}

// New makes a provider. It makes no request, so fleetd starts also while the issuer is away.
func New(c Config, now func() time.Time) (*Provider, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	issuer, _ := url.Parse(c.Issuer) // checked
	c.Name = cmp.Or(c.Name, issuer.Host)
	if c.Client == nil {
		c.Client = &http.Client{Timeout: requestWithin}
	}
	p := &Provider{config: c, now: now}
	if c.ClientSecret != "" { // which every instance has
		key := sha256.Sum256([]byte("sign-in attempts of fleetd\x00" + c.ClientSecret))
		p.key = key[:]
	} else { // the browser has to come back to the instance that it left
		p.key = make([]byte, sha256.Size)
		_, _ = rand.Read(p.key) // never fails
	}
	return p, nil
}

// Name is the name to show.
func (p *Provider) Name() string { return p.config.Name }

// Attempt is a sign-in under way. The browser keeps it until it comes back.
type Attempt struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"` // of PKCE
	Next     string    `json:"next"`     // path to go to afterwards
	BegunAt  time.Time `json:"begun_at"`
}

// Seal is an attempt as text that only an instance with the same client secret can make.
func (p *Provider) Seal(a Attempt) (string, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(p.mac(text)) + "." + base64.RawURLEncoding.EncodeToString(text), nil
}

// Open returns the attempt that was sealed; of other text one without a state, which Finish refuses.
func (p *Provider) Open(sealed string) (a Attempt) {
	mac, text, _ := strings.Cut(sealed, ".")
	was, err := base64.RawURLEncoding.DecodeString(mac)
	body, err2 := base64.RawURLEncoding.DecodeString(text)
	if err != nil || err2 != nil || !hmac.Equal(was, p.mac(body)) || json.Unmarshal(body, &a) != nil {
		return Attempt{}
	}
	return a
}

func (p *Provider) mac(text []byte) []byte {
	m := hmac.New(sha256.New, p.key)
	m.Write(text)
	return m.Sum(nil)
}

// Begin starts a sign-in and returns the address to which the browser goes.
func (p *Provider) Begin(ctx context.Context, next string) (address string, a Attempt, err error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", a, err
	}
	a = Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: next, BegunAt: p.now()}
	return p.client(found).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), a, nil
}

// Finish ends a sign-in with what the browser brings back. The person's subject is known also
// with an ErrNoName, ErrNotAllowed or ErrNoRole.
func (p *Provider) Finish(ctx context.Context, a Attempt, back url.Values) (Person, error) {
	if a.State == "" || subtle.ConstantTimeCompare([]byte(a.State), []byte(back.Get("state"))) != 1 ||
		p.now().Sub(a.BegunAt) > AttemptLifetime {
		return Person{}, ErrAttempt
	}
	if reason := back.Get("error"); reason != "" {
		return Person{}, fmt.Errorf("%w: %q %q", ErrDenied, reason, back.Get("error_description"))
	}
	found, err := p.discover(ctx)
	if err != nil {
		return Person{}, err
	}
	tokens, err := p.client(found).Exchange(p.with(ctx), back.Get("code"), oauth2.VerifierOption(a.Verifier))
	if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) && refused.Response.StatusCode < http.StatusInternalServerError {
		return Person{}, fmt.Errorf("%w: the code: %w", ErrToken, err)
	} else if err != nil {
		return Person{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	raw, _ := tokens.Extra("id_token").(string)
	token, err := found.Verifier(&oidc.Config{ClientID: p.config.ClientID, Now: p.now}).Verify(ctx, raw)
	switch {
	case err != nil:
		return Person{}, fmt.Errorf("%w: %w", ErrToken, err)
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1:
		return Person{}, fmt.Errorf("%w: the nonce is that of another sign-in", ErrToken)
	}
	if err := p.checkClaims(token); err != nil {
		return Person{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	return p.config.person(token)
}

// checkClaims checks what the library leaves to its caller (OpenID Connect Core 1.0, 2 and 3.1.3.7).
func (p *Provider) checkClaims(token *oidc.IDToken) error {
	var claims struct {
		Party *string `json:"azp"`
	}
	if err := token.Claims(&claims); err != nil {
		return err
	}
	switch {
	case token.Subject == "":
		return errors.New("it names no subject")
	case claims.Party != nil && *claims.Party != p.config.ClientID:
		return fmt.Errorf("it was issued to %q (azp)", *claims.Party)
	case claims.Party == nil && len(token.Audience) > 1:
		return errors.New("it has several audiences and does not say to whom it was issued (azp)")
	case token.IssuedAt.Sub(p.now()) > maxAhead:
		return fmt.Errorf("it was issued at %v, which is in the future: check the clocks", token.IssuedAt.UTC().Format(time.RFC3339))
	}
	return nil
}

// client is fleetd as a client of the provider.
func (p *Provider) client(found *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret, Endpoint: found.Endpoint(), RedirectURL: p.config.Redirect,
		Scopes: p.config.Scopes,
	}
}

// with makes both libraries use the client of the configuration.
func (p *Provider) with(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, p.config.Client)
}

// discover returns what the issuer says of itself. It asks until it got an answer once.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.found != nil:
		return p.found, nil
	case p.failed != nil && p.now().Sub(p.failedAt) < retryAfter:
		return nil, p.failed
	}
	found, err := oidc.NewProvider(p.with(ctx), p.config.Issuer)
	if err != nil {
		p.failed, p.failedAt = fmt.Errorf("%w: %w", ErrUnavailable, err), p.now()
		return nil, p.failed
	}
	p.found = found
	return found, nil
}
