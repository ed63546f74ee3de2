package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"

	"troupe/schema"
	"troupe/schema/bubble"
)

// authority is a CA for tests.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	pair := a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "root"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}, 24*time.Hour)
	a.key, a.cert = pair.PrivateKey.(*ecdsa.PrivateKey), pair.Leaf
	return a
}

// sign makes a key and a certificate for it that ends after life.
func (a *authority) sign(c *x509.Certificate, life time.Duration) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(int64(life)), time.Now().Add(-time.Hour), time.Now().Add(life)
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	if err != nil {
		a.t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func (a *authority) robot(name string, life time.Duration) tls.Certificate {
	urn, err := url.Parse(schema.IdentityURN(schema.RoleRobot, name))
	if err != nil {
		a.t.Fatal(err)
	}
	return a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: name}, URIs: []*url.URL{urn},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, life)
}

// hello is a robot's CONNECT, with a keep-alive of 300 s and its presence as will.
func hello(name string) []byte {
	str := func(b []byte, s string) []byte {
		return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
	}
	b := append(str(nil, "MQTT"), 4, 0x2e, 1, 44)
	b = str(str(b, name), "troupe/v1/robots/"+name+"/presence")
	b = str(b, `{"state":"lost","session":"s","boot":"b"}`)
	return append([]byte{0x10, byte(len(b))}, b...)
}

func TestConnectionEndsWithItsCertificate(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a := newAuthority(t)
		own := a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "broker"}, DNSNames: []string{"broker"},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, time.Hour)
		pool := x509.NewCertPool()
		pool.AddCert(a.cert)
		k := &fileWatcher{}
		k.current.Store(&credentials{pair: &own, issuers: []*x509.Certificate{a.cert}, pool: pool})

		cfg, err := Config{Dev: true}.complete()
		if err != nil {
			t.Fatal(err)
		}
		srv := mqtt.New(&mqtt.Options{Capabilities: capabilities(cfg), Logger: slog.New(slog.DiscardHandler), SysTopicResendInterval: 3600})
		var n counters
		g := newGuard(cfg, k, srv, &n)
		if err := srv.AddHook(g, nil); err != nil {
			t.Fatal(err)
		}
		if err := srv.Serve(); err != nil {
			t.Fatal(err)
		}
		l := newListener(cfg, nil, g)
		defer func() { l.close(); _ = srv.Close() }()
		connect := func(name string, cert tls.Certificate) (net.Conn, bool) {
			ours, theirs := newPipe()
			l.start(ours, &endpoint{kind: "mqtts", handshake: handshakeOf(true, false, k, nil)})
			c := tls.Client(theirs, &tls.Config{RootCAs: pool, ServerName: "broker", Certificates: []tls.Certificate{cert}})
			t.Cleanup(func() { theirs.Close() })
			_, _ = c.Write(hello(name))
			connack := make([]byte, 4)
			_, err := io.ReadFull(c, connack)
			return c, err == nil && connack[3] == 0
		}

		began := time.Now()
		short := a.robot("r1", 5*time.Minute)
		robot, ok := connect("r1", short)
		other, too := connect("r2", a.robot("r2", 6*time.Minute))
		if !ok || !too {
			t.Fatal("not connected")
		}
		if _, err := robot.Read(make([]byte, 1)); err == nil || time.Since(began) != 5*time.Minute+time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		synctest.Wait()
		if doc, _ := srv.Topics.Retained.Get("troupe/v1/robots/r1/presence"); !strings.Contains(string(doc.Payload), `"reason":"expired"`) {
			t.Errorf("the robot's presence is %s", doc.Payload)
		}
		if _, ok := connect("r1", short); ok {
			t.Error("the expired certificate is accepted again")
		}
		if _, ok := connect("r1", a.robot("r1", time.Hour)); !ok {
			t.Error("a new certificate is refused")
		}
		_, _ = other.Write([]byte{0xc0, 0})
		if _, err := io.ReadFull(other, make([]byte, 2)); err != nil { // PINGRESP
			t.Errorf("the other robot was disconnected: %v", err)
		}
		if got := n.get(kicked); got != 1 {
			t.Errorf("%d kicked", got)
		}
	})
}

func TestChainExpiresWithItsFirstCertificate(t *testing.T) {
	day := func(n int) *x509.Certificate {
		return &x509.Certificate{NotAfter: time.Date(2030, 1, n, 0, 0, 0, 0, time.UTC)}
	}
	for _, c := range []struct {
		chains [][]*x509.Certificate
		want   time.Time
	}{
		{nil, time.Time{}},
		{[][]*x509.Certificate{{day(3), day(9)}}, day(3).NotAfter},
		{[][]*x509.Certificate{{day(9), day(4), day(20)}}, day(4).NotAfter},
		{[][]*x509.Certificate{{day(9), day(4)}, {day(9), day(7)}, {day(9), day(5)}}, day(7).NotAfter},
	} {
		if got := endOf(c.chains); !got.Equal(c.want) {
			t.Errorf("expires %v, want %v", got, c.want)
		}
	}
}
