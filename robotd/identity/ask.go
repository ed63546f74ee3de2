package identity

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"troupe/schema"
)

// maxAnswer bounds what the desk may answer, in bytes.
const maxAnswer = 256 << 10

// apiPrefix is where the desk's resources lie.
const apiPrefix = "/api/v1"

// Asking is what an enrolment needs.
type Asking struct {
	Data, Server, Serial string
	Token                schema.EnrolmentToken
}

// Enrol gets a robot its identity and keeps it in Data. The desk must show the
// certificate that the token names; nobody else is told the token.
func Enrol(ctx context.Context, a Asking) (*Identity, error) {
	desk := Desk{Server: a.Server, Fingerprint: a.Token.Fingerprint[:]}
	key, text, err := pending(a.Data)
	if err != nil {
		return nil, err
	}
	csr, err := request(a.Token.Robot, key)
	if err != nil {
		return nil, err
	}
	answer, err := ask(ctx, desk, "/enrol", schema.EnrolRequest{Token: a.Token.String(), CSR: csr, Serial: a.Serial}, &tls.Config{
		InsecureSkipVerify: true, // the fingerprint is the proof, and stronger
		VerifyConnection:   func(s tls.ConnectionState) error { return desk.pinned(s.PeerCertificates) },
	})
	if err != nil {
		return nil, err
	}
	desk.Authority, desk.TrustKeys = answer.Authority, answer.TrustKeys
	return keep(a.Data, desk, answer, a.Token.Robot, text, []byte(answer.CA))
}

// Renew gets a robot its next identity, with a new key, and keeps it in data. It
// trusts whom it trusted before; now is told for the desk's certificate.
func Renew(ctx context.Context, data string, now func() time.Time) (*Identity, error) {
	present, err := Load(data)
	if err != nil {
		return nil, err
	}
	if present.Desk.Server == "" {
		return nil, errors.New("nobody knows where this identity came from: enrol the robot again")
	}
	key, text, err := makeKey()
	if err != nil {
		return nil, err
	}
	csr, err := request(present.Robot, key)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(present.Desk.Server)
	if err != nil {
		return nil, fmt.Errorf("%q is no address of a desk: %w", present.Desk.Server, err)
	}
	answer, err := ask(ctx, present.Desk, "/renew", schema.RenewRequest{CSR: csr}, present.ToDesk(at.Hostname(), now))
	if err != nil {
		return nil, err
	}
	return keep(data, present.Desk, answer, present.Robot, text, present.ca)
}

// TLS is how a robot connects, to its broker and to its desk. Where its own clock
// is behind the making of its certificate, that is the time: a robot may start with
// a clock that stands still.
func (i *Identity) TLS(now func() time.Time) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		RootCAs:    i.Roots,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &i.Certificate, nil
		},
		Time: func() time.Time {
			if t := now(); t.After(i.Leaf().NotBefore) {
				return t
			}
			return i.Leaf().NotBefore
		},
	}
}

// ToDesk is how a robot connects to the desk that is called host: one that shows
// what it showed the first time, or that the fleet has signed for this name.
func (i *Identity) ToDesk(host string, now func() time.Time) *tls.Config {
	config := i.TLS(now)
	config.InsecureSkipVerify = true // it is verified below
	config.VerifyConnection = func(s tls.ConnectionState) error {
		if i.Desk.pinned(s.PeerCertificates) == nil {
			return nil
		}
		return i.verified(s.PeerCertificates, host, config.Time())
	}
	return config
}

// verified is that a server of the fleet answers under the name that is called.
func (i *Identity) verified(shown []*x509.Certificate, host string, now time.Time) error {
	if host == "" || len(shown) == 0 {
		return ErrNotTheDesk
	}
	between := x509.NewCertPool()
	for _, c := range shown[1:] {
		between.AddCert(c)
	}
	_, err := shown[0].Verify(x509.VerifyOptions{Roots: i.Roots, Intermediates: between, DNSName: host, CurrentTime: now})
	return err
}

// ErrNotTheDesk says that somebody else answers where the desk should.
var ErrNotTheDesk = errors.New("who answers there is not the desk that made the token: nothing was told to him")

func (d Desk) pinned(shown []*x509.Certificate) error {
	if len(shown) == 0 {
		return ErrNotTheDesk
	}
	if sum := sha256.Sum256(shown[0].Raw); !bytes.Equal(sum[:], d.Fingerprint) {
		return ErrNotTheDesk
	}
	return nil
}

// Refused is the desk's no, with its reason and the way out.
type Refused struct {
	Status int
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
}

func (r *Refused) Error() string {
	s := r.Detail
	if s == "" {
		s = r.Title
	}
	if r.Hint != "" {
		s += "; " + r.Hint
	}
	return s
}

// ask sends one request and reads the answer.
func ask(ctx context.Context, desk Desk, path string, body any, config *tls.Config) (schema.Enrolled, error) {
	base, err := url.Parse(desk.Server)
	if err != nil || base.Scheme != "https" || base.Host == "" {
		return schema.Enrolled{}, fmt.Errorf("%q is no address of a desk: write https://host:port", desk.Server)
	}
	text, err := schema.Encode(body)
	if err != nil {
		return schema.Enrolled{}, err
	}
	config.MinVersion = tls.VersionTLS13
	// Neither a proxy nor a connection that stays open: this happens once.
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, ForceAttemptHTTP2: false}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base.JoinPath(apiPrefix, path).String(), bytes.NewReader(text))
	if err != nil {
		return schema.Enrolled{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return schema.Enrolled{}, fmt.Errorf("ask the desk at %s: %w", desk.Server, err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return schema.Enrolled{}, fmt.Errorf("read the desk's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		no := &Refused{Status: response.StatusCode}
		if json.Unmarshal(got, no) != nil || no.Title == "" {
			return schema.Enrolled{}, fmt.Errorf("%s answered %s, which is no answer of a desk", desk.Server, response.Status)
		}
		return schema.Enrolled{}, no
	}
	answer, problems := schema.Decode[schema.Enrolled](got)
	if len(problems) > 0 {
		return schema.Enrolled{}, fmt.Errorf("the desk's answer cannot be read: %s", problems[0])
	}
	return answer, nil
}

// keep checks what the desk gave, and makes it the robot's identity.
func keep(data string, desk Desk, answer schema.Enrolled, robot string, key, ca []byte) (*Identity, error) {
	i, err := assemble([]byte(answer.Certificate), key, ca)
	if err == nil && i.Robot != robot {
		err = fmt.Errorf("it names %s, not %s", i.Robot, robot)
	}
	if err == nil {
		err = i.check()
	}
	if err != nil {
		return nil, fmt.Errorf("the desk gave a certificate that is not taken: %w", err)
	}
	desk.Brokers = answer.Brokers
	i.Desk = desk
	return i, save(data, i, []byte(answer.Certificate), key)
}

func makeKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("write the key: %w", err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func request(robot string, key *ecdsa.PrivateKey) (string, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: robot}}, key)
	if err != nil {
		return "", fmt.Errorf("ask for a certificate: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})), nil
}
