package fleet_test

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"troupe/fleetd/ca"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/vault"
)

func TestNewServerCertificateIsServed(t *testing.T) {
	w := realWorld(t, storetest.SQLite(t), keyed(t))
	w.startFleetd()
	at := newEnrollee(w, "r7", map[string]any{}).url[len("https://"):]
	shown := func() string {
		c, err := tls.Dial("tcp", at, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return ca.Serial(c.ConnectionState().PeerCertificates[0])
	}
	v, err := vault.Open(w.config.CA, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	renew := func() string {
		pair, err := v.Server([]string{"localhost"}, nil, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if err := vault.SavePair(w.config.HTTPFiles.Cert, w.config.HTTPFiles.Key, true, pair, v.Chain(pair.Certificate)); err != nil {
			t.Fatal(err)
		}
		return ca.Serial(pair.Certificate)
	}
	first, second := shown(), renew()
	w.until("the new certificate is shown", func() bool { return shown() == second })
	if first == second {
		t.Fatal("the new one is the old one")
	}
}

func TestEachBrokerConnectionHasANewCertificate(t *testing.T) {
	dir, v, pair := newVault(t)
	config := fleet.Config{Database: storetest.SQLite(t), CA: dir, Logger: logger(t), Random: func() float64 { return 0 }} // short pauses
	own := tls.Certificate{PrivateKey: pair.Key}
	for _, c := range v.Chain(pair.Certificate) {
		own.Certificate = append(own.Certificate, c.Raw)
	}
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAnyClientCert})
	if err != nil {
		t.Fatal(err)
	}
	serials := make(chan string, 16)
	go func() { // a broker that takes nobody
		defer close(serials)
		for {
			c, err := ln.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			} else if err != nil {
				continue
			}
			if encrypted := c.(*tls.Conn); encrypted.HandshakeContext(t.Context()) == nil {
				select {
				case serials <- ca.Serial(encrypted.ConnectionState().PeerCertificates[0]):
				default:
				}
			}
			c.Close()
		}
	}()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	config.Broker = "mqtts://localhost:" + port
	f, err := fleet.Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for len(seen) < 3 {
		select {
		case s := <-serials:
			seen = append(seen, s)
		case <-late.C:
			t.Fatalf("it connected %d times", len(seen))
		}
	}
	if slices.Sort(seen); len(slices.Compact(seen)) != 3 {
		t.Errorf("it shows %v", seen)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	ln.Close()
	for range serials { // until the broker ended
	}
}
