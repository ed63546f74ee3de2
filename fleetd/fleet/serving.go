package fleet

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/api"
	"troupe/fleetd/vault"
	"troupe/schema/sign"
)

// served is the certificate that fleetd shows, from its files. It is read again
// when they change; a pair that does not fit, or that clients would refuse, is not
// taken.
type served struct {
	cert, key string
	log       *slog.Logger

	mu    sync.Mutex
	at    time.Time // of the files
	pair  *tls.Certificate
	broke error // why newer files were not taken
}

func newServed(cert, key string, log *slog.Logger) (*served, error) {
	s := &served{cert: cert, key: key, log: log}
	if _, err := s.current(); err != nil {
		return nil, fmt.Errorf("certificate of fleetd's address: %w; fleetd ca server makes one", err)
	}
	return s, nil
}

func (s *served) current() (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, err := newest(s.cert, s.key)
	if err == nil && s.pair != nil && at.Equal(s.at) {
		return s.pair, nil
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(s.cert, s.key)
	}
	if err == nil {
		err = link.Serves(pair, time.Now())
	}
	switch {
	case err == nil:
		s.pair, s.at, s.broke = &pair, at, nil
	case s.pair == nil:
		return nil, err
	case s.broke == nil || s.broke.Error() != err.Error():
		s.broke = err
		s.log.Error("newer certificate not taken; the older one is still shown", "error", err)
	}
	return s.pair, nil
}

func newest(files ...string) (at time.Time, err error) {
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return at, err
		}
		if info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at, nil
}

// config is how fleetd speaks TLS. With issuers it asks for their certificates,
// and takes a client without one: what he shows is judged where it matters.
func (s *served) config(issuers ...*x509.Certificate) *tls.Config {
	c := &tls.Config{
		MinVersion:     tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.current() },
	}
	if len(issuers) > 0 {
		c.ClientAuth, c.ClientCAs = tls.RequestClientCert, x509.NewCertPool()
		for _, i := range issuers {
			c.ClientCAs.AddCert(i)
		}
	}
	return c
}

// openVault opens the fleet's keys, if there are any.
func (f *Fleet) openVault(now time.Time) (err error) {
	if f.cfg.CA == "" {
		return nil
	}
	if f.vault, err = vault.Open(f.cfg.CA, now); err != nil {
		return fmt.Errorf("the fleet's keys: %w", err)
	}
	if f.vault.RootKeyIsHere() {
		f.log.Warn("the root's key lies beside the intermediate's: whoever takes this folder takes the fleet; move it away", "folder", f.cfg.CA, "file", vault.RootKeyFile)
	}
	return nil
}

// listenForRobots binds the address at which robots get and renew their
// certificates, and get files with them; nothing else is served.
func (f *Fleet) listenForRobots(ctx, running context.Context) error {
	if f.cfg.Enrol == "" || f.served == nil || f.vault == nil {
		return nil // without the latter two the start has failed already
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", f.cfg.Enrol)
	if err != nil {
		return fmt.Errorf("listen for robots on %s: %w", f.cfg.Enrol, err)
	}
	f.robotsListener = l
	files := api.RobotsOnly(f, f.log, f.mux)
	f.robotsServer = f.httpServer(running, api.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := strings.TrimPrefix(r.URL.Path, api.Prefix); {
		case slices.Contains(api.EnrolPaths, path):
			f.mux.ServeHTTP(w, r)
		case r.Method == http.MethodGet && strings.HasPrefix(path, api.FilesPath):
			files.ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	}), f.log, nil), newConnections(maxRobotConnections, 0))
	f.robotsServer.TLSConfig = f.served.config(f.vault.Issuers()...)
	f.log.Info("robots may ask for certificates", "enrol", f.EnrolURL())
	return nil
}

