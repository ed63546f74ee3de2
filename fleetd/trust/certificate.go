package trust

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"troupe/broker/link"
)

// Certificate is the certificate that fleetd shows, from its files. It is read again
// when they change; a pair that does not fit, or that clients would refuse, is not
// taken.
type Certificate struct {
	cert, key string
	log       *slog.Logger
	now       func() time.Time

	mu    sync.Mutex
	at    time.Time // of the files
	pair  *tls.Certificate
	broke error // why newer files were not taken
}

func LoadCertificate(cert, key string, log *slog.Logger, now func() time.Time) (*Certificate, error) {
	s := &Certificate{cert: cert, key: key, log: log, now: now}
	if _, err := s.Current(); err != nil {
		return nil, fmt.Errorf("certificate of fleetd's address: %w; fleetd ca server makes one", err)
	}
	return s, nil
}

// Current is the certificate that is shown now.
func (s *Certificate) Current() (*tls.Certificate, error) {
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
		err = link.CheckServerCertificate(pair, s.now())
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
func (s *Certificate) Config(issuers ...*x509.Certificate) *tls.Config {
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
