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

// maxAnswer is the greatest size of an answer in bytes.
const maxAnswer = 256 << 10

// apiPrefix is the path of fleetd's API.
const apiPrefix = "/api/v1"

// Enrolment is the input of Enrol: the data directory, the address of fleetd, the serial
// number of the body and the token.
type Enrolment struct {
	Data, Server, Serial string
	Token                schema.EnrolmentToken
}

// Enrol requests an identity for a robot and stores it in a.Data. It sends the token
// only to a server with the certificate that the token names.
func Enrol(ctx context.Context, a Enrolment) (*Identity, error) {
	fleetd := Fleetd{Server: a.Server, Fingerprint: a.Token.Fingerprint[:]}
	key, text, err := pendingKey(a.Data)
	if err != nil {
		return nil, err
	}
	csr, err := makeCSR(a.Token.Robot, key)
	if err != nil {
		return nil, err
	}
	answer, err := send(ctx, fleetd, "/enrol", schema.EnrolRequest{Token: a.Token.String(), CSR: csr, Serial: a.Serial}, &tls.Config{
		InsecureSkipVerify: true, // VerifyConnection checks the fingerprint instead, which is stronger
		VerifyConnection:   func(s tls.ConnectionState) error { return fleetd.checkFingerprint(s.PeerCertificates) },
	})
	if err != nil {
		return nil, err
	}
	fleetd.FleetID, fleetd.TrustKeys = answer.FleetID, answer.TrustKeys
	return storeAnswer(a.Data, fleetd, answer, a.Token.Robot, text, []byte(answer.CA))
}

// Renew requests the next identity of a robot, with a new key, and stores it in data.
// The trusted certificates do not change. now is the time at which fleetd's certificate
// has to be valid.
func Renew(ctx context.Context, data string, now func() time.Time) (*Identity, error) {
	present, err := Load(data)
	if err != nil {
		return nil, err
	}
	if present.Fleetd.Server == "" {
		return nil, errors.New("the identity does not contain the address of fleetd: enrol the robot again")
	}
	key, text, err := makeKey()
	if err != nil {
		return nil, err
	}
	csr, err := makeCSR(present.Robot, key)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(present.Fleetd.Server)
	if err != nil {
		return nil, fmt.Errorf("%q is not an address of fleetd", schema.PrintableURL(present.Fleetd.Server))
	}
	answer, err := send(ctx, present.Fleetd, "/renew", schema.RenewRequest{CSR: csr}, present.ToFleetd(at.Hostname(), now))
	if err != nil {
		return nil, err
	}
	return storeAnswer(data, present.Fleetd, answer, present.Robot, text, present.ca)
}

// TLS returns the configuration for connections to the broker and to fleetd. If the
// robot's clock is earlier than the start of its certificate, that start is the time,
// because a robot may start with a clock that stood still.
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

// ToFleetd returns the configuration for connections to fleetd under the name host. The
// server must have the certificate that it had at the enrolment, or one that the fleet
// has signed for this name.
func (i *Identity) ToFleetd(host string, now func() time.Time) *tls.Config {
	config := i.TLS(now)
	config.InsecureSkipVerify = true // VerifyConnection verifies it
	config.VerifyConnection = func(s tls.ConnectionState) error {
		if i.Fleetd.checkFingerprint(s.PeerCertificates) == nil {
			return nil
		}
		return i.checkServer(s.PeerCertificates, host, config.Time())
	}
	return config
}

// checkServer checks that the fleet has signed the server's certificate for host.
func (i *Identity) checkServer(shown []*x509.Certificate, host string, now time.Time) error {
	if host == "" || len(shown) == 0 {
		return ErrNotFleetd
	}
	intermediates := x509.NewCertPool()
	for _, c := range shown[1:] {
		intermediates.AddCert(c)
	}
	_, err := shown[0].Verify(x509.VerifyOptions{Roots: i.Roots, Intermediates: intermediates, DNSName: host, CurrentTime: now})
	return err
}

// ErrNotFleetd is returned if another server answers at fleetd's address.
var ErrNotFleetd = errors.New("the server at this address has another certificate than the fleetd that made the token; nothing was sent " +
	"to it. Use the --server of the line that fleetd robot enrol printed, not a proxy before it; if the certificate of fleetd was replaced " +
	"since, make a new token")

func (d Fleetd) checkFingerprint(shown []*x509.Certificate) error {
	if len(shown) == 0 {
		return ErrNotFleetd
	}
	if sum := sha256.Sum256(shown[0].Raw); !bytes.Equal(sum[:], d.Fingerprint) {
		return ErrNotFleetd
	}
	return nil
}

// Refusal is a refusal of fleetd with its reason and what to do.
type Refusal struct {
	Status int
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
}

func (r *Refusal) Error() string {
	s := r.Detail
	if s == "" {
		s = r.Title
	}
	if r.Hint != "" {
		s += "; " + r.Hint
	}
	return s
}

// send sends one request and reads the answer.
func send(ctx context.Context, fleetd Fleetd, path string, body any, config *tls.Config) (schema.Enrolled, error) {
	base, err := url.Parse(fleetd.Server)
	if err != nil || base.Scheme != "https" || base.Host == "" {
		return schema.Enrolled{}, fmt.Errorf("%q is not an address of fleetd: write https://host:port", schema.PrintableURL(fleetd.Server))
	}
	text, err := schema.Encode(body)
	if err != nil {
		return schema.Enrolled{}, err
	}
	config.MinVersion = tls.VersionTLS13
	// No proxy and no idle connections, because there is only one request.
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, ForceAttemptHTTP2: false}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base.JoinPath(apiPrefix, path).String(), bytes.NewReader(text))
	if err != nil {
		return schema.Enrolled{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := (&http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}).Do(r)
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
		no := &Refusal{Status: response.StatusCode}
		if json.Unmarshal(got, no) != nil || no.Title == "" {
			return schema.Enrolled{}, fmt.Errorf("%s answered %s, which is not an answer of fleetd", fleetd.Server, response.Status)
		}
		return schema.Enrolled{}, no
	}
	answer, problems := schema.Decode[schema.Enrolled](got)
	if len(problems) > 0 {
		return schema.Enrolled{}, fmt.Errorf("decode fleetd's answer: %s", problems[0])
	}
	return answer, nil
}

// storeAnswer checks the certificate in fleetd's answer and stores it as the robot's
// identity.
func storeAnswer(data string, fleetd Fleetd, answer schema.Enrolled, robot string, key, ca []byte) (*Identity, error) {
	i, err := assemble([]byte(answer.Certificate), key, ca)
	if err == nil && i.Robot != robot {
		err = fmt.Errorf("it names %s, not %s", i.Robot, robot)
	}
	if err == nil {
		err = i.checkChain()
	}
	if err != nil {
		return nil, fmt.Errorf("check the certificate from fleetd: %w", err)
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
		return nil, nil, fmt.Errorf("encode the key: %w", err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func makeCSR(robot string, key *ecdsa.PrivateKey) (string, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: robot}}, key)
	if err != nil {
		return "", fmt.Errorf("make a certificate request: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})), nil
}
