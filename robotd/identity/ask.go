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

// maxAnswer bounds what fleetd may answer, in bytes.
const maxAnswer = 256 << 10

// apiPrefix is where fleetd's resources lie.
const apiPrefix = "/api/v1"

// Asking is what an enrolment needs.
type Asking struct {
	Data, Server, Serial string
	Token                schema.EnrolmentToken
}

// Enrol gets a robot its identity and keeps it in Data. Fleetd must show the
// certificate that the token names; nobody else is told the token.
func Enrol(ctx context.Context, a Asking) (*Identity, error) {
	fleetd := Fleetd{Server: a.Server, Fingerprint: a.Token.Fingerprint[:]}
	key, text, err := pending(a.Data)
	if err != nil {
		return nil, err
	}
	csr, err := request(a.Token.Robot, key)
	if err != nil {
		return nil, err
	}
	answer, err := ask(ctx, fleetd, "/enrol", schema.EnrolRequest{Token: a.Token.String(), CSR: csr, Serial: a.Serial}, &tls.Config{
		InsecureSkipVerify: true, // the fingerprint is the proof, and stronger
		VerifyConnection:   func(s tls.ConnectionState) error { return fleetd.pinned(s.PeerCertificates) },
	})
	if err != nil {
		return nil, err
	}
	fleetd.FleetID, fleetd.TrustKeys = answer.FleetID, answer.TrustKeys
	return keep(a.Data, fleetd, answer, a.Token.Robot, text, []byte(answer.CA))
}

// Renew gets a robot its next identity, with a new key, and keeps it in data. It
// trusts whom it trusted before; now is told for fleetd's certificate.
func Renew(ctx context.Context, data string, now func() time.Time) (*Identity, error) {
	present, err := Load(data)
	if err != nil {
		return nil, err
	}
	if present.Fleetd.Server == "" {
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
	at, err := url.Parse(present.Fleetd.Server)
	if err != nil {
		return nil, fmt.Errorf("%q is no address of a fleetd instance: %w", present.Fleetd.Server, err)
	}
	answer, err := ask(ctx, present.Fleetd, "/renew", schema.RenewRequest{CSR: csr}, present.ToFleetd(at.Hostname(), now))
	if err != nil {
		return nil, err
	}
	return keep(data, present.Fleetd, answer, present.Robot, text, present.ca)
}

// TLS is how a robot connects, to its broker and to its fleetd. Where its own clock
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

// ToFleetd is how a robot connects to fleetd that is called host: one that shows
// what it showed the first time, or that the fleet has signed for this name.
func (i *Identity) ToFleetd(host string, now func() time.Time) *tls.Config {
	config := i.TLS(now)
	config.InsecureSkipVerify = true // it is verified below
	config.VerifyConnection = func(s tls.ConnectionState) error {
		if i.Fleetd.pinned(s.PeerCertificates) == nil {
			return nil
		}
		return i.verified(s.PeerCertificates, host, config.Time())
	}
	return config
}

// verified is that a server of the fleet answers under the name that is called.
func (i *Identity) verified(shown []*x509.Certificate, host string, now time.Time) error {
	if host == "" || len(shown) == 0 {
		return ErrNotFleetd
	}
	between := x509.NewCertPool()
	for _, c := range shown[1:] {
		between.AddCert(c)
	}
	_, err := shown[0].Verify(x509.VerifyOptions{Roots: i.Roots, Intermediates: between, DNSName: host, CurrentTime: now})
	return err
}

// ErrNotFleetd says that somebody else answers where fleetd should.
var ErrNotFleetd = errors.New("who answers there is not fleetd that made the token: nothing was told to him")

func (d Fleetd) pinned(shown []*x509.Certificate) error {
	if len(shown) == 0 {
		return ErrNotFleetd
	}
	if sum := sha256.Sum256(shown[0].Raw); !bytes.Equal(sum[:], d.Fingerprint) {
		return ErrNotFleetd
	}
	return nil
}

// Refused is fleetd's no, with its reason and the way out.
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
func ask(ctx context.Context, fleetd Fleetd, path string, body any, config *tls.Config) (schema.Enrolled, error) {
	base, err := url.Parse(fleetd.Server)
	if err != nil || base.Scheme != "https" || base.Host == "" {
		return schema.Enrolled{}, fmt.Errorf("%q is no address of a fleetd instance: write https://host:port", fleetd.Server)
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
		return schema.Enrolled{}, fmt.Errorf("ask fleetd at %s: %w", fleetd.Server, err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return schema.Enrolled{}, fmt.Errorf("read fleetd's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		no := &Refused{Status: response.StatusCode}
		if json.Unmarshal(got, no) != nil || no.Title == "" {
			return schema.Enrolled{}, fmt.Errorf("%s answered %s, which is no answer of a fleetd instance", fleetd.Server, response.Status)
		}
		return schema.Enrolled{}, no
	}
	answer, problems := schema.Decode[schema.Enrolled](got)
	if len(problems) > 0 {
		return schema.Enrolled{}, fmt.Errorf("fleetd's answer cannot be read: %s", problems[0])
	}
	return answer, nil
}

// keep checks what fleetd gave, and makes it the robot's identity.
func keep(data string, fleetd Fleetd, answer schema.Enrolled, robot string, key, ca []byte) (*Identity, error) {
	i, err := assemble([]byte(answer.Certificate), key, ca)
	if err == nil && i.Robot != robot {
		err = fmt.Errorf("it names %s, not %s", i.Robot, robot)
	}
	if err == nil {
		err = i.check()
	}
	if err != nil {
		return nil, fmt.Errorf("fleetd gave a certificate that is not taken: %w", err)
	}
	fleetd.Brokers = answer.Brokers
	i.Fleetd = fleetd
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
