package certificate

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

// Server is the server certificate of fleetd's address, from its files. It is reloaded
// when they change. A pair that does not match, or that clients would refuse, is ignored.
type Server struct {
	cert, key string
	log       *slog.Logger
	now       func() time.Time

	mu    sync.Mutex
	at    time.Time // modification time of the files
	pair  *tls.Certificate
	broke error // why newer files were ignored
}

// LoadServer reads a server certificate and its key.
func LoadServer(cert, key string, log *slog.Logger, now func() time.Time) (*Server, error) {
	s := &Server{cert: cert, key: key, log: log, now: now}
	if _, err := s.Current(); err != nil {
		return nil, fmt.Errorf("certificate of fleetd's address: %w; fleetd ca server makes one", err)
	}
	return s, nil
}

// Current is the certificate that clients get now.
func (s *Server) Current() (*tls.Certificate, error) {
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
		s.log.Error("new certificate ignored; the previous one is still served", "error", err)
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

// Config is the TLS configuration of the server. With issuers it requests client
// certificates, and accepts a client without one: each handler checks what it needs.
func (s *Server) Config(issuers ...*x509.Certificate) *tls.Config {
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
