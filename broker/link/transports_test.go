package link_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/schema"
)

// startEncrypted starts a broker that listens on all four transports.
func startEncrypted(t *testing.T, ca *brokertest.CA) *brokertest.Broker {
	t.Helper()
	return brokertest.Start(t, ca.Configure, brokertest.OverEveryTransport)
}

func filesOf(ca *brokertest.CA) link.Files {
	return link.Files{CA: ca.Path("ca.pem"), Cert: ca.Path("r1.pem"), Key: ca.Path("r1.key.pem")}
}

func overURL(u *userLog, url string, f link.Files) link.Config {
	cfg := robotConfig(nil, u)
	cfg.URL, cfg.TLS = url, f.TLS
	return cfg
}

func TestLinkWorksOverEachTransport(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := startEncrypted(t, ca)
	ca.SaveClient(ca.IssueClient(schema.RoleRobot, "r1"), "r1.pem", "r1.key.pem")
	for kind, url := range map[string]string{
		"mqtt": "mqtt://" + b.Addr(), "mqtts": "mqtts://" + b.AddrOf("mqtts"), "ws": "ws://" + b.AddrOf("ws"),
		"wss": "wss://" + b.AddrOf("wss") + "/mqtt",
	} {
		u := &userLog{}
		cfg := overURL(u, url, filesOf(ca))
		received := make(chan link.Message, 9)
		cfg.OnMessage = func(m link.Message) { received <- m }
		l := open(t, cfg)
		waitUp(t, l)
		large := strings.Repeat("x", 8<<10)
		b.Client(t, "fleetd").Retain("troupe/v1/robots/r1/desired/story", large)
		if m := <-received; len(m.Payload) != 8<<10 {
			t.Errorf("%s: received %d bytes", kind, len(m.Payload))
		}
		if err := l.PublishWait(t.Context(), link.Message{Topic: "troupe/v1/robots/r1/event", Payload: []byte("{}"), QoS: 1}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if err := l.Close(context.Background()); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		b.Client(t, "fleetd").Retain("troupe/v1/robots/r1/desired/story", "")
	}
}

func TestBrokerCertificateMustBeOfTheConfiguredCA(t *testing.T) {
	ca, other := brokertest.NewCA(t), brokertest.NewCA(t)
	b := startEncrypted(t, ca)
	ca.SaveClient(ca.IssueClient(schema.RoleRobot, "r1"), "r1.pem", "r1.key.pem")
	foreign := filesOf(ca)
	foreign.CA = other.Path("ca.pem")
	_, port, _ := strings.Cut(b.AddrOf("mqtts"), ":")
	for why, cfg := range map[string]link.Config{
		"another CA":                 overURL(&userLog{}, "mqtts://"+b.AddrOf("mqtts"), foreign),
		"another CA, over WebSocket": overURL(&userLog{}, "wss://"+b.AddrOf("wss"), foreign),
		"the system's CAs":           overURL(&userLog{}, "mqtts://"+b.AddrOf("mqtts"), link.Files{}),
		"another name":               overURL(&userLog{}, "mqtts://127.0.0.2:"+port, filesOf(ca)),
		"a broker without TLS":       overURL(&userLog{}, "mqtts://"+b.Addr(), filesOf(ca)),
		"a missing file":             overURL(&userLog{}, "mqtts://"+b.AddrOf("mqtts"), link.Files{CA: ca.Path("none.pem")}),
	} {
		failed := make(chan error, 1)
		cfg.OnState = func(s link.State) {
			if s.Phase == link.Up || s.Phase == link.Down || s.Phase == link.Refused {
				select {
				case failed <- s.Err:
				default:
				}
			}
		}
		l := open(t, cfg)
		if err := <-failed; err == nil {
			t.Errorf("%s: the link is up", why)
		} else if strings.Contains(why, "CA") && !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: the error does not name the certificate: %v", why, err)
		}
		_ = l.Close(context.Background())
	}
}

// A robot renews its certificate while it is connected. The older one may then be revoked,
// so the next attempt must present the newer one.
func TestRenewedCertificateFileIsUsedAtNextAttempt(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := startEncrypted(t, ca)
	first, second := ca.IssueClient(schema.RoleRobot, "r1"), ca.IssueClient(schema.RoleRobot, "r1")
	ca.SaveClient(first, "r1.pem", "r1.key.pem")
	states := make(chan link.State, 99)
	cfg := overURL(&userLog{}, "mqtts://"+b.AddrOf("mqtts"), filesOf(ca))
	cfg.BackoffMin = time.Millisecond
	cfg.OnState = func(s link.State) { states <- s }
	waitUp(t, open(t, cfg))

	ca.Revoke(first)
	for s := range states {
		if s.Phase == link.Refused {
			if !errors.Is(s.Err, link.ErrRefused) {
				t.Errorf("refused with %v", s.Err)
			}
			break
		}
	}
	ca.SaveClient(second, "r1.pem", "r1.key.pem")
	for s := range states {
		if s.Phase == link.Up {
			break
		}
	}
}
