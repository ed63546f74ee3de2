package fleet

import (
	"context"
	"crypto/ed25519"
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
	now       func() time.Time

	mu    sync.Mutex
	at    time.Time // of the files
	pair  *tls.Certificate
	broke error // why newer files were not taken
}

func newServed(cert, key string, log *slog.Logger, now func() time.Time) (*served, error) {
	s := &served{cert: cert, key: key, log: log, now: now}
	if _, err := s.Current(); err != nil {
		return nil, fmt.Errorf("certificate of fleetd's address: %w; fleetd ca server makes one", err)
	}
	return s, nil
}

// Current is the certificate that is shown now.
func (s *served) Current() (*tls.Certificate, error) {
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
		err = link.Serves(pair, s.now())
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

// Config is how fleetd speaks TLS. With issuers it asks for their certificates,
// and takes a client without one: what he shows is judged where it matters.
func (s *served) Config(issuers ...*x509.Certificate) *tls.Config {
	c := &tls.Config{
		MinVersion:     tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.Current() },
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
func openVault(folder string, now time.Time, log *slog.Logger) (*vault.Vault, error) {
	if folder == "" {
		return nil, nil
	}
	v, err := vault.Open(folder, now)
	if err != nil {
		return nil, fmt.Errorf("the fleet's keys: %w", err)
	}
	if v.RootKeyIsHere() {
		log.Warn("the root's key lies beside the intermediate's: whoever takes this folder takes the fleet; move it away", "folder", folder, "file", vault.RootKeyFile)
	}
	return v, nil
}

// identity is who this instance is to its broker, and what it issues certificates with.
type identity struct {
	deps identityDeps
}

// identityDeps is what an identity is made of.
type identityDeps struct {
	Name, Password string       // with the broker
	BrokerFiles    link.Files   // for it; what is left out of them comes from Vault
	Vault          *vault.Vault // nil without the fleet's keys
	Certificate    *served      // of the address where robots ask; nil without one
	RobotBrokers   []string     // where robots then connect
	// SignKey signs the desired state of robots, and ReleaseKey the release of contents.
	SignKey, ReleaseKey ed25519.PrivateKey
	Now                 func() time.Time
}

func newIdentity(d identityDeps) *identity { return &identity{d} }

// openVault opens the fleet's keys, if there are any.
func (f *Fleet) openVault(now time.Time) (err error) {
	f.vault, err = openVault(f.cfg.CA, now, f.log)
	return err
}

// makeTrust makes this instance's identity, and what takes that of others away.
func (f *Fleet) makeTrust() {
	f.identity = newIdentity(identityDeps{
		Name: f.cfg.Name, Password: f.cfg.Password, BrokerFiles: f.cfg.BrokerFiles, Vault: f.vault, Certificate: f.certificate,
		RobotBrokers: f.cfg.RobotBrokers, SignKey: f.cfg.SignKey, ReleaseKey: f.cfg.ReleaseKey, Now: time.Now,
	})
	f.revocations = newRevocationPublisher(revocationDeps{
		Log: f.log, Namespace: f.ns, Now: time.Now, Vault: f.vault, Leads: f.leadership.Leads, Failed: f.databaseFailed, Whereabouts: f.view.Whereabouts,
		Send: f.send, Say: f.outbox.say, Wake: func() { signal(f.outbox.wake) },
		Refresh: func(ctx context.Context) error {
			db, err := f.Store()
			if err != nil {
				return err
			}
			return f.refresh(ctx, db)
		},
	})
}

// listenForRobots binds the address at which robots get and renew their
// certificates, and get files with them; nothing else is served.
func (f *Fleet) listenForRobots(ctx, running context.Context) error {
	if f.cfg.Enrol == "" || f.certificate == nil || f.vault == nil {
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
	f.robotsServer.TLSConfig = f.certificate.Config(f.vault.Issuers()...)
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
	if pair, err := f.certificate.Current(); err == nil {
		switch leaf := pair.Leaf; {
		case len(leaf.DNSNames) > 0:
			host = leaf.DNSNames[0]
		case len(leaf.IPAddresses) > 0:
			host = leaf.IPAddresses[0].String()
		}
	}
	return "https://" + net.JoinHostPort(host, port)
}

// Issuer is what certificates are issued with. Robots ask for them at that URL; empty:
// nowhere.
func (i *identity) Issuer(url string) (api.Issuer, error) {
	switch {
	case i.deps.Vault == nil:
		return api.Issuer{}, errors.New("fleetd has no keys to issue certificates with")
	case url == "":
		return api.Issuer{}, errors.New("fleetd has no address at which robots could ask for certificates")
	}
	pair, err := i.deps.Certificate.Current()
	if err != nil {
		return api.Issuer{}, err
	}
	return api.Issuer{
		Authority: i.deps.Vault.Authority, URL: url, Fingerprint: sha256.Sum256(pair.Certificate[0]), Brokers: i.deps.RobotBrokers,
		TrustKeys: i.trustKeys(),
	}, nil
}

// trustKeys are the public halves of what fleetd signs with, as robots keep them.
func (i *identity) trustKeys() (keys []string) {
	if i.deps.SignKey != nil {
		keys = append(keys, sign.PublicKey(sign.SignsDesired, i.deps.SignKey).String())
	}
	if i.deps.ReleaseKey != nil {
		keys = append(keys, sign.PublicKey(sign.SignsReleases, i.deps.ReleaseKey).String())
	}
	return keys
}

// TLS is how fleetd speaks to its broker now. With the fleet's keys it
// makes itself a certificate for each connection: no file can be stolen, and none
// has to be renewed.
func (i *identity) TLS() (*tls.Config, error) {
	how, err := i.deps.BrokerFiles.TLS()
	if err != nil || i.deps.Vault == nil {
		return how, err
	}
	if how.RootCAs == nil {
		how.RootCAs = x509.NewCertPool()
		how.RootCAs.AddCert(i.deps.Vault.Root())
	}
	if how.Certificates == nil && i.deps.Password == "" {
		pair, err := i.deps.Vault.Service(i.deps.Name, i.deps.Now())
		if err != nil {
			return nil, err
		}
		own := tls.Certificate{PrivateKey: pair.Key, Leaf: pair.Certificate}
		for _, cert := range i.deps.Vault.Chain(pair.Certificate) {
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