// EnrolURL is where robots ask for certificates, empty where they may not.
func (f *Fleet) EnrolURL() string {
	if f.robotsListener == nil {
		return ""
	}
	if f.cfg.EnrolURL != "" {
		return f.cfg.EnrolURL
	}
	_, port, _ := net.SplitHostPort(f.robotsListener.Addr().String())
	host := "localhost"
	if pair, err := f.served.current(); err == nil {
		switch leaf := pair.Leaf; {
		case len(leaf.DNSNames) > 0:
			host = leaf.DNSNames[0]
		case len(leaf.IPAddresses) > 0:
			host = leaf.IPAddresses[0].String()
		}
	}
	return "https://" + net.JoinHostPort(host, port)
}

// Issuer is what certificates are issued with.
func (f *Fleet) Issuer() (api.Issuer, error) {
	switch {
	case f.vault == nil:
		return api.Issuer{}, errors.New("fleetd has no keys to issue certificates with")
	case f.robotsListener == nil:
		return api.Issuer{}, errors.New("fleetd has no address at which robots could ask for certificates")
	}
	pair, err := f.served.current()
	if err != nil {
		return api.Issuer{}, err
	}
	return api.Issuer{
		Authority: f.vault.Authority, URL: f.EnrolURL(), Fingerprint: sha256.Sum256(pair.Certificate[0]), Brokers: f.cfg.RobotBrokers,
		TrustKeys: f.trustKeys(),
	}, nil
}

// trustKeys are the public halves of what fleetd signs with, as robots keep them.
func (f *Fleet) trustKeys() (keys []string) {
	if f.cfg.SignKey != nil {
		keys = append(keys, sign.PublicKey(sign.SignsDesired, f.cfg.SignKey).String())
	}
	if f.cfg.ReleaseKey != nil {
		keys = append(keys, sign.PublicKey(sign.SignsReleases, f.cfg.ReleaseKey).String())
	}
	return keys
}

// encryption is how fleetd speaks to its broker now. With the fleet's keys it
// makes itself a certificate for each connection: no file can be stolen, and none
// has to be renewed.
func (f *Fleet) encryption() (*tls.Config, error) {
	how, err := f.cfg.BrokerFiles.TLS()
	if err != nil || f.vault == nil {
		return how, err
	}
	if how.RootCAs == nil {
		how.RootCAs = x509.NewCertPool()
		how.RootCAs.AddCert(f.vault.Root())
	}
	if how.Certificates == nil && f.cfg.Password == "" {
		pair, err := f.vault.Service(f.cfg.Name, time.Now())
		if err != nil {
			return nil, err
		}
		own := tls.Certificate{PrivateKey: pair.Key, Leaf: pair.Certificate}
		for _, cert := range f.vault.Chain(pair.Certificate) {
			own.Certificate = append(own.Certificate, cert.Raw)
		}
		how.Certificates = []tls.Certificate{own}
	}
	return how, nil
}

// completeIdentity checks what belongs together.
func (c *Config) completeIdentity() error {
	switch {
	case (c.HTTPCert == "") != (c.HTTPKey == ""):
		return errors.New("a certificate needs its key: write --http-tls-cert FILE --http-tls-key FILE")
	case (c.BrokerFiles.Cert == "") != (c.BrokerFiles.Key == ""):
		return errors.New("a certificate needs its key: write --broker-cert FILE --broker-key FILE")
	case c.Enrol != "" && c.CA == "":
		return errors.New("robots can be given certificates only with the fleet's keys: write --ca DIR; fleetd ca init makes them")
	case c.Enrol != "" && c.HTTPCert == "":
		return errors.New("robots ask over TLS: write --http-tls-cert FILE --http-tls-key FILE; fleetd ca server makes them")
	}
	if len(c.RobotBrokers) == 0 && c.Broker != "" {
		c.RobotBrokers = append([]string{c.Broker}, c.Others...)
	}
	for i, b := range c.RobotBrokers {
		if !strings.Contains(b, "://") {
			return fmt.Errorf("robot broker %s: %q is no address such as mqtts://broker.example:8883", strconv.Itoa(i+1), b)
		}
	}
	return nil
}
